//! `mavlink.time`: the vehicle's clock and ours.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    clock::RosTime,
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    throttle::LogThrottle,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::{mavros_msgs::msg::TimesyncStatus, sensor_msgs::msg::TimeReference};

use super::{
    DecodeOnly,
    dialect::{Heartbeat, Message, SystemTime, Timesync},
    monotonic::monotonic_ns,
    pace::Pace,
    relay::topic,
    ros,
    timesync::{Event, TimeSync, Tuning},
    uas::{MavContext, Talker, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// Keeps the offset between our clock and the vehicle's, for the stamps of all codecs of the vehicle.
///
/// Each reply to a request of ours is published on `timesync_status`; SYSTEM_TIME on `time_reference`, once the vehicle
/// knows the time of day. Requests of the vehicle are answered; SYSTEM_TIME is sent for vehicles without a GPS.
///
/// **Stamps**: of receipt until the filter has converged (`convergence_window` replies), then of measurement. They are
/// of receipt again at once when the vehicle restarts or is back after a silence, and while the vehicle's time makes
/// no sense: a stamp is never more than 5 s before or 0.5 s behind the receipt, except with `PASSTHROUGH`. When our
/// own clock is set, stamps follow it at the next tick (0.1 s) and are of receipt in between. Under a simulated clock
/// requests carry its time, as MAVROS's do, so it must run as the vehicle's does; once it is set back the filter starts
/// anew, and while it has no time nothing is asked or answered.
///
/// Source: MAVLink common, TIMESYNC (111), SYSTEM_TIME (2).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.time",
    doc: "time offset to the vehicle, for all stamps; its time of day",
    roles: &[Role::Decode],
    ports: &[
        topic::<TimesyncStatus>("timesync_status", Qos::sensor_data()),
        topic::<TimeReference>("time_reference", Qos::sensor_data()),
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, SystemTime::ID, Timesync::ID]),
    cost: Cost::Inline,
    tick: Some(TICK),
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        (
            "timesync_mode",
            "MAVLINK asks the vehicle, ONBOARD is for one on this computer, PASSTHROUGH stamps with its own time, NONE with that of receipt; default MAVLINK",
        ),
        ("timesync_rate", "requests per second, 0.01 to 100, 0 asks never; default 10"),
        ("system_time_rate", "SYSTEM_TIME sent per second, 0.01 to 100, 0 sends none; default 1"),
        ("timesync_alpha_initial", "weight of a reply at first; default 0.05"),
        ("timesync_beta_initial", "weight of a change in the skew at first; default 0.05"),
        ("timesync_alpha_final", "weight of a reply once converged; default 0.003"),
        ("timesync_beta_final", "weight of a change in the skew once converged; default 0.003"),
        ("convergence_window", "replies until stamps are of measurement; default 500"),
        (
            "max_rtt_sample",
            "milliseconds of round trip from which on a reply is not used, unless all are as slow; default 10",
        ),
        (
            "max_deviation_sample",
            "milliseconds off the estimate from which on a reply is not used; default 10",
        ),
        ("max_consecutive_high_rtt", "long round trips in a row that are worth a log line; default 10"),
        ("max_consecutive_high_deviation", "replies off the estimate in a row that start anew; default 10"),
        ("time_ref_source", "source in time_reference; default fcu"),
    ],
};

const TIMESYNC_STATUS: Port = Port(0);
const TIME_REFERENCE: Port = Port(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Mavlink,
    Onboard,
    Passthrough,
    None,
}

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let words = [
        ("MAVLINK", Mode::Mavlink),
        ("ONBOARD", Mode::Onboard),
        ("PASSTHROUGH", Mode::Passthrough),
        ("NONE", Mode::None),
    ];
    let mode = options.choice("timesync_mode", &words)?.unwrap_or(Mode::Mavlink);
    if mode == Mode::Onboard && monotonic_ns().is_none() {
        let problem = "ONBOARD needs a system with CLOCK_MONOTONIC".to_owned();
        return Err(CodecError::Option { option: "timesync_mode".to_owned(), problem });
    }
    if mode == Mode::Passthrough {
        cx.uas.pass_time_through();
    }
    let tuning = tuning(&options)?;
    Ok(Box::new(TimeDecoder {
        rule: cx.rule.rule_id.as_str().to_owned(),
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        mode,
        requests: Pace::new(&options, "timesync_rate", 10.0, 100.0)?,
        system_time: Pace::new(&options, "system_time_rate", 1.0, 100.0)?,
        sync: TimeSync::new(tuning),
        own: None,
        epoch: None,
        boot_ms: None,
        asked: 0,
        told_silent: false,
        jumps: LogThrottle::new(),
        high_rtt: LogThrottle::new(),
        deviations: LogThrottle::new(),
        reference: TimeReference {
            source: options.text("time_ref_source", "fcu")?.to_owned(),
            ..TimeReference::default()
        },
    }))
}

