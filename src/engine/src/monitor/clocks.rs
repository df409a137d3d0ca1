//! The rows of simulated clocks.

use std::time::Duration;

use rostrans_core::{clock::ClockSnapshot, stats::LinkSnapshot};
use tracing::info;

use crate::running::RuleSnapshot;

/// One clock's row; counts are sums over the links whose stamps are of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockRates {
    /// The clock, with the time of its newest sample, that sample's age, rate, offset and epoch.
    pub clock: ClockSnapshot,
    /// Samples heard.
    pub in_hz: f64,
    /// Messages and frames that came while it had no time.
    pub gated: u64,
    /// Messages from before it was set back.
    pub stale_epoch: u64,
    /// Stamps too far from the time of receipt.
    pub implausible: u64,
    /// Stamps before 0 or after 2038.
    pub out_of_range: u64,
}

impl ClockRates {
    pub(super) const TITLES: [&'static str; 12] = [
        "clock",
        "state",
        "in/s",
        "time s",
        "age",
        "offset s",
        "speed",
        "epoch",
        "gated",
        "stale",
        "implausible",
        "out of range",
    ];

    pub(super) fn of(clock: &ClockSnapshot, in_hz: f64, rules: &[RuleSnapshot]) -> Self {
        let rules = || rules.iter().filter(|rule| rule.clock.as_ref() == Some(&clock.name));
        let sum = |count: fn(&LinkSnapshot) -> u64| {
            rules().flat_map(|rule| &rule.links).map(|row| count(&row.counters)).sum()
        };
        Self {
            clock: clock.clone(),
            in_hz,
            gated: sum(|link| link.gated),
            stale_epoch: sum(|link| link.stale_epoch),
            implausible: sum(|link| link.implausible),
            out_of_range: sum(|link| link.out_of_range),
        }
    }

    pub(super) fn log_fields(&self) {
        let clock = &self.clock;
        info!(
            clock = %clock.name,
            clock_state = clock.state.as_str(),
            in_hz = self.in_hz,
            clock_samples = clock.samples,
            clock_age_s = clock.age.map(|age| age.as_secs_f64()),
            offset_ns = clock.offset_ns,
            real_time_factor = clock.rate,
            epoch = clock.epoch,
            gated = self.gated,
            stale_epoch = self.stale_epoch,
            implausible_stamp = self.implausible,
            time_out_of_range = self.out_of_range,
            "clock"
        );
    }

    pub(super) fn cells(&self) -> [String; 12] {
        let clock = &self.clock;
        let seconds = |ns: i64| {
            let (sign, span) = (if ns < 0 { "-" } else { "" }, Duration::from_nanos(ns.unsigned_abs()));
            format!("{sign}{:.3}", span.as_secs_f64())
        };
        let count = |count: u64| count.to_string();
        [
            clock.name.to_string(),
            clock.state.as_str().to_owned(),
            format!("{:.1}", self.in_hz),
            clock.sim.map(|sim| seconds(sim.ns)).unwrap_or_default(),
            clock.age.map_or_else(|| "never".to_owned(), |age| format!("{} ms", age.as_millis())),
            clock.offset_ns.map(seconds).unwrap_or_default(),
            format!("{:.2}", clock.rate),
            clock.epoch.to_string(),
            count(self.gated),
            count(self.stale_epoch),
            count(self.implausible),
            count(self.out_of_range),
        ]
    }
}
