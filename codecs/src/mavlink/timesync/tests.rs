use super::*;

/// Our time minus the vehicle's.
const OFFSET: i64 = 1_700_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// A vehicle and a link with delays, on a clock that only moves when told.
struct Link {
    sync: TimeSync,
    start: Instant,
    /// Nanoseconds since the start.
    now: i64,
    /// What the vehicle's clock showed at the start.
    boot: i64,
    /// What is added to our clock.
    own_shift: i64,
    events: Vec<Event>,
}

impl Link {
    fn new(tuning: Tuning) -> Self {
        let sync = TimeSync::new(tuning);
        Self { sync, start: Instant::now(), now: 0, boot: 5 * SECOND, own_shift: 0, events: Vec::new() }
    }

    fn at(&self, ns: i64) -> Instant {
        self.start + Duration::from_nanos(u64::try_from(ns).unwrap())
    }

    fn own(&self) -> i64 {
        OFFSET + self.boot_at_start() + self.now + self.own_shift
    }

    fn boot_at_start(&self) -> i64 {
        5 * SECOND
    }

    /// Sends a request now; the reply it will get, and when.
    fn request(&mut self, there_ms: i64, back_ms: i64) -> (i64, i64, i64) {
        let ts1 = self.own();
        self.sync.requested(ts1, self.at(self.now));
        let tc1 = self.boot + self.now + there_ms * 1_000_000;
        (ts1, tc1, self.now + (there_ms + back_ms) * 1_000_000)
    }

    fn reply(&mut self, (ts1, tc1, at): (i64, i64, i64)) -> Option<Observation> {
        let seen = self.sync.replied(ts1, tc1, self.at(at));
        self.events.extend(seen.and_then(|o| o.event));
        seen
    }

    /// Exchanges at 10 Hz whose delays in milliseconds are given for each.
    fn run(&mut self, exchanges: u32, delays_ms: impl Fn(u32) -> (i64, i64)) {
        for n in 0..exchanges {
            let (there, back) = delays_ms(n);
            let reply = self.request(there, back);
            self.reply(reply);
            self.now += SECOND / 10;
        }
    }

    /// How far the offset in use is from the truth, nanoseconds.
    fn error(&self) -> Option<i64> {
        Some((self.sync.offset_ns()? - (OFFSET + self.boot_at_start() - self.boot) - self.own_shift).abs())
    }
}

/// Pseudo-random, the same in each run.
fn noise(n: u32, below: i64) -> i64 {
    i64::from(n.wrapping_mul(2_654_435_761) >> 8) % below
}

#[test]
fn offset_is_used_after_the_window_and_then_follows() {
    let mut link = Link::new(Tuning::default());
    link.run(499, |_| (1, 1));
    assert_eq!(link.error(), None);
    link.run(1, |_| (1, 1));
    assert_eq!(link.events, [Event::Converged]);
    link.run(500, |_| (1, 1));
    assert!(link.error().unwrap() < 1000, "{:?}", link.error());
}

#[test]
fn replies_to_others_and_duplicates_do_not_count() {
    let mut link = Link::new(Tuning::default());
    let reply = link.request(1, 1);
    assert_eq!(link.reply((reply.0 + 1, reply.1, reply.2)), None, "another participant's");
    assert!(link.reply(reply).is_some());
    assert_eq!(link.reply(reply), None, "the same once more");
    assert_eq!(link.sync.samples, 1);
}

#[test]
fn loss_and_reordering_do_no_harm() {
    let mut link = Link::new(Tuning { window: 100, ..Tuning::default() });
    let mut held = None;
    for n in 0..400 {
        let reply = link.request(1 + noise(n, 3), 1 + noise(n + 7, 3));
        match noise(n, 10) {
            0..3 => {}
            3 => held = Some((reply.0, reply.1, reply.2 + 150_000_000)),
            _ => {
                link.reply(reply);
                if let Some(late) = held.take() {
                    link.reply(late);
                }
            }
        }
        link.now += SECOND / 10;
    }
    assert_eq!(link.events, [Event::Converged], "no restart by replies out of order");
    assert!(link.error().unwrap() < 2_000_000, "{:?}", link.error());
}

