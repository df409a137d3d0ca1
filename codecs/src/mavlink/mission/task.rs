//! What a plan's machine is asked to do, what it hears and says, and when it gives up.

use std::time::{Duration, Instant};

use rostrans_core::codec::CallId;
use rostrans_msgs::mavros_msgs::msg::Waypoint;

/// A service call without its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Job {
    Pull,
    /// Writes `items`; from `start` on when that is not 0.
    Push {
        start: u16,
        items: Vec<Waypoint>,
    },
    Clear,
    SetCurrent(u16),
}

/// Who waits for a job, if anybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Caller {
    pub(super) call: CallId,
    pub(super) answer: Answer,
}

/// The kind of response a caller gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    Pull,
    Push,
    Clear,
    SetCurrent,
}

/// What the vehicle says, as far as it is about one plan and meant for us.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Heard {
    Count(u16),
    Item {
        seq: u16,
        item: Waypoint,
        /// MISSION_ITEM_INT.
        int: bool,
    },
    Request {
        seq: u16,
        /// MISSION_REQUEST_INT.
        int: bool,
    },
    /// `MAV_MISSION_RESULT`.
    Ack(u8),
    Current(u16),
}

/// What is to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Say {
    RequestList,
    Request { seq: u16, int: bool },
    Ack(u8),
    Count(u16),
    WritePartialList { start: u16, end: u16 },
    Item { seq: u16, item: Waypoint, int: bool },
    ClearAll,
    SetCurrent(u16),
}

/// What follows from an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Say(Say),
    /// The list or the current item is another one.
    Publish,
    /// `count`: items received or sent.
    Answer {
        caller: Caller,
        success: bool,
        count: u32,
    },
}

/// A job at work.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) task: Task,
    pub(super) caller: Option<Caller>,
    pub(super) step: Step,
    /// When the transfer last came further.
    pub(super) moved: Instant,
}

#[derive(Debug)]
pub(super) enum Task {
    Pull {
        /// The number of items, once known.
        count: Option<u16>,
        got: Vec<Waypoint>,
        /// The list is read back, to see whether these were taken.
        check: Option<Upload>,
    },
    Push(Upload),
    Clear,
    SetCurrent(u16),
}

impl Task {
    /// Time after which its message is sent again.
    pub(super) fn wait(&self, round_trip: RoundTrip) -> Duration {
        match self {
            // What a vehicle says to a number that it does not like is for people; once a second is enough.
            Self::SetCurrent(_) => LONGEST_WAIT,
            _ => round_trip.wait(),
        }
    }
}

/// A list on its way to the vehicle.
#[derive(Debug)]
pub(super) struct Upload {
    /// The vehicle's whole list once it has taken this.
    pub(super) list: Vec<Waypoint>,
    /// The first one to send.
    pub(super) first: u16,
    /// Behind the last one to send.
    pub(super) end: u16,
    /// How many items the caller gave.
    pub(super) count: u16,
    /// The one that was sent last.
    pub(super) sent: Option<u16>,
    /// Behind the highest one that was sent.
    pub(super) reached: u16,
}

impl Upload {
    /// How many of the caller's items were sent.
    pub(super) fn count(&self) -> u32 {
        let start = self.end.saturating_sub(self.count);
        u32::from(self.reached.min(self.end).saturating_sub(start))
    }

    pub(super) fn is_all_sent(&self) -> bool {
        self.reached >= self.end
    }
}

/// A message that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// First sent.
    pub(super) since: Instant,
    /// Sent again then.
    pub(super) due: Instant,
    pub(super) sends: u32,
}

impl Step {
    pub(super) fn new(now: Instant, wait: Duration) -> Self {
        Self { since: now, due: now + wait, sends: 1 }
    }

    /// True when the message has been sent often and long enough.
    pub(super) fn is_hopeless(&self, patience: Patience, now: Instant) -> bool {
        self.sends >= patience.sends && now.saturating_duration_since(self.since) >= patience.time
    }
}

/// How often and how long a step is tried: both must be used up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    sends: u32,
    time: Duration,
}

impl Patience {
    /// Of MAVROS: three times more, a second apart. For vehicles that have not spoken the protocol yet.
    pub(super) const FIRST: Self = Self { sends: 4, time: Duration::from_secs(4) };
    /// For the first message to a vehicle that speaks the protocol: at 30 % loss in both directions, one of 200
    /// such steps fails.
    pub(super) const KNOWN: Self = Self { sends: 8, time: Duration::from_secs(4) };
    /// Amid a transfer of hundreds of items, each of which may fail: at 30 % loss one of 50,000 does.
    pub(super) const AMID: Self = Self { sends: 16, time: Duration::from_secs(8) };
}

/// How long a vehicle takes to answer.
///
/// **Units**: an answer counts from the message that it answers, when that was sent once only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip(Option<Duration>);

impl RoundTrip {
    pub(super) fn learn(&mut self, step: &Step, now: Instant) {
        if step.sends == 1 {
            let sample = now.saturating_duration_since(step.since);
            self.0 = Some(self.0.map_or(sample, |mean| (mean * 7 + sample) / 8));
        }
    }

    /// Time after which a message is sent again: four round trips, 0.25 to 1 s.
    pub(super) fn wait(&self) -> Duration {
        self.0.map_or(LONGEST_WAIT, |mean| (mean * 4).clamp(SHORTEST_WAIT, LONGEST_WAIT))
    }
}

const SHORTEST_WAIT: Duration = Duration::from_millis(250);
/// Of MAVROS.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(1);
