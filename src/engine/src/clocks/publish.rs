//! Publishing a clock.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rostrans_core::{
    adapter::{Guard, Publisher, RosAdapter},
    clock::{Authority, ClockName, ClockOutput, RosTime, SimClock, State},
    topic::TopicName,
};
use tracing::{error, info, warn};

use super::follow::{refused, topic};
use crate::{
    pipeline::now,
    supervisor::{Failure, lock},
};

/// How long others may take to be found before the first message.
const LOOK_FIRST: Duration = Duration::from_millis(1500);

/// How often it looks for others, and repeats the time of a clock that stands still.
const EVERY: Duration = Duration::from_secs(1);

/// Somebody whose messages came of late publishes.
const OF_LATE: Duration = Duration::from_secs(3);

/// A topic that a clock is published on.
pub(super) struct Output {
    clock: ClockName,
    topic: TopicName,
    authority: Authority,
    adapter: Arc<dyn RosAdapter>,
    publisher: Arc<dyn Publisher>,
    /// When another's message came.
    heard: Arc<Mutex<Option<Instant>>>,
    _others: Guard,
    /// Whether it may publish.
    granted: bool,
    refused: bool,
    next_look: Instant,
    period: Duration,
    /// The earliest moment for the next message.
    next: Instant,
    last: Option<(RosTime, Instant)>,
}

impl Output {
    pub(super) async fn open(
        clock: &ClockName,
        output: &ClockOutput,
        adapter: &Arc<dyn RosAdapter>,
    ) -> Result<Self, Failure> {
        let spec = topic(output.topic.clone());
        let heard = Arc::new(Mutex::new(None));
        let notes = Arc::clone(&heard);
        let sink = Arc::new(move |_| *lock(&notes) = Some(now()));
        let fail = |source| refused(adapter, &output.topic, source);
        let others = adapter.subscribe_remote(&spec, sink).await.map_err(fail)?;
        let publisher = adapter.advertise(&spec).await.map_err(fail)?;
        let forced = output.authority == Authority::Force;
        Ok(Self {
            clock: clock.clone(),
            topic: output.topic.clone(),
            authority: output.authority,
            adapter: Arc::clone(adapter),
            publisher,
            heard,
            _others: others,
            granted: forced,
            refused: false,
            next_look: if forced { now() } else { now() + LOOK_FIRST },
            period: Duration::try_from_secs_f64(1.0 / output.max_rate.0).unwrap_or(EVERY),
            next: now(),
            last: None,
        })
    }

    /// When [`Output::publish`] has something to do, unless samples come.
    pub(super) fn next_due(&self) -> Instant {
        self.next_look.min(self.next.max(now()) + EVERY)
    }

    /// Publishes the clock's time if it has moved, or not for a while.
    pub(super) fn publish(&mut self, clock: &SimClock, at: Instant) {
        if at >= self.next_look {
            self.next_look = at + EVERY;
            self.look(at);
        }
        let runs = matches!(clock.state(), State::Following | State::Paused);
        let Some(time) = clock.newest().filter(|time| runs && self.granted && time.fits()) else { return };
        let due = match self.last {
            None => true,
            // A repeat for who has joined since.
            Some((last, since)) if last == time => at.saturating_duration_since(since) >= EVERY,
            // A little early is in time: samples come as they like.
            Some(_) => at + self.period / 2 >= self.next,
        };
        if !due {
            return;
        }
        self.next = (self.next + self.period).max(at + self.period / 2);
        self.last = Some((time, at));
        // Nobody listens, or the queue is full: the next one will do.
        let _lost = self.publisher.publish(time, &time.to_clock());
    }

    /// Looks for others.
    fn look(&mut self, at: Instant) {
        let heard = lock(&self.heard).is_some_and(|heard| at.saturating_duration_since(heard) < OF_LATE);
        let others = heard || self.adapter.offers(&self.topic).is_some_and(|offers| !offers.is_empty());
        let (clock, topic) = (&self.clock, &self.topic);
        let adapter = self.adapter.info().name;
        let granted = match self.authority {
            Authority::Force => true,
            Authority::Yield => !others,
            Authority::Refuse => !others && !self.refused,
        };
        match (self.authority, granted) {
            (Authority::Force, _) if others && !self.refused => {
                self.refused = true;
                warn!(%clock, %topic, adapter, "another node publishes a clock there, too");
            }
            (Authority::Refuse, false) if !self.refused => {
                self.refused = true;
                let remedy =
                    "stop the other one and restart rostrans, or write 'authority: yield' or 'force'";
                error!(%clock, %topic, adapter, remedy, "another node publishes a clock there; not published");
            }
            (Authority::Yield, false) if self.granted || self.last.is_none() && !self.refused => {
                self.refused = true;
                info!(%clock, %topic, adapter, "another node publishes a clock there; not published");
            }
            (_, true) if !self.granted => info!(%clock, %topic, adapter, "clock is published"),
            _ => {}
        }
        self.granted = granted;
    }
}
