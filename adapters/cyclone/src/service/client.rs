//! Calling services.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rostrans_adapter_dds::{Guid, ros};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, PublishError, ServiceClient},
    throttle::LogThrottle,
    topic::ServiceSpec,
    transport::BoxFuture,
};
use rostrans_schema::TypeRegistry;
use tokio::{sync::oneshot, time::timeout_at};
use tracing::warn;

use super::{Pair, takes_header};
use crate::{
    adapter::Context,
    endpoint::{Of, Reader, Writer},
    sample::Received,
};

/// Calls one service, on all servers that are there.
pub(crate) struct Client {
    service: String,
    writer: Writer,
    reader: Reader,
    calls: Arc<Calls>,
    foreign: Mutex<LogThrottle>,
    _entries: [ros::Entry; 2],
}

/// Calls that wait for their response.
struct Calls {
    /// Our id in headers.
    client: u64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last_seq: i64,
    waiting: HashMap<i64, oneshot::Sender<CdrBytes>>,
}

/// More open calls than this are refused.
const MAX_OPEN: usize = 64;

impl Client {
    /// Announces the two endpoints of a client.
    pub(crate) fn new(
        context: &Context,
        service: &ServiceSpec,
        registry: &TypeRegistry,
    ) -> Result<Self, AdapterError> {
        let id = context.service_id();
        let pair = Pair::new(service, registry, "clientid", &id)?;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let calls = Arc::new(Calls { client: hasher.finish(), open: Mutex::default() });
        let replies = Arc::clone(&calls);
        // The reply side first: a server may answer as soon as it sees the request writer.
        let reader =
            context.participant.reader(&pair.reply, Of::All, move |received| replies.reply(&received))?;
        let writer = context.participant.writer(&pair.request)?;
        let entries = [context.node.list(reader.guid()), context.node.list(writer.guid())];
        let service = service.name.to_string();
        Ok(Self { service, writer, reader, calls, foreign: Mutex::default(), _entries: entries })
    }

    /// The participants that have both sides of a server; empty when one of them would misread our request.
    fn servers(&self) -> Vec<Guid> {
        let requests = self.writer.readers();
        if requests.iter().any(|reader| !takes_header(reader.guid)) {
            let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
            if foreign.event(Instant::now()).is_some() {
                warn!(service = %self.service, "not called: its server is not one of Cyclone DDS; use the native engine");
            }
            return Vec::new();
        }
        let repliers = self.reader.writers();
        let mut servers: Vec<Guid> = requests.into_iter().map(|reader| reader.participant).collect();
        servers.retain(|server| repliers.iter().any(|writer| writer.participant == *server));
        servers
    }

    fn send(&self, request: &CdrBytes) -> Result<(i64, oneshot::Receiver<CdrBytes>), CallError> {
        let (sender, receiver) = oneshot::channel();
        let seq = {
            let mut open = self.calls.lock();
            if open.waiting.len() >= MAX_OPEN {
                return Err(CallError::Busy);
            }
            open.last_seq += 1;
            let seq = open.last_seq;
            open.waiting.insert(seq, sender);
            seq
        };
        // Without the lock: a server in this process answers before the write returns.
        let written = self.writer.write(&ros::Header { client: self.calls.client, seq }.join(request), None);
        written.map_err(|error| {
            self.calls.lock().waiting.remove(&seq);
            match error {
                PublishError::Full => CallError::Busy,
                PublishError::TooLarge(_) | PublishError::Malformed | PublishError::Closed => {
                    CallError::Closed
                }
            }
        })?;
        Ok((seq, receiver))
    }
}

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        let deadline = tokio::time::Instant::from_std(deadline);
        Box::pin(async move {
            let asked = Context::until(|| Some(self.servers()).filter(|servers| !servers.is_empty()));
            let asked = timeout_at(deadline, asked).await.map_err(|_| CallError::NoServer)?;
            let (seq, response) = self.send(&request)?;
            let _forget = Forget { calls: &self.calls, seq };
            let answer = async {
                let gone = || !self.servers().iter().any(|server| asked.contains(server));
                tokio::select! {
                    biased;
                    response = response => response.map_err(|_| CallError::Closed),
                    // Who left cannot answer any more.
                    () = Context::until(|| gone().then_some(())) => Err(CallError::NoServer),
                }
            };
            timeout_at(deadline, answer).await.unwrap_or(Err(CallError::Timeout))
        })
    }
}

impl Calls {
    /// Hands a response to the call it belongs to; others, and those that come too late, are ignored.
    fn reply(&self, received: &Received) {
        let Some((header, message)) = ros::Header::split(&received.payload) else { return };
        if header.client != self.client {
            return;
        }
        let waiting = self.lock().waiting.remove(&header.seq);
        if let Some(waiting) = waiting {
            // The caller may have given up at this moment.
            waiting.send(message).unwrap_or_default();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the claim on a response when the call ends, however it ends.
struct Forget<'a> {
    calls: &'a Calls,
    seq: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.lock().waiting.remove(&self.seq);
    }
}
