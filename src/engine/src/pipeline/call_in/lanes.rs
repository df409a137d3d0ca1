//! The services of one rule: which call starts, and whose answer a frame is.
//!
//! A frame counts only if it comes from where the link's requests go. Links with the same peer are offered the frame
//! one after the other until one takes it. Where answers do not name their call, that alone would not keep them
//! apart, so calls to one peer then go one at a time, in the order they came, and pause after one timed out.

use std::time::Instant;

use rostrans_core::{
    codec::{DecodeError, FrameOut},
    transport::Frame,
};

use super::{
    Call,
    lane::{Lane, Taken},
};
use crate::pipeline::now;

/// The lanes of a rule, by link.
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Indices in the order in which frames are offered: lanes that cannot take a wrong answer come first.
    order: Vec<usize>,
}

impl Lanes {
    pub(super) fn new(lanes: Vec<Lane>) -> Self {
        let (safe, others): (Vec<_>, Vec<_>) = (0..lanes.len()).partition(|&index| lanes[index].correlates);
        Self { lanes, order: [safe, others].concat() }
    }

    /// True while a call waits for its answer.
    pub(super) fn are_open(&self) -> bool {
        self.lanes.iter().any(Lane::is_open)
    }

    /// Takes a call in.
    pub(super) fn call(&mut self, call: Call, out: &mut FrameOut) {
        if let Some(lane) = self.lanes.get_mut(call.link) {
            lane.call(call);
        }
        self.start_ready(out);
    }

    /// Offers a frame to the calls in flight.
    pub(super) fn frame(&mut self, frame: &Frame<'_>, out: &mut FrameOut) {
        let known = self.lanes.iter().any(|lane| lane.sender.hears(frame.peer));
        let mut malformed: Option<(usize, DecodeError)> = None;
        for &index in &self.order {
            let Some(lane) = self.lanes.get_mut(index).filter(|lane| lane.awaits(frame)) else { continue };
            if !lane.sender.hears(frame.peer) {
                if !known {
                    lane.stranger(frame.peer);
                }
                continue;
            }
            match lane.frame(frame) {
                Taken::Yes => {
                    malformed = None;
                    break;
                }
                Taken::No => {}
                Taken::Malformed(error) => malformed = malformed.or(Some((index, error))),
            }
        }
        // What one link cannot read may be the answer to another's call, and then is no error.
        if let Some((index, error)) = malformed
            && let Some(lane) = self.lanes.get_mut(index)
        {
            lane.malformed(error);
        }
        self.start_ready(out);
    }

    /// Handles whatever is due at `now`.
    pub(super) fn due(&mut self, now: Instant, out: &mut FrameOut) {
        for lane in &mut self.lanes {
            lane.due(now, out);
        }
        self.start_ready(out);
    }

    /// Answers everything with a failure, `calls` included.
    pub(super) fn close(&mut self, calls: impl Iterator<Item = Call>) {
        for call in calls {
            if let Some(lane) = self.lanes.get_mut(call.link) {
                lane.fail_call(call);
            }
        }
        self.lanes.iter_mut().for_each(Lane::close);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.lanes.iter().filter_map(Lane::next_due).min()
    }

    fn start_ready(&mut self, out: &mut FrameOut) {
        while let Some(lane) = self.next_ready().and_then(|index| self.lanes.get_mut(index)) {
            lane.start(out);
        }
    }

    /// The lane whose call came first among those that may start one now.
    fn next_ready(&self) -> Option<usize> {
        let now = now();
        let ready =
            self.lanes.iter().enumerate().filter(|(_, lane)| !lane.is_open() && !self.held(lane, now));
        let waiting = ready.filter_map(|(index, lane)| Some((lane.first_deadline()?, index)));
        waiting.min().map(|(_, index)| index)
    }

    /// True while an answer to another call could pass for the answer to one of `lane`.
    fn held(&self, lane: &Lane, now: Instant) -> bool {
        let unsafe_with = |other: &&Lane| !other.correlates && other.sender.overlaps(lane.sender);
        !lane.correlates && self.lanes.iter().filter(unsafe_with).any(|other| other.is_busy(now))
    }
}
