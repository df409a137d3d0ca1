//! `mavlink.gps_input`: a satellite receiver beside the vehicle.

use std::time::Duration;

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::mavros_msgs::msg::GPSINPUT;

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::GpsInput,
        relay::{Relay, TALKS, copy, input},
        uas::MavContext,
        value::{time_usec, zero},
        vehicle,
    },
    options::Options,
};

/// `gps_input/gps_input` to GPS_INPUT, numbers as they are; at most so many a second, others are left out.
///
/// Source: MAVLink common, GPS_INPUT (232).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.gps_input",
    doc: "an external satellite receiver, to the vehicle",
    inputs: &[input::<GPSINPUT>("gps_input", 1)],
    options: &[vehicle::SYSID, ("gps_rate", "messages a second at most, 0 passes all; default 5")],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let rate = Options::new(cx, &INFO)?.number("gps_rate", 5.0)?;
    let period = if rate > 0.0 { Duration::from_secs_f64((1.0 / rate).min(3600.0)) } else { Duration::ZERO };
    let mut last = None;
    Relay::new(cx, &INFO)?
        .hear(move |gps: &GPSINPUT, to| {
            let at = to.at();
            if last.is_some_and(|last| at.saturating_duration_since(last) < period) {
                return Ok(());
            }
            last = Some(at);
            let mut m: GpsInput = zero();
            m.time_usec = time_usec(&gps.header);
            copy!(gps => m; fix_type, gps_id, ignore_flags, time_week_ms, time_week, lat, lon, alt, hdop, vdop);
            copy!(gps => m; vn, ve, vd, speed_accuracy, horiz_accuracy, vert_accuracy, satellites_visible, yaw);
            to.send(&m);
            Ok(())
        })
        .done()
}
