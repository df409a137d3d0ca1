use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::history::Slot;
use crate::guid::Guid;
use crate::wire::Entity;

/// Paced sending of fragments and repairs to one address.
///
/// Fresh samples of one writer leave in the order they were written. Writers take turns, a datagram each, so that a
/// scan need not wait for an image; so do fresh samples and repairs, and the readers to repair.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
    /// One queue for each writer that has something to send, next writer first.
    fresh: VecDeque<(Entity, VecDeque<Job>)>,
    /// Jobs in `fresh`.
    jobs: u32,
    repairs: VecDeque<(Entity, Guid)>,
    /// Whose turn it was last.
    repaired: bool,
    /// Bytes per second now.
    rate: f64,
    base_rate: f64,
    next: Instant,
    last_loss: Option<Instant>,
}

/// How big datagrams may be on the way to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Path {
    /// Same host: nearly 64 KiB.
    Loopback,
    /// Through a network: the usual Ethernet MTU.
    Lan,
}

impl Path {
    /// Size of one fragment, a multiple of four.
    pub(crate) const fn fragment(self) -> u16 {
        match self {
            Self::Loopback => 60_000,
            Self::Lan => 1_300,
        }
    }

    /// Lowest rate as a part of the configured one.
    ///
    /// On loopback a reader loses what its process is too busy to take, which slower sending hardly mends; a network
    /// may be a slow radio link.
    const fn slowest(self) -> f64 {
        match self {
            Self::Loopback => 0.25,
            Self::Lan => 1.0 / 32.0,
        }
    }

    /// Payloads up to this size travel in one DATA; on a LAN the IP layer splits what exceeds the MTU.
    pub(crate) const fn whole(self) -> usize {
        match self {
            Self::Loopback => 60_000,
            Self::Lan => 8_192,
        }
    }
}

/// A fresh sample on its way to one address.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    /// Next fragment, from 1.
    pub(crate) fragment: u32,
    /// The sample, once part of it has left: what a keep-last history gives up meanwhile still arrives whole. A link
    /// slower than its images would carry nothing but beginnings otherwise.
    pub(crate) begun: Option<Box<Slot>>,
}

impl Job {
    pub(crate) fn new(writer: Entity, seq: i64) -> Self {
        Self { writer, seq, fragment: 1, begun: None }
    }
}

/// What to send next.
#[derive(Debug)]
pub(crate) enum Turn {
    Fresh(Job),
    Repair(Entity, Guid),
}

/// Bytes sent at one time, when the rate allows.
///
/// More would overrun a receiver with the default socket buffer, which holds about three datagrams of 60 kB.
pub(crate) const BURST: usize = 60_000;
/// A sleep that lasted too long is made up for up to this much.
const CATCH_UP: Duration = Duration::from_micros(400);
/// One loss event is answered by one reduction of the rate.
const LOSS_WINDOW: Duration = Duration::from_millis(20);
/// Losing more than this part of a sample means too fast, less is the noise of a radio link.
const BURST_LOSS: f64 = 0.125;
/// Several waiting samples multiply the rate by their number, up to this.
const MAX_HURRY: u32 = 4;
/// The rate rises by this factor with each undisturbed sample.
const SPEED_UP: f64 = 1.1;
/// The rate never exceeds this multiple of the configured one.
const FASTEST: f64 = 4.0;

