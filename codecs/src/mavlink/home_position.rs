//! `mavlink.home_position`.

use std::sync::Arc;

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::mavros_msgs::msg::HomePosition as RosHomePosition;

use super::{
    DecodeOnly,
    dialect::{GpsRawInt, HomePosition, Message},
    relay::topic,
    ros,
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::{
    frames::{Ned, Quaternion},
    options::Options,
};

/// HOME_POSITION to `home_position/home`.
///
/// Degrees and metres above the WGS-84 ellipsoid (see `mavlink.global_position`), position and approach ENU. The
/// orientation is turned on its world side only, FRD in ENU; programs depend on it.
///
/// Source: MAVLink common, HOME_POSITION (242), GPS_RAW_INT (24) for the geoid.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.home_position",
    doc: "home position",
    roles: &[Role::Decode],
    ports: &[topic::<RosHomePosition>("home", Qos::latched(10))],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[GpsRawInt::ID, HomePosition::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID],
};

const HOME: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Ok(Box::new(HomePositionDecoder {
        vehicle: Vehicle::new(&Options::new(cx, &INFO)?)?,
        uas: Arc::clone(&cx.uas),
        home: RosHomePosition::default(),
    }))
}

struct HomePositionDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    home: RosHomePosition,
}

impl Decoder for HomePositionDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        match packet.msgid {
            GpsRawInt::ID => {
                // `mavlink.global_position` warns when it is missing.
                self.uas.learn_geoid(&GpsRawInt::decode(packet.payload));
            }
            HomePosition::ID if out.wants(HOME) => {
                let m = HomePosition::decode(packet.payload);
                let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
                ros::stamp(&mut self.home.header, stamp);
                self.home.geo.latitude = ros::degrees(m.latitude);
                self.home.geo.longitude = ros::degrees(m.longitude);
                self.home.geo.altitude = self.uas.height(m.latitude, m.longitude, m.altitude);
                let position = Ned([m.x, m.y, m.z].map(f64::from)).to_enu();
                self.home.position = ros::point(position.0);
                let attitude = Quaternion::from_wxyz(m.q.map(f64::from));
                self.home.orientation = ros::quaternion(attitude.swap_world());
                let approach = Ned([m.approach_x, m.approach_y, m.approach_z].map(f64::from)).to_enu();
                self.home.approach = ros::vector3(approach.0);
                out.publish(HOME, stamp, &self.home);
            }
            _ => {}
        }
        Ok(())
    }
}
