//! `mavlink.cmd`: commands to the vehicle, answered with what it makes of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Interest, Port},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{
    mavros_msgs::srv::{
        CommandBool, CommandBoolResponse, CommandHome, CommandInt as CommandIntService, CommandIntResponse,
        CommandLong as CommandLongService, CommandTOL, CommandTOLLocal, CommandTriggerControl,
        CommandTriggerInterval, CommandVtolTransition, MessageInterval, MessageIntervalResponse,
    },
    std_srvs::srv::{Trigger, TriggerResponse},
};

use super::requests::{self, Asked};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{CommandAck, Heartbeat, Message},
        mode,
        relay::{TALKS, service},
        transaction::{Command, Outcome, Patience, Step, Transactions},
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// The services under `cmd/`, `set_message_interval` and `home_position/req_update`: COMMAND_LONG or COMMAND_INT to the
/// autopilot, answered with the result of its COMMAND_ACK.
///
/// Different commands run beside each other; a second one of a number is answered "temporarily rejected" while the
/// first is open. Broadcasts, and commands without confirmation to autopilots other than PX4 and ArduPilot, are
/// answered when they are sent, as in MAVROS. Silence is answered "failed" after `command_ack_timeout`, and at once
/// when no vehicle was heard. What may be done twice is sent again up to `command_retries` times, with the confirmation
/// counted up; what comes through `cmd/command`, `cmd/command_int` and `cmd/trigger_control` never is.
///
/// Source: MAVLink common, COMMAND_INT (75), COMMAND_LONG (76), COMMAND_ACK (77), command protocol.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.cmd",
    doc: "commands to the vehicle, with its answer",
    // The order is that of `requests::read`.
    services: &[
        service::<CommandLongService>("command"),
        service::<CommandIntService>("command_int"),
        service::<CommandBool>("arming"),
        service::<CommandHome>("set_home"),
        service::<CommandTOL>("takeoff"),
        service::<CommandTOL>("land"),
        service::<CommandTOLLocal>("takeoff_local"),
        service::<CommandTOLLocal>("land_local"),
        service::<CommandTriggerControl>("trigger_control"),
        service::<CommandTriggerInterval>("trigger_interval"),
        service::<CommandVtolTransition>("vtol_transition"),
        service::<MessageInterval>("set_message_interval"),
        service::<Trigger>("home_req_update"),
    ],
    interest: Interest::Tags(&[CommandAck::ID, Heartbeat::ID]),
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        vehicle::EXACT,
        ("command_ack_timeout", "seconds to wait for an answer, 0.1 to 600; default 5"),
        ("command_retries", "times a command that may be done twice is sent again, 0 to 10; default 2"),
        ("wait_in_progress", "false takes a report of progress for the answer; default true"),
        ("use_comp_id_system_control", "true sends to component 250; default false"),
    ],
    ..TALKS
};

/// The indices of services whose answers differ from the others'.
const COMMAND_INT: u8 = 1;
const MESSAGE_INTERVAL: u8 = 11;
const HOME_UPDATE: u8 = 12;

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let exact = options.flag("exact", false)?;
    let seconds = options.number("command_ack_timeout", 5.0)?;
    if !(0.1..=600.0).contains(&seconds) {
        let problem = format!("{seconds} is not a number from 0.1 to 600");
        return Err(CodecError::Option { option: "command_ack_timeout".to_owned(), problem });
    }
    let patience = Patience {
        timeout: Duration::from_secs_f64(seconds),
        retries: if exact { 0 } else { options.int("command_retries", 2, 0..=10)? },
        wait_in_progress: !exact && options.flag("wait_in_progress", true)?,
    };
    Ok(Box::new(Cmd {
        rule: Arc::clone(&cx.rule.rule_id.0),
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        system_control: options.flag("use_comp_id_system_control", false)?,
        exact,
        transactions: Transactions::new(patience, cx.uas.underway()),
    }))
}

struct Cmd {
    rule: Arc<str>,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    system_control: bool,
    exact: bool,
    /// Open commands, each with its service and call.
    transactions: Transactions<(u8, CallId)>,
}

