//! `coptersim.flight`: a vehicle of CopterSim flown as MAVROS flies one.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, Sample},
    emit::Emit,
    rule::Target,
    throttle::LogThrottle,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    geometry_msgs::msg::{PoseStamped, Twist, TwistStamped},
    mavros_msgs::{
        msg::{AttitudeTarget, PositionTarget, State},
        srv::{
            CommandBool, CommandBoolRequest, CommandBoolResponse, CommandTOL, CommandTOLRequest,
            CommandTOLResponse, SetMode, SetModeRequest, SetModeResponse,
        },
    },
};
use rostrans_rflysim::command::Command;

use self::{
    pilot::{Answer, Pilot},
    setpoint::Reading,
    wire::Wire,
};
use super::{CraftContext, Described, TELLS, craft::Craft, sender::is_reached};
use crate::{
    describe::{input, service, topic},
    options::Options,
    ros,
};

mod pilot;
mod setpoint;
mod wire;

/// Setpoints, arming, modes, take-off and landing; `state` once a second and at each change.
///
/// CopterSim acknowledges nothing, so arming and mode are those that were asked for. Setpoints go out as they come, in
/// mode OFFBOARD and armed only; everything else is sent for a second, because datagrams get lost. Heights of
/// `takeoff` count from the spawn point.
///
/// Source: rflysim spec 4, 10.1.
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "coptersim.flight",
    doc: "flies a vehicle of CopterSim: MAVROS setpoints and services to the link's target",
    ports: &[topic::<State>("state", Qos::latched(10))],
    inputs: &[
        input::<PositionTarget>("setpoint_raw_local", 10),
        input::<AttitudeTarget>("setpoint_raw_attitude", 10),
        input::<PoseStamped>("setpoint_position", 10),
        input::<TwistStamped>("setpoint_velocity", 10),
        input::<Twist>("setpoint_velocity_unstamped", 10),
        input::<TwistStamped>("setpoint_rates", 10),
    ],
    services: &[
        service::<CommandBool>("arming"),
        service::<SetMode>("set_mode"),
        service::<CommandTOL>("takeoff"),
        service::<CommandTOL>("land"),
    ],
    interest: Interest::Tags(&[]),
    cost: Cost::Queued,
    tick: Some(Duration::from_millis(50)),
    options: &[
        super::CRAFT,
        ("copter_id", "number of the vehicle, 1 or more; default 1"),
        ("wire", "packets to fly with: dll (default), dll_map or simple"),
        ("yaw", "what setpoints count yaw from: enu (east, default, as MAVROS) or ned (north)"),
        ("velocity_yaw", "a velocity with a yaw: yaw (default) or rate, for models that ignore the yaw"),
        ("timeout", "seconds without a state until the vehicle is not connected; default 2"),
    ],
    ..TELLS
};

const STATE: Port = Port(0);

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(&cx.codec, &INFO)?;
    let wires = [("dll", Wire::Dll), ("dll_map", Wire::DllMap), ("simple", Wire::Simple)];
    let reading = Reading {
        yaw_is_ned: options.choice("yaw", &[("enu", false), ("ned", true)])?.unwrap_or(false),
        turn_by_rate: options.choice("velocity_yaw", &[("yaw", false), ("rate", true)])?.unwrap_or(false),
    };
    let timeout = Duration::try_from_secs_f64(options.number("timeout", 2.0)?).unwrap_or(Duration::MAX);
    Ok(Box::new(Flight {
        rule: Arc::clone(&cx.codec.rule.rule_id.0),
        craft: Arc::clone(&cx.craft),
        pilot: Pilot::default(),
        copter_id: options.int("copter_id", 1, 1..=255)?,
        wire: options.choice("wire", &wires)?.unwrap_or(Wire::Dll),
        reading,
        timeout,
        target: match cx.codec.link.target {
            Some(Target::Udp(target)) => Some(target),
            _ => None,
        },
        state: State { header: ros::header(""), ..State::default() },
        due: None,
        sender: None,
        connected: false,
        starts: cx.craft.starts(),
        idle: LogThrottle::new(),
        refused: LogThrottle::new(),
        absent: LogThrottle::new(),
        began: None,
    }))
}

