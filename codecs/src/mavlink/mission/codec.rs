//! `mavlink.mission`: the three plans of a vehicle.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::mavros_msgs::{
    msg::{WaypointList, WaypointReached},
    srv::{WaypointClear, WaypointPull, WaypointPush, WaypointSetCurrent, WaypointSetCurrentRequest},
};

use super::{
    item,
    machine::{Choices, Machine},
    say,
    service::{push, read, reply},
    task::{Answer, Caller, Effect, Heard, Job},
};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{
            AutopilotVersion, Heartbeat, Message, MissionAck, MissionCount, MissionCurrent, MissionItem,
            MissionItemInt, MissionItemReached, MissionRequest, MissionRequestInt,
        },
        relay::{service, topic},
        ros,
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// Missions, geofences and rally points: their lists as topics, the services that read and write them.
///
/// Each list is read 15 s after the vehicle connects and when somebody else has changed it. Coordinates are degrees
/// or metres, as an item's `frame` says; altitudes are passed on as they are. The vehicle has one transfer at a
/// time: a call waits for another plan's transfer (30 s at most), fails at once when a call of its own plan is
/// at work, and takes precedence over readings that nobody asked for.
///
/// Source: MAVLink common, mission protocol: MISSION_WRITE_PARTIAL_LIST (38), MISSION_ITEM (39), MISSION_REQUEST (40),
/// MISSION_SET_CURRENT (41), MISSION_CURRENT (42), MISSION_REQUEST_LIST (43), MISSION_COUNT (44), MISSION_CLEAR_ALL
/// (45), MISSION_ITEM_REACHED (46), MISSION_ACK (47), MISSION_REQUEST_INT (51), MISSION_ITEM_INT (73);
/// AUTOPILOT_VERSION (148) for capabilities.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.mission",
    doc: "missions, geofences and rally points, read and written",
    roles: &[Role::Decode],
    ports: &[
        topic::<WaypointList>("waypoints", Qos::latched(1)),
        topic::<WaypointList>("fences", Qos::latched(1)),
        topic::<WaypointList>("rallypoints", Qos::latched(1)),
        topic::<WaypointReached>("reached", Qos::latched(1)),
    ],
    inputs: &[],
    services: &[
        service::<WaypointPull>("mission_pull"),
        service::<WaypointPush>("mission_push"),
        service::<WaypointClear>("mission_clear"),
        service::<WaypointPull>("geofence_pull"),
        service::<WaypointPush>("geofence_push"),
        service::<WaypointClear>("geofence_clear"),
        service::<WaypointPull>("rallypoint_pull"),
        service::<WaypointPush>("rallypoint_push"),
        service::<WaypointClear>("rallypoint_clear"),
        service::<WaypointSetCurrent>("mission_set_current"),
    ],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        MissionItem::ID,
        MissionRequest::ID,
        MissionCurrent::ID,
        MissionCount::ID,
        MissionItemReached::ID,
        MissionAck::ID,
        MissionRequestInt::ID,
        MissionItemInt::ID,
        AutopilotVersion::ID,
    ]),
    cost: Cost::Queued,
    tick: None,
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        ("pull_after_gcs", "false does not read a plan again that somebody else has changed; default true"),
        (
            "use_mission_item_int",
            "false sends items in single precision until the vehicle says it has the others; default true",
        ),
        (
            "enable_partial_push",
            "0 refuses to change part of a mission, 1 allows it, 2 with ArduPilot only; default 2",
        ),
    ],
};

/// Ports 0 to 2 are the plans' lists.
const REACHED: Port = Port(3);
/// Services 0 to 8 are pull, push and clear of each plan.
const SET_CURRENT: u8 = 9;
const NAMES: [&str; 3] = ["mission", "geofence", "rallypoint"];

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let choices = Choices {
        int: options.flag("use_mission_item_int", true)?,
        pull_after_gcs: options.flag("pull_after_gcs", true)?,
    };
    Ok(Box::new(MissionDecoder {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        plans: NAMES
            .map(|name| Plan { machine: Machine::new(&cx.rule.rule_id.0, name, choices), waiting: None }),
        rule: Arc::clone(&cx.rule.rule_id.0),
        partial: options.int("enable_partial_push", 2, 0..=2)?,
    }))
}

struct MissionDecoder {
    rule: Arc<str>,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    /// By `MAV_MISSION_TYPE`.
    plans: [Plan; 3],
    /// 0 no partial writes, 1 with any vehicle, 2 with ArduPilot.
    partial: u8,
}

