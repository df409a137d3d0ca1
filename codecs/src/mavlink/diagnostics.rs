//! `mavlink.diagnostics`: how the vehicle and the link to it are doing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::diagnostic_msgs::msg::DiagnosticArray;

use super::{
    DecodeOnly,
    dialect::{
        BatteryStatus, GpsRawInt, Heartbeat, Hwstatus, Meminfo, Message, RadioStatus, SysStatus, Timesync,
    },
    health::{ERROR, OK, Rate, STALE_LEVEL, Status, WARN},
    mode,
    relay::topic,
    ros,
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// A `diagnostic_msgs/msg/DiagnosticArray` each second while somebody listens.
///
/// Tasks are named as in MAVROS (`mavros: Heartbeat`, ...): connection, heartbeat, sensor health, battery, time sync and
/// GPS always; memory and hardware of ArduPilot and the radio modem once they were heard of. With `disable_diag` only
/// the connection and the heartbeat are left.
///
/// Source: MAVLink common and ardupilotmega, HEARTBEAT (0), SYS_STATUS (1), GPS_RAW_INT (24), RADIO_STATUS (109),
/// TIMESYNC (111), BATTERY_STATUS (147), MEMINFO (152), HWSTATUS (165).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build).hearing_all();

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.diagnostics",
    doc: "health of the vehicle and of the link to it",
    roles: &[Role::Decode],
    ports: &[topic::<DiagnosticArray>("diagnostics", Qos::reliable())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        SysStatus::ID,
        GpsRawInt::ID,
        RadioStatus::ID,
        Timesync::ID,
        BatteryStatus::ID,
        Meminfo::ID,
        Hwstatus::ID,
    ]),
    cost: Cost::Inline,
    tick: Some(Duration::from_secs(1)),
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        ("disable_diag", "true leaves only connection and heartbeat; default false"),
        ("min_voltage", "volts under which the battery is low; default 10"),
        ("low_rssi", "strength under which the radio's signal is low; default 40"),
    ],
};

const DIAGNOSTICS: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(Diagnostics {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        only_heartbeat: options.flag("disable_diag", false)?,
        min_voltage: options.number("min_voltage", 10.0)?,
        low_rssi: options.int("low_rssi", 40, 0..=255)?,
        heartbeats: Rate::default(),
        timesyncs: Rate::default(),
        heard: Heard::default(),
    }))
}

struct Diagnostics {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    only_heartbeat: bool,
    min_voltage: f64,
    low_rssi: u8,
    heartbeats: Rate,
    timesyncs: Rate,
    heard: Heard,
}

/// The latest messages; all forgotten when the vehicle is lost.
#[derive(Default)]
struct Heard {
    heartbeat: Option<Heartbeat>,
    system: Option<SysStatus>,
    battery: Option<BatteryStatus>,
    gps: Option<GpsRawInt>,
    memory: Option<(Meminfo, Instant)>,
    hardware: Option<(Hwstatus, Instant)>,
    /// The counter of I2C errors when it was last told.
    i2c_errors: u8,
    radio: Option<RadioStatus>,
}

impl Decoder for Diagnostics {
    fn decode(&mut self, frame: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        let packet = rostrans_mavlink::Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?;
        if packet.msgid == RadioStatus::ID {
            // The modem is a system of its own.
            self.heard.radio = Some(RadioStatus::decode(packet.payload));
            return Ok(());
        }
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        let (payload, heard) = (packet.payload, &mut self.heard);
        match packet.msgid {
            Heartbeat::ID => {
                if let Some(beat) = self.vehicle.heartbeat(&packet, frame.received) {
                    self.heartbeats.count();
                    heard.heartbeat = Some(beat.heartbeat);
                }
            }
            SysStatus::ID => heard.system = Some(SysStatus::decode(payload)),
            GpsRawInt::ID => heard.gps = Some(GpsRawInt::decode(payload)),
            Timesync::ID if Timesync::decode(payload).tc1 != 0 => self.timesyncs.count(),
            BatteryStatus::ID => {
                let battery = BatteryStatus::decode(payload);
                if battery.id == 0 {
                    heard.battery = Some(battery);
                }
            }
            Meminfo::ID => heard.memory = Some((Meminfo::decode(payload), frame.received)),
            Hwstatus::ID => heard.hardware = Some((Hwstatus::decode(payload), frame.received)),
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.vehicle.fell_silent(now) {
            self.heard = Heard::default();
        }
        self.heartbeats.tick(now);
        self.timesyncs.tick(now);
        if !out.wants(DIAGNOSTICS) {
            return;
        }
        let hardware_id = format!("uas:///uas{}", self.uas.target_system());
        let mut status: Vec<Status> = vec![self.connection(now), self.heartbeat()];
        if !self.only_heartbeat {
            status.extend([self.system(), self.battery(), self.time_sync(), self.gps()]);
            status.extend(self.memory(now).into_iter().chain(self.hardware(now)).chain(self.radio()));
        }
        let finish = |Status(mut status): Status| {
            status.hardware_id.clone_from(&hardware_id);
            status
        };
        let mut array = DiagnosticArray {
            status: status.into_iter().map(finish).collect(),
            ..DiagnosticArray::default()
        };
        let stamp = out.stamp();
        ros::stamp(&mut array.header, stamp);
        out.publish(DIAGNOSTICS, stamp, &array);
    }
}

impl Diagnostics {
    fn connection(&self, now: Instant) -> Status {
        match self.vehicle.is_connected(now) {
            true => Status::new("MAVROS UAS", OK, "connected"),
            false => Status::new("MAVROS UAS", ERROR, "disconnected"),
        }
    }

