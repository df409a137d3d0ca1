//! `mavlink.altitude`.

use std::sync::Arc;

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::mavros_msgs::msg::Altitude as RosAltitude;

use super::{
    DecodeOnly,
    dialect::{Altitude, Message},
    relay::topic,
    ros,
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// ALTITUDE to `altitude`: metres, each from its own zero; NaN where the vehicle does not know.
///
/// Source: MAVLink common, ALTITUDE (141).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.altitude",
    doc: "altitudes above sea level, home, terrain and the ground",
    roles: &[Role::Decode],
    ports: &[topic::<RosAltitude>("altitude", Qos::sensor_data())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Altitude::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID, ("frame_id", "frame of the message; default map")],
};

const ALTITUDE: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(AltitudeDecoder {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        altitude: RosAltitude {
            header: ros::header(options.text("frame_id", "map")?),
            ..RosAltitude::default()
        },
    }))
}

struct AltitudeDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    altitude: RosAltitude,
}

impl Decoder for AltitudeDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if packet.msgid != Altitude::ID || !out.wants(ALTITUDE) {
            return Ok(());
        }
        let m = Altitude::decode(packet.payload);
        let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
        ros::stamp(&mut self.altitude.header, stamp);
        self.altitude.monotonic = m.altitude_monotonic;
        self.altitude.amsl = m.altitude_amsl;
        self.altitude.local = m.altitude_local;
        self.altitude.relative = m.altitude_relative;
        self.altitude.terrain = m.altitude_terrain;
        self.altitude.bottom_clearance = m.bottom_clearance;
        out.publish(ALTITUDE, stamp, &self.altitude);
        Ok(())
    }
}
