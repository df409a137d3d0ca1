//! From two snapshots to rates.

use std::{sync::Arc, time::Duration};

use rostrans_core::{
    rule::{Direction, LinkName, RuleId},
    stats::LinkSnapshot,
};
use rostrans_transport::{RouteSnapshot, router::FlowSnapshot};

use super::ClockRates;
use crate::{
    running::{LinkRow, RuleSnapshot, Snapshot, TransportSnapshot},
    supervisor::State,
};

/// What moved between two snapshots; prints as a table.
///
/// Figures named `.._hz` and `.._s` are per second of the interval; counts are since the start of the run.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Time between the snapshots.
    pub window: Duration,
    /// One row per link.
    pub links: Vec<LinkRates>,
    /// One row per socket or port.
    pub transports: Vec<TransportRates>,
    /// One row per side of a byte route.
    pub routes: Vec<RouteRates>,
    /// One row per simulated clock.
    pub clocks: Vec<ClockRates>,
}

/// One link's row.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRates {
    /// The rule.
    pub rule: RuleId,
    /// The link.
    pub link: LinkName,
    /// Which way it moves data.
    pub direction: Direction,
    /// The rule's state.
    pub state: State,
    /// Switched off after too many codec panics.
    pub disabled: bool,
    /// What came in: frames, ROS messages or service calls; all of them for a decoding link.
    pub in_hz: f64,
    /// What went out: ROS messages, frames or answers; all of them for a decoding link.
    pub out_hz: f64,
    /// Bytes of its frames, in units of 1000.
    pub kbytes_s: f64,
    /// Displaced from a full queue, an answer from another sender than the link's target, or without a time to stamp it
    /// with.
    pub dropped: u64,
    /// Held back by the rate limit.
    pub limited: u64,
    /// Frames, samples and calls that failed.
    pub errors: u64,
    /// Time since the link last saw a frame or sample; `None` if it never did.
    pub idle: Option<Duration>,
}

/// One transport's row.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportRates {
    /// What it is and who uses it.
    pub name: Arc<str>,
    /// Whether it is open.
    pub state: State,
    /// Frames received for links.
    pub in_hz: f64,
    /// Their bytes, in units of 1000.
    pub kbytes_s: f64,
    /// Frames that no link wanted.
    pub unwanted_hz: f64,
    /// Frames with a wrong checksum or cut short.
    pub malformed: u64,
    /// Bytes skipped between frames.
    pub skipped_bytes: u64,
}

/// One side of a byte route: its vehicles, one endpoint, or ground stations that are no endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteRates {
    /// The `bytes_route` rule.
    pub rule: RuleId,
    /// Who it is: `vehicles (FCU 127.0.0.1:14580)`, `127.0.0.1:14551`, `other stations`.
    pub peer: String,
    /// Frames heard from it.
    pub from_hz: f64,
    /// Their bytes, in units of 1000.
    pub from_kbytes_s: f64,
    /// Frames sent to it.
    pub to_hz: f64,
    /// Their bytes, in units of 1000.
    pub to_kbytes_s: f64,
    /// Frames for it that were not sent.
    pub errors: u64,
}

impl Rates {
    /// The rates between two snapshots of the same run.
    pub fn between(before: &Snapshot, now: &Snapshot) -> Self {
        let window = now.at.saturating_duration_since(before.at);
        let per = PerSecond { seconds: window.as_secs_f64().max(1e-9) };
        let (links, transports, routes, clocks) = Default::default();
        let mut rates = Self { window, links, transports, routes, clocks };
        for (index, rule) in now.rules.iter().enumerate() {
            let old = before.rules.get(index);
            let row = |(index, row): (usize, &LinkRow)| {
                let old = old.and_then(|rule| rule.links.get(index)).map(|row| row.counters);
                let idle = row.counters.last_active.map(|at| now.at.saturating_duration_since(at));
                per.link(rule, row, &old.unwrap_or_default(), idle)
            };
            rates.links.extend(rule.links.iter().enumerate().map(row));
        }
        for (index, transport) in now.transports.iter().enumerate() {
            let old = before.transports.get(index);
            rates.transports.push(per.transport(transport, old));
            if let Some((rule, route)) = &transport.route {
                let old = old.and_then(|old| old.route.as_ref()).map(|(_, route)| route);
                per.route(rule, route, old, &mut rates.routes);
            }
        }
        for (index, clock) in now.clocks.iter().enumerate() {
            let old = before.clocks.get(index).map_or(0, |old| old.samples);
            rates.clocks.push(ClockRates::of(clock, per.rate(old, clock.samples), &now.rules));
        }
        rates
    }
}

