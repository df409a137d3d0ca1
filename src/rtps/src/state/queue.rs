use std::collections::VecDeque;

use super::history::Slot;
use super::lane::BURST;
use crate::guid::Guid;
use crate::wire::Entity;

/// What is to be sent to one address, and in which order.
///
/// Fresh samples of one writer leave in the order they were written. Of several writers with big samples one finishes
/// its sample before the next begins: taking turns would make all of them as late as the last. Short samples go in
/// between, so that a scan need not wait for an image; fresh samples and repairs take turns, and so do the readers to
/// repair.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// One queue for each writer that has something to send, next writer first.
    fresh: VecDeque<(Entity, VecDeque<Job>)>,
    /// Jobs in `fresh` and `current`.
    jobs: u32,
    /// The big sample that is under way.
    current: Option<Job>,
    /// Bytes `current` may send before another big one gets its turn.
    turn: usize,
    /// A short sample went in between last time.
    interposed: bool,
    /// Writers whose next big sample has to wait for the reader, with their jobs.
    blocked: Vec<(Entity, VecDeque<Job>)>,
    repairs: VecDeque<(Entity, Guid)>,
    /// Whose turn it was last.
    repaired: bool,
}

/// A fresh sample on its way to one address.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    /// Size of its payload.
    pub(crate) len: usize,
    /// Next fragment, from 1.
    pub(crate) fragment: u32,
    /// The sample, once part of it has left: what a keep-last history gives up meanwhile still arrives whole. A link
    /// slower than its images would carry nothing but beginnings otherwise.
    pub(crate) begun: Option<Box<Slot>>,
}

impl Job {
    pub(crate) fn new(writer: Entity, seq: i64, len: usize) -> Self {
        Self { writer, seq, len, fragment: 1, begun: None }
    }

    fn is_short(&self) -> bool {
        self.len <= SHORT
    }
}

/// What to send next.
#[derive(Debug)]
pub(crate) enum Turn {
    Fresh(Job),
    Repair(Entity, Guid),
}

