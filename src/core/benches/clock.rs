//! What a stamp costs.

use std::time::Instant;

use divan::{Bencher, black_box};
use rostrans_core::clock::{Clock, RosTime, SimClock, SystemClock, Tuning};

fn main() {
    divan::main();
}

/// Of a simulated clock that is followed.
#[divan::bench]
fn simulated(bencher: Bencher<'_, '_>) {
    let now = Instant::now();
    let clock = SimClock::new("sim".into(), Tuning::default(), now);
    clock.sample(RosTime::new(12, 500_000_000), RosTime::default(), now);
    let clock: &dyn Clock = &clock;
    bencher.bench(|| clock.time(black_box(now)));
}

/// Of the computer's clock.
#[divan::bench]
fn wall(bencher: Bencher<'_, '_>) {
    let (clock, now): (&dyn Clock, _) = (&SystemClock, Instant::now());
    bencher.bench(|| clock.time(black_box(now)));
}

/// A sample on its way in, 250 Hz.
#[divan::bench]
fn sample(bencher: Bencher<'_, '_>) {
    let now = Instant::now();
    let clock = SimClock::new("sim".into(), Tuning::default(), now);
    let mut step = 0;
    bencher.bench_local(|| {
        step += 1;
        let at = now + std::time::Duration::from_millis(4) * step;
        clock.sample(RosTime { ns: i64::from(step) * 4_000_000 }, RosTime::default(), at)
    });
}
