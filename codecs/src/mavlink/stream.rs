//! What to ask an autopilot for, and when to ask again. Pure: time is an argument, frames are written elsewhere.

use std::time::{Duration, Instant};

use rostrans_mavlink::message_named;

use super::{
    dialect::{
        Altitude, AttitudeQuaternion, EstimatorStatus, ExtendedSysState, GlobalPositionInt, HighresImu,
        LocalPositionNed, Message, RcChannels, ServoOutputRaw, SysStatus, SystemTime, VfrHud,
    },
    mode,
};

/// One thing to ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Request {
    /// SET_MESSAGE_INTERVAL: `msgid` every `interval_us`; acknowledged.
    Interval { msgid: u32, interval_us: f32 },
    /// REQUEST_DATA_STREAM: group `stream` at `rate_hz`; never acknowledged.
    Stream { stream: u8, rate_hz: u16 },
    /// REQUEST_MESSAGE for HOME_POSITION.
    Home,
    /// GET_HOME_POSITION, for firmware that does not know REQUEST_MESSAGE.
    HomeOldStyle,
}

/// How fast things shall come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// Attitude and inertial sensors, Hz; 0 leaves them as they are.
    pub(super) imu_hz: u16,
    /// All data streams of ArduPilot, Hz; 0 leaves them as they are.
    pub(super) stream_hz: u16,
}

/// Asks for one thing after the other until each was acknowledged or tried three times.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pending: Vec<Request>,
    next: usize,
    attempts: u32,
    sent: Option<Instant>,
    /// The list is repeated when no attitude came: ArduPilot does not acknowledge streams.
    rounds: u32,
    attitude_seen: bool,
    home: Option<HomeRequest>,
}

/// HOME_POSITION is wanted.
#[derive(Debug)]
struct HomeRequest {
    due: Instant,
    old_style: bool,
}

impl Requests {
    /// Starts anew for an autopilot that appeared at `now`.
    ///
    /// `wanted` has what the user asks for, after which the usual rate of such a message is not asked for.
    pub(super) fn start(&mut self, autopilot: u8, rates: Rates, wanted: &[Request], now: Instant) {
        let mut pending = if autopilot == mode::ARDUPILOT { ardupilot(rates) } else { px4(rates) };
        let msgid = |request: &Request| match request {
            Request::Interval { msgid, .. } => Some(*msgid),
            _ => None,
        };
        pending.retain(|usual| msgid(usual).is_none() || wanted.iter().all(|w| msgid(w) != msgid(usual)));
        pending.extend_from_slice(wanted);
        let home = Some(HomeRequest { due: now + HOME_DELAY, old_style: false });
        *self = Self { pending, home, ..Self::default() };
    }

    /// Stops asking: the autopilot is gone.
    pub(super) fn stop(&mut self) {
        *self = Self::default();
    }

    /// The attitude comes.
    pub(super) fn attitude_arrived(&mut self) {
        self.attitude_seen = true;
    }

    /// HOME_POSITION came.
    pub(super) fn home_arrived(&mut self) {
        self.home = None;
    }

    /// Whether the request that is open now is for this message.
    pub(super) fn asks_for(&self, msgid: u32) -> bool {
        matches!(self.current(), Some(Request::Interval { msgid: asked, .. }) if asked == msgid)
    }

    /// COMMAND_ACK for SET_MESSAGE_INTERVAL. The number says nothing about which message, hence one at a time.
    pub(super) fn acknowledged(&mut self, result: u8) {
        let waiting = self.sent.is_some() && matches!(self.current(), Some(Request::Interval { .. }));
        if waiting && !matches!(result, TEMPORARILY_REJECTED | IN_PROGRESS) {
            self.advance();
        }
    }

    /// What to send now, at most one thing a call.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Request> {
        self.poll_list(now).or_else(|| self.poll_home(now))
    }

    fn poll_list(&mut self, now: Instant) -> Option<Request> {
        let waited = self.sent.map(|sent| now.saturating_duration_since(sent));
        let Some(current) = self.current() else {
            let silent = !self.attitude_seen && waited.is_some_and(|w| w >= ROUND_TIMEOUT);
            if silent && self.rounds < ROUNDS && !self.pending.is_empty() {
                self.rounds += 1;
                self.next = 0;
                self.sent = None;
                return self.poll_list(now);
            }
            return None;
        };
        if let Request::Stream { .. } = current {
            self.advance();
            self.sent = Some(now);
            return Some(current);
        }
        if self.attempts > 0 && waited.is_some_and(|w| w < ACK_TIMEOUT) {
            return None;
        }
        if self.attempts >= ATTEMPTS {
            self.advance();
            return self.poll_list(now);
        }
        self.attempts += 1;
        self.sent = Some(now);
        Some(current)
    }

    fn poll_home(&mut self, now: Instant) -> Option<Request> {
        let home = self.home.as_mut().filter(|h| now >= h.due)?;
        let request = if home.old_style { Request::HomeOldStyle } else { Request::Home };
        home.old_style = !home.old_style;
        home.due = now + HOME_INTERVAL;
        Some(request)
    }

    fn current(&self) -> Option<Request> {
        self.pending.get(self.next).copied()
    }

    fn advance(&mut self) {
        self.next += 1;
        self.attempts = 0;
    }
}

