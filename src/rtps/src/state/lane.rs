use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::queue::{Job, Queue};

/// Paced sending of fragments and repairs to one address.
///
/// A receiver of which nothing is known gets a datagram of 60 kB at a time, which its small buffer takes while its thread
/// is busy with the one before. One that tells how much its socket holds gets that much at once and more as fast as memory
/// allows: pacing would cost a wake-up per datagram (twice the processor time of a 2.76 MB image, 14 ms instead of 2).
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) to: SocketAddr,
    pub(crate) path: Path,
    /// What is to be sent.
    pub(crate) queue: Queue,
    /// Bytes per second now.
    rate: f64,
    slowest: f64,
    max_rate: f64,
    /// Bytes that may be sent at one time.
    window: usize,
    max_window: usize,
    /// By when everything sent so far would have left at `rate`.
    next: Instant,
    /// When the lane runs again.
    resume: Instant,
    /// When blocked writers are looked at even if no reader has said anything.
    look_again: Instant,
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

/// Bytes sent at one time to a receiver of which nothing is known.
///
/// More would overrun one with the default socket buffer, which holds about three datagrams of 60 kB.
pub(crate) const BURST: usize = 60_000;
/// A sleep that lasted too long is made up for up to this much.
const CATCH_UP: Duration = Duration::from_micros(400);
/// A receiver on this host that tells the size of its buffer gets up to this part of it at one time. Linux grants room
/// for twice the size told, so four such senders fit.
const BUFFER_PART: usize = 2;
/// A blocked writer is looked at again after this: its readers may be gone.
const BLOCKED: Duration = Duration::from_millis(50);
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
/// The same for a receiver with a known buffer; beyond the first window it sees to it that the reader can keep up after
/// some milliseconds without the processor.
const FASTEST_KNOWN: f64 = 8.0;

impl Lane {
    /// `buffer` is the size of the receiver's socket buffer, 0 when it is unknown.
    pub(crate) fn new(to: SocketAddr, path: Path, bytes_per_s: u64, buffer: usize, now: Instant) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let base_rate = bytes_per_s.max(1000) as f64;
        // A network has smaller buffers than the receiver.
        let known = path == Path::Loopback && buffer / BUFFER_PART > BURST;
        let (window, rate) =
            if known { (buffer / BUFFER_PART, base_rate * FASTEST_KNOWN) } else { (BURST, base_rate) };
        let mut lane = Self {
            to,
            path,
            queue: Queue::default(),
            rate,
            // A known reader lost what came while it did not run, and slower sending does not give it the processor.
            slowest: if known { rate / 4.0 } else { rate * path.slowest() },
            max_rate: base_rate * if known { FASTEST_KNOWN } else { FASTEST },
            window,
            max_window: window,
            next: now,
            resume: now,
            look_again: now,
            last_loss: None,
        };
        if known {
            // Its buffer is empty.
            lane.next = now.checked_sub(lane.slack()).unwrap_or(now);
        }
        lane
    }

    /// When the next datagram may leave; `None` when there is nothing to send.
    pub(crate) fn due(&self) -> Option<Instant> {
        let ready = (!self.queue.is_empty()).then_some(self.resume);
        let blocked = self.queue.is_blocked().then_some(self.look_again);
        ready.into_iter().chain(blocked).min()
    }

    /// Holds a writer's samples back until the reader has taken more, or for a moment.
    pub(crate) fn block(&mut self, job: Job, now: Instant) {
        if !self.queue.is_blocked() {
            self.look_again = now + BLOCKED;
        }
        self.queue.block(job);
    }

    /// Lets everybody go on who has waited for long.
    pub(crate) fn wake(&mut self, now: Instant) {
        if self.look_again <= now {
            self.queue.unblock(None);
        }
    }

    /// Whether another datagram may leave now.
    pub(crate) fn may_send(&self, now: Instant) -> bool {
        self.next <= now
    }

    /// Notes that `bytes` left, and sets the time of the next burst.
    pub(crate) fn spent(&mut self, bytes: usize, now: Instant) {
        // Samples that pile up would be given up by a keep-last history: better lost on the way than not sent.
        let waiting = self.queue.jobs().clamp(1, MAX_HURRY);
        #[expect(clippy::cast_precision_loss, reason = "datagrams are small numbers")]
        let pause = Duration::from_secs_f64(bytes as f64 / self.rate) / waiting;
        self.next = self.next.max(now.checked_sub(self.slack()).unwrap_or(now)) + pause;
    }

    /// Ends a run of datagrams; the next one begins when a part of the window is free again, since waking up costs as
    /// much as a datagram.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.resume = self.next;
        if self.window > BURST && self.next > now {
            self.resume += self.slack() / 4;
        }
    }

    /// How far sending may lag behind the rate and catch up at once.
    fn slack(&self) -> Duration {
        if self.window <= BURST {
            return CATCH_UP;
        }
        #[expect(clippy::cast_precision_loss, reason = "a window is a small number")]
        Duration::from_secs_f64(self.window as f64 / self.rate)
    }

    /// A reader lacks this part of a sample's fragments: slow down, much when a burst was lost, little otherwise.
    pub(crate) fn lost(&mut self, part: f64, now: Instant) {
        if self.last_loss.is_some_and(|at| now.saturating_duration_since(at) < LOSS_WINDOW) {
            return;
        }
        self.last_loss = Some(now);
        let factor = if part > BURST_LOSS { 0.5 } else { 0.95 };
        self.rate = (self.rate * factor).max(self.slowest);
        if part > BURST_LOSS {
            self.window = (self.window / 2).max(self.max_window / 8).max(BURST);
        }
    }

    /// A big sample arrived undisturbed: speed up a little.
    pub(crate) fn arrived(&mut self, now: Instant) {
        if self.last_loss.is_none_or(|at| now.saturating_duration_since(at) > LOSS_WINDOW) {
            self.rate = (self.rate * SPEED_UP).min(self.max_rate);
            self.window = (self.window + self.window / 10).min(self.max_window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(now: Instant) -> Lane {
        Lane::new("127.0.0.1:7411".parse().unwrap(), Path::Loopback, 200_000_000, 0, now)
    }

    fn job(seq: i64) -> Job {
        Job::new([0; 4], seq, 120_000)
    }

    #[test]
    fn bursts_are_spaced_by_the_rate() {
        let now = Instant::now();
        let mut lane = lane(now);
        lane.queue.push(job(1));
        lane.spent(60_000, now);
        lane.pause(now);
        assert_eq!(lane.due(), Some(now + Duration::from_micros(300)));
    }

    #[test]
    fn loss_halves_the_rate_once_per_event() {
        let now = Instant::now();
        let mut lane = lane(now);
        lane.queue.push(job(1));
        lane.lost(0.5, now);
        lane.lost(0.5, now);
        lane.spent(60_000, now);
        lane.pause(now);
        assert_eq!(lane.due(), Some(now + Duration::from_micros(600)));
    }

    #[test]
    fn a_known_buffer_is_filled_in_part_and_then_paced() {
        let now = Instant::now();
        let mut lane =
            Lane::new("127.0.0.1:7411".parse().unwrap(), Path::Loopback, 200_000_000, 4 << 20, now);
        lane.queue.push(Job::new([0; 4], 1, 100 << 20));
        let mut sent = 0;
        while lane.may_send(now) {
            lane.spent(60_000, now);
            sent += 60_000;
        }
        lane.pause(now);
        assert!((2 << 20..(2 << 20) + 120_000).contains(&sent), "{sent} bytes");
        assert!(lane.due() > Some(now + Duration::from_micros(300)));
    }
}