/// Turns differences of counters into rates.
struct PerSecond {
    seconds: f64,
}

impl PerSecond {
    fn rate(&self, before: u64, now: u64) -> f64 {
        now.saturating_sub(before) as f64 / self.seconds
    }

    fn link(
        &self,
        rule: &RuleSnapshot,
        row: &LinkRow,
        old: &LinkSnapshot,
        idle: Option<Duration>,
    ) -> LinkRates {
        let counters = &row.counters;
        let (came, went) = flow(rule.direction, counters);
        let (had_come, had_gone) = flow(rule.direction, old);
        LinkRates {
            rule: rule.rule_id.clone(),
            link: row.link_name.clone(),
            direction: rule.direction,
            state: rule.state.clone(),
            disabled: row.disabled,
            in_hz: self.rate(had_come, came),
            out_hz: self.rate(had_gone, went),
            kbytes_s: self.rate(old.bytes, counters.bytes) / 1e3,
            dropped: counters.dropped_queue + counters.dropped_sender + untimed(counters),
            limited: counters.dropped_rate,
            errors: errors(counters),
            idle,
        }
    }

    fn transport(&self, now: &TransportSnapshot, old: Option<&TransportSnapshot>) -> TransportRates {
        let rate = |count: fn(&TransportSnapshot) -> u64| self.rate(old.map_or(0, count), count(now));
        TransportRates {
            name: Arc::clone(&now.name),
            state: now.state.clone(),
            in_hz: rate(|t| t.frames),
            kbytes_s: rate(|t| t.bytes) / 1e3,
            unwanted_hz: rate(|t| t.unwanted),
            malformed: now.bad_checksums + now.truncated,
            skipped_bytes: now.skipped_bytes,
        }
    }

    fn route(
        &self,
        rule: &RuleId,
        now: &RouteSnapshot,
        old: Option<&RouteSnapshot>,
        rows: &mut Vec<RouteRates>,
    ) {
        let mut row = |peer: String, from: [FlowSnapshot; 2], to: [FlowSnapshot; 2], errors: u64| {
            rows.push(RouteRates {
                rule: rule.clone(),
                peer,
                from_hz: self.rate(from[0].frames, from[1].frames),
                from_kbytes_s: self.rate(from[0].bytes, from[1].bytes) / 1e3,
                to_hz: self.rate(to[0].frames, to[1].frames),
                to_kbytes_s: self.rate(to[0].bytes, to[1].bytes) / 1e3,
                errors,
            });
        };
        let was = |flow: fn(&RouteSnapshot) -> FlowSnapshot| old.map(flow).unwrap_or_default();
        let fcu = now.fcu.map_or_else(String::new, |fcu| format!(" (FCU {fcu})"));
        row(
            format!("vehicles{fcu}"),
            [was(|route| route.from_vehicles), now.from_vehicles],
            [was(|route| route.to_vehicles), now.to_vehicles],
            now.vehicle_send_errors + now.unroutable,
        );
        for (index, endpoint) in now.endpoints.iter().enumerate() {
            let old = old.and_then(|route| route.endpoints.get(index));
            let (received, sent) = old.map(|e| (e.received, e.sent)).unwrap_or_default();
            let (from, to) = ([received, endpoint.received], [sent, endpoint.sent]);
            row(endpoint.addr.to_string(), from, to, endpoint.send_errors);
        }
        if now.from_stations.frames > 0 || now.to_stations.frames > 0 {
            let from = [was(|route| route.from_stations), now.from_stations];
            let to = [was(|route| route.to_stations), now.to_stations];
            let name = if now.endpoints.is_empty() { "stations" } else { "other stations" };
            row(name.to_owned(), from, to, now.station_send_errors);
        }
        if now.foreign.frames > 0 {
            let from = [was(|route| route.foreign), now.foreign];
            row("foreign (dropped)".to_owned(), from, Default::default(), now.foreign.frames);
        }
    }
}

