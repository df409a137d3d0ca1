//! `mavlink.state`: connection, flight mode, landed state.

use std::time::{Duration, Instant};

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    rule::Source,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::mavros_msgs::msg::{ExtendedState, State};

use super::{
    DecodeOnly,
    dialect::{ExtendedSysState, Heartbeat, Message},
    mode,
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, TIMEOUT, Vehicle},
};
use crate::options::Options;

/// Heartbeats of the vehicle to `state`, EXTENDED_SYS_STATE to `extended_state`.
///
/// `state` is published at start (not connected), for each heartbeat, and once when none came for ten seconds. It
/// is latched, so late subscribers learn it at once. With `exact` the mode name is looked up with the vehicle type
/// of the heartbeat before.
///
/// Source: MAVLink common, HEARTBEAT (0), EXTENDED_SYS_STATE (245).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build).hearing_all();

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.state",
    doc: "connection, arming, flight mode; landed and VTOL state",
    roles: &[Role::Decode],
    ports: &[
        topic::<State>("state", Qos::latched(10)),
        topic::<ExtendedState>("extended_state", Qos::latched(10)),
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, ExtendedSysState::ID]),
    cost: Cost::Inline,
    tick: Some(Duration::from_millis(250)),
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT, vehicle::EXACT],
};

const STATE: Port = Port(0);
const EXTENDED_STATE: Port = Port(1);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(StateDecoder {
        rule: cx.rule.rule_id.as_str().to_owned(),
        vehicle: Vehicle::new(&options)?,
        exact: options.flag("exact", false)?,
        started: None,
        stranger: None,
        stranger_told: false,
        absence_told: false,
        hint: hint(&cx.rule.source),
        state: State::default(),
        extended: ExtendedState::default(),
    }))
}

struct StateDecoder {
    rule: String,
    vehicle: Vehicle,
    exact: bool,
    /// When the first tick came.
    started: Option<Instant>,
    /// System and component of the last heartbeat that is not ours.
    stranger: Option<(u8, u8)>,
    /// The stranger was reported since the vehicle was last there.
    stranger_told: bool,
    /// It was said that nobody was heard since the start.
    absence_told: bool,
    /// What the vehicle has to do to be heard.
    hint: String,
    state: State,
    extended: ExtendedState,
}

impl Decoder for StateDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let packet = Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?;
        if self.vehicle.sysid != 0 && self.vehicle.sysid != packet.sysid {
            if packet.msgid == Heartbeat::ID {
                self.stranger = Some((packet.sysid, packet.compid));
            }
            return Ok(());
        }
        match packet.msgid {
            Heartbeat::ID => self.heartbeat(&packet, frame.received, out),
            ExtendedSysState::ID if out.wants(EXTENDED_STATE) => {
                let m = ExtendedSysState::decode(packet.payload);
                let stamp = out.stamp();
                ros::stamp(&mut self.extended.header, stamp);
                self.extended.vtol_state = m.vtol_state;
                self.extended.landed_state = m.landed_state;
                out.publish(EXTENDED_STATE, stamp, &self.extended);
            }
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        let started = match self.started {
            Some(started) => started,
            None => {
                self.started = Some(now);
                if !self.state.connected {
                    self.publish_disconnected(out);
                }
                now
            }
        };
        if self.vehicle.fell_silent(now) {
            tracing::warn!(
                rule = %self.rule,
                sysid = self.vehicle.sysid,
                "CON: Lost connection, HEARTBEAT timed out."
            );
            self.stranger = None;
            self.publish_disconnected(out);
        }
        if self.state.connected || now.saturating_duration_since(started) < TIMEOUT {
            return;
        }
        if let Some((sysid, compid)) = self.stranger.filter(|_| !self.stranger_told) {
            self.stranger_told = true;
            self.absence_told = true;
            tracing::warn!(
                rule = %self.rule,
                wanted_sysid = self.vehicle.sysid,
                wanted_compid = self.vehicle.compid,
                sysid,
                compid,
                "heartbeats come from another system or component than configured; \
                 set tgt_system (or mavros_start_copter_id) and tgt_component"
            );
        } else if !self.absence_told {
            self.absence_told = true;
            let (rule, sysid) = (&self.rule, self.vehicle.sysid);
            tracing::warn!(%rule, sysid, "no HEARTBEAT of any vehicle yet; {}", self.hint);
        }
    }
}

impl StateDecoder {
    fn heartbeat(&mut self, packet: &Packet<'_>, at: Instant, out: &mut Emit<'_>) {
        let (old_autopilot, old_kind) = (self.vehicle.autopilot, self.vehicle.kind);
        let Some(beat) = self.vehicle.heartbeat(packet, at) else {
            self.stranger = Some((packet.sysid, packet.compid));
            return;
        };
        if beat.connects {
            let fcu = autopilot_name(self.vehicle.autopilot);
            let (rule, sysid) = (&self.rule, packet.sysid);
            tracing::info!(%rule, sysid, "CON: Got HEARTBEAT, connected. FCU: {fcu}");
            self.stranger_told = false;
            self.absence_told = true;
        }
        let stamp = out.stamp();
        ros::stamp(&mut self.state.header, stamp);
        let m = beat.heartbeat;
        self.state.connected = true;
        self.state.armed = m.base_mode & 128 != 0;
        self.state.manual_input = m.base_mode & 64 != 0;
        self.state.guided = m.base_mode & 8 != 0;
        self.state.system_status = m.system_status;
        let (autopilot, kind) = match self.exact {
            true => (old_autopilot, old_kind),
            false => (m.autopilot, m.kind),
        };
        mode::write_name(&mut self.state.mode, autopilot, kind, m.base_mode, m.custom_mode);
        out.publish(STATE, stamp, &self.state);
    }

    fn publish_disconnected(&mut self, out: &mut Emit<'_>) {
        let stamp = out.stamp();
        self.state = State::default();
        ros::stamp(&mut self.state.header, stamp);
        out.publish(STATE, stamp, &self.state);
    }
}

/// What a vehicle has to do to be heard.
fn hint(source: &Source) -> String {
    match source {
        Source::Udp(bind) => format!("let it send MAVLink to UDP port {} of this host", bind.addr.port()),
        Source::Serial(port) => format!("see that it sends MAVLink to {} at {} baud", port.device, port.baud),
        Source::Tcp(_) | Source::Mem(_) | Source::None => {
            "see that its link is up and carries MAVLink".to_owned()
        }
    }
}

/// The words of MAVROS's log, which people look for.
fn autopilot_name(autopilot: u8) -> &'static str {
    match autopilot {
        0 => "Generic autopilot",
        mode::ARDUPILOT => "ArduPilot",
        9 => "PPZ UAV",
        mode::PX4 => "PX4 Autopilot",
        14 => "AutoQuad",
        20 => "iNAV",
        _ => "another autopilot",
    }
}