/// Reads `31:100, HIGHRES_IMU:50`: messages by id or name, each with its rate in hertz; 0 stops it.
///
/// **Errors**: the part that is no such pair.
pub(super) fn parse_intervals(text: &str) -> Result<Vec<Request>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| parse_interval(part).ok_or_else(|| part.to_owned())).collect()
}

fn parse_interval(part: &str) -> Option<Request> {
    let (message, rate) = part.split_once(':')?;
    let message = message.trim();
    let by_id = message.parse::<u32>().ok().filter(|id| *id < 1 << 24);
    let msgid = by_id.or_else(|| Some(message_named(message)?.msgid))?;
    let hz = rate.trim().parse::<f32>().ok().filter(|hz| (0.0..=10_000.0).contains(hz))?;
    // -1 stops a message; 0 would mean its default rate.
    Some(Request::Interval { msgid, interval_us: if hz > 0.0 { 1e6 / hz } else { -1.0 } })
}

/// Message intervals: the sensors at the wanted rate, the rest as PX4 itself sends it to a companion computer, so
/// that a thin ground station link is raised and nothing is lowered.
fn px4(rates: Rates) -> Vec<Request> {
    let imu = [AttitudeQuaternion::ID, HighresImu::ID].map(|msgid| (msgid, f32::from(rates.imu_hz)));
    let rest = [
        (LocalPositionNed::ID, 30.0),
        (GlobalPositionInt::ID, 50.0),
        (SysStatus::ID, 5.0),
        (ExtendedSysState::ID, 5.0),
        (Altitude::ID, 10.0),
        (VfrHud::ID, 10.0),
        (RcChannels::ID, 20.0),
        (ServoOutputRaw::ID, 10.0),
        (EstimatorStatus::ID, 1.0),
        (SystemTime::ID, 1.0),
    ];
    imu.into_iter().chain(rest).filter_map(interval).collect()
}

/// Data streams, then what is in none of them.
fn ardupilot(rates: Rates) -> Vec<Request> {
    let streams = [
        (STREAM_ALL, rates.stream_hz),
        (STREAM_RAW_SENSORS, rates.imu_hz),
        (STREAM_EXTRA1_ATTITUDE, rates.imu_hz),
    ];
    let streams = streams
        .into_iter()
        .filter(|(_, hz)| *hz > 0)
        .map(|(stream, rate_hz)| Request::Stream { stream, rate_hz });
    let rest = [(AttitudeQuaternion::ID, f32::from(rates.imu_hz)), (ExtendedSysState::ID, 2.0)];
    streams.chain(rest.into_iter().filter_map(interval)).collect()
}

fn interval((msgid, hz): (u32, f32)) -> Option<Request> {
    (hz > 0.0).then(|| Request::Interval { msgid, interval_us: 1e6 / hz })
}

