//! The simulated network: virtual time, addresses, loss, duplication, latency and reordering.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::config::{IpFamily, Limits};
use crate::discovery::{BUILTIN_ENDPOINTS, ParticipantData};
use crate::endpoint::{EndpointQos, EndpointSpec, History, Sample, WriteOptions};
use crate::error::WriteError;
use crate::event::Event;
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

/// A splitmix64 generator: seeds give the same run everywhere.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

/// What a reader got.
pub(super) type Log = Arc<Mutex<Vec<Sample>>>;

pub(super) struct Net {
    pub(super) now: Instant,
    pub(super) link: Link,
    pub(super) rng: Rng,
    pub(super) nodes: Vec<Node>,
    /// Datagrams on their way, by arrival.
    wire: BTreeMap<(Instant, u64), (SocketAddr, SocketAddr, Vec<u8>)>,
    sent: u64,
    /// Everything that was ever sent, when wanted.
    pub(super) capture: Option<Vec<Vec<u8>>>,
    lan: bool,
    pub(super) match_own: bool,
    pub(super) sample_bytes: usize,
    pub(super) pace_bytes_per_s: u64,
}

pub(super) struct Node {
    pub(super) core: Core,
    pub(super) counters: Arc<Counters>,
    pub(super) ports: [SocketAddr; 2],
    pub(super) alive: bool,
    pub(super) graph_changes: usize,
    pub(super) events: Vec<Event>,
}

impl Net {
    /// Up to eight participants, all on one host or each on its own.
    pub(super) fn new(seed: u64, count: usize, lan: bool, link: Link) -> Self {
        let mut net = Self {
            now: Instant::now(),
            link,
            rng: Rng(seed),
            nodes: Vec::new(),
            wire: BTreeMap::new(),
            sent: 0,
            capture: None,
            lan,
            match_own: false,
            sample_bytes: Limits::default().sample_bytes,
            pace_bytes_per_s: 200_000_000,
        };
        (0..count).for_each(|place| net.add(place));
        net
    }

