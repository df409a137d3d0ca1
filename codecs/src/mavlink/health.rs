//! One task of `/diagnostics`, and how often something comes.

use std::{
    collections::VecDeque,
    fmt::Display,
    time::{Duration, Instant},
};

use rostrans_msgs::diagnostic_msgs::msg::{DiagnosticStatus, KeyValue};

/// One task's report.
pub(super) struct Status(pub(super) DiagnosticStatus);

impl Status {
    pub(super) fn new(task: &str, level: u8, message: &str) -> Self {
        let name = format!("mavros: {task}");
        Self(DiagnosticStatus { level, name, message: message.to_owned(), ..DiagnosticStatus::default() })
    }

    pub(super) fn with(mut self, key: &str, value: impl Display) -> Self {
        self.0.values.push(KeyValue { key: key.to_owned(), value: value.to_string() });
        self
    }
}

/// How often something comes, over the last ten seconds.
#[derive(Default)]
pub(super) struct Rate {
    pub(super) total: u64,
    /// Totals at past ticks.
    past: VecDeque<(Instant, u64)>,
    hz: f64,
}

impl Rate {
    pub(super) fn count(&mut self) {
        self.total += 1;
    }

    pub(super) fn tick(&mut self, now: Instant) {
        if let Some((at, total)) = self.past.front() {
            let seconds = now.saturating_duration_since(*at).as_secs_f64();
            #[expect(clippy::cast_precision_loss, reason = "counts of ten seconds")]
            let events = (self.total - total) as f64;
            self.hz = if seconds > 0.0 { events / seconds } else { 0.0 };
        }
        self.past.push_back((now, self.total));
        while self.past.get(1).is_some_and(|(at, _)| now.saturating_duration_since(*at) >= WINDOW) {
            self.past.pop_front();
        }
    }

    pub(super) fn hz(&self) -> f64 {
        self.hz
    }

    pub(super) fn status(&self, task: &str, min_hz: f64, max_hz: f64) -> Status {
        match self.hz {
            hz if hz <= 0.0 => Status::new(task, ERROR, "No events recorded."),
            hz if hz < min_hz => Status::new(task, WARN, "Frequency too low."),
            hz if hz > max_hz => Status::new(task, WARN, "Frequency too high."),
            _ => Status::new(task, OK, "Normal"),
        }
    }
}

pub(super) const OK: u8 = DiagnosticStatus::OK;
pub(super) const WARN: u8 = DiagnosticStatus::WARN;
pub(super) const ERROR: u8 = DiagnosticStatus::ERROR;
pub(super) const STALE_LEVEL: u8 = DiagnosticStatus::STALE;
/// Time over which rates are taken.
const WINDOW: Duration = Duration::from_secs(10);
