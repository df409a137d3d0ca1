//! `mavlink.battery`.

use std::fmt::Write as _;

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::sensor_msgs::msg::BatteryState;

use super::{
    DecodeOnly,
    dialect::{BatteryStatus, Heartbeat, Message, SysStatus},
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// Batteries to `battery`.
///
/// Volts, amperes (negative while discharging), a percentage of 0 to 1, °C; NaN where nothing was measured. Every
/// BATTERY_STATUS is published, `location` is `id<n>`; SYS_STATUS stands in until one with id 0 came. With `exact`
/// an unknown percentage is -0.01, an unknown voltage 0 or, of SYS_STATUS, 65.535, an unknown current of SYS_STATUS
/// 0.01, and the temperature 0.
///
/// Source: MAVLink common, SYS_STATUS (1), BATTERY_STATUS (147).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.battery",
    doc: "voltage, current, charge, cells",
    roles: &[Role::Decode],
    ports: &[topic::<BatteryState>("battery", Qos::sensor_data())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, SysStatus::ID, BatteryStatus::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT, vehicle::EXACT],
};

const BATTERY: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(BatteryDecoder {
        vehicle: Vehicle::new(&options)?,
        exact: options.flag("exact", false)?,
        battery_status_seen: false,
        battery: BatteryState {
            charge: f32::NAN,
            capacity: f32::NAN,
            design_capacity: f32::NAN,
            power_supply_status: STATUS_DISCHARGING,
            present: true,
            ..BatteryState::default()
        },
    }))
}

struct BatteryDecoder {
    vehicle: Vehicle,
    exact: bool,
    /// BATTERY_STATUS of battery 0 was seen: SYS_STATUS is ignored.
    battery_status_seen: bool,
    battery: BatteryState,
}

impl Decoder for BatteryDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.battery_status_seen = false;
        }
        match packet.msgid {
            SysStatus::ID if packet.compid != COMPID_GIMBAL && !self.battery_status_seen => {
                self.sys_status(&SysStatus::decode(packet.payload), out);
            }
            BatteryStatus::ID => self.battery_status(&BatteryStatus::decode(packet.payload), out),
            _ => {}
        }
        Ok(())
    }
}

impl BatteryDecoder {
    fn sys_status(&mut self, m: &SysStatus, out: &mut Emit<'_>) {
        if !out.wants(BATTERY) {
            return;
        }
        self.battery.voltage = match m.voltage_battery {
            u16::MAX if !self.exact => f32::NAN,
            millivolts => f32::from(millivolts) / 1000.0,
        };
        self.battery.current = match m.current_battery {
            -1 if !self.exact => f32::NAN,
            centiamperes => f32::from(centiamperes) / -100.0,
        };
        self.battery.temperature = if self.exact { 0.0 } else { f32::NAN };
        self.battery.percentage = self.percentage(m.battery_remaining);
        self.battery.power_supply_technology = TECHNOLOGY_UNKNOWN;
        self.battery.cell_voltage.clear();
        self.battery.location.clear();
        self.publish(out);
    }

    fn battery_status(&mut self, m: &BatteryStatus, out: &mut Emit<'_>) {
        self.battery_status_seen |= m.id == 0;
        if !out.wants(BATTERY) {
            return;
        }
        cells(m, &mut self.battery.cell_voltage);
        self.battery.voltage = match self.battery.cell_voltage.as_slice() {
            [] if !self.exact => f32::NAN,
            // Not an empty sum, which is -0.0.
            cells => cells.iter().fold(0.0, |sum, cell| sum + cell),
        };
        self.battery.current = match m.current_battery {
            -1 => f32::NAN,
            centiamperes => f32::from(centiamperes) / -100.0,
        };
        self.battery.temperature = match m.temperature {
            _ if self.exact => 0.0,
            i16::MAX => f32::NAN,
            centidegrees => f32::from(centidegrees) / 100.0,
        };
        self.battery.percentage = self.percentage(m.battery_remaining);
        self.battery.power_supply_technology = match m.kind {
            1 => TECHNOLOGY_LIPO,
            2 => TECHNOLOGY_LIFE,
            3 => TECHNOLOGY_LION,
            4 => TECHNOLOGY_NIMH,
            _ => TECHNOLOGY_UNKNOWN,
        };
        self.battery.location.clear();
        write!(self.battery.location, "id{}", m.id).unwrap_or_default();
        self.publish(out);
    }

    fn percentage(&self, remaining: i8) -> f32 {
        match remaining {
            -1 if !self.exact => f32::NAN,
            percent => f32::from(percent) / 100.0,
        }
    }

    fn publish(&mut self, out: &mut Emit<'_>) {
        let stamp = out.stamp();
        ros::stamp(&mut self.battery.header, stamp);
        out.publish(BATTERY, stamp, &self.battery);
    }
}

/// Cell voltages in volts: 65535 ends the list, 65534 mV goes on in the next element.
fn cells(m: &BatteryStatus, volts: &mut Vec<f32>) {
    volts.clear();
    let mut carried = 0.0;
    let main = m.voltages.into_iter().take_while(|mv| *mv != u16::MAX);
    let extension = m.voltages_ext.into_iter().take_while(|mv| *mv != u16::MAX && *mv != 0);
    for millivolts in main.chain(extension) {
        let cell = carried + f32::from(millivolts) / 1000.0;
        if millivolts == u16::MAX - 1 {
            carried = cell;
        } else {
            carried = 0.0;
            volts.push(cell);
        }
    }
}

/// `MAV_COMP_ID_GIMBAL`: its SYS_STATUS is not the vehicle's.
pub(super) const COMPID_GIMBAL: u8 = 154;
/// `BatteryState.power_supply_status` and `power_supply_technology`.
const STATUS_DISCHARGING: u8 = 2;
const TECHNOLOGY_UNKNOWN: u8 = 0;
const TECHNOLOGY_NIMH: u8 = 1;
const TECHNOLOGY_LION: u8 = 2;
const TECHNOLOGY_LIPO: u8 = 3;
const TECHNOLOGY_LIFE: u8 = 4;