    fn heartbeat(&self) -> Status {
        let status = self.heartbeats.status("Heartbeat", 0.18, 110.0);
        let status = status.with("Heartbeats since startup", self.heartbeats.total);
        let status = status.with("Frequency (Hz)", format_args!("{:.6}", self.heartbeats.hz()));
        let Some(m) = &self.heard.heartbeat else { return status };
        let mut name = String::new();
        mode::write_name(&mut name, m.autopilot, m.kind, m.base_mode, m.custom_mode);
        status
            .with("Vehicle type", m.kind)
            .with("Autopilot type", m.autopilot)
            .with("Mode", name)
            .with("System status", m.system_status)
    }

    fn system(&self) -> Status {
        let Some(m) = &self.heard.system else { return Status::new("System", ERROR, "No data") };
        let enabled = m.onboard_control_sensors_enabled;
        let healthy = m.onboard_control_sensors_health & enabled == enabled;
        let status = match healthy {
            true => Status::new("System", OK, "Normal"),
            false => Status::new("System", ERROR, "Sensor health"),
        };
        let mut status = status
            .with("Sensor present", format_args!("0x{:08X}", m.onboard_control_sensors_present))
            .with("Sensor enabled", format_args!("0x{enabled:08X}"))
            .with("Sensor health", format_args!("0x{:08X}", m.onboard_control_sensors_health));
        for (bit, sensor) in (0..).zip(SENSORS) {
            if enabled & 1 << bit != 0 {
                let ok = m.onboard_control_sensors_health & 1 << bit != 0;
                status = status.with(sensor, if ok { "Ok" } else { "Fail" });
            }
        }
        status
            .with("CPU Load (%)", format_args!("{:.1}", f64::from(m.load) / 10.0))
            .with("Drop rate (%)", format_args!("{:.1}", f64::from(m.drop_rate_comm) / 10.0))
            .with("Errors comm", m.errors_comm)
            .with("Errors count #1", m.errors_count1)
            .with("Errors count #2", m.errors_count2)
            .with("Errors count #3", m.errors_count3)
            .with("Errors count #4", m.errors_count4)
    }

    fn battery(&self) -> Status {
        let cells =
            self.heard.battery.as_ref().map(|m| (&m.voltages, m.current_battery, m.battery_remaining));
        let volts = cells.map(|(cells, ..)| {
            let known = cells.iter().take_while(|mv| **mv != u16::MAX);
            known.map(|mv| f64::from(*mv) / 1e3).sum::<f64>()
        });
        let plain = self.heard.system.as_ref().filter(|m| m.voltage_battery != u16::MAX);
        let volts = volts.filter(|v| *v > 0.0).or_else(|| plain.map(|m| f64::from(m.voltage_battery) / 1e3));
        let Some(volts) = volts else { return Status::new("Battery", ERROR, "No data") };
        let status = match volts < self.min_voltage {
            true => Status::new("Battery", WARN, "Low voltage"),
            false => Status::new("Battery", OK, "Normal"),
        };
        let (_, current, remaining) = cells.unwrap_or((&[u16::MAX; 10], -1, -1));
        let current = plain.map_or(current, |m| m.current_battery);
        let remaining = plain.map_or(remaining, |m| m.battery_remaining);
        status
            .with("Voltage", format_args!("{volts:.2}"))
            .with("Current", format_args!("{:.1}", f64::from(current) / 100.0))
            .with("Remaining", format_args!("{:.1}", f64::from(remaining)))
    }

