//! Readers that do not answer.
//!
//! A killed process is a peer until its lease runs out, and whoever has taken its port meanwhile would get every sample
//! for both. So a reliable reader that leaves heartbeats unanswered is only asked on, and gets no fresh samples until its
//! participant is heard again; what it lacks then it asks for.

use std::time::{Duration, Instant};

use super::Core;
use super::writer::{Dest, ReaderProxy};
use crate::wire::{Entity, Prefix};

/// Heartbeats without an answer for this long mean that nobody is there, or nobody who could take samples. Ten times
/// the period of heartbeats, so that some may get lost.
const SILENCE: Duration = Duration::from_millis(500);

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

    /// A peer that was silent says something.
    pub(super) fn end_silence(&mut self, prefix: Prefix) {
        for dest in self.writers.values_mut().flat_map(|w| &mut w.dests).filter(|d| d.prefix == prefix) {
            (dest.silent, dest.asked) = (false, None);
        }
    }
}

impl Dest {
    /// Passes over everything up to `seq` as if it had been lost on the way.
    pub(super) fn skip(&mut self, seq: i64) {
        (self.sent, self.queued) = (self.sent.max(seq), 0);
    }
}
