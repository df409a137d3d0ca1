//! What the user is to be told, until it is handed over.

use std::sync::Arc;
use std::time::Instant;

use crate::event::Event;
use crate::guid::Guid;
use crate::stats::{Counters, add};

/// Events waiting for the next [`Inbox`](super::Inbox).
#[derive(Debug)]
pub(super) struct Events {
    waiting: Vec<Event>,
    /// A moment that is over: whoever waits is served at once.
    start: Instant,
    counters: Arc<Counters>,
}

/// Events waiting at most; further ones are counted only.
pub(super) const MAX_EVENTS: usize = 256;

impl Events {
    pub(super) fn new(counters: Arc<Counters>, start: Instant) -> Self {
        Self { waiting: Vec::new(), start, counters }
    }

    /// When they are to be handed over.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.start)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn push(&mut self, event: Event) {
        match &event {
            Event::DeadlineMissed { count, .. } => add(&self.counters.deadlines_missed, *count),
            Event::LivelinessChanged { alive: false, .. } | Event::LivelinessLost { .. } => {
                add(&self.counters.liveliness_lost, 1);
            }
            _ => {}
        }
        if self.waiting.len() < MAX_EVENTS {
            self.waiting.push(event);
        } else {
            add(&self.counters.over_limit, 1);
        }
    }

    /// Notes lost samples, together with those lost just before.
    pub(super) fn lost(&mut self, lost_by: Guid, from: Guid, more: u64) {
        if let Some(Event::SamplesLost { reader, writer, count }) = self.waiting.last_mut()
            && (*reader, *writer) == (lost_by, from)
        {
            *count = count.saturating_add(more);
            return;
        }
        self.push(Event::SamplesLost { reader: lost_by, writer: from, count: more });
    }

    pub(super) fn hand_over(&mut self, to: &mut Vec<Event>) {
        to.append(&mut self.waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_one_pair_are_one_event_and_the_rest_is_bounded() {
        let counters = Arc::<Counters>::default();
        let mut events = Events::new(counters.clone(), Instant::now());
        let guid = |n| Guid { prefix: [n; 12], entity: [0; 4] };
        events.lost(guid(1), guid(2), 3);
        events.lost(guid(1), guid(2), 4);
        let mut got = Vec::new();
        events.hand_over(&mut got);
        assert_eq!(got, [Event::SamplesLost { reader: guid(1), writer: guid(2), count: 7 }]);
        (0..300).for_each(|_| events.push(Event::LivelinessLost { writer: guid(1) }));
        assert_eq!((events.len(), counters.snapshot().over_limit), (MAX_EVENTS, 44));
    }
}
