//! How fast a simulation runs, and how often its clock speaks.

/// Simulated seconds for each real one, over the last seconds, and the clock's period.
#[derive(Debug, Default)]
pub(super) struct Rate {
    /// Smoothed; `None` before the first window is full.
    smooth: Option<f64>,
    /// Where the present window began: simulated and monotonic nanoseconds.
    window: Option<(i64, i64)>,
    latest: Option<(i64, i64)>,
    /// The latest monotonic periods, nanoseconds.
    periods: [i64; PERIODS],
    count: usize,
    next: usize,
}

const PERIODS: usize = 7;
const WINDOW_NS: i64 = 1_000_000_000;
/// What a window weighs.
const WEIGHT: f64 = 0.2;
const FASTEST: f64 = 1000.0;
/// A window shorter than this tells nothing.
const SHORTEST_NS: i64 = 100_000_000;

impl Rate {
    /// Notes a new value.
    pub(super) fn moved(&mut self, sim_ns: i64, mono_ns: i64) {
        if let Some((_, before_ns)) = self.latest {
            if let Some(slot) = self.periods.get_mut(self.next) {
                *slot = mono_ns.saturating_sub(before_ns).max(0);
            }
            self.next = (self.next + 1) % PERIODS;
            self.count = (self.count + 1).min(PERIODS);
        }
        self.latest = Some((sim_ns, mono_ns));
        let (_, from_ns) = *self.window.get_or_insert((sim_ns, mono_ns));
        if mono_ns.saturating_sub(from_ns) < WINDOW_NS {
            return;
        }
        if let Some(now) = self.of_window() {
            self.smooth = Some(self.smooth.map_or(now, |before| before + WEIGHT * (now - before)));
        }
        self.window = self.latest;
    }

    /// The clock has jumped or stood still: what comes is not measured against what was.
    pub(super) fn restart(&mut self) {
        self.window = None;
        self.latest = None;
    }

    /// The rate; 1 before anything is known.
    pub(super) fn get(&self) -> f64 {
        self.smooth.or_else(|| self.of_window()).unwrap_or(1.0)
    }

    /// The rate over a second or more.
    pub(super) fn measured(&self) -> Option<f64> {
        self.smooth
    }

    /// The median monotonic time between values, nanoseconds.
    pub(super) fn period_ns(&self) -> Option<i64> {
        let mut sorted = self.periods;
        let sorted = sorted.get_mut(..self.count)?;
        sorted.sort_unstable();
        sorted.get(self.count / 2).copied()
    }

    fn of_window(&self) -> Option<f64> {
        let ((from_sim, from_mono), (sim, mono)) = self.window.zip(self.latest)?;
        let passed = mono.saturating_sub(from_mono);
        #[expect(clippy::cast_precision_loss, reason = "a ratio of short spans")]
        let rate = || sim.saturating_sub(from_sim) as f64 / passed as f64;
        (passed >= SHORTEST_NS).then(|| rate().clamp(0.0, FASTEST))
    }
}