fn tuning(options: &Options<'_>) -> Result<Tuning, CodecError> {
    let d = Tuning::default();
    let weight = |name, default| {
        let value = options.number(name, default)?;
        let problem = || format!("{value} is not a number from 0 to 1");
        let refused = || CodecError::Option { option: String::from(name), problem: problem() };
        if value <= 1.0 { Ok(value) } else { Err(refused()) }
    };
    let millis = |name, default| {
        let value = options.number(name, default)?;
        Ok::<_, CodecError>(Duration::from_secs_f64(value.min(60_000.0) / 1e3))
    };
    let count = |name, default| options.int(name, default, 0..=1_000_000);
    Ok(Tuning {
        alpha: [weight("timesync_alpha_initial", d.alpha[0])?, weight("timesync_alpha_final", d.alpha[1])?],
        beta: [weight("timesync_beta_initial", d.beta[0])?, weight("timesync_beta_final", d.beta[1])?],
        window: count("convergence_window", d.window)?,
        max_rtt: millis("max_rtt_sample", 10.0)?,
        max_deviation: millis("max_deviation_sample", 10.0)?,
        max_high_rtt: count("max_consecutive_high_rtt", d.max_high_rtt)?,
        max_high_deviation: count("max_consecutive_high_deviation", d.max_high_deviation)?,
    })
}

struct TimeDecoder {
    rule: String,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    mode: Mode,
    requests: Pace,
    system_time: Pace,
    sync: TimeSync,
    /// Our time and the monotonic time it was read at.
    own: Option<(RosTime, Instant)>,
    /// How often our clock was set, if it is a simulated one.
    epoch: Option<u32>,
    /// The vehicle's time since boot.
    boot_ms: Option<u32>,
    /// Requests since the last reply.
    asked: u32,
    told_silent: bool,
    jumps: LogThrottle,
    high_rtt: LogThrottle,
    deviations: LogThrottle,
    reference: TimeReference,
}

impl Decoder for TimeDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        self.watch_epoch(out.epoch());
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.forget();
        }
        match packet.msgid {
            Timesync::ID => self.timesync(&packet, frame.received, out),
            SystemTime::ID => self.system_time(&SystemTime::decode(packet.payload), out),
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.vehicle.fell_silent(now) {
            self.forget();
        }
        self.watch_epoch(out.epoch());
        let Ok(own) = out.time() else { return };
        if self.epoch.is_none() {
            self.watch_own_clock(own, now);
        }
        if self.talker.has_receiver() {
            if self.mode == Mode::Mavlink && self.requests.due(now) {
                self.request(own, now, out);
            }
            if self.system_time.due(now) {
                let time_unix_usec = u64::try_from(own.ns / 1000).unwrap_or_default();
                self.talker.send(&SystemTime { time_unix_usec, time_boot_ms: 0 }, out);
            }
        }
        if self.mode == Mode::Onboard && self.requests.due(now) {
            self.observe_onboard(own, out);
        }
    }

    fn next_due(&self) -> Option<Instant> {
        [self.requests.next(), self.system_time.next()].into_iter().flatten().min()
    }
}

impl TimeDecoder {
    /// The vehicle has restarted, or its connection came or went.
    fn forget(&mut self) {
        self.boot_ms = None;
        self.asked = 0;
        if self.mode == Mode::Mavlink {
            self.sync.restart();
            self.uas.set_time_offset(None);
        }
    }

    /// Notices that our own, simulated clock was set back: times of before say nothing.
    fn watch_epoch(&mut self, epoch: Option<u32>) {
        if self.epoch.is_some() && epoch != self.epoch && self.mode != Mode::Passthrough {
            // Requests under way carry a time of before, too.
            self.sync.own_clock_set(0);
            self.sync.restart();
            self.uas.set_time_offset(None);
        }
        self.epoch = epoch;
    }

    /// Notices that our own clock was set.
    fn watch_own_clock(&mut self, own: RosTime, now: Instant) {
        if let Some((last, at)) = self.own {
            let passed = i64::try_from(now.saturating_duration_since(at).as_nanos()).unwrap_or(i64::MAX);
            let by_ns = own.ns.saturating_sub(last.ns).saturating_sub(passed);
            if by_ns.abs() >= JUMP_NS && matches!(self.mode, Mode::Mavlink | Mode::Onboard) {
                self.sync.own_clock_set(by_ns);
                self.uas.set_time_offset(self.sync.offset_ns());
                if let Some(times) = self.jumps.event(now) {
                    let rule = &self.rule;
                    let by_ms = by_ns / 1_000_000;
                    tracing::warn!(%rule, by_ms, times, "own clock was set; stamps follow it");
                }
            }
        }
        self.own = Some((own, now));
    }

    fn request(&mut self, own: RosTime, now: Instant, out: &mut Emit<'_>) {
        let request = Timesync { tc1: 0, ts1: own.ns, target_system: 0, target_component: 0 };
        if !self.talker.send(&request, out) {
            return;
        }
        self.sync.requested(own.ns, now);
        self.asked = self.asked.saturating_add(1);
        if self.asked >= UNANSWERED && self.vehicle.is_connected(now) && !self.told_silent {
            self.told_silent = true;
            let (rule, requests) = (&self.rule, self.asked);
            tracing::warn!(%rule, requests, "vehicle does not answer TIMESYNC; stamps are times of receipt");
        }
    }

