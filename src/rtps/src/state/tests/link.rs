//! What goes wrong on the simulated network beyond plain loss: bursts, narrow links, cuts, small MTUs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::sim::{Link, Rng};

/// Where a node is plugged in.
pub(super) type Place = usize;

/// Faults of the network; the default is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// Datagrams are split by the IP layer, and each part may be lost.
    pub(super) ip_fragments: bool,
    /// Largest datagram that passes.
    pub(super) mtu: Option<usize>,
    /// Chances in 1000 that a datagram begins or ends a time when nothing gets through its direction.
    pub(super) burst: Option<[u64; 2]>,
    pub(super) uplink: Option<Uplink>,
    /// Directions that are cut.
    pub(super) cuts: BTreeSet<(Place, Place)>,
    /// Loss in percent of single directions.
    pub(super) one_way: BTreeMap<(Place, Place), u64>,
    in_burst: BTreeSet<(Place, Place)>,
    /// When the uplink of each place has sent everything it was given.
    free: BTreeMap<Place, Instant>,
}

/// How fast a place sends, and how much waits before more is dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uplink {
    pub(super) bytes_per_s: u64,
    pub(super) queue: u64,
}

/// Payload of one IP packet on Ethernet.
pub(super) const IP_FRAGMENT: usize = 1472;

impl Faults {
    pub(super) fn new(ip_fragments: bool) -> Self {
        Self { ip_fragments, ..Self::default() }
    }

    /// How long a datagram waits in the sender's queue; `None` when it is lost.
    pub(super) fn pass(
        &mut self,
        (from, to): (Place, Place),
        len: usize,
        link: &Link,
        now: Instant,
        rng: &mut Rng,
    ) -> Option<Duration> {
        if from == to {
            // Within one process nothing is lost.
            return Some(Duration::ZERO);
        }
        let wait = self.queue(from, len, now)?;
        let loss = link.loss.max(self.one_way.get(&(from, to)).copied().unwrap_or(0));
        let parts = if self.ip_fragments { len.div_ceil(IP_FRAGMENT) } else { 1 };
        let lost = (0..parts).any(|_| rng.below(100) < loss);
        let fits = self.mtu.is_none_or(|mtu| len <= mtu);
        let open = !self.cuts.contains(&(from, to)) && !self.bursts((from, to), rng);
        (open && fits && !lost).then_some(wait)
    }

    fn queue(&mut self, from: Place, len: usize, now: Instant) -> Option<Duration> {
        let Some(uplink) = self.uplink else { return Some(Duration::ZERO) };
        let time = |bytes: u64| Duration::from_nanos(bytes * 1_000_000_000 / uplink.bytes_per_s);
        let free = self.free.entry(from).or_insert(now);
        *free = (*free).max(now);
        let wait = *free - now;
        if wait > time(uplink.queue) {
            return None;
        }
        *free += time(len as u64);
        Some(*free - now)
    }

    fn bursts(&mut self, way: (Place, Place), rng: &mut Rng) -> bool {
        let Some([begin, end]) = self.burst else { return false };
        if self.in_burst.contains(&way) {
            if rng.below(1000) < end {
                self.in_burst.remove(&way);
            }
            true
        } else if rng.below(1000) < begin {
            self.in_burst.insert(way)
        } else {
            false
        }
    }
}
