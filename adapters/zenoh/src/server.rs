//! Answering requests.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, ServiceHandler},
    throttle::LogThrottle,
    topic::ServiceSpec,
};
use tokio::sync::Semaphore;
use tracing::{debug, warn};
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    liveliness::LivelinessToken,
    query::{Query, Queryable},
};

use crate::{
    context::{Context, Entity, now_ns},
    link::Attach,
    stats::count,
    subscription::{Refusal, open},
    wire::{Attachment, Kind},
};

/// Keeps a service on offer until it is dropped.
pub(crate) struct Server {
    context: Arc<Context>,
    answering: Arc<Answering>,
    declared: OnceLock<(LivelinessToken, Queryable<()>)>,
}

/// The side that Zenoh's threads run.
struct Answering {
    context: Arc<Context>,
    entity: Entity,
    handler: Arc<dyn ServiceHandler>,
    /// One permit for each request that waits or is being answered.
    room: Arc<Semaphore>,
    malformed: Mutex<LogThrottle>,
    overload: Mutex<LogThrottle>,
}

/// Requests of one service that wait or are being answered; more are dropped, so that a slow service neither grows
/// without end nor keeps others from answering.
const MAX_OPEN: usize = 128;

impl Server {
    /// Offers a service.
    pub(crate) fn new(
        context: &Arc<Context>,
        spec: &ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> Result<Arc<Self>, AdapterError> {
        let answering = Arc::new(Answering {
            context: Arc::clone(context),
            entity: context.service(spec)?,
            handler,
            room: Arc::new(Semaphore::new(MAX_OPEN)),
            malformed: Mutex::default(),
            overload: Mutex::default(),
        });
        let server = Arc::new(Self { context: Arc::clone(context), answering, declared: OnceLock::new() });
        context.link.add(&server)?;
        Ok(server)
    }
}

impl Attach for Server {
    fn name(&self) -> String {
        format!("the service {}", self.answering.entity.endpoint.name)
    }

    fn attach(&self, session: &Session) -> zenoh::Result<()> {
        let answering = Arc::clone(&self.answering);
        let queryable = session
            .declare_queryable(self.answering.entity.key.clone())
            .complete(true)
            .callback(move |query| Answering::take(&answering, query))
            .wait()?;
        let (token, _) = self.context.endpoint_token(session, Kind::Server, &self.answering.entity);
        let token = session.liveliness().declare_token(token).wait()?;
        let _only_once = self.declared.set((token, queryable));
        Ok(())
    }
}

impl Answering {
    /// Hands a request to the adapter's `run`.
    fn take(answering: &Arc<Self>, query: Query) {
        let opened =
            query.payload().ok_or(Refusal::Empty).and_then(|payload| open(query.attachment(), payload));
        let (request, body) = match opened {
            Ok(opened) => opened,
            Err(reason) => {
                count(&answering.context.counters.malformed);
                if let Some(count) = event(&answering.malformed) {
                    let service = &answering.entity.endpoint.name;
                    warn!(%service, %reason, count, "request refused");
                }
                return;
            }
        };
        let queued = Arc::clone(&answering.room).try_acquire_owned().is_ok_and(|permit| {
            let server = Arc::clone(answering);
            let job = async move {
                server.answer(&query, request, body).await;
                drop(permit);
            };
            answering.context.jobs.try_send(Box::pin(job)).is_ok()
        });
        if !queued {
            count(&answering.context.counters.overload);
            if let Some(count) = event(&answering.overload) {
                warn!(service = %answering.entity.endpoint.name, count, "too many requests wait; dropped");
            }
        }
    }

    async fn answer(&self, query: &Query, request: Attachment, body: CdrBytes) {
        let service = &self.entity.endpoint.name;
        let response = match self.handler.handle(body).await {
            Ok(response) => response,
            Err(error) => {
                debug!(%service, %error, "request left unanswered");
                return;
            }
        };
        let attachment = Attachment { source_time_ns: now_ns(), ..request }.to_bytes();
        let reply = query.reply(self.entity.key.clone(), ZBytes::from(response.into_bytes()));
        if let Err(error) = reply.attachment(attachment.to_vec()).await {
            debug!(%service, %error, "reply dropped");
        }
    }
}

fn event(throttle: &Mutex<LogThrottle>) -> Option<u64> {
    throttle.lock().unwrap_or_else(PoisonError::into_inner).event(Instant::now())
}
