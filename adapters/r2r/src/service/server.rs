//! Answering requests.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, Guard, ServiceHandler},
    jobs::Job,
    throttle::LogThrottle,
    topic::{ServiceSpec, TopicName},
};
use tokio::sync::{Semaphore, mpsc};
use tracing::{debug, warn};

use crate::{
    ffi::{self, rcl_service_t, rmw_request_id_t},
    handle::{Buffer, Handle},
    library::reason,
    node::Node,
    service::DEPTH,
    topic::taken,
    types::ServiceSupport,
    waiter::{Receiver, TURN, Waited, Waiter},
};

/// One offered service.
pub(crate) struct Server {
    handle: Handle<rcl_service_t>,
    service: TopicName,
    support: ServiceSupport,
    handler: Arc<dyn ServiceHandler>,
    /// Work for the adapter's `run`.
    jobs: mpsc::Sender<Job>,
    /// One permit for each request that waits or is being answered.
    room: Arc<Semaphore>,
    trouble: Mutex<LogThrottle>,
    /// For jobs, which outlive a call.
    this: std::sync::Weak<Self>,
}

/// Requests of one service that wait or are being answered; more are dropped.
const MAX_OPEN: usize = 128;

/// How often a response is sent until its client is there.
const TRIES: u32 = 5;

impl Server {
    /// Offers a service until the guard is dropped.
    pub(crate) fn offer(
        node: &Arc<Node>,
        waiter: &Waiter,
        service: &ServiceSpec,
        support: ServiceSupport,
        handler: Arc<dyn ServiceHandler>,
        jobs: mpsc::Sender<Job>,
    ) -> Result<Guard, AdapterError> {
        let rcl = node.rcl();
        // SAFETY: these give structures by value; the options and the type support live through the call of init.
        let handle = unsafe {
            let zero = rcl.rcl_get_zero_initialized_service();
            let mut options = rcl.rcl_service_get_default_options();
            options.qos.depth = DEPTH;
            Handle::new(node, zero, "server", service.name.as_str(), |raw, name| {
                rcl.rcl_service_init(raw, node.as_ptr(), support.as_ptr(), name, &raw const options)
            })?
        };
        let server = Arc::new_cyclic(|this| Self {
            handle,
            service: service.name.clone(),
            support,
            handler,
            jobs,
            room: Arc::new(Semaphore::new(MAX_OPEN)),
            trouble: Mutex::default(),
            this: this.clone(),
        });
        Ok(Guard::new(waiter.add(server)))
    }

    /// Hands a request to the adapter's `run`.
    fn request(&self, header: rmw_request_id_t, request: CdrBytes) {
        let queued = Arc::clone(&self.room).try_acquire_owned().is_ok_and(|permit| {
            let this = self.this.clone();
            let handler = Arc::clone(&self.handler);
            let job = async move {
                let response = handler.handle(request).await;
                // Withdrawn meanwhile: there is nobody to answer as.
                let Some(this) = this.upgrade() else { return };
                match response {
                    // It may have to wait for the client.
                    Ok(response) => {
                        let answer = tokio::task::spawn_blocking(move || this.answer(header, &response));
                        answer.await.unwrap_or_default();
                    }
                    Err(error) => debug!(service = %this.service, %error, "request left unanswered"),
                }
                drop(permit);
            };
            self.jobs.try_send(Box::pin(job)).is_ok()
        });
        if !queued {
            self.complain("too many requests wait; dropped", "");
        }
    }

    fn answer(&self, mut header: rmw_request_id_t, response: &CdrBytes) {
        if self.handle.node().is_closed() {
            return;
        }
        let rcl = self.handle.rcl();
        let response = match self.support.response.decode(rcl, response) {
            Ok(response) => response,
            Err(reason) => return self.complain("response is not of the service's type; dropped", &reason),
        };
        // An RMW that does not see the client yet waits 100 ms itself.
        for _ in 0..TRIES {
            // SAFETY: the server is made, and the structure is that of its type.
            let ret =
                unsafe { rcl.rcl_send_response(self.handle.as_ptr(), &raw mut header, response.as_ptr()) };
            if ret == ffi::OK {
                return;
            }
            let reason = reason(rcl, ret);
            if ret != ffi::TIMEOUT {
                return self.complain("response not sent", &reason);
            }
        }
        debug!(service = %self.service, "response dropped; its client is not there");
    }

    fn complain(&self, problem: &'static str, reason: &str) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = trouble.event(Instant::now()) {
            warn!(service = %self.service, count, reason, "{problem}");
        }
    }
}

impl Receiver for Server {
    fn waited(&self) -> Waited {
        Waited::Service(self.handle.as_ptr())
    }

    fn take(&self, buffer: &mut Buffer) {
        let rcl = self.handle.rcl();
        for _ in 0..TURN {
            let Some(request) = self.support.request.create() else { return };
            // SAFETY: a structure of numbers.
            let mut header: rmw_request_id_t = unsafe { std::mem::zeroed() };
            // SAFETY: the server is made and nobody else takes from it; the structure is that of its type.
            let ret =
                unsafe { rcl.rcl_take_request(self.handle.as_ptr(), &raw mut header, request.as_ptr()) };
            if taken(rcl, ret, NOTHING, &self.service, &self.trouble).is_none() {
                return;
            }
            match request.encode(buffer, rcl) {
                Ok(request) => self.request(header, request),
                Err(reason) => self.complain("malformed request ignored", &reason),
            }
        }
    }
}

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const NOTHING: ffi::rcl_ret_t = ffi::RCL_RET_SERVICE_TAKE_FAILED as ffi::rcl_ret_t;