/// Samples up to this size go between the datagrams of bigger ones.
const SHORT: usize = 4 * BURST;
/// Bytes of one big sample before another big one gets its turn.
const BIG_TURN: usize = 4 << 20;

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs == 0 && self.repairs.is_empty()
    }

    /// Fresh samples that wait.
    pub(crate) fn jobs(&self) -> u32 {
        self.jobs
    }

    pub(crate) fn push(&mut self, job: Job) {
        if let Some((_, jobs)) = self.blocked.iter_mut().find(|(w, _)| *w == job.writer) {
            jobs.push_back(job);
            return;
        }
        self.of(job.writer).push_back(job);
        self.jobs += 1;
    }

    /// The queue of a writer, opened as the last one when there is none.
    fn of(&mut self, writer: Entity) -> &mut VecDeque<Job> {
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
            self.take_fresh().map(Turn::Fresh)
        }
    }

    fn take_fresh(&mut self) -> Option<Job> {
        if let Some(current) = &self.current {
            let writer = current.writer;
            let short =
                |(w, jobs): &(Entity, VecDeque<Job>)| *w != writer && jobs.front().is_some_and(Job::is_short);
            let waiting = if self.interposed { None } else { self.fresh.iter().position(short) };
            self.interposed = waiting.is_some();
            let Some(at) = waiting else {
                self.jobs -= 1;
                return self.current.take();
            };
            self.fresh.rotate_left(at);
        }
        loop {
            let (writer, mut jobs) = self.fresh.pop_front()?;
            // An empty queue waited one turn, in case the job was put back: no allocation per datagram.
            let Some(job) = jobs.pop_front() else { continue };
            self.jobs -= 1;
            self.fresh.push_back((writer, jobs));
            return Some(job);
        }
    }

    /// Queues what is left of a turn in which `bytes` left: a big sample goes on until its turn is over, everything else
    /// waits for one turn of everybody.
    pub(crate) fn put_back(&mut self, turn: Turn, bytes: usize) {
        match turn {
            Turn::Fresh(job) => {
                self.jobs += 1;
                if job.fragment == 2 {
                    self.turn = BIG_TURN;
                }
                self.turn = self.turn.saturating_sub(bytes);
                if self.current.is_none() && !job.is_short() && self.turn > 0 {
                    self.current = Some(job);
                } else {
                    self.turn = BIG_TURN;
                    self.of(job.writer).push_front(job);
                }
            }
            Turn::Repair(writer, reader) => self.repairs.push_back((writer, reader)),
        }
    }

    /// Puts a job back and lets its writer wait until [`Queue::unblock`].
    pub(crate) fn block(&mut self, job: Job) {
        let writer = job.writer;
        let at = self.fresh.iter().position(|(w, _)| *w == writer);
        let (_, mut jobs) = at.and_then(|at| self.fresh.remove(at)).unwrap_or_default();
        self.jobs -= u32::try_from(jobs.len()).unwrap_or(self.jobs);
        jobs.push_front(job);
        self.blocked.push((writer, jobs));
    }

    /// Lets this writer, or all of them, go on; false when none waits.
    pub(crate) fn unblock(&mut self, writer: Option<Entity>) -> bool {
        let before = self.jobs;
        while let Some(at) = self.blocked.iter().position(|(w, _)| writer.is_none_or(|writer| writer == *w)) {
            let (writer, jobs) = self.blocked.swap_remove(at);
            self.jobs += u32::try_from(jobs.len()).unwrap_or(0);
            self.fresh.push_front((writer, jobs));
        }
        self.jobs != before
    }

    pub(crate) fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    pub(crate) fn forget_writer(&mut self, writer: Entity) {
        self.forget_fresh(writer);
        self.repairs.retain(|(w, _)| *w != writer);
    }

    /// Drops the fresh samples of a writer.
    pub(crate) fn forget_fresh(&mut self, writer: Entity) {
        self.fresh.retain(|(w, _)| *w != writer);
        self.blocked.retain(|(w, _)| *w != writer);
        self.current.take_if(|job| job.writer == writer);
        let waiting: usize = self.fresh.iter().map(|(_, jobs)| jobs.len()).sum();
        self.jobs = u32::try_from(waiting).unwrap_or(u32::MAX) + u32::from(self.current.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(seq: i64) -> Job {
        Job::new([0; 4], seq, 120_000)
    }

    #[test]
    fn writers_of_short_samples_take_turns_and_each_keeps_its_order() {
        let mut queue = Queue::default();
        for (writer, seq) in [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2)] {
            queue.push(Job::new([writer; 4], seq, 120_000));
        }
        let mut order = Vec::new();
        while let Some(Turn::Fresh(job)) = queue.take() {
            order.push((job.writer[0], job.seq, job.fragment));
            if job.fragment == 1 {
                queue.put_back(Turn::Fresh(Job { fragment: 2, ..job }), 60_000);
            }
        }
        let first = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 1, 2), (2, 1, 2), (3, 1, 2)];
        assert_eq!(order[..6], first);
        assert_eq!(order[6..], [(1, 2, 1), (2, 2, 1), (1, 2, 2), (2, 2, 2)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_big_sample_is_finished_before_the_next_with_short_ones_in_between() {
        let mut queue = Queue::default();
        for (writer, seq, len) in
            [(1, 1, 300_000), (2, 1, 300_000), (1, 2, 60_000), (3, 1, 60_000), (3, 2, 60_000)]
        {
            queue.push(Job::new([writer; 4], seq, len));
        }
        let mut order = Vec::new();
        while let Some(Turn::Fresh(job)) = queue.take() {
            order.push((job.writer[0], job.seq));
            if usize::try_from(job.fragment).unwrap() * 60_000 < job.len {
                queue.put_back(Turn::Fresh(Job { fragment: job.fragment + 1, ..job }), 60_000);
            }
        }
        let big = |writer| [(writer, 1); 5];
        let [first @ .., _, _] = big(1);
        assert_eq!(order[..5], [(1, 1), (3, 1), (1, 1), (3, 2), (1, 1)]);
        assert_eq!(order.iter().filter(|o| **o == (1, 1)).count(), first.len() + 2);
        let place = |what| order.iter().position(|o| *o == what);
        assert!(order.iter().rposition(|o| *o == (1, 1)) < place((2, 1)));
        assert!(order.iter().rposition(|o| *o == (1, 1)) < place((1, 2)));
        assert!(queue.is_empty());
    }

    #[test]
    fn a_blocked_writer_keeps_its_order_and_lets_others_pass() {
        let mut queue = Queue::default();
        for (writer, seq) in [(1, 1), (1, 2), (2, 1)] {
            queue.push(Job::new([writer; 4], seq, 300_000));
        }
        let Some(Turn::Fresh(job)) = queue.take() else { panic!("nothing to send") };
        queue.block(job);
        queue.push(Job::new([1; 4], 3, 300_000));
        assert!(matches!(queue.take(), Some(Turn::Fresh(job)) if job.writer == [2; 4]));
        assert!(queue.is_empty() && queue.is_blocked() && queue.take().is_none());
        assert!(queue.unblock(Some([1; 4])) && !queue.unblock(None));
        let rest = std::iter::from_fn(|| queue.take()).map(|turn| match turn {
            Turn::Fresh(job) => job.seq,
            Turn::Repair(..) => 0,
        });
        assert!(rest.eq([1, 2, 3]));
    }

    #[test]
    fn repairs_and_fresh_samples_take_turns() {
        let mut queue = Queue::default();
        queue.push(job(1));
        queue.push(job(2));
        (0..3).for_each(|_| queue.push_repair([1; 4], Guid::UNKNOWN));
        let order: Vec<_> =
            std::iter::from_fn(|| queue.take()).map(|t| matches!(t, Turn::Repair(..))).collect();
        assert_eq!(order, [true, false, true, false, true]);
    }
}
