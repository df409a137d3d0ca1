//! What a follower tells.

use std::time::Duration;

use super::RosTime;

/// How a follower is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for the first sample.
    Acquiring,
    /// Samples come and go forward.
    Following,
    /// The clock stands still, or says nothing new.
    Paused,
    /// The clock is silent.
    Lost,
    /// No clock came in time.
    Fallback,
}

impl State {
    /// As a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acquiring => "acquiring",
            Self::Following => "following",
            Self::Paused => "paused",
            Self::Lost => "lost",
            Self::Fallback => "fallback",
        }
    }
}

/// What is worth a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first sample came.
    Acquired {
        /// What it said.
        now: RosTime,
    },
    /// The clock stands still.
    Paused {
        /// Where.
        now: RosTime,
    },
    /// The clock goes on after a pause or a silence.
    Resumed {
        /// Where.
        now: RosTime,
        /// How long it did not.
        after: Duration,
    },
    /// The clock went back, or more than a second further than it should have.
    Jumped {
        /// The newest sample before.
        from: RosTime,
        /// The sample after.
        to: RosTime,
    },
    /// Two publishers with different times; the one that was there first is followed.
    Conflict {
        /// The time followed.
        kept: RosTime,
        /// The time ignored.
        ignored: RosTime,
    },
    /// The clock is silent.
    Lost {
        /// Its last time.
        last: RosTime,
    },
    /// No clock came in time.
    FellBack,
    /// A clock came after all; it is ignored.
    Late,
    /// Between samples stamps are off by up to `error`, for the simulation does not run at the speed of time.
    Imprecise {
        /// How far.
        error: Duration,
    },
}
