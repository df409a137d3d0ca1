//! Answering requests.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rostrans_adapter_dds::ros;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, Guard, ServiceHandler},
    throttle::LogThrottle,
    topic::ServiceSpec,
};
use rostrans_schema::TypeRegistry;
use tokio::sync::Semaphore;
use tracing::{debug, warn};

use super::{Pair, takes_header};
use crate::{
    adapter::Context,
    endpoint::{Of, Peer, Reader, Writer},
    sample::Received,
};

/// One offered service.
pub(crate) struct Server {
    context: Context,
    service: String,
    writer: Writer,
    handler: Arc<dyn ServiceHandler>,
    /// One permit for each request that waits or is being answered.
    room: Arc<Semaphore>,
    trouble: Mutex<LogThrottle>,
}

/// Keeps a service on offer.
struct Offer {
    _reader: Reader,
    _entries: [ros::Entry; 2],
    _server: Arc<Server>,
}

impl Server {
    /// Offers a service until the guard is dropped.
    pub(crate) fn offer(
        context: &Context,
        service: &ServiceSpec,
        registry: &TypeRegistry,
        handler: Arc<dyn ServiceHandler>,
    ) -> Result<Guard, AdapterError> {
        let pair = Pair::new(service, registry, "serviceid", &context.service_id())?;
        // The reply side first: whoever sees the request reader may call at once.
        let writer = context.participant.writer(&pair.reply)?;
        let server = Arc::new(Self {
            context: context.clone(),
            service: service.name.to_string(),
            writer,
            handler,
            room: Arc::new(Semaphore::new(MAX_OPEN)),
            trouble: Mutex::default(),
        });
        let requests = Arc::clone(&server);
        let take = move |received| Self::request(&requests, &received);
        let reader = context.participant.reader(&pair.request, Of::All, take)?;
        let listed = |endpoint| context.node.list_service(service.name.as_str(), endpoint);
        let entries = [listed(server.writer.guid()), listed(reader.guid())];
        Ok(Guard::new(Offer { _reader: reader, _entries: entries, _server: server }))
    }

    /// Hands a request to the adapter's `run`; called on a thread of the library.
    fn request(server: &Arc<Self>, received: &Received) {
        let caller = received.writer();
        if caller.as_ref().is_some_and(|caller| !takes_header(caller.guid)) {
            server.complain("requests that are not of Cyclone DDS cannot be answered; use the native engine");
            return;
        }
        let Some((header, request)) = ros::Header::split(&received.payload) else {
            debug!(service = %server.service, "malformed request ignored");
            return;
        };
        let queued = Arc::clone(&server.room).try_acquire_owned().is_ok_and(|permit| {
            let answering = Arc::clone(server);
            let job = async move {
                answering.answer(caller, header, request).await;
                drop(permit);
            };
            server.context.jobs.try_send(Box::pin(job)).is_ok()
        });
        if !queued {
            server.complain("too many requests wait; dropped");
        }
    }

    async fn answer(&self, caller: Option<Peer>, header: ros::Header, request: CdrBytes) {
        let response = match self.handler.handle(request).await {
            Ok(response) => response,
            Err(error) => {
                debug!(service = %self.service, %error, "request left unanswered");
                return;
            }
        };
        let id = caller.as_ref().and_then(|caller| ros::user_value(&caller.user_data, "clientid"));
        if let Some(id) = id {
            let same = |reader: &Peer| ros::user_value(&reader.user_data, "clientid") == Some(id);
            let matched = Context::until(|| self.writer.readers().iter().any(same).then_some(()));
            if tokio::time::timeout(REPLY_WAIT, matched).await.is_err() {
                debug!(service = %self.service, "reply dropped; its reader is not there");
                return;
            }
        }
        if let Err(error) = self.writer.write(&header.join(&response), None) {
            debug!(service = %self.service, %error, "reply dropped");
        }
    }

    fn complain(&self, problem: &'static str) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = trouble.event(Instant::now()) {
            warn!(service = %self.service, count, "{problem}");
        }
    }
}

/// How long a reply waits for its reader to be matched, as ROS servers do.
const REPLY_WAIT: Duration = Duration::from_millis(100);

/// Requests of one service that wait or are being answered; more are dropped.
const MAX_OPEN: usize = 128;