impl Decoder for Cmd {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        match packet.msgid {
            Heartbeat::ID => {
                self.vehicle.heartbeat(&packet, frame.received);
            }
            CommandAck::ID => {
                let ack = CommandAck::decode(packet.payload);
                let done = self.transactions.acknowledged(&ack, self.uas.own_ids(), frame.received);
                if let Some((token, outcome)) = done {
                    answer(token, outcome, out);
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
        let (token, now) = ((service.0, call), out.received());
        let Asked { mut command, broadcast, repeat } = requests::read(service.0, request)?;
        self.address(&mut command, broadcast);
        if !self.vehicle.is_connected(now) && !broadcast {
            let (rule, command) = (&self.rule, command.number());
            tracing::warn!(%rule, command, "command refused: no vehicle is connected (no HEARTBEAT)");
            answer(token, Outcome::TIMED_OUT, out);
            return Ok(());
        }
        if broadcast || !self.is_answered(&command, service) {
            let sent = self.send(&command, out);
            if !sent {
                let (rule, command) = (&self.rule, command.number());
                tracing::warn!(%rule, command, "command refused: nobody was heard yet, so there is nobody to send to");
            }
            answer(token, if sent { Outcome::of(0) } else { Outcome::TIMED_OUT }, out);
        } else if let Err(token) = self.transactions.begin(command, token, repeat, now) {
            answer(token, Outcome::BUSY, out);
        } else {
            self.step(now, out);
        }
        Ok(())
    }

    fn next_due(&self) -> Option<Instant> {
        self.transactions.next_due()
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.step(now, out);
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        for token in self.transactions.drain().collect::<Vec<_>>() {
            answer(token, Outcome::TIMED_OUT, out);
        }
    }
}

impl Cmd {
    fn address(&self, command: &mut Command, broadcast: bool) {
        let component = if self.system_control { SYSTEM_CONTROL } else { self.uas.target_component() };
        let (system, component) = if broadcast { (0, 0) } else { (self.uas.target_system(), component) };
        match command {
            Command::Long(m) => (m.target_system, m.target_component) = (system, component),
            Command::Int(m) => (m.target_system, m.target_component) = (system, component),
        }
    }

    /// Whether the vehicle will acknowledge a command. PX4 and ArduPilot acknowledge all of them; of others MAVROS
    /// expects it only when a confirmation is given, and programs for them rely on that.
    fn is_answered(&self, command: &Command, service: Port) -> bool {
        // In MAVROS, command_int never waits.
        let waits = !self.exact || service != Port(COMMAND_INT);
        let confirmed = matches!(command, Command::Long(m) if m.confirmation != 0);
        waits && (confirmed || matches!(self.vehicle.autopilot, mode::PX4 | mode::ARDUPILOT))
    }

    fn step(&mut self, now: Instant, out: &mut Emit<'_>) {
        while let Some(step) = self.transactions.step(now) {
            match step {
                Step::Send(command) => {
                    self.send(&command, out);
                }
                Step::Done(token, outcome) => answer(token, outcome, out),
            }
        }
    }

    /// False when there is nobody to send to.
    fn send(&mut self, command: &Command, out: &mut Emit<'_>) -> bool {
        match command {
            Command::Long(m) => self.talker.send(m, out),
            Command::Int(m) => self.talker.send(m, out),
        }
    }
}

fn answer((service, call): (u8, CallId), Outcome { success, result }: Outcome, out: &mut Emit<'_>) {
    match service {
        COMMAND_INT => out.answer(call, &CommandIntResponse { success }),
        MESSAGE_INTERVAL => out.answer(call, &MessageIntervalResponse { success }),
        HOME_UPDATE => {
            let message = if success { String::new() } else { format!("MAV_RESULT {result}") };
            out.answer(call, &TriggerResponse { success, message });
        }
        // The responses of all others have the same two fields.
        _ => out.answer(call, &CommandBoolResponse { success, result }),
    }
}

/// `MAV_COMP_ID_SYSTEM_CONTROL`.
const SYSTEM_CONTROL: u8 = 250;