impl Lane {
    pub(crate) fn new(to: SocketAddr, path: Path, bytes_per_s: u64, now: Instant) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let rate = bytes_per_s.max(1000) as f64;
        Self {
            to,
            path,
            fresh: VecDeque::new(),
            jobs: 0,
            repairs: VecDeque::new(),
            repaired: false,
            rate,
            base_rate: rate,
            next: now,
            last_loss: None,
        }
    }

    /// When the next datagram may leave; `None` when there is nothing to send.
    pub(crate) fn due(&self) -> Option<Instant> {
        let idle = self.jobs == 0 && self.repairs.is_empty();
        (!idle).then_some(self.next)
    }

    pub(crate) fn push(&mut self, job: Job) {
        self.queue(job.writer).push_back(job);
        self.jobs += 1;
    }

    /// The queue of a writer, opened as the last one when there is none.
    fn queue(&mut self, writer: Entity) -> &mut VecDeque<Job> {
        let index = self.fresh.iter().position(|(w, _)| *w == writer).unwrap_or_else(|| {
            self.fresh.push_back((writer, VecDeque::new()));
            self.fresh.len() - 1
        });
        let (_, jobs) = self.fresh.get_mut(index).expect("invariant: found or pushed above");
        jobs
    }

    pub(crate) fn push_repair(&mut self, writer: Entity, reader: Guid) {
        self.repairs.push_back((writer, reader));
    }

    /// Takes the next thing to send out of the queue; put it back when it is not finished.
    pub(crate) fn take(&mut self) -> Option<Turn> {
        self.repaired = !self.repairs.is_empty() && (!self.repaired || self.jobs == 0);
        if self.repaired {
            self.repairs.pop_front().map(|(writer, reader)| Turn::Repair(writer, reader))
        } else {
            loop {
                let (writer, mut jobs) = self.fresh.pop_front()?;
                // An empty queue waited one turn, in case the job was put back: no allocation per datagram.
                let Some(job) = jobs.pop_front() else { continue };
                self.jobs -= 1;
                self.fresh.push_back((writer, jobs));
                return Some(Turn::Fresh(job));
            }
        }
    }

    /// Queues what is left of a turn, behind one turn of everybody else.
    pub(crate) fn put_back(&mut self, turn: Turn) {
        match turn {
            Turn::Fresh(job) => {
                self.queue(job.writer).push_front(job);
                self.jobs += 1;
            }
            Turn::Repair(writer, reader) => self.repairs.push_back((writer, reader)),
        }
    }

    /// Notes that `bytes` left, and sets the time of the next burst.
    pub(crate) fn spent(&mut self, bytes: usize, now: Instant) {
        // Samples that pile up would be given up by a keep-last history: better lost on the way than not sent.
        let backlog = self.jobs.clamp(1, MAX_HURRY);
        #[expect(clippy::cast_precision_loss, reason = "datagrams are small numbers")]
        let pause = Duration::from_secs_f64(bytes as f64 / self.rate) / backlog;
        let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
        self.next = self.next.max(earliest) + pause;
    }

    /// A reader lacks this part of a sample's fragments: slow down, much when a burst was lost, little otherwise.
    pub(crate) fn lost(&mut self, part: f64, now: Instant) {
        if self.last_loss.is_some_and(|at| now.saturating_duration_since(at) < LOSS_WINDOW) {
            return;
        }
        self.last_loss = Some(now);
        let factor = if part > BURST_LOSS { 0.5 } else { 0.95 };
        self.rate = (self.rate * factor).max(self.base_rate * self.path.slowest());
    }

    /// A big sample arrived undisturbed: speed up a little.
    pub(crate) fn arrived(&mut self, now: Instant) {
        if self.last_loss.is_none_or(|at| now.saturating_duration_since(at) > LOSS_WINDOW) {
            self.rate = (self.rate * SPEED_UP).min(self.base_rate * FASTEST);
        }
    }

    pub(crate) fn forget_writer(&mut self, writer: Entity) {
        self.fresh.retain(|(w, _)| *w != writer);
        self.jobs = self.fresh.iter().map(|(_, jobs)| u32::try_from(jobs.len()).unwrap_or(u32::MAX)).sum();
        self.repairs.retain(|(w, _)| *w != writer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(now: Instant) -> Lane {
        Lane::new("127.0.0.1:7411".parse().unwrap(), Path::Loopback, 200_000_000, now)
    }

    fn job(seq: i64) -> Job {
        Job::new([0; 4], seq)
    }

    #[test]
    fn bursts_are_spaced_by_the_rate() {
        let now = Instant::now();
        let mut lane = lane(now);
        lane.push(job(1));
        lane.spent(60_000, now);
        assert_eq!(lane.due(), Some(now + Duration::from_micros(300)));
    }

    #[test]
    fn loss_halves_the_rate_once_per_event() {
        let now = Instant::now();
        let mut lane = lane(now);
        lane.push(job(1));
        lane.lost(0.5, now);
        lane.lost(0.5, now);
        lane.spent(60_000, now);
        assert_eq!(lane.due(), Some(now + Duration::from_micros(600)));
    }

    #[test]
    fn writers_take_turns_and_each_keeps_its_order() {
        let mut lane = lane(Instant::now());
        for (writer, seq) in [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2)] {
            lane.push(Job::new([writer; 4], seq));
        }
        let mut order = Vec::new();
        while let Some(Turn::Fresh(job)) = lane.take() {
            order.push((job.writer[0], job.seq, job.fragment));
            if job.fragment == 1 {
                lane.put_back(Turn::Fresh(Job { fragment: 2, ..job }));
            }
        }
        let first = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 1, 2), (2, 1, 2), (3, 1, 2)];
        assert_eq!(order[..6], first);
        assert_eq!(order[6..], [(1, 2, 1), (2, 2, 1), (1, 2, 2), (2, 2, 2)]);
        assert_eq!(lane.due(), None);
    }

    #[test]
    fn repairs_and_fresh_samples_take_turns() {
        let mut lane = lane(Instant::now());
        lane.push(job(1));
        lane.push(job(2));
        (0..3).for_each(|_| lane.push_repair([1; 4], Guid::UNKNOWN));
        let order: Vec<_> =
            std::iter::from_fn(|| lane.take()).map(|t| matches!(t, Turn::Repair(..))).collect();
        assert_eq!(order, [true, false, true, false, true]);
    }
}