    fn timesync(&mut self, packet: &Packet<'_>, received: Instant, out: &mut Emit<'_>) {
        let m = Timesync::decode(packet.payload);
        let (sysid, compid) = self.uas.own_ids();
        let for_us = (m.target_system == 0 || m.target_system == sysid)
            && (m.target_component == 0 || m.target_component == compid);
        if (packet.sysid, packet.compid) == (sysid, compid) || !for_us {
            return;
        }
        if m.tc1 == 0 {
            let Ok(RosTime { ns: tc1 }) = out.time() else { return };
            self.talker.send(&Timesync { tc1, ts1: m.ts1, target_system: 0, target_component: 0 }, out);
            return;
        }
        if self.mode != Mode::Mavlink || m.tc1 < 0 {
            return;
        }
        let Some(seen) = self.sync.replied(m.ts1, m.tc1, received) else { return };
        self.asked = 0;
        self.told_silent = false;
        self.uas.set_time_offset(self.sync.offset_ns());
        if let Some(event) = seen.event {
            self.tell(event, received);
        }
        self.publish(m.tc1, seen.offset_ns, seen.estimate_ns, seen.rtt, out);
    }

    /// The vehicle counts as a process on this computer: its time since boot is ours.
    fn observe_onboard(&mut self, own: RosTime, out: &mut Emit<'_>) {
        let Some(boot_ns) = monotonic_ns() else { return };
        let offset_ns = own.ns.saturating_sub(boot_ns);
        if let Some(event) = self.sync.observe(offset_ns, Duration::ZERO) {
            self.tell(event, out.received());
        }
        let estimate_ns = self.sync.offset_ns();
        self.uas.set_time_offset(estimate_ns);
        self.publish(boot_ns, offset_ns, estimate_ns.unwrap_or(offset_ns), Duration::ZERO, out);
    }

    fn publish(
        &self,
        remote_ns: i64,
        observed_ns: i64,
        estimated_ns: i64,
        rtt: Duration,
        out: &mut Emit<'_>,
    ) {
        if out.wants(TIMESYNC_STATUS) {
            let stamp = out.stamp();
            let mut status = TimesyncStatus {
                remote_timestamp_ns: u64::try_from(remote_ns).unwrap_or_default(),
                observed_offset_ns: observed_ns,
                estimated_offset_ns: estimated_ns,
                round_trip_time_ms: rtt.as_secs_f32() * 1e3,
                ..TimesyncStatus::default()
            };
            ros::stamp(&mut status.header, stamp);
            out.publish(TIMESYNC_STATUS, stamp, &status);
        }
    }

    fn tell(&mut self, event: Event, now: Instant) {
        let rule = &self.rule;
        match event {
            Event::Converged => {
                tracing::info!(%rule, "clock of the vehicle is known; stamps are of measurement")
            }
            Event::SlowLink(limit) => {
                let max_rtt_ms = limit.as_millis();
                tracing::info!(%rule, max_rtt_ms, "slow link: longer round trips are used to synchronise clocks");
            }
            Event::HighRtt => {
                if let Some(times) = self.high_rtt.event(now) {
                    tracing::info!(%rule, times, "round trips are too long to synchronise clocks just now");
                }
            }
            Event::Deviated => {
                if let Some(times) = self.deviations.event(now) {
                    tracing::warn!(%rule, times, "clock of the vehicle jumped; synchronising anew");
                }
            }
            Event::Restarted => {
                tracing::info!(%rule, "clock of the vehicle started anew; synchronising anew")
            }
        }
    }

    fn system_time(&mut self, m: &SystemTime, out: &mut Emit<'_>) {
        let restarted =
            self.boot_ms.is_some_and(|last| m.time_boot_ms.saturating_add(REBOOT_MARGIN_MS) < last);
        if restarted {
            self.forget();
        }
        self.boot_ms = Some(m.time_boot_ms);
        if m.time_unix_usec > UNIX_TIME_KNOWN_US && out.wants(TIME_REFERENCE) {
            let stamp = out.stamp();
            ros::stamp(&mut self.reference.header, stamp);
            let ns = i64::try_from(m.time_unix_usec).unwrap_or(i64::MAX).saturating_mul(1000);
            let time = RosTime { ns };
            self.reference.time_ref.sec = time.sec();
            self.reference.time_ref.nanosec = time.nanosec();
            out.publish(TIME_REFERENCE, stamp, &self.reference);
        }
    }
}

const TICK: Duration = Duration::from_millis(100);
/// A step of our own clock, not its being slewed.
const JUMP_NS: i64 = 200_000_000;
/// So many requests in a row without an answer are worth a word.
const UNANSWERED: u32 = 300;
/// Messages overtake each other by less than this; a restart sets the clock back by more.
const REBOOT_MARGIN_MS: u32 = 1000;
/// February 2009: a vehicle that does not know the time of day says 0, or the time since boot.
const UNIX_TIME_KNOWN_US: u64 = 1_234_567_890_000_000;
