//! Room for partly received samples and for peers, so that some cannot take it all.

use std::time::Instant;

use super::Core;
use super::outbox::Inbox;
use super::peer::Peer;
use crate::stats::add;
use crate::wire::{DataFrag, Prefix};

impl Core {
    /// Makes room for the sample a fragment begins, at the cost of the peer that holds most, if that holds more than
    /// this one will.
    pub(super) fn make_room(&mut self, source: Prefix, frag: &DataFrag<'_>) {
        let limits = &self.config.limits;
        let need = usize::try_from(frag.sample_size).unwrap_or(usize::MAX);
        if need > limits.sample_bytes || limits.pending_bytes.saturating_sub(self.pending_bytes) >= need {
            return;
        }
        let Some(peer) = self.peers.get(&source) else { return };
        let begun = peer.writers.get(&frag.writer).is_some_and(|w| w.partials.get(frag.seq).is_some());
        let goal = peer.pending.saturating_add(need);
        while !begun && limits.pending_bytes.saturating_sub(self.pending_bytes) < need {
            let most = self.peers.values_mut().max_by_key(|peer| peer.pending);
            let Some(freed) = most.filter(|p| p.pending > goal).and_then(Peer::give_up_largest) else {
                return;
            };
            self.pending_bytes -= freed;
            add(&self.counters.over_limit, 1);
        }
    }

    /// Whether another peer can be taken in, for which one that has said nothing but its name may have to go: the one
    /// that had most time to say more.
    pub(super) fn has_room_for_peer(&mut self, inbox: &mut Inbox) -> bool {
        if self.peers.len() < self.config.limits.peers + usize::from(self.config.match_own) {
            return true;
        }
        let me = self.prefix();
        let mute = self.peers.iter().filter(|(prefix, peer)| **prefix != me && !peer.has_spoken);
        let oldest: Option<(Prefix, Instant)> =
            mute.map(|(p, peer)| (*p, peer.found)).min_by_key(|(_, at)| *at);
        add(&self.counters.over_limit, 1);
        if let Some((prefix, _)) = oldest {
            self.remove_peer(prefix, "made room for another one", inbox);
        }
        oldest.is_some()
    }
}

impl Peer {
    /// Gives up the largest partly received sample; returns its size.
    fn give_up_largest(&mut self) -> Option<usize> {
        let writer = self.writers.values_mut().max_by_key(|writer| writer.partials.largest())?;
        let freed = writer.partials.give_up_largest()?;
        self.pending -= freed;
        Some(freed)
    }
}