#[test]
fn bursts_of_long_round_trips_change_nothing() {
    let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
    link.run(100, |_| (1, 1));
    let before = link.sync.offset_ns();
    link.run(100, |n| (1, 100 + noise(n, 500)));
    assert_eq!(link.sync.offset_ns(), before);
    assert!(link.events.contains(&Event::HighRtt));
    assert!(!link.events.iter().any(|e| matches!(e, Event::SlowLink(_))));
}

#[test]
fn jitter_of_half_a_second_leaves_the_quick_replies() {
    let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
    link.run(2000, |n| if noise(n, 4) == 0 { (2, 2) } else { (2, 2 + noise(n, 500)) });
    assert!(link.error().unwrap() < 5_000_000, "{:?}", link.error());
    assert!(!link.events.contains(&Event::Deviated), "{:?}", link.events);
}

#[test]
fn slow_link_is_told_once_and_synchronised_all_the_same() {
    let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
    link.run(1000, |n| (100 + noise(n, 60), 100 + noise(n + 3, 60)));
    let slow = link.events.iter().filter(|e| matches!(e, Event::SlowLink(_))).count();
    assert_eq!(slow, 1, "{:?}", link.events);
    assert!(link.error().unwrap() < 30_000_000, "{:?}", link.error());
    assert!(!link.events.contains(&Event::Deviated), "{:?}", link.events);
    link.run(300, |_| (1, 1));
    assert!(!link.sync.slow, "quick again");
}

#[test]
fn restart_of_the_vehicle_forgets_the_offset_at_once() {
    let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
    link.run(100, |_| (1, 1));
    assert!(link.error().is_some());
    link.boot = -link.now;
    link.run(1, |_| (1, 1));
    assert_eq!((link.events.last(), link.error()), (Some(&Event::Restarted), None));
    link.run(100, |_| (1, 1));
    assert!(link.error().unwrap() < 2_000_000, "{:?}", link.error());
}

#[test]
fn own_clock_set_by_an_hour_moves_the_offset_along() {
    for hour in [3600 * SECOND, -3600 * SECOND] {
        let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
        link.run(100, |_| (1, 1));
        let on_its_way = link.request(1, 1);
        link.own_shift += hour;
        link.sync.own_clock_set(hour);
        assert_eq!(link.reply(on_its_way), None, "asked on the old clock");
        link.run(100, |_| (1, 1));
        assert!(link.error().unwrap() < 2_000_000, "{:?}", link.error());
        assert_eq!(link.events, [Event::Converged]);
    }
}

#[test]
fn step_of_the_vehicles_clock_starts_the_filter_anew() {
    let mut link = Link::new(Tuning { window: 50, ..Tuning::default() });
    link.run(100, |_| (1, 1));
    link.boot += 30_000_000;
    link.run(10, |_| (1, 1));
    assert!(link.error().unwrap() > 20_000_000, "could be noise");
    link.run(1, |_| (1, 1));
    assert_eq!((link.events.last(), link.error()), (Some(&Event::Deviated), None));
    link.run(60, |_| (1, 1));
    assert!(link.error().unwrap() < 2_000_000, "{:?}", link.error());
}

#[test]
fn times_at_the_edge_do_not_overflow() {
    for (ts1, tc1) in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, i64::MIN)] {
        let mut sync = TimeSync::new(Tuning { window: 0, ..Tuning::default() });
        let at = Instant::now();
        sync.requested(ts1, at);
        assert!(sync.replied(ts1, tc1, at).is_some());
        sync.requested(1, at);
        assert!(sync.replied(1, 1, at + Duration::from_millis(1)).is_some());
        sync.own_clock_set(i64::MAX);
    }
}
