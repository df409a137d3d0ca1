//! `mavlink.adsb`: other air traffic.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::ADSBVehicle;

use crate::mavlink::{
    DecodeOnly,
    dialect::{AdsbVehicle, Message},
    relay::{Relay, TALKS, copy, input, topic},
    ros,
    uas::MavContext,
    value::{chars_nul, set_text, to_e7, to_f32, to_i16, to_i32, to_u8, to_u16, zero},
};

/// ADSB_VEHICLE to `adsb/vehicle`, and `adsb/send` to ADSB_VEHICLE.
///
/// **Units**: degrees, metres (above what `altitude_type` says), m/s; heading in degrees, clockwise from north.
///
/// Source: MAVLink common, ADSB_VEHICLE (246).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.adsb",
    doc: "other air traffic, both ways",
    ports: &[topic::<ADSBVehicle>("vehicle", Qos::reliable())],
    inputs: &[input::<ADSBVehicle>("send", 10)],
    interest: Interest::Tags(&[AdsbVehicle::ID]),
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &INFO)?
        .tell("vehicle", ADSBVehicle::default(), |m: &AdsbVehicle, other, at| {
            ros::stamp(&mut other.header, at.now());
            copy!(m => other; icao_address, altitude_type, emitter_type, flags, squawk);
            set_text(&mut other.callsign, &m.callsign);
            other.latitude = ros::degrees(m.lat);
            other.longitude = ros::degrees(m.lon);
            other.altitude = to_f32(ros::metres(m.altitude));
            other.heading = f32::from(m.heading) / 100.0;
            other.hor_velocity = f32::from(m.hor_velocity) / 100.0;
            other.ver_velocity = f32::from(m.ver_velocity) / 100.0;
            other.tslc.sec = m.tslc.into();
        })
        .hear(|other: &ADSBVehicle, to| {
            let mut m: AdsbVehicle = zero();
            copy!(other => m; icao_address, altitude_type, emitter_type, flags, squawk);
            m.callsign = chars_nul(&other.callsign);
            m.lat = to_e7(other.latitude);
            m.lon = to_e7(other.longitude);
            m.altitude = to_i32(f64::from(other.altitude) * 1e3);
            m.heading = to_u16(f64::from(other.heading) * 1e2);
            m.hor_velocity = to_u16(f64::from(other.hor_velocity) * 1e2);
            m.ver_velocity = to_i16(f64::from(other.ver_velocity) * 1e2);
            m.tslc = to_u8(other.tslc.sec.into());
            to.send(&m);
            Ok(())
        })
        .done()
}
