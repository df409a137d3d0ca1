//! `mavlink.obstacle`: what a laser scanner sees around the vehicle.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::sensor_msgs::msg::LaserScan;

use crate::{
    mavlink::{
        DecodeOnly,
        control::frame,
        dialect::ObstacleDistance,
        relay::{Relay, TALKS, input},
        uas::MavContext,
        value::{time_usec, to_f32, to_u8, to_u16},
        vehicle,
    },
    options::Options,
};

/// `obstacle/send` to OBSTACLE_DISTANCE: 72 distances in centimetres.
///
/// A longer scan is put together, of neighbours the shortest. NaN, negative and too long distances are unknown. Angles
/// go as they are, so the scan must turn as the vehicle expects it: clockwise.
///
/// Source: MAVLink common, OBSTACLE_DISTANCE (330).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.obstacle",
    doc: "distances around the vehicle, to it",
    inputs: &[input::<LaserScan>("send", 10)],
    options: &[vehicle::SYSID, ("mav_frame", "MAV_FRAME of the angles; default GLOBAL")],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let names = [&[("GLOBAL", 0)], frame::NAMES].concat();
    let frame = Options::new(cx, &INFO)?.choice("mav_frame", &names)?.unwrap_or_default();
    Relay::new(cx, &INFO)?
        .hear(move |scan: &LaserScan, to| {
            to.send(&distances(scan, frame));
            Ok(())
        })
        .done()
}

fn distances(scan: &LaserScan, frame: u8) -> ObstacleDistance {
    let mut distances = [UNKNOWN; 72];
    let (count, room) = (scan.ranges.len(), distances.len());
    for (index, distance) in distances.iter_mut().enumerate() {
        *distance = match scan.ranges.get(index) {
            // All fit.
            one if count <= room => one.map_or(UNKNOWN, |range| centimetres(*range)),
            _ => {
                let bin = index * count / room..(index + 1) * count / room;
                let ranges = scan.ranges.get(bin).unwrap_or_default();
                // 0 is no distance here, but a beam that met nothing.
                let seen = ranges.iter().map(|range| centimetres(*range)).filter(|distance| *distance > 0);
                seen.min().unwrap_or(UNKNOWN)
            }
        };
    }
    let joined = if count > room { to_f32(count as f64 / room as f64) } else { 1.0 };
    let increment_f = scan.angle_increment.to_degrees() * joined;
    ObstacleDistance {
        time_usec: time_usec(&scan.header),
        distances,
        min_distance: to_u16(f64::from(scan.range_min) * 100.0),
        max_distance: to_u16(f64::from(scan.range_max) * 100.0),
        sensor_type: MAV_DISTANCE_SENSOR_LASER,
        increment: to_u8(increment_f.into()),
        increment_f,
        angle_offset: scan.angle_min.to_degrees(),
        frame,
    }
}

/// Metres as centimetres, rounded.
fn centimetres(metres: f32) -> u16 {
    let centimetres = f64::from(metres) * 100.0;
    // NaN is in no range.
    if (0.0..f64::from(UNKNOWN)).contains(&centimetres) { to_u16(centimetres) } else { UNKNOWN }
}

const UNKNOWN: u16 = u16::MAX;
const MAV_DISTANCE_SENSOR_LASER: u8 = 0;