struct Flight {
    rule: Arc<str>,
    craft: Arc<Craft>,
    pilot: Pilot,
    copter_id: i32,
    wire: Wire,
    reading: Reading,
    timeout: Duration,
    target: Option<SocketAddr>,
    state: State,
    /// When `state` is published again.
    due: Option<Instant>,
    /// Who sends the vehicle's states.
    sender: Option<SocketAddr>,
    connected: bool,
    /// Starts of the simulation that are known.
    starts: u32,
    idle: LogThrottle,
    refused: LogThrottle,
    absent: LogThrottle,
    began: Option<Instant>,
}

impl Decoder for Flight {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let bytes = &sample.payload;
        let command = match input.0 {
            0 => setpoint::raw_local(&read::<PositionTarget>(bytes)?, self.reading, &self.craft),
            1 => setpoint::raw_attitude(&read::<AttitudeTarget>(bytes)?),
            2 => setpoint::pose(&read::<PoseStamped>(bytes)?, self.reading),
            3 => setpoint::twist(&read::<TwistStamped>(bytes)?.twist),
            4 => setpoint::twist(&read::<Twist>(bytes)?),
            _ => setpoint::rates(&read::<TwistStamped>(bytes)?.twist),
        }?;
        let now = out.received();
        if self.pilot.flies_setpoints() {
            self.pilot.stop_repeating();
            self.send(&command, out);
        } else if let Some(count) = self.idle.event(now) {
            let (rule, armed, mode) = (&self.rule, self.pilot.armed(), self.pilot.mode());
            tracing::info!(%rule, armed, mode, count, "setpoints are not sent: they need mode OFFBOARD and an armed vehicle");
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
        let now = out.received();
        let connected = self.craft.is_connected(now, self.timeout);
        match service.0 {
            0 => {
                let value = read::<CommandBoolRequest>(request)?.value;
                let answer = self.check(connected).unwrap_or_else(|| self.pilot.arm(value, &self.craft, now));
                let (success, result) = self.tell("arming", answer);
                out.answer(call, &CommandBoolResponse { success, result });
            }
            1 => {
                let request: SetModeRequest = read(request)?;
                let answer = self.check(connected).unwrap_or_else(|| {
                    self.pilot.set_mode(&request.custom_mode, self.wire, &self.craft, now)
                });
                let (mode_sent, _) = self.tell("set_mode", answer);
                out.answer(call, &SetModeResponse { mode_sent });
            }
            2 => {
                let height = read::<CommandTOLRequest>(request)?.altitude;
                let answer = self
                    .check(connected)
                    .unwrap_or_else(|| self.pilot.take_off(height, self.wire, &self.craft, now));
                let (success, result) = self.tell("takeoff", answer);
                out.answer(call, &CommandTOLResponse { success, result });
            }
            _ => {
                let _request: CommandTOLRequest = read(request)?;
                let answer = self
                    .check(connected)
                    .unwrap_or_else(|| self.pilot.set_mode("AUTO.LAND", self.wire, &self.craft, now));
                let (success, result) = self.tell("land", answer);
                out.answer(call, &CommandTOLResponse { success, result });
            }
        }
        self.repeat(now, out);
        self.publish(now, out);
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        let began = *self.began.get_or_insert(now);
        let connected = self.craft.is_connected(now, self.timeout);
        let starts = self.craft.starts();
        let rule = &self.rule;
        if starts != self.starts {
            self.starts = starts;
            self.pilot = Pilot::default();
            tracing::info!(%rule, "the simulation has started anew; the vehicle is disarmed");
        }
        match (self.connected, connected) {
            (false, true) => tracing::info!(%rule, copter_id = self.copter_id, "CopterSim is connected"),
            (true, false) => {
                tracing::warn!(%rule, copter_id = self.copter_id, "lost CopterSim: no state any more");
            }
            _ => {}
        }
        let silent = !connected && now.saturating_duration_since(began) > ABSENCE;
        if silent && let Some(count) = self.absent.event(now) {
            tracing::warn!(
                %rule, copter_id = self.copter_id, count,
                "no state from CopterSim; see that the simulation runs, that it sends to this computer (its UDP option \
                 or broadcast), and that coptersim_targetip and coptersim_startid are right"
            );
        }
        let changed = self.connected != connected;
        self.connected = connected;
        self.compare_sender();
        self.pilot.watch(&self.craft, now);
        self.repeat(now, out);
        let due = self.due.is_none_or(|due| now >= due);
        if due || changed || self.differs() {
            self.publish(now, out);
        }
    }
}

