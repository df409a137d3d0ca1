//! Calling services.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, ServiceClient},
    throttle::LogThrottle,
    topic::{ServiceSpec, TopicName},
    transport::BoxFuture,
};
use tokio::{sync::oneshot, time::timeout_at};
use tracing::debug;

use crate::{
    ffi::{self, rcl_client_t},
    handle::{Buffer, Handle},
    library::reason,
    node::Node,
    service::DEPTH,
    topic::taken,
    types::ServiceSupport,
    waiter::{Receiver, TURN, Waited, Waiter, Waiting},
};

/// Calls one service.
pub(crate) struct Client {
    calls: Arc<Calls>,
    _waiting: Waiting,
}

struct Calls {
    handle: Handle<rcl_client_t>,
    service: TopicName,
    support: ServiceSupport,
    /// Calls that wait for their response, by the number that rcl gave the request.
    open: Mutex<HashMap<i64, oneshot::Sender<CdrBytes>>>,
    trouble: Mutex<LogThrottle>,
}

/// More open calls than this are refused.
const MAX_OPEN: usize = 64;

/// So often nothing was there for us before the next one has its turn.
const MISSES: u32 = 8;

/// rcl tells of servers when asked; while a call waits for one, or for its answer.
const POLL: Duration = Duration::from_millis(10);

impl Client {
    pub(crate) fn new(
        node: &Arc<Node>,
        waiter: &Waiter,
        service: &ServiceSpec,
        support: ServiceSupport,
    ) -> Result<Self, AdapterError> {
        let rcl = node.rcl();
        // SAFETY: these give structures by value; the options and the type support live through the call of init.
        let handle = unsafe {
            let zero = rcl.rcl_get_zero_initialized_client();
            let mut options = rcl.rcl_client_get_default_options();
            options.qos.depth = DEPTH;
            Handle::new(node, zero, "client", service.name.as_str(), |raw, name| {
                rcl.rcl_client_init(raw, node.as_ptr(), support.as_ptr(), name, &raw const options)
            })?
        };
        let (service, open, trouble) = (service.name.clone(), Mutex::default(), Mutex::default());
        let calls = Arc::new(Calls { handle, service, support, open, trouble });
        let waiting = waiter.add(Arc::clone(&calls) as Arc<dyn Receiver>);
        Ok(Self { calls, _waiting: waiting })
    }
}

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        let deadline = tokio::time::Instant::from_std(deadline);
        let calls = &self.calls;
        Box::pin(async move {
            timeout_at(deadline, calls.until(true)).await.map_err(|_| CallError::NoServer)??;
            let (number, response) = calls.send(&request)?;
            let _forget = Forget { calls, number };
            let answer = async {
                tokio::select! {
                    biased;
                    response = response => response.map_err(|_| CallError::Closed),
                    // Who left cannot answer any more.
                    left = calls.until(false) => left.and(Err(CallError::NoServer)),
                }
            };
            timeout_at(deadline, answer).await.unwrap_or(Err(CallError::Timeout))
        })
    }
}

impl Calls {
    /// Until there is a server, or none.
    async fn until(&self, present: bool) -> Result<(), CallError> {
        while self.is_served()? != present {
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    fn is_served(&self) -> Result<bool, CallError> {
        let node = self.handle.node();
        if node.is_closed() {
            return Err(CallError::Closed);
        }
        let rcl = node.rcl();
        let mut served = false;
        // SAFETY: node and client are made.
        let ret = unsafe {
            rcl.rcl_service_server_is_available(node.as_ptr(), self.handle.as_ptr(), &raw mut served)
        };
        if ret == ffi::OK { Ok(served) } else { Err(CallError::Failed(reason(rcl, ret))) }
    }

    fn send(&self, request: &CdrBytes) -> Result<(i64, oneshot::Receiver<CdrBytes>), CallError> {
        let rcl = self.handle.rcl();
        let request = self.support.request.decode(rcl, request).map_err(CallError::Failed)?;
        let (sender, receiver) = oneshot::channel();
        let mut number = 0;
        // Under the lock: the response may be there before the number is known here.
        let mut open = self.open();
        if open.len() >= MAX_OPEN {
            return Err(CallError::Busy);
        }
        // SAFETY: the client is made, and the structure is that of its type.
        let ret = unsafe { rcl.rcl_send_request(self.handle.as_ptr(), request.as_ptr(), &raw mut number) };
        if ret != ffi::OK {
            return Err(CallError::Failed(reason(rcl, ret)));
        }
        open.insert(number, sender);
        Ok((number, receiver))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<CdrBytes>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver for Calls {
    fn waited(&self) -> Waited {
        Waited::Client(self.handle.as_ptr())
    }

    fn take(&self, buffer: &mut Buffer) {
        let rcl = self.handle.rcl();
        let mut misses = 0;
        for _ in 0..TURN {
            let Some(response) = self.support.response.create() else { return };
            // SAFETY: a structure of numbers.
            let mut header: ffi::rmw_request_id_t = unsafe { std::mem::zeroed() };
            // SAFETY: the client is made and nobody else takes from it; the structure is that of its type.
            let ret =
                unsafe { rcl.rcl_take_response(self.handle.as_ptr(), &raw mut header, response.as_ptr()) };
            if taken(rcl, ret, NOTHING, &self.service, &self.trouble).is_none() {
                // Fast DDS brings the responses to all clients of the service, and says the same of those of others.
                misses += 1;
                if misses == MISSES {
                    return;
                }
                continue;
            }
            let waiting = self.open().remove(&header.sequence_number);
            // Nobody waits for what came too late, and for the second answer of two servers.
            let Some(waiting) = waiting else { continue };
            match response.encode(buffer, rcl) {
                // The caller may have given up at this moment.
                Ok(response) => waiting.send(response).unwrap_or_default(),
                Err(reason) => debug!(service = %self.service, reason, "malformed response ignored"),
            }
        }
    }

    fn close(&self) {
        self.open().clear();
    }
}

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const NOTHING: ffi::rcl_ret_t = ffi::RCL_RET_CLIENT_TAKE_FAILED as ffi::rcl_ret_t;

/// Drops the claim on a response when the call ends, however it ends.
struct Forget<'a> {
    calls: &'a Calls,
    number: i64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.open().remove(&self.number);
    }
}
