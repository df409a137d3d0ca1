//! The simulated network: virtual time, addresses, loss, duplication, latency and reordering.
//!
//! [`Faults`] has what else can go wrong, [`Book`] checks what readers get.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::book::Book;
use super::link::{Faults, Place};
use super::node::{Datagram, Node};
pub(super) use super::rng::Rng;
pub(super) use super::samples::*;
use crate::config::{IpFamily, Limits};
use crate::discovery::{BUILTIN_ENDPOINTS, ParticipantData};
use crate::endpoint::{EndpointQos, Sample, WriteOptions};
use crate::error::WriteError;
use crate::guid::Guid;
use crate::state::{Core, CoreConfig, Inbox, LocalAddr, Locals, Network, Outbox, Reach};
use crate::stats::Counters;
use crate::wire::PARTICIPANT;

/// What the link does to datagrams, in percent and milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) loss: u64,
    pub(super) duplicate: u64,
    pub(super) latency_ms: u64,
    pub(super) jitter_ms: u64,
}

pub(super) const PERFECT: Link = Link { loss: 0, duplicate: 0, latency_ms: 0, jitter_ms: 0 };

/// What a reader got.
pub(super) type Log = Arc<Mutex<Vec<Sample>>>;

pub(super) struct Net {
    pub(super) now: Instant,
    pub(super) link: Link,
    pub(super) rng: Rng,
    pub(super) nodes: Vec<Node>,
    pub(super) faults: Faults,
    /// Told of every sample and of every change in who is matched with whom.
    pub(super) book: Option<Arc<Mutex<Book>>>,
    /// Datagrams on their way, by arrival.
    wire: BTreeMap<(Instant, u64), Datagram>,
    sent: u64,
    /// Datagrams that participants sent, and a hash of them and their times.
    pub(super) count: u64,
    /// Those of them that carry no sample.
    pub(super) control: u64,
    pub(super) trace: u64,
    start: Instant,
    /// Print every datagram.
    pub(super) verbose: bool,
    out: Outbox,
    /// Everything that was ever sent, when wanted.
    pub(super) capture: Option<Vec<Vec<u8>>>,
    /// Capture only what goes there.
    pub(super) capture_to: Option<SocketAddr>,
    lan: bool,
    /// Second byte of the vendor id of participants added from now on.
    pub(super) vendor: u8,
    pub(super) match_own: bool,
    pub(super) sample_bytes: usize,
    pub(super) pace_bytes_per_s: u64,
    pub(super) lease: Duration,
}

/// Places in the network; all of them are announced to.
pub(super) const PLACES: usize = 10;

impl Net {
    /// Up to ten participants, all on one host or each on its own.
    pub(super) fn new(seed: u64, count: usize, lan: bool, link: Link) -> Self {
        let start = Instant::now();
        let mut net = Self {
            now: start,
            link,
            rng: Rng(seed),
            nodes: Vec::new(),
            faults: Faults::default(),
            book: None,
            wire: BTreeMap::new(),
            sent: 0,
            count: 0,
            control: 0,
            trace: 0,
            start,
            verbose: false,
            out: Outbox::default(),
            capture: None,
            capture_to: None,
            lan,
            vendor: 0x7e,
            match_own: false,
            sample_bytes: Limits::default().sample_bytes,
            pace_bytes_per_s: 200_000_000,
            lease: Duration::from_secs(20),
        };
        (0..count).for_each(|place| net.add(place));
        net
    }