impl Flight {
    /// A refusal while nobody is there.
    fn check(&self, connected: bool) -> Option<Answer> {
        if self.target.is_none() {
            return Some(Answer::Refused("the link has no target"));
        }
        (!connected).then_some(Answer::Refused("no state comes from CopterSim"))
    }

    /// Logs a refusal; success and `MAV_RESULT`.
    fn tell(&self, service: &str, answer: Answer) -> (bool, u8) {
        match answer {
            Answer::Done => (true, 0),
            Answer::Refused(reason) => {
                tracing::warn!(rule = %self.rule, "{service} refused: {reason}");
                (false, 1)
            }
            Answer::Unknown(mode) => {
                tracing::warn!(rule = %self.rule, mode, "{service} refused: no such mode; {}", pilot::MODES);
                (false, 3)
            }
        }
    }

    /// Sends what has to be repeated.
    fn repeat(&mut self, now: Instant, out: &mut Emit<'_>) {
        if let Some(command) = self.pilot.repeated(now) {
            self.send(&command, out);
        }
    }

    fn send(&mut self, command: &Command, out: &mut Emit<'_>) {
        match wire::datagram(self.wire, command, self.copter_id, self.craft.spawn()) {
            Ok(datagram) => out.send_to(&datagram, self.target),
            Err(what) => {
                if let Some(count) = self.refused.event(out.received()) {
                    let (rule, wire) = (&self.rule, self.wire);
                    tracing::warn!(%rule, ?wire, count, "not sent, these packets have no form for it: {what}");
                }
            }
        }
    }

    fn differs(&self) -> bool {
        self.state.armed != self.pilot.armed() || self.state.mode != self.pilot.mode()
    }

    /// Says so when commands go to another computer than states come from.
    fn compare_sender(&mut self) {
        let sender = self.craft.sender();
        if sender == self.sender {
            return;
        }
        self.sender = sender;
        if let Some((sender, target)) = sender.zip(self.target)
            && !is_reached(target.ip(), sender.ip())
        {
            let rule = &self.rule;
            tracing::warn!(
                %rule, %sender, %target,
                "states come from another address than commands go to, so the vehicle may not obey; \
                 coptersim_targetip should be the sender's"
            );
        }
    }

    fn publish(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.differs() {
            let (rule, armed, mode) = (&self.rule, self.pilot.armed(), self.pilot.mode());
            tracing::info!(%rule, armed, mode, "arming or mode has changed");
        }
        if self.due.is_none_or(|due| now >= due) {
            // Ticks come a little late; that must not add up.
            let next = self.due.map_or(now, |due| due + SECOND);
            self.due = Some(if next > now { next } else { now + SECOND });
        }
        let stamp = out.stamp();
        ros::stamp(&mut self.state.header, stamp);
        self.state.connected = self.connected;
        self.state.armed = self.pilot.armed();
        self.state.guided = self.pilot.mode() == "OFFBOARD";
        self.pilot.mode().clone_into(&mut self.state.mode);
        self.state.system_status = if self.pilot.armed() { ACTIVE } else { STANDBY };
        out.publish(STATE, stamp, &self.state);
    }
}

fn read<M: CdrDecode + RosType>(bytes: &CdrBytes) -> Result<M, EncodeError> {
    from_cdr(bytes).map_err(|_| EncodeError::Cdr(M::TYPE))
}

const SECOND: Duration = Duration::from_secs(1);
/// How long nobody may be heard before it is said.
const ABSENCE: Duration = Duration::from_secs(10);
/// `MAV_STATE`.
const STANDBY: u8 = 3;
const ACTIVE: u8 = 4;