    fn time_sync(&self) -> Status {
        let status = self.timesyncs.status("Time Sync", 0.009, 11.0);
        status
            .with("Timesyncs since startup", self.timesyncs.total)
            .with("Frequency (Hz)", format_args!("{:.6}", self.timesyncs.hz()))
    }

    fn gps(&self) -> Status {
        let Some(m) = &self.heard.gps else { return Status::new("GPS", ERROR, "No satellites") };
        let (level, text) = match m.fix_type {
            _ if m.satellites_visible == 0 => (ERROR, "No satellites"),
            0 | 1 => (WARN, "No fix"),
            2 => (OK, "2D fix"),
            _ => (OK, "3D fix"),
        };
        let centi = |value: u16| match value {
            u16::MAX => "Unknown".to_owned(),
            value => format!("{:.2}", f64::from(value) / 100.0),
        };
        Status::new("GPS", level, text)
            .with("Satellites visible", m.satellites_visible)
            .with("Fix type", m.fix_type)
            .with("EPH (m)", centi(m.eph))
            .with("EPV (m)", centi(m.epv))
    }

    fn memory(&self, now: Instant) -> Option<Status> {
        let (m, at) = self.heard.memory.as_ref()?;
        let free = if m.freemem32 > 0 { m.freemem32 } else { m.freemem.into() };
        let (level, text) = match () {
            () if now.saturating_duration_since(*at) > STALE => (STALE_LEVEL, "Stale"),
            () if free < LOW_MEMORY => (WARN, "Low mem"),
            () => (OK, "Normal"),
        };
        let status = Status::new("APM Memory", level, text).with("Free memory (B)", free);
        Some(status.with("Heap top", format_args!("0x{:04X}", m.brkval)))
    }

    fn hardware(&mut self, now: Instant) -> Option<Status> {
        let (m, at) = self.heard.hardware.as_ref()?;
        let new_errors = m.i2cerr != self.heard.i2c_errors;
        self.heard.i2c_errors = m.i2cerr;
        let volts = f64::from(m.vcc) / 1e3;
        let (level, text) = match () {
            () if now.saturating_duration_since(*at) > STALE => (STALE_LEVEL, "Stale"),
            () if volts < LOW_CORE_VOLTAGE => (WARN, "Low voltage"),
            () if new_errors => (WARN, "New I2C error"),
            () => (OK, "Normal"),
        };
        let status = Status::new("APM Hardware", level, text).with("Core voltage", volts);
        Some(status.with("I2C errors", m.i2cerr))
    }

    fn radio(&self) -> Option<Status> {
        let m = self.heard.radio.as_ref()?;
        let (level, text) = match () {
            () if m.rssi < self.low_rssi => (WARN, "Low RSSI"),
            () if m.remrssi < self.low_rssi => (WARN, "Low remote RSSI"),
            () => (OK, "Normal"),
        };
        let status =
            Status::new("3DR Radio", level, text).with("RSSI", m.rssi).with("Remote RSSI", m.remrssi);
        let status = status.with("Tx buffer (%)", m.txbuf).with("Noise level", m.noise);
        let status = status.with("Remote noise level", m.remnoise);
        Some(status.with("Rx errors", m.rxerrors).with("Fixed", m.fixed))
    }
}

/// Age at which memory and hardware count as unknown.
const STALE: Duration = Duration::from_secs(10);
/// Bytes.
const LOW_MEMORY: u32 = 200;
/// Volts.
const LOW_CORE_VOLTAGE: f64 = 4.5;
/// `MAV_SYS_STATUS_SENSOR`, by bit.
const SENSORS: [&str; 32] = [
    "3D gyro",
    "3D accelerometer",
    "3D magnetometer",
    "absolute pressure",
    "differential pressure",
    "GPS",
    "optical flow",
    "computer vision position",
    "laser based position",
    "external ground truth",
    "3D angular rate control",
    "attitude stabilization",
    "yaw position",
    "z/altitude control",
    "x/y position control",
    "motor outputs / control",
    "RC receiver",
    "2nd 3D gyro",
    "2nd 3D accelerometer",
    "2nd 3D magnetometer",
    "geofence",
    "AHRS subsystem health",
    "terrain subsystem health",
    "motors are reversed",
    "logging",
    "battery",
    "proximity",
    "satellite communication",
    "pre-arm check status",
    "avoidance/collision prevention",
    "propulsion",
    "extended status",
];
