//! Calling services.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, CallError, ServiceClient},
    text::{chain, printable},
    throttle::LogThrottle,
    topic::ServiceSpec,
    transport::BoxFuture,
};
use thiserror::Error;
use tokio::{
    io::AsyncWriteExt,
    sync::Semaphore,
    time::{sleep, timeout_at},
};
use tracing::{debug, warn};

use super::pool::{Connected, Pool};
use crate::{
    lock,
    node::Node,
    server::keep_alive,
    stats::count,
    types::ServiceType,
    wire::{FrameError, Frames, Header, HeaderError, MAX_HEADER},
    xmlrpc::{Address, ApiError},
};

/// Calls of one client at a time.
const MAX_OPEN: usize = 64;

/// Calls one service.
pub(crate) struct Client {
    node: Arc<Node>,
    name: String,
    kind: ServiceType,
    room: Semaphore,
    pool: Arc<Pool>,
    complaints: Mutex<LogThrottle>,
}

/// Why no server is connected to.
#[derive(Debug, Error)]
enum ConnectError {
    #[error("asking the master: {0}")]
    Master(#[from] ApiError),
    #[error("the master names no usable address")]
    Address,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("malformed connection header: {0}")]
    Header(#[from] HeaderError),
    #[error("{0}")]
    Refused(String),
}

impl Client {
    /// Prepares to call.
    ///
    /// **Errors**: the type cannot be used.
    pub(crate) fn new(node: Arc<Node>, spec: &ServiceSpec) -> Result<Self, AdapterError> {
        let kind = ServiceType::load(&node.registry, &spec.srv_type)?;
        let pool = node.pool();
        Ok(Self {
            node,
            name: spec.name.as_str().to_owned(),
            kind,
            room: Semaphore::new(MAX_OPEN),
            pool,
            complaints: Mutex::default(),
        })
    }

    async fn call_until(
        &self,
        request: CdrBytes,
        deadline: tokio::time::Instant,
    ) -> Result<CdrBytes, CallError> {
        let _permit = self.room.try_acquire().map_err(|_| CallError::Busy)?;
        let mut body = None;
        let mut wait = FIRST_WAIT;
        let connected = loop {
            if self.node.ended.is_cancelled() {
                return Err(CallError::Closed);
            }
            // As any ROS node may call itself; this way also without a master.
            if let Some(own) = self.own_service() {
                let answered = tokio::select! {
                    answered = timeout_at(deadline, own.handler.handle(request)) => answered,
                    () = own.closed.cancelled() => return Err(CallError::NoServer),
                };
                return answered.map_err(|_| CallError::Timeout)?.map_err(|error| match error {
                    CallError::Failed(_) => error,
                    error => CallError::Failed(error.to_string()),
                });
            }
            if body.is_none() {
                body = Some(self.to_ros1(&request)?);
            }
            if let Some(connected) = self.pool.take() {
                break connected;
            }
            match timeout_at(deadline, self.connect()).await {
                Ok(Ok(connected)) => break connected,
                Ok(Err(error)) => self.complain(&error),
                Err(_) => return Err(CallError::NoServer),
            }
            if timeout_at(deadline, sleep(wait)).await.is_err() {
                return Err(CallError::NoServer);
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        };
        let body = body.unwrap_or_default();
        match timeout_at(deadline, self.exchange(connected, &body)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                debug!(service = self.name, %error, "connection lost during a call");
                Err(CallError::Failed(format!("connection lost during the call: {error}")))
            }
            Err(_) => Err(CallError::Timeout),
        }
    }

    /// The same service of this node.
    fn own_service(&self) -> Option<Arc<super::Service>> {
        self.node.with_graph(|graph| {
            graph.services.get(&self.name).filter(|own| own.kind.name == self.kind.name).cloned()
        })
    }

    fn to_ros1(&self, request: &CdrBytes) -> Result<Bytes, CallError> {
        self.kind.request.to_ros1(request, 0, &mut BytesMut::new()).map_err(|error| {
            count(&self.node.counters.malformed);
            CallError::Failed(format!("malformed request: {}", chain(&error)))
        })
    }

    /// Finds the service and exchanges headers.
    async fn connect(&self) -> Result<Connected, ConnectError> {
        let uri = self.node.ask_master("lookupService", &[&self.name]).await?;
        let address = uri.as_str().and_then(|uri| Address::parse(uri, "rosrpc"));
        let mut stream = address.ok_or(ConnectError::Address)?.connect().await?;
        keep_alive(&stream);
        let header = Header::default()
            .with("callerid", &self.node.name)
            .with("service", &self.name)
            .with("md5sum", &self.kind.md5)
            .with("type", &self.kind.ros1)
            .with("persistent", "1");
        stream.write_all(&header.to_bytes()).await?;
        let mut frames = Frames::default();
        let answer = Header::parse(&frames.next(&mut stream, MAX_HEADER).await?)?;
        if let Some(reason) = answer.get("error") {
            return Err(ConnectError::Refused(crate::reason(reason)));
        }
        if answer.get("md5sum").is_some_and(|theirs| theirs != "*" && theirs != self.kind.md5) {
            return Err(ConnectError::Refused(format!(
                "the server has md5sum {}, this node {} of {}; have both use the same definition",
                answer.shown("md5sum"),
                self.kind.md5,
                self.kind.ros1
            )));
        }
        Ok(Connected { stream, frames })
    }

    /// One request and its answer.
    async fn exchange(
        &self,
        mut connected: Connected,
        body: &[u8],
    ) -> Result<Result<CdrBytes, CallError>, FrameError> {
        let Connected { stream, frames } = &mut connected;
        let mut request = BytesMut::with_capacity(4 + body.len());
        request.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        request.extend_from_slice(body);
        stream.write_all(&request).await?;
        let ok = frames.byte(stream).await?;
        let answer = frames.next(stream, Frames::MAX_MESSAGE).await?;
        self.pool.put(connected);
        if ok == 0 {
            let text = String::from_utf8_lossy(&answer);
            return Ok(Err(CallError::Failed(crate::reason(&text))));
        }
        Ok(self.kind.response.to_ros2(&answer, &mut BytesMut::new()).map_err(|error| {
            count(&self.node.counters.malformed);
            CallError::Failed(format!("malformed response: {}", chain(&error)))
        }))
    }

    /// A server that refuses is worth a line; one that is not there is not.
    fn complain(&self, error: &ConnectError) {
        debug!(service = self.name, %error, "no server");
        if let ConnectError::Refused(reason) = error
            && let Some(count) = lock(&self.complaints).event(Instant::now())
        {
            warn!(service = self.name, count, "cannot call the service: {}", printable(reason));
        }
    }
}

/// Before the master is asked again.
const FIRST_WAIT: Duration = Duration::from_millis(20);

/// Longest wait before the master is asked again.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(self.call_until(request, deadline.into()))
    }
}
