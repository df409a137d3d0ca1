//! `mavlink.set_mode`: flight modes and data streams, which are asked for without an answer.

use std::sync::Arc;

use rostrans_cdr::{CdrBytes, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Interest, Port},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    mavros_msgs::srv::{
        SetMode as SetModeService, SetModeRequest, SetModeResponse, StreamRate, StreamRateRequest,
        StreamRateResponse,
    },
};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{CommandAck, Heartbeat, Message, RequestDataStream, SetMode},
        mode,
        relay::{TALKS, service},
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// `set_mode` to SET_MODE and `set_stream_rate` to REQUEST_DATA_STREAM. `mode_sent` tells that the mode was known and
/// sent, as in MAVROS; whether the vehicle takes it shows in `state`, and a refusal in the log.
///
/// Source: MAVLink common, SET_MODE (11), REQUEST_DATA_STREAM (66), COMMAND_ACK (77) of command 176.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.set_mode",
    doc: "flight modes and data streams",
    services: &[service::<SetModeService>("set_mode"), service::<StreamRate>("set_stream_rate")],
    interest: Interest::Tags(&[Heartbeat::ID, CommandAck::ID]),
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(ModeDecoder {
        rule: Arc::clone(&cx.rule.rule_id.0),
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        base_mode: 0,
        asked: None,
    }))
}

struct ModeDecoder {
    rule: Arc<str>,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    /// `base_mode` of the last heartbeat.
    base_mode: u8,
    /// The mode that was asked for last, until the vehicle answers.
    asked: Option<String>,
}

impl Decoder for ModeDecoder {
    fn decode(&mut self, frame: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        match packet.msgid {
            Heartbeat::ID => {
                if let Some(beat) = self.vehicle.heartbeat(&packet, frame.received) {
                    self.base_mode = beat.heartbeat.base_mode;
                }
            }
            CommandAck::ID => self.acknowledged(&CommandAck::decode(packet.payload)),
            _ => {}
        }
        Ok(())
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        match service {
            SET_MODE => {
                let request = from_cdr(request).map_err(|_| EncodeError::Cdr(SetModeRequest::TYPE))?;
                let mode_sent = self.set_mode(&request, out);
                out.answer(call, &SetModeResponse { mode_sent });
            }
            _ => {
                let request: StreamRateRequest =
                    from_cdr(request).map_err(|_| EncodeError::Cdr(StreamRateRequest::TYPE))?;
                let message = RequestDataStream {
                    req_message_rate: request.message_rate,
                    target_system: self.uas.target_system(),
                    target_component: self.uas.target_component(),
                    req_stream_id: request.stream_id,
                    start_stop: request.on_off.into(),
                };
                self.talker.send(&message, out);
                out.answer(call, &StreamRateResponse::default());
            }
        }
        Ok(())
    }
}

impl ModeDecoder {
    /// True when the mode was sent.
    fn set_mode(&mut self, request: &SetModeRequest, out: &mut Emit<'_>) -> bool {
        let Some(message) = self.message(request, out) else { return false };
        let sent = self.talker.send(&message, out);
        self.asked = sent.then(|| request.custom_mode.clone());
        if !sent {
            let rule = &self.rule;
            tracing::warn!(%rule, "set_mode failed: no vehicle was heard yet, so there is nobody to send to");
        }
        sent
    }

    fn message(&self, request: &SetModeRequest, out: &Emit<'_>) -> Option<SetMode> {
        let target_system = self.uas.target_system();
        let name = request.custom_mode.trim();
        if name.is_empty() {
            return Some(SetMode { custom_mode: 0, target_system, base_mode: request.base_mode });
        }
        let rule = &self.rule;
        if !self.vehicle.is_connected(out.received()) {
            tracing::warn!(%rule, mode = name, "set_mode failed: no vehicle is connected (no HEARTBEAT)");
            return None;
        }
        let (autopilot, kind) = (self.vehicle.autopilot, self.vehicle.kind);
        let Some(custom_mode) = mode::number(autopilot, kind, name).or_else(|| whole(autopilot, kind, name))
        else {
            tracing::warn!(%rule, mode = name, autopilot, kind, "set_mode failed: this vehicle has no such mode");
            return None;
        };
        let kept = self.base_mode & (ARMED | HIL);
        let base_mode = request.base_mode | kept | mode::CUSTOM_MODE_ENABLED;
        Some(SetMode { custom_mode, target_system, base_mode })
    }

    /// Tells why a mode was refused: MAVROS users wonder about `mode_sent: true` without effect.
    fn acknowledged(&mut self, ack: &CommandAck) {
        if ack.command != DO_SET_MODE {
            return;
        }
        let Some(mode) = self.asked.take() else { return };
        if ack.result != 0 {
            let (rule, result) = (&self.rule, ack.result);
            tracing::warn!(
                %rule, %mode, result, meaning = result_name(result),
                "the vehicle refused the mode; statustext/recv may say why, OFFBOARD needs a stream of setpoints first"
            );
        }
    }
}

/// A mode given as a number: decimal, `0x` and hexadecimal, or `0` and octal. Only of vehicles whose modes are known.
fn whole(autopilot: u8, kind: u8, text: &str) -> Option<u32> {
    if !mode::is_known(autopilot, kind) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if lower.len() > 1 && lower.starts_with('0') => u32::from_str_radix(&lower, 8).ok(),
        None => lower.parse().ok(),
    }
}

/// `MAV_RESULT` in words.
fn result_name(result: u8) -> &'static str {
    match result {
        1 => "temporarily rejected",
        2 => "denied",
        3 => "unsupported",
        4 => "failed",
        5 => "in progress",
        6 => "cancelled",
        _ => "refused",
    }
}

const SET_MODE: Port = Port(0);
/// `MAV_CMD_DO_SET_MODE`: what vehicles acknowledge SET_MODE as.
const DO_SET_MODE: u16 = 176;
/// `MAV_MODE_FLAG`.
const ARMED: u8 = 128;
const HIL: u8 = 32;
