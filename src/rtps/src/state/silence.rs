//! Readers that do not answer, or not as fast as samples are written.
//!
//! A big sample does not begin while the reader still lacks parts of several before it. It puts together a few at a time
//! (four in our engine), so more would be sent in vain: under overload the repairs of what was refused for lack of room
//! left nothing for anything else. What waits too long a keep-last history gives up unsent.
//!
//! A killed process is a peer until its lease runs out, and whoever has taken its port meanwhile would get every sample
//! for both. So a reliable reader that leaves heartbeats unanswered is only asked on, and gets no fresh samples until its
//! participant is heard again; what it lacks then it asks for.

use std::time::{Duration, Instant};

use super::lane::Lane;
use super::peer::Address;
use super::queue::Job;
use super::writer::{Dest, LocalWriter, ReaderProxy};
use super::{Core, at_latest};
use crate::wire::{Entity, Prefix};

/// Heartbeats without an answer for this long mean that nobody is there, or nobody who could take samples. Ten times
/// the period of heartbeats, so that some may get lost.
const SILENCE: Duration = Duration::from_millis(500);

/// Samples that may have left without being acknowledged when a big one begins.
const IN_FLIGHT: i64 = 3;

impl Core {
    /// Looks for readers of this writer that have stopped to answer.
    pub(super) fn notice_silence(&mut self, entity: Entity, now: Instant) {
        let Some(writer) = self.writers.get_mut(&entity) else { return };
        for dest in writer.dests.iter_mut().filter(|d| d.reliable && !d.silent) {
            let Some(peer) = self.peers.get_mut(&dest.prefix) else { continue };
            let here = |p: &&ReaderProxy| p.guid.prefix == dest.prefix && p.to == dest.to;
            let behind = writer.proxies.iter().filter(here).any(|p| p.reliable && p.acked < dest.sent);
            match dest.asked {
                _ if !behind => dest.asked = None,
                Some(at) if peer.heard <= at => {
                    if now.saturating_duration_since(at) >= SILENCE {
                        peer.silent = true;
                        dest.silent = true;
                        dest.skip(writer.next - 1);
                        let lanes = peer.lanes.iter_mut().filter(|lane| lane.to == dest.to);
                        lanes.for_each(|lane| lane.queue.forget_fresh(entity));
                    }
                }
                _ => dest.asked = Some(now),
            }
        }
    }

    /// A reader has taken more: the writer may begin another big sample.
    pub(super) fn go_on(&mut self, writer: Entity, prefix: Prefix, address: Address, now: Instant) {
        let Some(peer) = self.peers.get_mut(&prefix) else { return };
        if let Some(lane) = peer.lanes.iter_mut().find(|lane| lane.to == address.to)
            && lane.queue.unblock(Some(writer))
        {
            at_latest(&mut self.timers.send, lane.due().unwrap_or(now));
        }
    }

    /// A peer that was silent says something.
    pub(super) fn end_silence(&mut self, prefix: Prefix) {
        for dest in self.writers.values_mut().flat_map(|w| &mut w.dests).filter(|d| d.prefix == prefix) {
            (dest.silent, dest.asked) = (false, None);
        }
    }
}

impl LocalWriter {
    /// Whether a sample that has not begun yet has to wait until the reader has taken more of those before it.
    pub(super) fn must_wait(&self, job: &Job, prefix: Prefix, lane: &Lane) -> bool {
        if job.fragment > 1 || job.len <= lane.path.whole() || self.history.get(job.seq).is_none() {
            return false;
        }
        let here = |p: &&ReaderProxy| p.reliable && p.guid.prefix == prefix && p.to == lane.to;
        let acked = self.proxies.iter().filter(here).map(|p| p.acked).min();
        let sent = self.dests.iter().find(|d| d.prefix == prefix && d.to == lane.to).map(|d| d.sent);
        acked.zip(sent).is_some_and(|(acked, sent)| sent - acked >= IN_FLIGHT)
    }
}

impl Dest {
    /// A sample has left the lane, sent or given up.
    pub(super) fn left(&mut self, seq: i64) {
        (self.sent, self.queued) = (self.sent.max(seq), self.queued.saturating_sub(1));
    }

    /// Passes over everything up to `seq` as if it had been lost on the way.
    pub(super) fn skip(&mut self, seq: i64) {
        (self.sent, self.queued) = (self.sent.max(seq), 0);
    }
}
