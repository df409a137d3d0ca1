//! `mavlink.set_mode`: flight modes and data streams, which are asked for without an answer.

use std::{sync::Arc, time::Duration};

use rostrans_cdr::{CdrBytes, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Interest, Port},
    emit::Emit,
    throttle::LogThrottle,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    mavros_msgs::srv::{
        SetMode as SetModeService, SetModeRequest, SetModeResponse, StreamRate, StreamRateRequest,
        StreamRateResponse,
    },
};

use super::refusal::Watch;
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{CommandAck, Heartbeat, Message, RequestDataStream, SetMode, Statustext},
        mode,
        relay::{TALKS, service},
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// `set_mode` to SET_MODE and `set_stream_rate` to REQUEST_DATA_STREAM. `mode_sent` tells that the mode was known and
/// sent, as in MAVROS; whether the vehicle takes it shows in `state`. A refusal is in the log with what the vehicle says
/// about it, and so is OFFBOARD without the stream of setpoints that PX4 asks for.
///
/// Source: MAVLink common, SET_MODE (11), REQUEST_DATA_STREAM (66), COMMAND_ACK (77) of command 176, STATUSTEXT (253).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.set_mode",
    doc: "flight modes and data streams",
    services: &[service::<SetModeService>("set_mode"), service::<StreamRate>("set_stream_rate")],
    interest: Interest::Tags(&[Heartbeat::ID, CommandAck::ID, Statustext::ID]),
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
        watch: Watch::default(),
        no_stream: LogThrottle::new(),
    }))
}

struct ModeDecoder {
    rule: Arc<str>,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    /// `base_mode` of the last heartbeat.
    base_mode: u8,
    watch: Watch,
    no_stream: LogThrottle,
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
            CommandAck::ID => {
                let ack = CommandAck::decode(packet.payload);
                if let Some(refusal) = self.watch.acknowledged(&ack, self.uas.own_ids(), frame.received) {
                    refusal.log(&self.rule);
                }
            }
            Statustext::ID => {
                let text = Statustext::decode(packet.payload);
                if let Some(reason) = self.watch.text(&text, frame.received) {
                    tracing::warn!(rule = %self.rule, %reason, "the vehicle says about the mode it refused");
                }
            }
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
                if !self.talker.send(&message, out) {
                    let rule = &self.rule;
                    tracing::warn!(%rule, "set_stream_rate had no effect: no vehicle was heard yet");
                }
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
        if sent {
            self.watch.asked(&request.custom_mode, out.received());
            self.tell_missing_stream(&message, out);
        } else {
            let rule = &self.rule;
            tracing::warn!(%rule, "set_mode failed: no vehicle was heard yet, so there is nobody to send to");
        }
        sent
    }

    /// PX4 takes OFFBOARD only when setpoints have been coming for a while.
    fn tell_missing_stream(&mut self, message: &SetMode, out: &Emit<'_>) {
        if self.vehicle.autopilot != mode::PX4 || message.custom_mode != OFFBOARD {
            return;
        }
        let now = out.received();
        let problem = match self.uas.streaming(now) {
            None => "no setpoints are coming",
            Some(since) if since < STREAM => "setpoints have been coming for less than a second",
            Some(_) => return,
        };
        if let Some(count) = self.no_stream.event(now) {
            tracing::warn!(
                rule = %self.rule, count, problem,
                "OFFBOARD will be refused; first publish setpoints at 20 Hz or more, for a second at least, and go on"
            );
        }
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

const SET_MODE: Port = Port(0);
/// PX4's OFFBOARD (main mode 6).
const OFFBOARD: u32 = 6 << 16;
/// For how long PX4 wants setpoints before OFFBOARD.
const STREAM: Duration = Duration::from_secs(1);
/// `MAV_MODE_FLAG`.
const ARMED: u8 = 128;
const HIL: u8 = 32;
