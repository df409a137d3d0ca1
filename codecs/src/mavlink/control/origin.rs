//! `mavlink.set_gp_origin` and `mavlink.set_home`: where the vehicle's coordinates begin.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::{geographic_msgs::msg::GeoPointStamped, mavros_msgs::msg::HomePosition};

use super::frame::MavFrame;
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{SetGpsGlobalOrigin, SetHomePosition},
        parts::{point, rotation, xyz},
        relay::{Relay, TALKS, input},
        uas::MavContext,
        value::{time_usec, to_e7, to_f32, to_i32},
        vehicle,
    },
    options::Options,
};

/// `global_position/set_gp_origin`: the EKF's origin. Degrees; metres above the ellipsoid.
///
/// Source: MAVLink common, SET_GPS_GLOBAL_ORIGIN (48).
pub(super) const GP_ORIGIN: DecodeOnly = DecodeOnly::new(&ORIGIN_INFO, gp_origin);

const ORIGIN_INFO: CodecInfo = CodecInfo {
    name: "mavlink.set_gp_origin",
    doc: "the origin of local coordinates",
    inputs: &[input::<GeoPointStamped>("set_gp_origin", 5)],
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TALKS
};

fn gp_origin(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let exact = Options::new(cx, &ORIGIN_INFO)?.flag("exact", false)?;
    Relay::new(cx, &ORIGIN_INFO)?
        .hear(move |origin: &GeoPointStamped, to| {
            let (target_system, _) = to.target();
            let position = &origin.position;
            to.send(&SetGpsGlobalOrigin {
                target_system,
                latitude: to_e7(position.latitude),
                longitude: to_e7(position.longitude),
                altitude: to_i32((position.altitude - to.undulation()) * 1e3),
                time_usec: if exact { 0 } else { time_usec(&origin.header) },
            });
            Ok(())
        })
        .done()
}

/// `home_position/set`: degrees, metres above the ellipsoid; `position` and `approach` ENU metres, the attitude with its
/// world side turned, as `home_position/home` has it.
///
/// Source: MAVLink common, SET_HOME_POSITION (243).
pub(super) const HOME: DecodeOnly = DecodeOnly::new(&HOME_INFO, home);

const HOME_INFO: CodecInfo = CodecInfo {
    name: "mavlink.set_home",
    doc: "the home position",
    inputs: &[input::<HomePosition>("set", 10)],
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TALKS
};

fn home(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let exact = Options::new(cx, &HOME_INFO)?.flag("exact", false)?;
    Relay::new(cx, &HOME_INFO)?
        .hear(move |home: &HomePosition, to| {
            let (target_system, _) = to.target();
            let undulation_mm = to.undulation() * if exact { 1.0 } else { 1e3 };
            let frame = MavFrame::LOCAL_NED;
            let [x, y, z] = frame.vector(point(&home.position));
            let [approach_x, approach_y, approach_z] = frame.vector(xyz(&home.approach));
            to.send(&SetHomePosition {
                target_system,
                latitude: to_e7(home.geo.latitude),
                longitude: to_e7(home.geo.longitude),
                altitude: to_i32(home.geo.altitude * 1e3 - undulation_mm),
                x,
                y,
                z,
                q: rotation(&home.orientation).swap_world().to_wxyz().map(to_f32),
                approach_x,
                approach_y,
                approach_z,
                time_usec: if exact { 0 } else { time_usec(&home.header) },
            });
            Ok(())
        })
        .done()
}
