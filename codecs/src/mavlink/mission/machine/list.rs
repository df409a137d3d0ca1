//! The plan as the vehicle has it.

use std::time::Instant;

use rostrans_msgs::mavros_msgs::msg::Waypoint;

use super::{
    super::{
        item,
        task::{Active, Effect, Task, Upload},
    },
    Machine, PULL_TRIES,
};

impl Machine {
    /// The list has been read; with `check` it is compared with what was sent.
    pub(super) fn pulled(&mut self, got: Vec<Waypoint>, check: Option<Upload>) -> (bool, u32) {
        let outcome = match check {
            None => (true, len(&got)),
            Some(upload) => {
                // ArduPilot puts its home in the place of the first item.
                let mut pairs = upload.list.iter().zip(&got).skip(1);
                let taken =
                    upload.list.len() == got.len() && pairs.all(|(sent, got)| item::is_taken(sent, got));
                (taken, upload.count())
            }
        };
        tracing::info!(rule = %self.rule, plan = self.name, count = got.len(), "read from the vehicle");
        self.set_list(got);
        outcome
    }

    pub(super) fn set_list(&mut self, items: Vec<Waypoint>) {
        self.list.waypoints = items;
        self.plan_id = 0;
        self.tries = PULL_TRIES;
        self.effects.push(Effect::Publish);
    }

    pub(super) fn set_current(&mut self, seq: u16, now: Instant) {
        let asked =
            matches!(&self.active, Some(Active { task: Task::SetCurrent(wanted), .. }) if *wanted == seq);
        if asked || self.list.current_seq != seq {
            self.list.current_seq = seq;
            for (index, item) in self.list.waypoints.iter_mut().enumerate() {
                item.is_current = index == usize::from(seq);
            }
            self.effects.push(Effect::Publish);
        }
        if asked {
            self.finish(true, now);
        }
    }

    /// What a push has to send; `None` when that is no list the vehicle could have.
    pub(super) fn upload(&self, start: u16, items: Vec<Waypoint>) -> Option<Upload> {
        let count = u16::try_from(items.len()).ok()?;
        if start == 0 {
            return Some(Upload { list: items, first: 0, end: count, count, sent: None, reached: 0 });
        }
        let end = start.checked_add(count)?;
        let mut list = self.list.waypoints.clone();
        list.get_mut(usize::from(start)..usize::from(end))?.clone_from_slice(&items);
        // ArduPilot takes the end for the last item, or, long ago, for the one behind it. Both are fine while there
        // is one behind it; else everything is sent.
        let first = if usize::from(end) < list.len() { start } else { 0 };
        Some(Upload { list, first, end, count, sent: None, reached: first })
    }
}

/// The number of items as responses give it.
pub(super) fn len(items: &[Waypoint]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
