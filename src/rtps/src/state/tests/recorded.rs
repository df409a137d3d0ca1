//! Recordings of Fast DDS and Cyclone DDS, whole or damaged, between the traffic of participants that talk to each other.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::memory::held;
use super::robust::mutate;
use super::sim::{BEST_EFFORT, LATCHED, Log, Net, PERFECT, RELIABLE, Rng, payload};
use crate::endpoint::{EndpointQos, EndpointSpec};
use crate::guid::Guid;
use crate::wire::Prefix;

/// A datagram and where it came from.
type Heard = (SocketAddr, Vec<u8>);

/// The corpus of the fuzz target `rtps_network`, where the layout is described, as if it had been said to `listener`.
fn recordings(listener: Prefix) -> Vec<Vec<Heard>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/rtps_network");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files.into_iter().map(|file| readdressed(&std::fs::read(file).unwrap(), listener)).collect()
}

fn readdressed(file: &[u8], listener: Prefix) -> Vec<Heard> {
    let (recorded, rest) = file.split_at(listener.len());
    let mut heard = datagrams(rest);
    for (_, bytes) in &mut heard {
        for at in 0..bytes.len().saturating_sub(recorded.len()) {
            if bytes[at..].starts_with(recorded) {
                bytes[at..at + recorded.len()].copy_from_slice(&listener);
            }
        }
    }
    heard
}

fn datagrams(mut rest: &[u8]) -> Vec<Heard> {
    let mut found = Vec::new();
    while let Some(([place, a, b], after)) = rest.split_first_chunk() {
        let (datagram, after) = after.split_at(usize::from(u16::from_le_bytes([*a, *b])));
        found.push((SocketAddr::from(([10, 0, 9, *place], 7411)), datagram.to_vec()));
        rest = after;
    }
    found
}

/// Two participants whose endpoints fit those recorded, so that these match them too.
struct Talk {
    net: Net,
    /// Writer of node 0, what the reader of node 1 gets, and the size of its samples.
    pairs: Vec<(Guid, Log, usize)>,
}

impl Talk {
    fn new() -> Self {
        let mut net = Net::new(5, 2, true, PERFECT);
        let offers = [
            ("rt/chatter", "std_msgs::msg::dds_::String_", LATCHED, 300),
            ("rt/big", "sensor_msgs::msg::dds_::Image_", RELIABLE, 40_000),
            ("rq/setRequest", "std_srvs::srv::dds_::SetBool_Request_", RELIABLE, 80),
            ("rr/setReply", "std_srvs::srv::dds_::SetBool_Response_", BEST_EFFORT, 80),
        ];
        let mut pairs = Vec::new();
        for (topic, type_name, qos, len) in offers {
            let spec = |qos| EndpointSpec {
                topic: topic.into(),
                type_name: type_name.into(),
                qos,
                ..EndpointSpec::default()
            };
            let log = Log::default();
            let sink = {
                let log = log.clone();
                Arc::new(move |sample| log.lock().unwrap().push(sample))
            };
            let writer = net.act(0, |core, now, out| core.create_writer(spec(qos), now, out).0);
            // No more than the recorded writers offer.
            let wish = EndpointQos { transient_local: false, ..qos };
            net.act(1, |core, now, out| core.create_reader(spec(wish), sink, now, out));
            pairs.push((writer, log, len));
        }
        net.run(Duration::from_secs(3));
        assert!(pairs.iter().all(|(writer, ..)| net.matched(0, *writer) == 1));
        Self { net, pairs }
    }

    fn listener(&self) -> Prefix {
        self.net.nodes[1].core.guid().prefix
    }

    /// Writes number `n` of each pair.
    fn write(&mut self, n: u32) {
        for (writer, _, len) in &self.pairs {
            self.net.write(0, *writer, payload(n, *len)).unwrap();
        }
        let all = |log: &Log, own: Guid| log.lock().unwrap().iter().any(|s| s.writer == own);
        let Self { net, pairs } = self;
        net.run_until(Duration::from_secs(2), |_| pairs.iter().all(|(writer, log, _)| all(log, *writer)));
    }

    /// Takes what our own writers wrote out of the logs, and the rest away; true when it is `n` and nothing else.
    fn got(&self, n: u32) -> bool {
        self.pairs.iter().all(|(writer, log, len)| {
            let samples = std::mem::take(&mut *log.lock().unwrap());
            let ours: Vec<_> = samples.iter().filter(|s| s.writer == *writer).collect();
            matches!(&ours[..], [one] if one.payload == payload(n, *len))
        })
    }
}

#[test]
fn recorded_participants_are_met() {
    let mut met = 0;
    for index in 0..10 {
        let mut talk = Talk::new();
        let recording = recordings(talk.listener()).swap_remove(index);
        let mut most = 0;
        for (from, bytes) in recording {
            talk.net.feed(1, &bytes, from);
            talk.net.run(Duration::from_millis(1));
            most = most.max(talk.net.nodes[1].core.snapshot().participants.len());
        }
        met += most - 1;
    }
    assert!(met >= 8, "{met} participants");
}

#[test]
fn damaged_recordings_take_nothing_from_valid_traffic() {
    let mut talk = Talk::new();
    let recordings = recordings(talk.listener());
    let (mut rng, mut n, before) = (Rng(11), 0, held());
    for round in 0..12 {
        for (count, (from, bytes)) in recordings.iter().flatten().enumerate() {
            let mut bytes = bytes.clone();
            (0..rng.below(4)).for_each(|_| {
                if !bytes.is_empty() {
                    mutate(&mut bytes, &mut rng)
                }
            });
            (0..2).for_each(|node| talk.net.feed(node, &bytes, *from));
            if count % 50 == 0 {
                talk.write(n);
                assert!(talk.got(n), "round {round}: {n} did not arrive as it was written");
                n += 1;
            }
            assert!(talk.net.nodes.iter().all(|node| node.core.is_bounded()));
        }
        assert!(held() - before < 4 << 20, "round {round}: {} bytes more", held() - before);
    }
    for node in &talk.net.nodes {
        let stats = node.counters.snapshot();
        assert!(stats.malformed > 100, "{stats:?}");
    }
}