struct Plan {
    machine: Machine,
    /// A call that waits for another plan's transfer.
    waiting: Option<Waiting>,
}

struct Waiting {
    job: Job,
    caller: Caller,
    /// Fails then.
    until: Instant,
}

impl Decoder for MissionDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        let now = frame.received;
        self.check_connection(now);
        if packet.msgid == Heartbeat::ID {
            if self.vehicle.heartbeat(&packet, now).is_some_and(|beat| beat.connects) {
                self.plans.iter_mut().for_each(|plan| plan.machine.connected(now));
            }
        } else if packet.compid == self.uas.target_component() {
            self.hear(&packet, now, out);
        }
        self.go_on(now, out);
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.check_connection(now);
        for plan in &mut self.plans {
            plan.machine.tick(now);
        }
        self.go_on(now, out);
    }

    fn next_due(&self) -> Option<Instant> {
        let busy = self.plans.iter().any(|plan| plan.machine.is_active());
        let silence = self.vehicle.silent_at();
        let of_plan = |plan: &Plan| {
            let pull = plan.machine.next_pull().filter(|_| !busy);
            let waiting = plan.waiting.as_ref().map(|waiting| waiting.until);
            plan.machine.next_due().into_iter().chain(pull).chain(waiting).min()
        };
        self.plans.iter().filter_map(of_plan).chain(silence).min()
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let now = out.received();
        let index = usize::from(service.0);
        let (plan, job, answer) = if service.0 == SET_CURRENT {
            let request: WaypointSetCurrentRequest = read(request)?;
            (0, Job::SetCurrent(request.wp_seq), Answer::SetCurrent)
        } else {
            match index % 3 {
                0 => (index / 3, Job::Pull, Answer::Pull),
                1 => (index / 3, push(read(request)?), Answer::Push),
                _ => (index / 3, Job::Clear, Answer::Clear),
            }
        };
        let caller = Caller { call, answer };
        if self.vehicle.is_connected(now) && self.may(plan, &job) {
            self.take(plan, job, caller, now, out);
        } else {
            reply(caller, false, 0, out);
        }
        self.go_on(now, out);
        Ok(())
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        let now = out.received();
        self.stop(now);
        self.go_on(now, out);
    }
}

impl MissionDecoder {
    /// What is left when the vehicle fell silent: nothing.
    fn check_connection(&mut self, now: Instant) {
        if self.vehicle.fell_silent(now) {
            self.stop(now);
        }
    }

    fn stop(&mut self, now: Instant) {
        for plan in &mut self.plans {
            plan.machine.disconnected(now);
            if let Some(waiting) = &mut plan.waiting {
                waiting.until = now;
            }
        }
    }

    fn hear(&mut self, packet: &Packet<'_>, now: Instant, out: &mut Emit<'_>) {
        let payload = packet.payload;
        match packet.msgid {
            MissionCount::ID => {
                let m = MissionCount::decode(payload);
                self.hear_for(
                    m.mission_type,
                    m.target_system,
                    m.target_component,
                    Heard::Count(m.count),
                    now,
                );
            }
            MissionItem::ID => {
                let m = MissionItem::decode(payload);
                let heard = Heard::Item { seq: m.seq, item: item::from_float(&m), int: false };
                self.hear_for(m.mission_type, m.target_system, m.target_component, heard, now);
            }
            MissionItemInt::ID => {
                let m = MissionItemInt::decode(payload);
                let heard = Heard::Item { seq: m.seq, item: item::from_int(&m), int: true };
                self.hear_for(m.mission_type, m.target_system, m.target_component, heard, now);
            }
            MissionRequest::ID => {
                let m = MissionRequest::decode(payload);
                let heard = Heard::Request { seq: m.seq, int: false };
                self.hear_for(m.mission_type, m.target_system, m.target_component, heard, now);
            }
            MissionRequestInt::ID => {
                let m = MissionRequestInt::decode(payload);
                let heard = Heard::Request { seq: m.seq, int: true };
                self.hear_for(m.mission_type, m.target_system, m.target_component, heard, now);
            }
            MissionAck::ID => {
                let m = MissionAck::decode(payload);
                self.hear_for(m.mission_type, m.target_system, m.target_component, Heard::Ack(m.kind), now);
            }
            MissionCurrent::ID => {
                let m = MissionCurrent::decode(payload);
                let [mission, fence, rally] = &mut self.plans;
                mission.machine.hear(Heard::Current(m.seq), now);
                mission.machine.note_plan_id(m.mission_id, now);
                fence.machine.note_plan_id(m.fence_id, now);
                rally.machine.note_plan_id(m.rally_points_id, now);
            }
            MissionItemReached::ID => {
                let mut reached =
                    WaypointReached { wp_seq: MissionItemReached::decode(payload).seq, ..Default::default() };
                ros::stamp(&mut reached.header, out.stamp());
                out.publish(REACHED, out.stamp(), &reached);
            }
            AutopilotVersion::ID => {
                let int = AutopilotVersion::decode(payload).capabilities & MISSION_INT != 0;
                self.plans.iter_mut().for_each(|plan| plan.machine.set_int_support(int));
            }
            _ => {}
        }
    }

