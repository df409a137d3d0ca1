//! Calling services.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, ServiceClient},
    topic::ServiceSpec,
    transport::BoxFuture,
};
use rostrans_rtps::{Guid, Reader, Sample, SampleIdentity, WriteError, WriteOptions, Writer};
use rostrans_schema::TypeRegistry;
use tokio::{sync::oneshot, time::timeout_at};

use super::{
    Context, Pair,
    servers::Servers,
    stats::{Counters, count},
    style::{Header, ServiceStyle, Style},
};
use crate::node::Entry;

/// Calls one service, on whichever server is there.
pub(crate) struct Client {
    context: Context,
    writer: Writer,
    reader: Reader,
    calls: Arc<Calls>,
    servers: Mutex<Servers>,
    _entries: [Entry; 2],
}

/// Calls that wait for their response.
struct Calls {
    /// Our id in headers.
    client: u64,
    /// The GUIDs a related identity may name, known once both endpoints exist, which is before the first request.
    ours: OnceLock<[Guid; 2]>,
    style: ServiceStyle,
    counters: Arc<Counters>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last_header_seq: i64,
    waiting: HashMap<Key, oneshot::Sender<CdrBytes>>,
}

/// What a response is recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// RTPS sequence number of the request.
    Identity(i64),
    /// Sequence number in the header.
    Header(i64),
}

/// More open calls than this are refused.
const MAX_OPEN: usize = 64;

impl Client {
    /// Announces the two endpoints of a client.
    pub(crate) fn new(
        context: Context,
        service: &ServiceSpec,
        registry: &TypeRegistry,
        id: &[u8; 16],
    ) -> Result<Self, AdapterError> {
        let pair = Pair::new(service, registry, "clientid", id)?;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let calls = Arc::new(Calls {
            client: hasher.finish(),
            ours: OnceLock::new(),
            style: context.style,
            counters: Arc::clone(&context.counters),
            open: Mutex::default(),
        });
        let replies = Arc::clone(&calls);
        // The reply side first: a server may answer as soon as it sees the request writer.
        let reader = context
            .participant
            .create_reader(pair.reply, Arc::new(move |sample| replies.reply(sample)))
            .map_err(crate::adapter::refused)?;
        let writer = context.participant.create_writer(pair.request).map_err(crate::adapter::refused)?;
        calls.ours.get_or_init(|| [reader.guid(), writer.guid()]);
        let entries = [context.node.list(reader.guid()), context.node.list(writer.guid())];
        Ok(Self { context, writer, reader, calls, servers: Mutex::default(), _entries: entries })
    }

    /// The request readers of servers whose reply writer is there too: both sides of one participant.
    fn present(&self) -> Vec<Guid> {
        let repliers = self.reader.matched_writers();
        let mut readers = self.writer.matched_readers();
        readers.retain(|r| repliers.iter().any(|w| w.prefix == r.prefix));
        readers
    }

    fn servers(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the request to one server, in that server's style.
    fn send(
        &self,
        server: Guid,
        request: &CdrBytes,
    ) -> Result<(Key, oneshot::Receiver<CdrBytes>), CallError> {
        let (sender, receiver) = oneshot::channel();
        // Held across the write: the response may be here before write_with returns its sequence number.
        let mut open = self.calls.lock();
        if open.waiting.len() >= MAX_OPEN {
            return Err(CallError::Busy);
        }
        let key = match self.calls.style.with(server) {
            Style::Identity => {
                let identity = SampleIdentity { guid: self.reader.guid(), seq: SampleIdentity::SEQ_UNKNOWN };
                let options =
                    WriteOptions { related: Some(identity), only_to: Some(server), source_time: None };
                Key::Identity(self.writer.write_with(request.as_bytes(), options).map_err(failed)?)
            }
            Style::Header => {
                open.last_header_seq += 1;
                let header = Header { client: self.calls.client, seq: open.last_header_seq };
                let options = WriteOptions { only_to: Some(server), ..WriteOptions::default() };
                self.writer.write_with(&header.join(request), options).map_err(failed)?;
                Key::Header(header.seq)
            }
        };
        open.waiting.insert(key, sender);
        count(&self.calls.counters.calls);
        Ok((key, receiver))
    }
}

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        let deadline = tokio::time::Instant::from_std(deadline);
        Box::pin(async move {
            let server = self.context.until(|| self.servers().choose(&self.present()));
            let server = timeout_at(deadline, server).await.map_err(|_| CallError::NoServer)?;
            let (key, response) = self.send(server, &request)?;
            let _forget = Forget { calls: &self.calls, key };
            let answer = async {
                tokio::select! {
                    biased;
                    response = response => response.map_err(|_| CallError::Closed),
                    // Who left cannot answer any more; the caller may still have time to ask its successor.
                    () = self.context.while_it(|| self.present().contains(&server)) => Err(CallError::NoServer),
                }
            };
            let answer = timeout_at(deadline, answer).await.unwrap_or(Err(CallError::Timeout));
            self.servers().ended(server, answer.is_ok());
            answer
        })
    }
}

