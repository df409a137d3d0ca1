//! `mavlink.esc_status` and `mavlink.esc_telemetry`: motor controllers.

use std::sync::Arc;

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Interest, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::mavros_msgs::msg::{
    ESCInfo, ESCInfoItem, ESCStatus, ESCStatusItem, ESCTelemetry, ESCTelemetryItem,
};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{
            EscInfo, EscStatus, EscTelemetry1To4, EscTelemetry5To8, EscTelemetry9To12, Heartbeat, Message,
        },
        relay::{TELLS, copy, topic},
        ros,
        uas::{MavContext, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// ESC_INFO and ESC_STATUS to `esc_status/info` and `esc_status/status`.
///
/// A frame tells of four controllers; a message, of all, goes out with the last of them. **Units**: degrees Celsius
/// (with `exact` times 10000, as in MAVROS), rpm, V, A.
///
/// Source: MAVLink common, ESC_INFO (290), ESC_STATUS (291).
pub(super) const STATUS: DecodeOnly = DecodeOnly::new(&STATUS_INFO, status);

const STATUS_INFO: CodecInfo = CodecInfo {
    name: "mavlink.esc_status",
    doc: "motor controllers: health, speed, voltage, current",
    ports: &[topic::<ESCInfo>("info", Qos::reliable()), topic::<ESCStatus>("status", Qos::reliable())],
    interest: Interest::Tags(&[EscInfo::ID, EscStatus::ID, Heartbeat::ID]),
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT, vehicle::EXACT],
    ..TELLS
};

const INFO: Port = Port(0);
const STATUS_PORT: Port = Port(1);

fn status(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &STATUS_INFO)?;
    Ok(Box::new(StatusDecoder {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        exact: options.flag("exact", false)?,
        count: 0,
        last_info: 0,
        last_status: 0,
        info: ESCInfo::default(),
        status: ESCStatus::default(),
    }))
}

struct StatusDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    exact: bool,
    /// Controllers there are by ESC_INFO; 0 before it came.
    count: u8,
    /// Highest `index` of each message so far.
    last_info: u8,
    last_status: u8,
    info: ESCInfo,
    status: ESCStatus,
}

impl Decoder for StatusDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            (self.count, self.last_info, self.last_status) = (0, 0, 0);
            self.info.esc_info.clear();
            self.status.esc_status.clear();
        }
        match packet.msgid {
            EscInfo::ID => self.take_info(&EscInfo::decode(packet.payload), out),
            EscStatus::ID => self.take_status(&EscStatus::decode(packet.payload), out),
            _ => {}
        }
        Ok(())
    }
}

impl StatusDecoder {
    fn take_info(&mut self, m: &EscInfo, out: &mut Emit<'_>) {
        self.count = self.count.max(m.count);
        let info = &mut self.info;
        ros::stamp(&mut info.header, self.uas.stamp_us(m.time_usec, out.stamp()));
        copy!(m => info; counter, count, connection_type, info);
        info.esc_info.resize_with(usize::from(self.count), ESCInfoItem::default);
        let items = info.esc_info.iter_mut().skip(m.index.into());
        let values = m.failure_flags.iter().zip(m.error_count).zip(m.temperature);
        for (item, ((failure_flags, error_count), temperature)) in items.zip(values) {
            item.header.clone_from(&info.header);
            item.failure_flags = *failure_flags;
            item.error_count = error_count;
            item.temperature = if self.exact { i32::from(temperature) * 100 } else { celsius(temperature) };
        }
        self.last_info = self.last_info.max(m.index);
        if m.index == self.last_info {
            out.publish(INFO, out.stamp(), info);
        }
    }

    fn take_status(&mut self, m: &EscStatus, out: &mut Emit<'_>) {
        let known = usize::from(self.count);
        // Without ESC_INFO, as many as were heard of.
        let count = if known > 0 { known } else { usize::from(m.index) + m.rpm.len() };
        let status = &mut self.status;
        ros::stamp(&mut status.header, self.uas.stamp_us(m.time_usec, out.stamp()));
        if status.esc_status.len() < count {
            status.esc_status.resize_with(count, ESCStatusItem::default);
        }
        let items = status.esc_status.iter_mut().skip(m.index.into());
        for (item, ((rpm, voltage), current)) in items.zip(m.rpm.iter().zip(m.voltage).zip(m.current)) {
            item.header.clone_from(&status.header);
            item.rpm = *rpm;
            item.voltage = voltage;
            item.current = current;
        }
        self.last_status = self.last_status.max(m.index);
        if m.index == self.last_status {
            out.publish(STATUS_PORT, out.stamp(), status);
        }
    }
}

/// Hundredths of a degree as whole degrees, rounded.
fn celsius(centidegrees: i16) -> i32 {
    let half = if centidegrees < 0 { -50 } else { 50 };
    (i32::from(centidegrees) + half) / 100
}

/// ArduPilot's ESC_TELEMETRY_* to `esc_telemetry/telemetry`: all controllers heard of so far, with each frame.
///
/// **Units**: degrees Celsius, V, A, Ah, rpm.
///
/// Source: ardupilotmega, ESC_TELEMETRY_1_TO_4 (11030), 5_TO_8 (11031), 9_TO_12 (11032), which have one layout.
pub(super) const TELEMETRY: DecodeOnly = DecodeOnly::new(&TELEMETRY_INFO, telemetry);

const TELEMETRY_INFO: CodecInfo = CodecInfo {
    name: "mavlink.esc_telemetry",
    doc: "motor controllers of ArduPilot",
    ports: &[topic::<ESCTelemetry>("telemetry", Qos::reliable())],
    interest: Interest::Tags(&[
        EscTelemetry1To4::ID,
        EscTelemetry5To8::ID,
        EscTelemetry9To12::ID,
        Heartbeat::ID,
    ]),
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT],
    ..TELLS
};

const TELEMETRY_PORT: Port = Port(0);

fn telemetry(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &TELEMETRY_INFO)?)?;
    Ok(Box::new(TelemetryDecoder { vehicle, all: ESCTelemetry::default() }))
}

struct TelemetryDecoder {
    vehicle: Vehicle,
    all: ESCTelemetry,
}

impl Decoder for TelemetryDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.all.esc_telemetry.clear();
        }
        let first = match packet.msgid {
            EscTelemetry1To4::ID => 0,
            EscTelemetry5To8::ID => 4,
            EscTelemetry9To12::ID => 8,
            _ => return Ok(()),
        };
        let m = EscTelemetry1To4::decode(packet.payload);
        let end = first + m.rpm.len();
        if self.all.esc_telemetry.len() < end {
            self.all.esc_telemetry.resize_with(end, ESCTelemetryItem::default);
        }
        let stamp = out.stamp();
        ros::stamp(&mut self.all.header, stamp);
        let four = self.all.esc_telemetry.get_mut(first..end).unwrap_or_default();
        for (index, item) in four.iter_mut().enumerate() {
            let of = |values: [u16; 4]| values.get(index).copied().unwrap_or_default();
            ros::stamp(&mut item.header, stamp);
            item.temperature = m.temperature.get(index).copied().unwrap_or_default().into();
            item.voltage = f32::from(of(m.voltage)) / 100.0;
            item.current = f32::from(of(m.current)) / 100.0;
            item.totalcurrent = f32::from(of(m.totalcurrent)) / 1000.0;
            item.rpm = of(m.rpm).into();
            item.count = of(m.count);
        }
        out.publish(TELEMETRY_PORT, stamp, &self.all);
        Ok(())
    }
}