    /// Hands over what is meant for us; that somebody else's transfer succeeded is worth a look.
    fn hear_for(&mut self, plan: u8, system: u8, component: u8, heard: Heard, now: Instant) {
        let Some(Plan { machine, .. }) = self.plans.get_mut(usize::from(plan)) else { return };
        let (own_system, own_component) = self.uas.own_ids();
        let ours = [0, own_system].contains(&system) && [0, own_component].contains(&component);
        if ours {
            machine.hear(heard, now);
        } else if heard == Heard::Ack(ACCEPTED) {
            machine.changed(now);
        }
    }

    /// Part of a list can be written to missions only, and not to every vehicle.
    fn may(&self, plan: usize, job: &Job) -> bool {
        let partial = matches!(job, Job::Push { start, .. } if *start > 0);
        let can = match self.partial {
            0 => false,
            1 => true,
            _ => self.vehicle.autopilot == AUTOPILOT_ARDUPILOT,
        };
        if partial && !can {
            tracing::warn!(rule = %self.rule, "only ArduPilot can change part of a mission");
        }
        !partial || (can && plan == 0)
    }

    /// Starts a call's job, or lets it wait for other plans' jobs.
    fn take(&mut self, plan: usize, job: Job, caller: Caller, now: Instant, out: &mut Emit<'_>) {
        let Some(own) = self.plans.get_mut(plan) else { return };
        if own.machine.is_called() || own.waiting.is_some() {
            return reply(caller, false, 0, out);
        }
        if job == Job::Pull && own.machine.join(caller) {
            return;
        }
        own.waiting = Some(Waiting { job, caller, until: now + LONGEST_WAIT });
        for plan in &mut self.plans {
            plan.machine.make_way(now);
        }
    }

    /// Does what follows, and starts what may start.
    fn go_on(&mut self, now: Instant, out: &mut Emit<'_>) {
        loop {
            self.carry_out(out);
            for plan in &mut self.plans {
                if let Some(late) = plan.waiting.take_if(|waiting| waiting.until <= now) {
                    reply(late.caller, false, 0, out);
                }
            }
            if self.plans.iter().any(|plan| plan.machine.is_active()) {
                return;
            }
            if let Some((plan, next)) = self.plans.iter_mut().find_map(|p| p.waiting.take().map(|w| (p, w))) {
                plan.machine.start(next.job, Some(next.caller), now);
            } else if let Some(plan) =
                self.plans.iter_mut().find(|p| p.machine.next_pull().is_some_and(|at| at <= now))
            {
                plan.machine.start(Job::Pull, None, now);
            } else {
                return;
            }
        }
    }

    fn carry_out(&mut self, out: &mut Emit<'_>) {
        for plan in 0..3_u8 {
            let Some(Plan { machine, .. }) = self.plans.get_mut(usize::from(plan)) else { continue };
            for effect in machine.effects() {
                match effect {
                    Effect::Say(what) => say::send(&mut self.talker, &self.uas, plan, what, out),
                    Effect::Publish => out.publish(Port(plan), out.stamp(), &machine.list),
                    Effect::Answer { caller, success, count } => reply(caller, success, count, out),
                }
            }
        }
    }
}

/// Longest time that a call waits for other plans' transfers.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Bit of `MAV_PROTOCOL_CAPABILITY`.
const MISSION_INT: u64 = 4;
/// `MAV_AUTOPILOT_ARDUPILOTMEGA`.
const AUTOPILOT_ARDUPILOT: u8 = 3;
/// `MAV_MISSION_ACCEPTED`.
const ACCEPTED: u8 = 0;