    pub(super) fn ports(lan: bool, place: Place) -> [SocketAddr; 2] {
        let place = u16::try_from(place).unwrap();
        if lan {
            let ip = IpAddr::from([10, 0, 0, u8::try_from(place + 1).unwrap()]);
            [SocketAddr::new(ip, 7410), SocketAddr::new(ip, 7411)]
        } else {
            [7410, 7411].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port + 2 * place)))
        }
    }

    /// What a participant at these ports knows of the network.
    pub(super) fn network(lan: bool, [metatraffic, user]: [SocketAddr; 2]) -> Network {
        let local = LocalAddr { ip: metatraffic.ip(), prefix_len: 24, index: 2 };
        Network {
            own: Reach { metatraffic: vec![metatraffic], user: vec![user] },
            outside: None,
            announce_to: (0..PLACES).map(|p| Self::ports(lan, p)[0]).collect(),
            local: Locals::new(IpFamily::V4, vec![local]),
        }
    }

    /// Adds a participant at a place, which another one may have used before.
    pub(super) fn add(&mut self, place: Place) {
        let ports = Self::ports(self.lan, place);
        let mut prefix = [1, self.vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        prefix[4..].copy_from_slice(&self.rng.next().to_be_bytes());
        let config = CoreConfig {
            data: ParticipantData {
                guid: Guid { prefix, entity: PARTICIPANT },
                metatraffic: Vec::new(),
                user: Vec::new(),
                lease: self.lease,
                builtin: BUILTIN_ENDPOINTS,
                user_data: b"enclave=/;".to_vec(),
                receive_buffer: if place.is_multiple_of(2) { 0 } else { 4 << 20 },
            },
            network: Self::network(self.lan, ports),
            match_own: self.match_own,
            limits: Limits {
                peers: 16,
                endpoints_per_peer: 64,
                sample_bytes: self.sample_bytes,
                ..Limits::default()
            },
            pace_bytes_per_s: self.pace_bytes_per_s,
        };
        let counters = Arc::<Counters>::default();
        let core = Core::new(config, counters.clone(), self.now);
        self.nodes.push(Node {
            core,
            counters,
            ports,
            place,
            dialect: None,
            alive: true,
            paused: None,
            socket: Vec::new(),
            graph_changes: 0,
            events: Vec::new(),
        });
    }

    /// Gives a participant the addresses of another place.
    pub(super) fn move_to(&mut self, node: usize, place: Place) {
        let ports = Self::ports(self.lan, place);
        (self.nodes[node].ports, self.nodes[node].place) = (ports, place);
        let network = Self::network(self.lan, ports);
        self.act(node, |core, now, out| core.set_network(network, now, out, &mut Inbox::default()));
    }

    pub(super) fn writer(&mut self, node: usize, topic: &str, qos: EndpointQos) -> Guid {
        self.act(node, |core, now, out| core.create_writer(spec(topic, qos), now, out).0)
    }

    pub(super) fn reader(&mut self, node: usize, topic: &str, qos: EndpointQos) -> (Guid, Log) {
        let log = Log::default();
        let sink = {
            let log = log.clone();
            Arc::new(move |sample| log.lock().unwrap().push(sample))
        };
        let guid = self.act(node, |core, now, out| core.create_reader(spec(topic, qos), sink, now, out).0);
        (guid, log)
    }

    pub(super) fn write(&mut self, node: usize, writer: Guid, payload: Vec<u8>) -> Result<i64, WriteError> {
        self.write_with(node, writer, payload, WriteOptions::default())
    }

    pub(super) fn write_with(
        &mut self,
        node: usize,
        writer: Guid,
        payload: Vec<u8>,
        options: WriteOptions,
    ) -> Result<i64, WriteError> {
        let payload = &Bytes::from(payload);
        self.act(node, |core, now, out| core.write(writer.entity, payload, options, 77, now, out))
    }

    /// Virtual time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.now - self.start
    }

    /// Lets something happen on one participant and sends what comes out of it.
    pub(super) fn act<T>(&mut self, node: usize, f: impl FnOnce(&mut Core, Instant, &mut Outbox) -> T) -> T {
        let mut out = std::mem::take(&mut self.out);
        let result = f(&mut self.nodes[node].core, self.now, &mut out);
        self.transmit(node, out);
        result
    }

    /// The same with an inbox, which is handed over afterwards.
    pub(super) fn drive(&mut self, node: usize, f: impl FnOnce(&mut Core, Instant, &mut Outbox, &mut Inbox)) {
        let mut inbox = Inbox::default();
        self.act(node, |core, now, out| f(core, now, out, &mut inbox));
        let Node { core, graph_changes, events, .. } = &mut self.nodes[node];
        events.extend(inbox.events);
        for (sink, sample) in inbox.samples {
            sink(sample);
        }
        if inbox.graph_changed {
            *graph_changes += 1;
            if let Some(book) = &self.book {
                book.lock().unwrap().rematch(node, core);
            }
        }
    }

    fn transmit(&mut self, node: usize, mut out: Outbox) {
        let (from, place) = (self.nodes[node].ports[1], self.nodes[node].place);
        for (to, head, body) in out.iter() {
            let len = head.len() + body.len();
            assert!(len <= 65_507, "datagram of {len} bytes");
            self.count += 1;
            self.control += u64::from(!super::trace::carries_data(head));
            self.note(from, to, head, len);
            if let Some(capture) = &mut self.capture
                && self.capture_to.is_none_or(|only| only == to)
            {
                capture.push([head, body].concat());
            }
            let target = self.nodes.iter().find(|n| n.alive && n.ports.contains(&to)).map(|n| n.place);
            if let Some(text) = self.verbose.then(|| super::trace::line(&[head, body].concat())).flatten() {
                eprintln!("{:?} {place} > {target:?}{text}", self.now - self.start);
            }
            let Some(target) = target else { continue };
            let Some(wait) = self.faults.pass((place, target), len, &self.link, self.now, &mut self.rng)
            else {
                continue;
            };
            let copies = if self.rng.below(100) < self.link.duplicate { 2 } else { 1 };
            for _ in 0..copies {
                let delay = self.link.latency_ms * 1000 + self.rng.below(self.link.jitter_ms * 1000 + 1);
                self.sent += 1;
                let at = self.now + wait + Duration::from_micros(delay + 10);
                let bytes = [head, body].concat();
                let Some(dialect) = self.nodes[node].dialect else {
                    self.wire.insert((at, self.sent), Datagram { from, to, bytes });
                    continue;
                };
                for bytes in dialect.speak(&bytes, &mut self.rng) {
                    self.sent += 1;
                    self.wire.insert((at, self.sent), Datagram { from, to, bytes });
                }
            }
        }
        out.clear();
        self.out = out;
    }

    /// Adds a datagram to the trace: its time, addresses, size and first bytes.
    fn note(&mut self, from: SocketAddr, to: SocketAddr, head: &[u8], len: usize) {
        let micros = u64::try_from((self.now - self.start).as_micros()).unwrap();
        let facts = [micros, u64::from(from.port()), u64::from(to.port()), len as u64];
        let hash = facts.iter().flat_map(|n| n.to_le_bytes()).fold(self.trace, |h, b| mix(h, &b));
        self.trace = head.iter().take(96).fold(hash, mix);
    }

    /// Runs for `span`, or until `done`; true when done.
    pub(super) fn run_until(&mut self, span: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + span;
        while !done(self) {
            let timer = self.nodes.iter().filter(|n| n.alive).map(Node::wakes).min();
            let packet = self.wire.first_key_value().map(|(key, _)| key.0);
            let next = timer.into_iter().chain(packet).min().unwrap_or(end);
            if next > end {
                self.now = end;
                return false;
            }
            self.now = self.now.max(next);
            self.step();
        }
        true
    }

    pub(super) fn run(&mut self, span: Duration) {
        self.run_until(span, |_| false);
    }

    /// Loses everything that is on its way.
    pub(super) fn wire_lost(&mut self) {
        self.wire.clear();
    }

    fn step(&mut self) {
        while let Some(entry) = self.wire.first_entry()
            && entry.key().0 <= self.now
        {
            let datagram = entry.remove();
            let to = datagram.to;
            let Some(node) = self.nodes.iter().position(|n| n.alive && n.ports.contains(&to)) else {
                continue;
            };
            if self.nodes[node].paused.is_some() {
                self.nodes[node].keep(datagram);
                continue;
            }
            self.feed(node, &datagram.bytes, datagram.from);
        }
        for node in 0..self.nodes.len() {
            if !self.nodes[node].alive || self.nodes[node].wakes() > self.now {
                continue;
            }
            if self.nodes[node].paused.take().is_some() {
                self.wake(node);
            }
            self.drive(node, |core, now, out, inbox| core.poll(now, out, inbox));
        }
    }

    /// Gives one datagram to a participant.
    pub(super) fn feed(&mut self, node: usize, bytes: &[u8], from: SocketAddr) {
        self.drive(node, |core, now, out, inbox| {
            core.handle(bytes, from, now, out, inbox);
            core.flush(now, out);
        });
    }

    /// What waited in the socket comes as one batch.
    fn wake(&mut self, node: usize) {
        for datagram in std::mem::take(&mut self.nodes[node].socket) {
            self.drive(node, |core, now, out, inbox| {
                core.handle(&datagram.bytes, datagram.from, now, out, inbox);
            });
        }
        self.act(node, |core, now, out| core.flush(now, out));
    }

    pub(super) fn matched(&self, node: usize, writer: Guid) -> usize {
        self.nodes[node].core.matched_readers(writer.entity).len()
    }

    pub(super) fn matched_writers(&self, node: usize, reader: Guid) -> usize {
        self.nodes[node].core.matched_writers(reader.entity).len()
    }
}

/// One step of a hash.
fn mix(hash: u64, byte: &u8) -> u64 {
    (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
}