/// Time for an acknowledgement.
const ACK_TIMEOUT: Duration = Duration::from_secs(1);
/// Times an unacknowledged request is sent.
const ATTEMPTS: u32 = 3;
/// How long after the last request the attitude should come.
const ROUND_TIMEOUT: Duration = Duration::from_secs(5);
/// Times the whole list is repeated while it does not.
const ROUNDS: u32 = 2;
/// From the connection to the first request for HOME_POSITION.
const HOME_DELAY: Duration = Duration::from_secs(2);
/// Between such requests.
const HOME_INTERVAL: Duration = Duration::from_secs(10);
/// `MAV_DATA_STREAM`.
const STREAM_ALL: u8 = 0;
const STREAM_RAW_SENSORS: u8 = 1;
const STREAM_EXTRA1_ATTITUDE: u8 = 10;
/// `MAV_RESULT`.
const TEMPORARILY_REJECTED: u8 = 1;
const IN_PROGRESS: u8 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { imu_hz: 200, stream_hz: 10 };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Polls each 100 ms for a while; `ack` acknowledges each interval at once.
    fn run(autopilot: u8, seconds: u64, ack: bool, attitude: bool) -> Vec<(u64, Request)> {
        let start = Instant::now();
        let mut requests = Requests::default();
        requests.start(autopilot, RATES, &[], start);
        let mut sent = Vec::new();
        for step in 0..seconds * 10 {
            if attitude {
                requests.attitude_arrived();
            }
            if let Some(request) = requests.poll(start + ms(step * 100)) {
                sent.push((step * 100, request));
                if ack && matches!(request, Request::Interval { .. }) {
                    requests.acknowledged(0);
                }
            }
        }
        sent
    }

    #[test]
    fn px4_is_asked_for_each_message_once_when_it_acknowledges() {
        let sent = run(mode::PX4, 2, true, true);
        let intervals: Vec<u32> = sent
            .iter()
            .filter_map(|(_, r)| match r {
                Request::Interval { msgid, .. } => Some(*msgid),
                _ => None,
            })
            .collect();
        assert_eq!(intervals, [31, 105, 32, 33, 1, 245, 141, 74, 65, 36, 230, 2]);
        assert_eq!(sent[0].1, Request::Interval { msgid: 31, interval_us: 5000.0 });
    }

    #[test]
    fn silent_autopilot_is_asked_three_times_and_rounds_end() {
        let sent = run(mode::PX4, 600, false, false);
        let first = Request::Interval { msgid: 31, interval_us: 5000.0 };
        let times: Vec<u64> = sent.iter().filter(|(_, r)| *r == first).map(|(at, _)| *at).collect();
        assert_eq!(times.len(), 9, "three rounds of three: {times:?}");
        assert_eq!(times[..3], [0, 1000, 2000]);
        let intervals = sent.iter().filter(|(_, r)| matches!(r, Request::Interval { .. })).count();
        assert_eq!(intervals, 9 * 12);
    }

    #[test]
    fn rejected_for_now_is_asked_again_and_refused_is_not() {
        let start = Instant::now();
        let mut requests = Requests::default();
        requests.start(mode::PX4, RATES, &[], start);
        let first = requests.poll(start);
        requests.acknowledged(TEMPORARILY_REJECTED);
        assert_eq!(requests.poll(start + ms(500)), None);
        assert_eq!(requests.poll(start + ms(1000)), first);
        requests.acknowledged(2);
        assert_ne!(requests.poll(start + ms(1100)), first);
    }

    #[test]
    fn ardupilot_is_asked_for_streams_until_the_attitude_comes() {
        let streams = |sent: Vec<(u64, Request)>| -> Vec<Request> {
            sent.into_iter().map(|(_, r)| r).filter(|r| matches!(r, Request::Stream { .. })).collect()
        };
        let once = streams(run(mode::ARDUPILOT, 60, true, true));
        assert_eq!(
            once,
            [
                Request::Stream { stream: 0, rate_hz: 10 },
                Request::Stream { stream: 1, rate_hz: 200 },
                Request::Stream { stream: 10, rate_hz: 200 },
            ]
        );
        assert_eq!(streams(run(mode::ARDUPILOT, 600, true, false)).len(), 9, "three rounds, then no more");
    }

    #[test]
    fn home_is_asked_for_each_ten_seconds_in_both_ways_until_it_comes() {
        let homes = |sent: &[(u64, Request)]| -> Vec<(u64, Request)> {
            let home = |r: &Request| matches!(r, Request::Home | Request::HomeOldStyle);
            sent.iter().filter(|(_, r)| home(r)).copied().collect()
        };
        let sent = homes(&run(mode::PX4, 30, true, true));
        assert_eq!(sent, [(2000, Request::Home), (12_000, Request::HomeOldStyle), (22_000, Request::Home)]);
        let start = Instant::now();
        let mut requests = Requests::default();
        requests.start(mode::PX4, Rates { imu_hz: 0, stream_hz: 0 }, &[], start);
        requests.home_arrived();
        let later: Vec<Request> = (0..600).filter_map(|s| requests.poll(start + ms(s * 1000))).collect();
        assert!(!later.contains(&Request::Home));
    }

    #[test]
    fn wanted_messages_are_asked_for_instead_of_the_usual_rate() {
        let wanted = parse_intervals("31:100, highres_imu: 50, 230:0,").unwrap();
        let of = |msgid, interval_us| Request::Interval { msgid, interval_us };
        assert_eq!(wanted, [of(31, 10_000.0), of(105, 20_000.0), of(230, -1.0)]);
        let start = Instant::now();
        let mut requests = Requests::default();
        requests.start(mode::PX4, RATES, &wanted, start);
        assert_eq!(requests.pending.len(), 12, "each message once");
        assert_eq!(requests.pending[9..], wanted);
        for bad in ["31", "31:", "NO_SUCH:5", "31:-1", "31:x", "99999999:1"] {
            assert_eq!(parse_intervals(&format!("30:1,{bad}")), Err(bad.to_owned()));
        }
    }

    #[test]
    fn rate_zero_leaves_the_autopilot_alone() {
        let none = Rates { imu_hz: 0, stream_hz: 0 };
        assert!(!ardupilot(none).iter().any(|r| matches!(r, Request::Stream { .. })));
        assert!(!px4(none).iter().any(|r| matches!(r, Request::Interval { msgid: 31 | 105, .. })));
    }
}
