//! What was written, who is to get it, and what they got: every delivery is checked when it happens.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::endpoint::{EndpointQos, History, Sample};
use crate::guid::Guid;
use crate::state::{Core, SampleFn};

/// An endpoint of a simulated node.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) guid: Guid,
    pub(super) node: usize,
    pub(super) topic: usize,
    pub(super) qos: EndpointQos,
    pub(super) alive: bool,
    created: Instant,
}

#[derive(Debug)]
pub(super) struct Written {
    len: usize,
    only_to: Option<Guid>,
    at: Instant,
}

/// One writer and one reader.
#[derive(Debug, Default)]
struct Pair {
    /// First number written since the writer knows of the reader.
    since: Option<i64>,
    /// The reader knows of the writer.
    reading: bool,
    /// Highest number delivered since then.
    last: i64,
    /// What was delivered, by number.
    got: Vec<bool>,
}

/// The books of one run.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) writers: Vec<Endpoint>,
    pub(super) readers: Vec<Endpoint>,
    pub(super) written: Vec<Vec<Written>>,
    pairs: BTreeMap<(usize, usize), Pair>,
    /// Datagrams may wait for long, so that old samples may come late.
    pub(super) delays: bool,
    /// Nodes talk to themselves.
    pub(super) match_own: bool,
    pub(super) delivered: u64,
}

/// A sample older than this is not meant for a new volatile reader.
const STALE: Duration = Duration::from_secs(5);

impl Book {
    pub(super) fn add(
        &mut self,
        is_writer: bool,
        guid: Guid,
        node: usize,
        topic: usize,
        qos: EndpointQos,
        created: Instant,
    ) {
        let endpoint = Endpoint { guid, node, topic, qos, alive: true, created };
        if is_writer {
            self.writers.push(endpoint);
            self.written.push(Vec::new());
        } else {
            self.readers.push(endpoint);
        }
    }

    /// The sink of the reader that is added next.
    pub(super) fn sink(book: &Arc<Mutex<Self>>) -> SampleFn {
        let (reader, book) = (book.lock().unwrap().readers.len(), book.clone());
        Arc::new(move |sample| book.lock().unwrap().deliver(reader, &sample))
    }

    pub(super) fn wrote(&mut self, writer: usize, len: usize, only_to: Option<Guid>, at: Instant) {
        self.written[writer].push(Written { len, only_to, at });
    }

    /// Payload number `seq` of a writer: a piece of a long pattern, so that nothing is made or copied.
    pub(super) fn payload(writer: usize, seq: i64, len: usize) -> Bytes {
        static PATTERN: OnceLock<Bytes> = OnceLock::new();
        let pattern = PATTERN.get_or_init(|| {
            let mut rng = super::sim::Rng(77);
            (0..(4 << 20) / 8).flat_map(|_| rng.next().to_le_bytes()).collect()
        });
        let start = (writer * 40_503 + usize::try_from(seq).unwrap() * 1_597) % (1 << 20);
        pattern.slice(start..start + len)
    }

    fn deliver(&mut self, reader: usize, sample: &Sample) {
        let to = &self.readers[reader];
        let writer = self.writers.iter().position(|w| w.guid == sample.writer).expect("a known writer");
        let from = &self.writers[writer];
        let name = format_args!("writer {writer} {:?} to reader {reader} {:?}", from.qos, to.qos);
        let seq = sample.seq;
        let index = usize::try_from(seq - 1).unwrap();
        let written = self.written[writer].get(index).expect("a sample that was written");
        let sent = Self::payload(writer, seq, written.len);
        let (body, padding) = sample.payload.split_at(sent.len().min(sample.payload.len()));
        assert!(body == sent && padding.len() < 4, "{name}: sample {seq} is damaged");
        assert!(written.only_to.is_none_or(|only| only == to.guid), "{name}: {seq} is for another");
        assert!(
            self.delays || to.qos.transient_local || written.at + STALE > to.created,
            "{name}: {seq} is history, which was not asked for"
        );
        let pair = self.pairs.entry((writer, reader)).or_default();
        assert!(seq > pair.last, "{name}: {seq} after {}", pair.last);
        pair.last = seq;
        pair.got.resize(pair.got.len().max(index + 1), false);
        pair.got[index] = true;
        self.delivered += 1;
    }

