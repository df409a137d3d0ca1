//! Calling services.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, ServiceClient},
    topic::ServiceSpec,
    transport::BoxFuture,
};
use tokio::{
    sync::{Semaphore, mpsc, watch},
    time::timeout_at,
};
use tracing::debug;
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    liveliness::LivelinessToken,
    matching::MatchingListener,
    query::{ConsolidationMode, Querier, QueryTarget, Reply},
};

use crate::{
    context::{Context, Entity, now_ns},
    graph::Watched,
    link::Attach,
    stats::count,
    subscription::open,
    wire::{Attachment, Gid, Kind},
};

/// Calls one service, on whichever server is there.
pub(crate) struct Client {
    context: Arc<Context>,
    entity: Entity,
    sequence: AtomicI64,
    /// Whether Zenoh knows a server to ask.
    reachable: watch::Sender<bool>,
    open: Semaphore,
    /// Known before a server is.
    gid: OnceLock<Gid>,
    declared: OnceLock<Declared>,
    _servers: Watched,
}

/// What it is in a session.
struct Declared {
    _token: LivelinessToken,
    _listener: MatchingListener<()>,
    _querier: Querier<'static>,
}

/// More open calls than this are refused.
const MAX_OPEN: usize = 64;

/// Responses that wait for the caller; one is enough, the others are of servers that were asked too.
const MAX_RESPONSES: usize = 4;

impl Client {
    /// Announces a client.
    pub(crate) fn new(context: &Arc<Context>, spec: &ServiceSpec) -> Result<Arc<Self>, AdapterError> {
        let entity = context.service(spec)?;
        let client = Arc::new(Self {
            context: Arc::clone(context),
            _servers: context.graph.watch(Kind::Server, &entity.endpoint),
            entity,
            sequence: AtomicI64::new(0),
            reachable: watch::Sender::new(false),
            open: Semaphore::new(MAX_OPEN),
            gid: OnceLock::new(),
            declared: OnceLock::new(),
        });
        context.link.add(&client)?;
        Ok(client)
    }

    async fn ask(&self, request: CdrBytes, deadline: Instant) -> Result<CdrBytes, CallError> {
        let _place = self.open.try_acquire().map_err(|_| CallError::Busy)?;
        let until = tokio::time::Instant::from_std(deadline);
        let mut reachable = self.reachable.subscribe();
        let present = timeout_at(until, reachable.wait_for(|there| *there)).await;
        // The sender is part of the client: it does not go.
        drop(present.map_err(|_| CallError::NoServer)?.map_err(|_| CallError::Closed)?);
        let (Some(session), Some(gid)) = (self.context.link.session(), self.gid.get()) else {
            return Err(CallError::Closed);
        };
        let sequence = self.sequence.fetch_add(1, Relaxed) + 1;
        let ours = Attachment { sequence, source_time_ns: now_ns(), gid: *gid };
        let (sender, mut responses) = mpsc::channel(MAX_RESPONSES);
        let asked = session
            .get(self.entity.key.clone())
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .payload(ZBytes::from(request.into_bytes()))
            .attachment(ours.to_bytes().to_vec())
            .timeout(deadline.saturating_duration_since(Instant::now()))
            // Full: there are responses enough.
            .callback(move |reply| drop(sender.try_send(reply)))
            .wait();
        asked.map_err(|error| {
            debug!(service = %self.entity.endpoint.name, %error, "request not sent");
            CallError::Closed
        })?;
        let answer = async {
            while let Some(reply) = responses.recv().await {
                if let Some(response) = self.response(&reply, ours) {
                    return response;
                }
            }
            // A server that sends nothing leaves its caller to its deadline.
            std::future::pending().await
        };
        match timeout_at(until, answer).await {
            Ok(response) => Ok(response),
            Err(_) => Err(CallError::Timeout),
        }
    }

    /// The response in a reply; `None` for what is none of this request.
    fn response(&self, reply: &Reply, ours: Attachment) -> Option<CdrBytes> {
        let sample = reply.result().ok()?;
        match open(sample.attachment(), sample.payload()) {
            Ok((theirs, response)) if (theirs.sequence, theirs.gid) == (ours.sequence, ours.gid) => {
                return Some(response);
            }
            Ok(_) => debug!(service = %self.entity.endpoint.name, "response to another request refused"),
            Err(reason) => debug!(service = %self.entity.endpoint.name, %reason, "response refused"),
        }
        count(&self.context.counters.malformed);
        None
    }
}

impl Attach for Client {
    fn name(&self) -> String {
        format!("the client of {}", self.entity.endpoint.name)
    }

    fn attach(&self, session: &Session) -> zenoh::Result<()> {
        let (token, gid) = self.context.endpoint_token(session, Kind::Client, &self.entity);
        self.gid.get_or_init(|| gid);
        let querier =
            session.declare_querier(self.entity.key.clone()).target(QueryTarget::AllComplete).wait()?;
        let reachable = self.reachable.clone();
        let listener = querier
            .matching_listener()
            .callback(move |status| {
                reachable.send_replace(status.matching());
            })
            .wait()?;
        let token = session.liveliness().declare_token(token).wait()?;
        let declared = Declared { _token: token, _listener: listener, _querier: querier };
        let _only_once = self.declared.set(declared);
        Ok(())
    }
}

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(self.ask(request, deadline))
    }
}
