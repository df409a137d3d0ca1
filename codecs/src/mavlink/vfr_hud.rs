//! `mavlink.vfr_hud`.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::mavros_msgs::msg::VfrHud as RosVfrHud;

use super::{
    DecodeOnly,
    dialect::{Message, VfrHud},
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// VFR_HUD to `vfr_hud`: m/s, metres, whole degrees of heading, throttle of 0 to 1.
///
/// Source: MAVLink common, VFR_HUD (74).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.vfr_hud",
    doc: "airspeed, groundspeed, heading, throttle, altitude, climb",
    roles: &[Role::Decode],
    ports: &[topic::<RosVfrHud>("vfr_hud", Qos::reliable())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[VfrHud::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID],
};

const VFR_HUD: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &INFO)?)?;
    Ok(Box::new(VfrHudDecoder { vehicle, hud: RosVfrHud::default() }))
}

struct VfrHudDecoder {
    vehicle: Vehicle,
    hud: RosVfrHud,
}

impl Decoder for VfrHudDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if packet.msgid != VfrHud::ID || !out.wants(VFR_HUD) {
            return Ok(());
        }
        let m = VfrHud::decode(packet.payload);
        let stamp = out.stamp();
        ros::stamp(&mut self.hud.header, stamp);
        self.hud.airspeed = m.airspeed;
        self.hud.groundspeed = m.groundspeed;
        self.hud.heading = m.heading;
        self.hud.throttle = f32::from(m.throttle) / 100.0;
        self.hud.altitude = m.alt;
        self.hud.climb = m.climb;
        out.publish(VFR_HUD, stamp, &self.hud);
        Ok(())
    }
}