    fn ports(lan: bool, place: usize) -> [SocketAddr; 2] {
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
            announce_to: (0..8).map(|p| Self::ports(lan, p)[0]).collect(),
            local: Locals::new(IpFamily::V4, vec![local]),
        }
    }

    /// Adds a participant at a place, which another one may have used before.
    pub(super) fn add(&mut self, place: usize) {
        let ports = Self::ports(self.lan, place);
        let mut prefix = [1, 0x7e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        prefix[4..].copy_from_slice(&self.rng.next().to_be_bytes());
        let config = CoreConfig {
            data: ParticipantData {
                guid: Guid { prefix, entity: PARTICIPANT },
                metatraffic: Vec::new(),
                user: Vec::new(),
                lease: Duration::from_secs(20),
                builtin: BUILTIN_ENDPOINTS,
                user_data: b"enclave=/;".to_vec(),
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
        self.nodes.push(Node { core, counters, ports, alive: true, graph_changes: 0, events: Vec::new() });
    }

    pub(super) fn writer(&mut self, node: usize, topic: &str, qos: EndpointQos) -> Guid {
        let mut out = Outbox::default();
        let spec = spec(topic, qos);
        let (guid, _) = self.nodes[node].core.create_writer(spec, self.now, &mut out);
        self.transmit(node, &out);
        guid
    }

    pub(super) fn reader(&mut self, node: usize, topic: &str, qos: EndpointQos) -> (Guid, Log) {
        let log = Log::default();
        let sink = {
            let log = log.clone();
            Arc::new(move |sample| log.lock().unwrap().push(sample))
        };
        let mut out = Outbox::default();
        let (guid, _) = self.nodes[node].core.create_reader(spec(topic, qos), sink, self.now, &mut out);
        self.transmit(node, &out);
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
        let mut out = Outbox::default();
        let core = &mut self.nodes[node].core;
        let result = core.write(writer.entity, &Bytes::from(payload), options, 77, self.now, &mut out);
        self.transmit(node, &out);
        result
    }

    /// Lets something happen on one participant and sends what comes out of it.
    pub(super) fn act<T>(&mut self, node: usize, f: impl FnOnce(&mut Core, Instant, &mut Outbox) -> T) -> T {
        let mut out = Outbox::default();
        let result = f(&mut self.nodes[node].core, self.now, &mut out);
        self.transmit(node, &out);
        result
    }

    fn transmit(&mut self, node: usize, out: &Outbox) {
        let from = self.nodes[node].ports[1];
        for (to, head, body) in out.iter() {
            let bytes = [head, body].concat();
            assert!(bytes.len() <= 65_507, "datagram of {} bytes", bytes.len());
            if let Some(capture) = &mut self.capture {
                capture.push(bytes.clone());
            }
            if self.rng.below(100) < self.link.loss {
                continue;
            }
            let copies = if self.rng.below(100) < self.link.duplicate { 2 } else { 1 };
            for _ in 0..copies {
                let delay = self.link.latency_ms * 1000 + self.rng.below(self.link.jitter_ms * 1000 + 1);
                self.sent += 1;
                let at = self.now + Duration::from_micros(delay + 10);
                self.wire.insert((at, self.sent), (from, to, bytes.clone()));
            }
        }
    }

    /// Runs for `span`, or until `done`; true when done.
    pub(super) fn run_until(&mut self, span: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + span;
        while !done(self) {
            let timer = self.nodes.iter().filter(|n| n.alive).map(|n| n.core.poll_timeout()).min();
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

    fn step(&mut self) {
        while let Some(entry) = self.wire.first_entry()
            && entry.key().0 <= self.now
        {
            let (from, to, bytes) = entry.remove();
            let Some(node) = self.nodes.iter().position(|n| n.alive && n.ports.contains(&to)) else {
                continue;
            };
            self.feed(node, &bytes, from);
        }
        for node in 0..self.nodes.len() {
            if self.nodes[node].alive && self.nodes[node].core.poll_timeout() <= self.now {
                let (mut out, mut inbox) = (Outbox::default(), Inbox::default());
                self.nodes[node].core.poll(self.now, &mut out, &mut inbox);
                self.deliver(node, inbox);
                self.transmit(node, &out);
            }
        }
    }

    /// Gives one datagram to a participant.
    pub(super) fn feed(&mut self, node: usize, bytes: &[u8], from: SocketAddr) {
        let (mut out, mut inbox) = (Outbox::default(), Inbox::default());
        let core = &mut self.nodes[node].core;
        core.handle(bytes, from, self.now, &mut out, &mut inbox);
        core.flush(self.now, &mut out);
        self.deliver(node, inbox);
        self.transmit(node, &out);
    }

    fn deliver(&mut self, node: usize, inbox: Inbox) {
        self.nodes[node].graph_changes += usize::from(inbox.graph_changed);
        self.nodes[node].events.extend(inbox.events);
        for (sink, sample) in inbox.samples {
            sink(sample);
        }
    }

    pub(super) fn matched(&self, node: usize, writer: Guid) -> usize {
        self.nodes[node].core.matched_readers(writer.entity).len()
    }

    pub(super) fn matched_writers(&self, node: usize, reader: Guid) -> usize {
        self.nodes[node].core.matched_writers(reader.entity).len()
    }
}

pub(super) fn spec(topic: &str, qos: EndpointQos) -> EndpointSpec {
    EndpointSpec { topic: topic.into(), type_name: "T".into(), qos, ..EndpointSpec::default() }
}

pub(super) const RELIABLE: EndpointQos = EndpointQos::DEFAULT;
pub(super) const KEEP_ALL: EndpointQos =
    EndpointQos { history: History::KeepAll { bytes: 64 << 20 }, ..EndpointQos::DEFAULT };
pub(super) const BEST_EFFORT: EndpointQos = EndpointQos { reliable: false, ..EndpointQos::DEFAULT };
pub(super) const LATCHED: EndpointQos =
    EndpointQos { transient_local: true, history: History::KeepLast(5), ..EndpointQos::DEFAULT };

/// Payload number `n` of a size, filled so that damage shows.
pub(super) fn payload(n: u32, len: usize) -> Vec<u8> {
    // A pattern whose length divides no fragment size shows fragments in the wrong place.
    let pattern: Vec<u8> = (0..251).map(|i: u8| i.wrapping_mul(7).wrapping_add(n.to_le_bytes()[0])).collect();
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(n.to_le_bytes());
    bytes.extend(pattern.repeat(len / 251 + 1));
    bytes.truncate(len.max(8));
    bytes
}

/// The numbers of received payloads, each checked against what was sent.
pub(super) fn numbers(log: &Log, len: impl Fn(u32) -> usize) -> Vec<u32> {
    let log = log.lock().unwrap();
    log.iter()
        .map(|sample| {
            let n = u32::from_le_bytes(sample.payload[4..8].try_into().unwrap());
            let sent = payload(n, len(n));
            assert_eq!(&sample.payload[..sent.len()], &sent[..], "sample {n} is damaged");
            assert!(sample.payload.len() - sent.len() < 4);
            n
        })
        .collect()
}