impl Calls {
    /// Hands a response to the call it belongs to; others, and those that come too late, are ignored.
    fn reply(&self, sample: Sample) {
        let response = match self.style.with(sample.writer) {
            Style::Header => Header::split(&sample.payload)
                .filter(|(header, _)| header.client == self.client)
                .map(|(header, message)| (Key::Header(header.seq), message)),
            Style::Identity => sample
                .related
                .filter(|related| self.ours.get().is_some_and(|ours| ours.contains(&related.guid)))
                .and_then(|related| Some((Key::Identity(related.seq), CdrBytes::new(sample.payload)?))),
        };
        let Some((key, message)) = response else { return };
        let waiting = self.lock().waiting.remove(&key);
        // The caller may also give up at this moment.
        if waiting.is_none_or(|waiting| waiting.send(message).is_err()) {
            count(&self.counters.late);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the claim on a response when the call ends, however it ends.
struct Forget<'a> {
    calls: &'a Calls,
    key: Key,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.lock().waiting.remove(&self.key);
    }
}

fn failed(error: WriteError) -> CallError {
    match error {
        // The server left between look-up and write.
        WriteError::NotMatched => CallError::NoServer,
        WriteError::HistoryFull => CallError::Busy,
        WriteError::Closed | WriteError::TooShort { .. } | WriteError::TooLong { .. } => CallError::Closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guid(vendor: u8, entity: u8) -> Guid {
        Guid { prefix: [1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5], entity: [0, 0, entity, 4] }
    }

    fn calls() -> (Calls, oneshot::Receiver<CdrBytes>, oneshot::Receiver<CdrBytes>) {
        let calls = Calls {
            client: 7,
            ours: OnceLock::from([guid(0x7e, 1), guid(0x7e, 2)]),
            style: ServiceStyle::Auto,
            counters: Arc::default(),
            open: Mutex::default(),
        };
        let (identity, header) = (oneshot::channel(), oneshot::channel());
        calls.lock().waiting.insert(Key::Identity(5), identity.0);
        calls.lock().waiting.insert(Key::Header(5), header.0);
        (calls, identity.1, header.1)
    }

    fn reply(vendor: u8, payload: Vec<u8>, related: Option<SampleIdentity>) -> Sample {
        Sample { payload: payload.into(), writer: guid(vendor, 9), seq: 1, related, source_time: None }
    }

    fn header(client: u64, seq: i64) -> Vec<u8> {
        Header { client, seq }.join(&CdrBytes::new(vec![0, 1, 0, 0, 42]).unwrap()).to_vec()
    }

    #[test]
    fn responses_of_both_styles_find_their_call() {
        let (calls, mut identity, mut by_header) = calls();
        let related = SampleIdentity { guid: guid(0x7e, 2), seq: 5 };
        calls.reply(reply(0x0f, vec![0, 1, 0, 0, 41], Some(related)));
        calls.reply(reply(0x10, header(7, 5), None));
        assert_eq!(identity.try_recv().unwrap().body(), [41]);
        assert_eq!(by_header.try_recv().unwrap().body(), [42]);
        assert!(calls.lock().waiting.is_empty());
    }

    #[test]
    fn responses_to_others_are_ignored() {
        let (calls, mut identity, mut by_header) = calls();
        let other = |entity, seq| Some(SampleIdentity { guid: guid(0x7e, entity), seq });
        calls.reply(reply(0x0f, vec![0, 1, 0, 0, 41], other(3, 5)));
        calls.reply(reply(0x0f, vec![0, 1, 0, 0, 41], other(1, 6)));
        calls.reply(reply(0x0f, vec![0, 1, 0, 0, 41], None));
        calls.reply(reply(0x10, header(8, 5), None));
        calls.reply(reply(0x10, header(7, 6), None));
        calls.reply(reply(0x10, vec![0, 1], None));
        assert!(identity.try_recv().is_err() && by_header.try_recv().is_err());
        assert_eq!(calls.lock().waiting.len(), 2);
        assert_eq!(calls.counters.snapshot().late, 2);
    }
}
