//! Answering requests.

use std::{sync::Arc, time::Instant};

use bytes::BytesMut;
use rostrans_core::{
    adapter::{AdapterError, CallError, Guard, ServiceHandler},
    text::chain,
    throttle::LogThrottle,
    topic::ServiceSpec,
};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{
    node::Node,
    server::{HANDSHAKE, refuse},
    stats::count,
    types::ServiceType,
    wire::{FrameError, Frames, Header},
};

/// One offered service.
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) kind: ServiceType,
    pub(crate) handler: Arc<dyn ServiceHandler>,
    /// It is not offered any more.
    pub(crate) closed: CancellationToken,
}

impl Service {
    /// Offers a service until the guard is dropped; a later offer of the same name takes over, as at the master.
    ///
    /// **Errors**: the type cannot be used, or the adapter is closed.
    pub(crate) fn offer(
        node: &Arc<Node>,
        spec: &ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> Result<Guard, AdapterError> {
        let kind = ServiceType::load(&node.registry, &spec.srv_type)?;
        let name = spec.name.as_str().to_owned();
        let service = Arc::new(Self { name: name.clone(), kind, handler, closed: CancellationToken::new() });
        let before = node.change(|graph| Ok(graph.services.insert(name, Arc::clone(&service))))?;
        if let Some(before) = before {
            before.closed.cancel();
        }
        Ok(Guard::new(Offer { node: Arc::clone(node), service }))
    }

    /// The answer as it goes over the wire: 1 and the response, or 0 and a text.
    async fn answer(&self, request: &[u8], pool: &mut BytesMut) -> Result<BytesMut, String> {
        let request = self.kind.request.to_ros2(request, pool);
        let request = request.map_err(|error| format!("malformed request: {}", chain(&error)))?;
        let response = self.handler.handle(request).await.map_err(|error| reason(&error))?;
        let body = self.kind.response.to_ros1(&response, 0, pool);
        let body = body.map_err(|error| format!("malformed response: {}", chain(&error)))?;
        Ok(frame(1, &body))
    }
}

/// What a client is told when there is no response.
fn reason(error: &CallError) -> String {
    format!("the request could not be carried out: {error}")
}

fn frame(ok: u8, body: &[u8]) -> BytesMut {
    let mut bytes = BytesMut::with_capacity(5 + body.len());
    bytes.extend_from_slice(&[ok]);
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Keeps a service on offer.
struct Offer {
    node: Arc<Node>,
    service: Arc<Service>,
}

impl Drop for Offer {
    fn drop(&mut self) {
        self.service.closed.cancel();
        self.node.withdraw(|graph| {
            if graph.services.get(&self.service.name).is_some_and(|s| Arc::ptr_eq(s, &self.service)) {
                graph.services.remove(&self.service.name);
            }
        });
    }
}

/// Serves a client that has sent its header, until one of both ends.
pub(crate) async fn serve(node: &Node, mut stream: TcpStream, mut frames: Frames, header: &Header) {
    let name = header.get("service").unwrap_or_default();
    let Some(service) = node.with_graph(|graph| graph.services.get(name).cloned()) else {
        let reason = format!("[{}] is not a provider of [{}]", node.name, header.shown("service"));
        return refuse(node, stream, header, &reason).await;
    };
    let kind = &service.kind;
    let probe = header.flag("probe");
    if !probe && header.get("md5sum").is_none_or(|theirs| theirs != "*" && theirs != kind.md5) {
        let reason = format!(
            "{} is {} with md5sum {} here, and {} with md5sum {} for the client; have both use the same definition",
            service.name,
            kind.ros1,
            kind.md5,
            header.shown("type"),
            header.shown("md5sum")
        );
        return refuse(node, stream, header, &reason).await;
    }
    let answer = Header::default()
        .with("callerid", &node.name)
        .with("md5sum", &kind.md5)
        .with("request_type", &format!("{}Request", kind.ros1))
        .with("response_type", &format!("{}Response", kind.ros1))
        .with("type", &kind.ros1);
    if !matches!(timeout(HANDSHAKE, stream.write_all(&answer.to_bytes())).await, Ok(Ok(()))) || probe {
        return;
    }
    let mut pool = BytesMut::new();
    let mut failures = LogThrottle::new();
    loop {
        let request = tokio::select! {
            request = frames.next(&mut stream, Frames::MAX_MESSAGE) => request,
            () = service.closed.cancelled() => return,
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => {
                if matches!(error, FrameError::TooLong { .. }) {
                    count(&node.counters.bad_requests);
                }
                debug!(service = service.name, client = header.shown("callerid"), %error, "client gone");
                return;
            }
        };
        let outcome = tokio::select! {
            outcome = service.answer(&request, &mut pool) => outcome,
            () = service.closed.cancelled() => Err("the service was withdrawn".to_owned()),
            // Nobody waits for the answer any more.
            () = gone(&stream) => return,
        };
        let reply = outcome.unwrap_or_else(|reason| {
            count(&node.counters.malformed);
            if let Some(count) = failures.event(Instant::now()) {
                warn!(service = service.name, count, reason, "request answered with a failure");
            }
            frame(0, reason.as_bytes())
        });
        // A client that does not read its answer would hold the connection for ever.
        let sent = timeout(ANSWER, stream.write_all(&reply)).await;
        if !matches!(sent, Ok(Ok(()))) || !header.flag("persistent") {
            return;
        }
    }
}

/// How long a client may take to read its answer.
const ANSWER: std::time::Duration = std::time::Duration::from_secs(30);

/// Resolves when the other side has closed the connection. A client has nothing to say while it waits; one that does
/// is not listened to.
async fn gone(stream: &TcpStream) {
    let mut byte = [0];
    if let Ok(1..) = stream.peek(&mut byte).await {
        std::future::pending().await
    }
}