/// What came in and what went out, for a direction.
fn flow(direction: Direction, counters: &LinkSnapshot) -> (u64, u64) {
    let LinkSnapshot { frames, taken, sent_frames, messages, calls, .. } = *counters;
    match direction {
        // A decoder may hold a whole conversation with its vehicle.
        Direction::UdpToRostopic | Direction::SerialToRos | Direction::MemToRostopic => {
            (frames + taken, messages + sent_frames + calls)
        }
        Direction::RostopicToUdp | Direction::RosToSerial | Direction::RostopicToRostopic => {
            (messages, frames)
        }
        Direction::UdpToRosservice | Direction::RosserviceToUdp => (messages, calls),
        Direction::BytesRoute => (frames, frames),
    }
}

fn untimed(counters: &LinkSnapshot) -> u64 {
    counters.gated + counters.stale_epoch + counters.out_of_range
}

fn errors(counters: &LinkSnapshot) -> u64 {
    counters.decode_errors + counters.encode_errors + counters.send_errors + counters.failed_calls
}

#[cfg(test)]
pub(super) mod tests {
    use std::{net::SocketAddr, time::Instant};

    use rostrans_core::clock::{ClockSnapshot, RosTime, State as ClockState};
    use rostrans_transport::router::EndpointSnapshot;

    use super::*;

    fn flow(frames: u64) -> FlowSnapshot {
        FlowSnapshot { frames, bytes: frames * 50 }
    }

    fn rule(id: &str, direction: Direction, state: State, links: Vec<(&str, LinkSnapshot)>) -> RuleSnapshot {
        let row = |(name, counters): (&str, LinkSnapshot)| LinkRow {
            link_name: name.into(),
            counters,
            panics: 0,
            disabled: name == "broken",
        };
        let links = links.into_iter().map(row).collect();
        RuleSnapshot { rule_id: id.into(), direction, clock: Some("gz".into()), state, restarts: 0, links }
    }

