//! A random network and a random workload, both from one seed.
//!
//! ```text
//! World::new(family, seed)   nodes, link, faults, endpoints
//!   live()                   writes, and what the family brings: cuts, pauses, joins, crashes, ...
//!   converge()               all is mended; everybody has what is due
//!   silence()                nothing but announcements
//!   farewell()               all but one leave; nothing of them stays
//!   thrift()                 no storm of heartbeats and requests
//! ```

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::book::Book;
use super::dialect::Dialect;
use super::events::Event;
use super::link::{Faults, IP_FRAGMENT, Uplink};
use super::sim::{Link, Net, PERFECT, Rng, spec};
use crate::endpoint::{EndpointQos, History, WriteOptions};
use crate::error::WriteError;
use crate::wire::{Message, SPDP_WRITER, Submessage};

/// What a run is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// Loss, jitter, duplicates, narrow uplinks, small MTUs.
    Links,
    /// Cuts, one-way loss, bursts, paused nodes.
    Outages,
    /// Nodes and endpoints that come and go.
    Churn,
    /// Few samples of up to 3 MB.
    Big,
    /// Nodes that speak as other implementations do.
    Foreign,
    /// All of it at once.
    All,
}

impl Family {
    fn has(self, other: Self) -> bool {
        self == other || self == Self::All
    }
}

pub(super) struct World {
    family: Family,
    pub(super) rng: Rng,
    pub(super) net: Net,
    pub(super) book: Arc<Mutex<Book>>,
    topics: u64,
    pub(super) lease: Duration,
    base: (Link, Faults),
    /// Payload bytes that may still be written.
    budget: u64,
    verbose: bool,
}

/// What a run came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub(super) trace: u64,
    pub(super) datagrams: u64,
    pub(super) delivered: u64,
}

pub(super) const MS: fn(u64) -> Duration = Duration::from_millis;