    /// Compares with whom the endpoints of a node are matched now.
    pub(super) fn rematch(&mut self, node: usize, core: &Core) {
        for (reader, endpoint) in self.readers.iter().enumerate().filter(|(_, r)| r.node == node && r.alive) {
            let writers = core.matched_writers(endpoint.guid.entity);
            for (writer, from) in self.writers.iter().enumerate().filter(|(_, w)| w.topic == endpoint.topic) {
                let reading = writers.contains(&from.guid);
                let pair = self.pairs.entry((writer, reader)).or_default();
                if pair.reading && !reading {
                    // It may get everything again when it finds the writer once more.
                    pair.last = 0;
                }
                pair.reading = reading;
            }
        }
        for (writer, endpoint) in self.writers.iter().enumerate().filter(|(_, w)| w.node == node && w.alive) {
            let readers = core.matched_readers(endpoint.guid.entity);
            let next = i64::try_from(self.written[writer].len()).unwrap() + 1;
            for (reader, to) in self.readers.iter().enumerate().filter(|(_, r)| r.topic == endpoint.topic) {
                let pair = self.pairs.entry((writer, reader)).or_default();
                pair.since = readers.contains(&to.guid).then(|| pair.since.unwrap_or(next));
            }
        }
    }

    /// What is not yet as it has to be in the end; `None` when everything is.
    pub(super) fn lacks(&self) -> Option<String> {
        for (reader, to) in self.readers.iter().enumerate() {
            for (writer, from) in self.writers.iter().enumerate() {
                let Some(pair) = self.pairs.get(&(writer, reader)) else {
                    if self.fits(from, to) {
                        return Some(format!("writer {writer} and reader {reader} never met"));
                    }
                    continue;
                };
                let fits = self.fits(from, to);
                if (to.alive && pair.reading != fits) || (from.alive && pair.since.is_some() != fits) {
                    return Some(format!("writer {writer}, reader {reader}: {fits} is not so: {pair:?}"));
                }
                if !fits || !from.qos.reliable || !to.qos.reliable {
                    continue;
                }
                if let Some(seq) = self.missing(writer, reader, pair) {
                    let (from, to) = (from.qos, to.qos);
                    return Some(format!("reader {reader} {to:?} lacks {seq} of writer {writer} {from:?}"));
                }
            }
        }
        None
    }

    fn missing(&self, writer: usize, reader: usize, pair: &Pair) -> Option<i64> {
        let (from, to) = (&self.writers[writer], &self.readers[reader]);
        let count = self.written[writer].len();
        let held = match from.qos.history {
            History::KeepLast(depth) => count.saturating_sub(usize::try_from(depth).unwrap()),
            History::KeepAll { .. } => 0,
        };
        let replayed = from.qos.transient_local && to.qos.transient_local;
        let since = if replayed { 1 } else { pair.since.unwrap_or(i64::MAX) };
        let first = held.max(usize::try_from(since - 1).unwrap());
        let wanted = |index: &usize| self.written[writer][*index].only_to.is_none_or(|only| only == to.guid);
        let got = |index: usize| pair.got.get(index).copied().unwrap_or(false);
        let index = (first..count).filter(wanted).find(|index| !got(*index))?;
        Some(i64::try_from(index).unwrap() + 1)
    }

    /// Whether the two are to talk to each other.
    fn fits(&self, writer: &Endpoint, reader: &Endpoint) -> bool {
        let (offered, requested) = (writer.qos, reader.qos);
        writer.alive
            && reader.alive
            && writer.topic == reader.topic
            && (self.match_own || writer.node != reader.node)
            && offered.reliable >= requested.reliable
            && offered.transient_local >= requested.transient_local
    }
}
