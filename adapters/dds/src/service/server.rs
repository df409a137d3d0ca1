//! Answering requests.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, Guard, ServiceHandler},
    throttle::LogThrottle,
    topic::ServiceSpec,
};
use rostrans_rtps::{Guid, Reader, Sample, SampleIdentity, WriteOptions, Writer};
use rostrans_schema::TypeRegistry;
use tokio::sync::Semaphore;
use tracing::{debug, warn};

use super::{
    Context, Pair,
    stats::count,
    style::{Header, ServiceStyle, Style},
};
use crate::{names, node::Entry};

/// One offered service.
pub(crate) struct Server {
    context: Context,
    service: String,
    reply_topic: String,
    writer: Writer,
    handler: Arc<dyn ServiceHandler>,
    /// One permit for each request that waits or is being answered.
    room: Arc<Semaphore>,
    overload: Mutex<LogThrottle>,
}

/// Where a request came from and how its reply finds the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    /// Related identity of the reply.
    Identity(SampleIdentity),
    /// Header of the reply, and the request's writer.
    Header(Header, Guid),
}

/// Keeps a service on offer.
struct Offer {
    _reader: Reader,
    _entries: [Entry; 2],
    _server: Arc<Server>,
}

impl Server {
    /// Offers a service until the guard is dropped.
    pub(crate) fn offer(
        context: Context,
        service: &ServiceSpec,
        registry: &TypeRegistry,
        handler: Arc<dyn ServiceHandler>,
        id: &[u8; 16],
    ) -> Result<Guard, AdapterError> {
        let pair = Pair::new(service, registry, "serviceid", id)?;
        let reply_topic = pair.reply.topic.clone();
        let node = Arc::clone(&context.node);
        // The reply side first: whoever sees the request reader may call at once.
        let writer = context.participant.create_writer(pair.reply).map_err(crate::adapter::refused)?;
        let participant = context.participant.clone();
        let server = Arc::new(Self {
            context,
            service: service.name.to_string(),
            reply_topic,
            writer,
            handler,
            room: Arc::new(Semaphore::new(MAX_OPEN)),
            overload: Mutex::default(),
        });
        let requests = Arc::clone(&server);
        let reader = participant
            .create_reader(pair.request, Arc::new(move |sample| Self::request(&requests, sample)))
            .map_err(crate::adapter::refused)?;
        let listed = |endpoint| node.list_service(service.name.as_str(), endpoint);
        let entries = [listed(server.writer.guid()), listed(reader.guid())];
        Ok(Guard::new(Offer { _reader: reader, _entries: entries, _server: server }))
    }

    /// Hands a request to the adapter's `run`; called on the receive thread.
    fn request(server: &Arc<Self>, sample: Sample) {
        let counters = &server.context.counters;
        count(&counters.requests);
        let Some((caller, request)) = read_request(server.context.style, sample) else {
            count(&counters.malformed);
            debug!(service = %server.service, "malformed request ignored");
            return;
        };
        let queued = Arc::clone(&server.room).try_acquire_owned().is_ok_and(|permit| {
            let answering = Arc::clone(server);
            let job = async move {
                answering.answer(caller, request).await;
                drop(permit);
            };
            server.context.jobs.try_send(Box::pin(job)).is_ok()
        });
        if !queued {
            count(&counters.overload);
            let mut overload = server.overload.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(count) = overload.event(Instant::now()) {
                warn!(service = %server.service, count, "too many requests wait; dropped");
            }
        }
    }

    async fn answer(&self, caller: Caller, request: CdrBytes) {
        match self.handler.handle(request).await {
            Ok(response) => self.reply(caller, &response).await,
            Err(error) => debug!(service = %self.service, %error, "request left unanswered"),
        }
    }

    async fn reply(&self, caller: Caller, response: &CdrBytes) {
        let counters = &self.context.counters;
        match self.send(caller, response).await {
            Ok(()) => count(&counters.replies),
            Err(reason) => {
                count(&counters.replies_dropped);
                debug!(service = %self.service, %reason, "reply dropped");
            }
        }
    }