impl World {
    pub(super) fn new(family: Family, seed: u64) -> Self {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9).wrapping_add(family as u64));
        let lan = rng.below(2) == 0;
        let link = Link {
            loss: [0, rng.below(6), rng.below(31)][rng.pick(3)],
            duplicate: [0, rng.below(20)][rng.pick(2)],
            latency_ms: [0, rng.below(5), rng.below(60)][rng.pick(3)],
            jitter_ms: [0, rng.below(3), rng.below(40)][rng.pick(3)],
        };
        let mut faults = Faults::new(lan);
        if rng.below(4) == 0 {
            let bytes_per_s = [2_000_000, 10_000_000, 60_000_000][rng.pick(3)];
            faults.uplink = Some(Uplink { bytes_per_s, queue: 70_000 + rng.below(400_000) });
        }
        if lan && family != Family::Foreign && rng.below(4) == 0 {
            faults.mtu = Some(IP_FRAGMENT);
        }
        if family.has(Family::Outages) && rng.below(3) == 0 {
            faults.burst = Some([1 + rng.below(20), 20 + rng.below(300)]);
        }
        let mut net = Net::new(rng.next(), 0, lan, link);
        net.faults = faults.clone();
        net.verbose = std::env::var("ROSTRANS_SIM_TRACE").is_ok_and(|level| level == "2");
        net.match_own = rng.below(4) == 0;
        net.lease = MS([2_000, 6_000, 20_000][rng.pick(3)]);
        let book = Arc::<Mutex<Book>>::default();
        book.lock().unwrap().match_own = net.match_own;
        net.book = Some(book.clone());
        let count = [2, 2, 2, 3, 3, 4, 5, 2 + rng.pick(9)][rng.pick(8)];
        let budget = if family.has(Family::Big) && rng.below(4) > 0 { 8_000_000 } else { 600_000 };
        let mut world = Self {
            family,
            topics: 1 + rng.below(3),
            rng,
            lease: net.lease,
            net,
            book,
            base: (link, faults),
            budget,
            verbose: std::env::var_os("ROSTRANS_SIM_TRACE").is_some(),
        };
        for place in 0..count {
            world.net.add(place);
            if family == Family::Foreign {
                let mut coin = || world.rng.below(2) == 0;
                world.net.nodes[place].dialect = Some(Dialect { big: coin(), split: coin(), spice: coin() });
            }
            for _ in 0..world.rng.below(3) {
                world.create(place);
            }
        }
        let topic = world.rng.below(world.topics);
        let qos = world.qos(true);
        world.create_as(0, true, topic, qos);
        world.create_as(1, false, topic, EndpointQos { transient_local: false, ..qos });
        world
    }

    /// The whole run.
    pub(super) fn run(mut self) -> Outcome {
        self.live();
        self.converge();
        self.silence();
        self.farewell();
        self.thrift();
        let delivered = self.book.lock().unwrap().delivered;
        Outcome { trace: self.net.trace, datagrams: self.net.count, delivered }
    }

    pub(super) fn tell(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("{:?} {}", self.net.elapsed(), text());
        }
    }

    fn qos(&mut self, is_writer: bool) -> EndpointQos {
        let rng = &mut self.rng;
        let depth = [1, 2, 5, 10, 50][rng.pick(5)];
        let bytes = [20_000, 300_000, 64 << 20][rng.pick(3)];
        let reliable = rng.below(10) < if is_writer { 8 } else { 7 };
        EndpointQos {
            reliable,
            transient_local: rng.below(10) < if is_writer { 4 } else { 2 },
            history: if rng.below(2) == 0 { History::KeepLast(depth) } else { History::KeepAll { bytes } },
            ..EndpointQos::default()
        }
    }

    pub(super) fn create(&mut self, node: usize) {
        let (is_writer, topic) = (self.rng.below(2) == 0, self.rng.below(self.topics));
        let qos = self.qos(is_writer);
        self.create_as(node, is_writer, topic, qos);
    }

    fn create_as(&mut self, node: usize, is_writer: bool, topic: u64, qos: EndpointQos) {
        let spec = spec(&format!("t{topic}"), qos);
        let sink = Book::sink(&self.book);
        let guid = self.net.act(node, |core, now, out| {
            if is_writer {
                core.create_writer(spec, now, out).0
            } else {
                core.create_reader(spec, sink, now, out).0
            }
        });
        self.tell(|| format!("node {node} writer {is_writer} t{topic} {guid} {qos:?}"));
        let topic = usize::try_from(topic).unwrap();
        self.book.lock().unwrap().add(is_writer, guid, node, topic, qos, self.net.now);
        self.rematch(node);
    }

    fn rematch(&self, node: usize) {
        self.book.lock().unwrap().rematch(node, &self.net.nodes[node].core);
    }

    fn live(&mut self) {
        if self.rng.below(2) == 0 {
            self.net.run(MS(self.rng.0 % 3000));
        }
        let end = self.net.now + MS(500 + self.rng.below(6000));
        let pace = [2, 20, 100, 400][self.rng.pick(4)];
        while self.net.now < end {
            let events = Event::of(self.family);
            if !events.is_empty() && self.rng.below(1000) < pace * 2 {
                let event = events[self.rng.pick(events.len())];
                self.happen(event);
            } else {
                for _ in 0..[1, 1, 1, 1 + self.rng.below(30)][self.rng.pick(4)] {
                    self.write();
                }
            }
            let pause = self.rng.below(pace * 2000);
            self.net.run(Duration::from_micros(pause));
            self.check_bounds();
        }
    }

    fn check_bounds(&self) {
        for (i, node) in self.net.nodes.iter().enumerate().filter(|(_, n)| n.alive) {
            assert!(node.core.is_bounded(), "node {i} exceeds its bounds");
        }
    }

    pub(super) fn alive(&self) -> Vec<usize> {
        (0..self.net.nodes.len()).filter(|n| self.net.nodes[*n].alive).collect()
    }

    /// One sample of some writer.
    fn write(&mut self) {
        let rng = &mut self.rng;
        let limit = if self.family.has(Family::Big) && rng.below(3) == 0 { 3_000_000 } else { 70_000 };
        let len = match rng.below(12) {
            0..8 => 4 + rng.below(300),
            8..10 => 4 + rng.below(9_000),
            _ => 4 + rng.below(limit),
        };
        let book = self.book.lock().unwrap();
        let writers: Vec<_> = (0..book.writers.len())
            .filter(|w| book.writers[*w].alive && self.net.nodes[book.writers[*w].node].paused.is_none())
            .collect();
        if writers.is_empty() || len > self.budget {
            return;
        }
        self.budget -= len;
        let (index, len) = (writers[self.rng.pick(writers.len())], usize::try_from(len).unwrap());
        let (guid, node) = (book.writers[index].guid, book.writers[index].node);
        let seq = i64::try_from(book.written[index].len()).unwrap() + 1;
        drop(book);
        let readers = self.net.nodes[node].core.matched_readers(guid.entity);
        let directed = self.rng.below(8) == 0 && !readers.is_empty();
        let only_to = directed.then(|| readers[self.rng.pick(readers.len())]);
        let payload = Book::payload(index, seq, len);
        let options = WriteOptions { only_to, ..WriteOptions::default() };
        let result =
            self.net.act(node, |core, now, out| core.write(guid.entity, &payload, options, 77, now, out));
        self.tell(|| format!("writer {index} {seq} of {len} bytes to {only_to:?}: {result:?}"));
        match result {
            Ok(got) => assert_eq!(got, seq),
            Err(WriteError::HistoryFull) => return,
            Err(other) => panic!("{other}"),
        }
        self.book.lock().unwrap().wrote(index, len, only_to, self.net.now);
    }

    /// Ends outages, keeps the link as bad as it is, and waits until everybody has what is due.
    fn converge(&mut self) {
        self.mend();
        self.net.faults.burst = None;
        while let Some(at) = self.net.nodes.iter().filter(|n| n.alive).filter_map(|n| n.paused).max() {
            self.net.run(at - self.net.now);
        }
        let end = self.net.now + self.lease * 2 + Duration::from_secs(90);
        loop {
            self.net.run(MS(500));
            let Some(what) = self.lacks() else { break };
            self.tell(|| format!("waiting: {what}"));
            assert!(self.net.now < end, "{what}; lease {:?}, {:?}", self.lease, self.base);
        }
        self.check_bounds();
    }

    /// What is not as it has to be in the end.
    fn lacks(&self) -> Option<String> {
        let alive = self.alive();
        for (node, core) in alive.iter().map(|n| (*n, &self.net.nodes[*n].core)) {
            let others = alive.iter().filter(|n| **n != node || self.net.match_own);
            let mut others: Vec<_> = others.map(|n| self.net.nodes[*n].core.guid().prefix).collect();
            others.sort_unstable();
            if !core.peers.keys().eq(&others) {
                return Some(format!("node {node} knows {} peers of {}", core.peers.len(), others.len()));
            }
        }
        self.book.lock().unwrap().lacks()
    }

    /// On a link without faults, nothing but announcements is sent.
    fn silence(&mut self) {
        self.net.link = PERFECT;
        self.net.faults = Faults::default();
        self.net.run(Duration::from_secs(4));
        self.net.capture = Some(Vec::new());
        self.net.run(Duration::from_secs(7));
        for bytes in self.net.capture.take().unwrap() {
            let message = Message::parse(&bytes).unwrap();
            let is_announcement = |s| matches!(s, Ok(Submessage::Data(data)) if data.writer == SPDP_WRITER);
            let noise: Vec<_> = message.submessages().filter(|s| !is_announcement(*s)).collect();
            assert!(noise.is_empty(), "not silent: {noise:?} from {:x?}", message.prefix);
        }
        assert_eq!(self.book.lock().unwrap().lacks(), None);
    }

    /// All but one leave, politely or not; nothing of them stays.
    fn farewell(&mut self) {
        let alive = self.alive();
        let stays = alive[self.rng.pick(alive.len())];
        for node in alive.into_iter().filter(|n| *n != stays) {
            if self.rng.below(2) == 0 { self.leave(node) } else { self.forget(node) }
        }
        self.net.run(self.lease + Duration::from_secs(2));
        assert_eq!(super::residue::of(&self.net.nodes[stays].core), Vec::<String>::new());
    }

    /// What keeps order is not much more than what is kept in order.
    fn thrift(&self) {
        let data = self.net.count - self.net.control;
        let nodes = self.net.nodes.len() as u64;
        // Every two of them may greet each other again and again, or one may call for a dead one until its lease ends.
        let company = (nodes * nodes) * self.net.elapsed().as_secs() * 8;
        let most = 2 * data + company;
        assert!(self.net.control <= most, "{} control datagrams for {data} of data", self.net.control);
    }
}