    /// What a busy vehicle looks like after `seconds`.
    fn snapshot(start: Instant, seconds: u64) -> Snapshot {
        let at = start + Duration::from_secs(seconds);
        let imu = LinkSnapshot {
            frames: 250 * seconds,
            bytes: 250 * seconds * 62,
            messages: 200 * seconds,
            dropped_rate: 50 * seconds,
            last_active: Some(at - Duration::from_millis(4)),
            ..LinkSnapshot::default()
        };
        let setpoint = LinkSnapshot {
            frames: 30 * seconds,
            bytes: 30 * seconds * 61,
            messages: 30 * seconds,
            dropped_queue: 7,
            gated: 9,
            implausible: 4,
            send_errors: 2,
            last_active: Some(start + Duration::from_secs(3)),
            ..LinkSnapshot::default()
        };
        let arming = LinkSnapshot { messages: 2, calls: 1, failed_calls: 1, ..LinkSnapshot::default() };
        let serial = State::Waiting("no such device".into());
        let endpoint = |port: u16, received| EndpointSnapshot {
            addr: SocketAddr::from(([127, 0, 0, 1], port)),
            sent: flow(400 * seconds),
            received: flow(received),
            send_errors: 0,
        };
        let route = RouteSnapshot {
            fcu: Some(SocketAddr::from(([127, 0, 0, 1], 14_580))),
            endpoints: vec![endpoint(14_551, 4 * seconds), endpoint(14_552, 0)],
            from_vehicles: flow(400 * seconds),
            to_vehicles: flow(4 * seconds),
            from_stations: flow(0),
            to_stations: flow(0),
            foreign: flow(2 * seconds),
            station_send_errors: 0,
            vehicle_send_errors: 0,
            unroutable: 3,
        };
        let transport = |name: &str, state, route| TransportSnapshot {
            name: name.into(),
            state,
            restarts: 0,
            local_addr: None,
            route,
            frames: 900 * seconds,
            bytes: 900 * seconds * 45,
            unwanted: 620 * seconds,
            skipped_bytes: 12,
            bad_checksums: 2,
            truncated: 1,
        };
        Snapshot {
            at,
            rules: vec![
                rule(
                    "mavros_up",
                    Direction::UdpToRostopic,
                    State::Running,
                    vec![("imu", imu), ("broken", LinkSnapshot::default())],
                ),
                rule("mavros_down", Direction::RosToSerial, serial.clone(), vec![("setpoint", setpoint)]),
                rule("mavros_srv", Direction::RosserviceToUdp, State::Running, vec![("arming", arming)]),
            ],
            transports: vec![
                transport("udp 0.0.0.0:14550 (rule mavros_up)", State::Running, Some(("gcs".into(), route))),
                transport("serial /dev/ttyUSB0:921600 (rule mavros_down)", serial, None),
            ],
            adapters: Vec::new(),
            clocks: vec![ClockSnapshot {
                name: "gz".into(),
                state: ClockState::Following,
                sim: Some(RosTime::new(83, 250_000_000)),
                age: Some(Duration::from_millis(3)),
                offset_ns: Some(-85_500_000_000),
                rate: 0.98,
                epoch: 1,
                samples: 250 * seconds,
            }],
        }
    }

    /// Five seconds of a busy vehicle.
    pub(in crate::monitor) fn rates() -> Rates {
        let start = Instant::now();
        Rates::between(&snapshot(start, 10), &snapshot(start, 15))
    }

    #[test]
    fn rates_are_differences_per_second_and_counts_are_totals() {
        let rates = rates();
        let imu = &rates.links[0];
        assert_eq!((imu.in_hz, imu.out_hz, imu.kbytes_s), (250.0, 200.0, 15.5));
        assert_eq!((imu.limited, imu.idle), (750, Some(Duration::from_millis(4))));
        assert_eq!(rates.links[2].idle, Some(Duration::from_secs(12)));
        let sides: Vec<_> = rates.routes.iter().map(|row| (row.from_hz, row.to_hz, row.errors)).collect();
        assert_eq!(sides, [(400.0, 4.0, 3), (4.0, 400.0, 0), (0.0, 400.0, 0), (2.0, 0.0, 30)]);
    }

    #[test]
    fn all_that_a_decoder_takes_comes_in_and_all_it_sends_goes_out() {
        let start = Instant::now();
        let (before, mut now) = (snapshot(start, 10), snapshot(start, 15));
        let counters = LinkSnapshot { taken: 20, sent_frames: 10, calls: 5, ..LinkSnapshot::default() };
        now.rules[0].links[1].counters = counters;
        let link = &Rates::between(&before, &now).links[1];
        assert_eq!((link.in_hz, link.out_hz), (4.0, 3.0));
    }

    #[test]
    fn route_opened_again_counts_from_nothing() {
        let start = Instant::now();
        let (before, mut now) = (snapshot(start, 10), snapshot(start, 15));
        if let Some((_, route)) = &mut now.transports[0].route {
            route.from_vehicles = flow(5);
        }
        assert_eq!(Rates::between(&before, &now).routes[0].from_hz, 0.0);
    }
}
