//! `mavlink.sys_status`.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::mavros_msgs::msg::SysStatus as RosSysStatus;

use super::{
    DecodeOnly,
    battery::COMPID_GIMBAL,
    dialect::{Message, SysStatus},
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// SYS_STATUS to `sys_status`, number for number: load in 0.1 %, voltage in mV, current in 10 mA.
///
/// Source: MAVLink common, SYS_STATUS (1).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.sys_status",
    doc: "sensor health, load, link errors",
    roles: &[Role::Decode],
    ports: &[topic::<RosSysStatus>("sys_status", Qos::latched(10))],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[SysStatus::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID],
};

const SYS_STATUS: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &INFO)?)?;
    Ok(Box::new(SysStatusDecoder { vehicle, status: RosSysStatus::default() }))
}

struct SysStatusDecoder {
    vehicle: Vehicle,
    status: RosSysStatus,
}

impl Decoder for SysStatusDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if packet.msgid != SysStatus::ID || packet.compid == COMPID_GIMBAL || !out.wants(SYS_STATUS) {
            return Ok(());
        }
        let m = SysStatus::decode(packet.payload);
        let stamp = out.stamp();
        let status = &mut self.status;
        ros::stamp(&mut status.header, stamp);
        status.sensors_present = m.onboard_control_sensors_present;
        status.sensors_enabled = m.onboard_control_sensors_enabled;
        status.sensors_health = m.onboard_control_sensors_health;
        status.load = m.load;
        status.voltage_battery = m.voltage_battery;
        status.current_battery = m.current_battery;
        status.battery_remaining = m.battery_remaining;
        status.drop_rate_comm = m.drop_rate_comm;
        status.errors_comm = m.errors_comm;
        status.errors_count1 = m.errors_count1;
        status.errors_count2 = m.errors_count2;
        status.errors_count3 = m.errors_count3;
        status.errors_count4 = m.errors_count4;
        out.publish(SYS_STATUS, stamp, status);
        Ok(())
    }
}