    async fn send(&self, caller: Caller, response: &CdrBytes) -> Result<(), String> {
        let reader = match caller {
            Caller::Identity(identity) if identity.guid.is_reader() => Some(identity.guid),
            Caller::Identity(identity) => self.reader_beside(identity.guid),
            Caller::Header(_, writer) => self.reader_of_client(writer),
        };
        if let Some(reader) = reader {
            let matched =
                self.context.until(|| self.writer.matched_readers().contains(&reader).then_some(()));
            let appeared = tokio::time::timeout(REPLY_WAIT, matched).await;
            appeared.map_err(|_| format!("reader {reader} is not there"))?;
        }
        let (payload, related) = match caller {
            Caller::Identity(identity) => (response.as_bytes().clone(), Some(identity)),
            Caller::Header(header, _) => (header.join(response), None),
        };
        // To all clients of a Cyclone DDS participant: what one of its readers never gets, none of them gets.
        let only_to = match caller {
            Caller::Identity(_) => reader,
            Caller::Header(_, writer) => Some(Guid { entity: [0; 4], ..writer }),
        };
        let options = WriteOptions { related, only_to, source_time: None };
        self.writer.write_with(&payload, options).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The one reply reader in the participant of a request writer; `None` sends to all, who sort it out.
    fn reader_beside(&self, writer: Guid) -> Option<Guid> {
        let mut beside = self.writer.matched_readers().into_iter().filter(|r| r.prefix == writer.prefix);
        beside.next().filter(|_| beside.next().is_none())
    }

    /// The reply reader that announces the same client id as a request writer.
    fn reader_of_client(&self, writer: Guid) -> Option<Guid> {
        let graph = self.context.participant.discovered();
        let of_writer = graph.endpoints.iter().find(|e| e.guid == writer)?;
        let id = names::user_value(&of_writer.user_data, "clientid")?;
        let same = |data: &[u8]| names::user_value(data, "clientid") == Some(id);
        let mut readers = graph.endpoints.iter().filter(|e| !e.is_writer && e.topic == self.reply_topic);
        readers.find(|e| same(&e.user_data)).map(|e| e.guid)
    }
}

/// How long a reply waits for its reader to be matched, as ROS servers do.
const REPLY_WAIT: Duration = Duration::from_millis(100);

/// Requests of one service that wait or are being answered; more are dropped, so that a slow service neither grows
/// without end nor keeps others from answering.
const MAX_OPEN: usize = 128;

fn read_request(style: ServiceStyle, sample: Sample) -> Option<(Caller, CdrBytes)> {
    match style.with(sample.writer) {
        Style::Header => {
            let (header, request) = Header::split(&sample.payload)?;
            Some((Caller::Header(header, sample.writer), request))
        }
        Style::Identity => {
            // The sequence number is that of the request itself; the identity names the reader to answer.
            let guid = sample.related.map_or(sample.writer, |related| related.guid);
            let identity = SampleIdentity { guid, seq: sample.seq };
            Some((Caller::Identity(identity), CdrBytes::new(sample.payload)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn guid(vendor: u8, kind: u8) -> Guid {
        Guid { prefix: [1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5], entity: [0, 0, 9, kind] }
    }

    fn sample(vendor: u8, payload: &'static [u8], related: Option<SampleIdentity>) -> Sample {
        let payload = Bytes::from_static(payload);
        Sample { payload, writer: guid(vendor, 3), seq: 17, related, source_time: None }
    }

    #[test]
    fn identity_requests_are_answered_to_the_reader_they_name() {
        let related = SampleIdentity { guid: guid(0x0f, 4), seq: SampleIdentity::SEQ_UNKNOWN };
        let (caller, request) =
            read_request(ServiceStyle::Auto, sample(0x0f, &[0, 1, 0, 0, 1], Some(related))).unwrap();
        assert_eq!(caller, Caller::Identity(SampleIdentity { guid: guid(0x0f, 4), seq: 17 }));
        assert_eq!(request.body(), [1]);
        let (caller, _) = read_request(ServiceStyle::Auto, sample(0x0f, &[0, 1, 0, 0, 1], None)).unwrap();
        assert_eq!(caller, Caller::Identity(SampleIdentity { guid: guid(0x0f, 3), seq: 17 }));
    }

    #[test]
    fn header_requests_lose_their_header() {
        let payload = &[0, 1, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1];
        let (caller, request) = read_request(ServiceStyle::Auto, sample(0x10, payload, None)).unwrap();
        assert_eq!(caller, Caller::Header(Header { client: 8, seq: 3 }, guid(0x10, 3)));
        assert_eq!(request[..], [0, 1, 0, 0, 1]);
        assert_eq!(read_request(ServiceStyle::Auto, sample(0x10, &[0, 1, 0, 0, 1], None)), None);
    }
}
