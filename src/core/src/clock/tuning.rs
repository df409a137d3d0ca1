//! What users choose about following a clock.

use std::time::Duration;

/// How a clock is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How long the first sample may take before `fallback`.
    pub acquire_timeout: Duration,
    /// What to do without a first sample.
    pub fallback: Fallback,
    /// How long a clock that was there may be silent before it counts as lost.
    pub lost_after: Duration,
    /// What stamps are once it is lost.
    pub lost: Lost,
    /// How times between samples are found.
    pub project: Project,
    /// How far stamps run ahead of the newest sample at most, in simulated time; two periods of the clock if longer.
    pub max_lead: Duration,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            acquire_timeout: Duration::from_secs(60),
            fallback: Fallback::Wall,
            lost_after: Duration::from_secs(5),
            lost: Lost::Hold,
            project: Project::Offset,
            max_lead: Duration::from_millis(50),
        }
    }
}

/// How times between samples are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// Simulated time passes as real time does.
    Offset,
    /// Simulated time passes as fast as it did of late.
    Rate,
}

/// What to do when no clock appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Wall time from then on; a clock that comes later is ignored, for tf2 cannot go back from wall time.
    Wall,
    /// Go on waiting.
    Wait,
    /// End the program.
    Exit,
}

/// What stamps are while the clock is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// There are none: nothing with a stamp is published.
    Hold,
    /// Wall time.
    Wall,
    /// The clock's time as if it had gone on.
    Extrapolate,
}
