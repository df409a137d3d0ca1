//! What listens: the node API and TCPROS.

use std::{io, net, sync::Arc, time::Duration};

use rostrans_core::text::{file_limit_remedy, printable};
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::warn;

use crate::{
    node::Node,
    service,
    stats::count,
    topic::Publication,
    wire::{FrameError, Frames, Header, MAX_HEADER},
    xmlrpc,
};

/// How long the two headers of a connection may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(5);

/// Connections to the node API at a time; tools and masters hold one each for moments.
const MAX_API: usize = 128;

/// TCPROS connections from others at a time.
const MAX_DATA: usize = 2048;

/// Answers calls of the node API. Resolves only when the listener cannot be used.
pub(crate) async fn serve_api(listener: &net::TcpListener, node: &Arc<Node>) -> io::Result<()> {
    accept(listener, node, MAX_API, |stream, node| async move { xmlrpc::serve(stream, &*node).await }).await
}

/// Serves subscribers and service clients. Resolves only when the listener cannot be used.
pub(crate) async fn serve_data(listener: &net::TcpListener, node: &Arc<Node>) -> io::Result<()> {
    accept(listener, node, MAX_DATA, |stream, node| async move { greet(stream, &node).await }).await
}

async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: &net::TcpListener,
    node: &Arc<Node>,
    max: usize,
    serve: impl Fn(TcpStream, Arc<Node>) -> F,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener.try_clone()?)?;
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < max => {
                    // Small messages are written whole: waiting to fill a packet would only delay them.
                    drop(stream.set_nodelay(true));
                    keep_alive(&stream);
                    connections.spawn(serve(stream, Arc::clone(node)));
                }
                Ok(_) => {
                    count(&node.counters.refused);
                    if let Some(count) = node.counters.may_tell() {
                        warn!(count, max, "connection refused: too many at a time");
                    }
                }
                Err(error) => {
                    if let Some(count) = node.counters.may_tell() {
                        warn!(count, %error, remedy = file_limit_remedy(&error), "cannot accept a connection");
                    }
                    sleep(ACCEPT_AGAIN).await;
                }
            },
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended && error.is_panic() {
                    warn!(%error, "a ROS 1 connection failed");
                }
            }
        }
    }
}

/// After a failure such as too many open files, which passes.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Reads the header of a connection and hands it to who it asks for.
async fn greet(mut stream: TcpStream, node: &Node) {
    let mut frames = Frames::default();
    let header = match timeout(HANDSHAKE, frames.next(&mut stream, MAX_HEADER)).await {
        Ok(Ok(bytes)) => Header::parse(&bytes).map_err(|error| error.to_string()),
        Ok(Err(error @ FrameError::TooLong { .. })) => Err(error.to_string()),
        // Nobody is there any more, or never was.
        Ok(Err(FrameError::Io(_) | FrameError::Closed)) | Err(_) => return,
    };
    match header {
        Ok(header) if header.get("service").is_some() => service::serve(node, stream, frames, &header).await,
        Ok(header) if header.get("topic").is_some() => Publication::serve(node, stream, &header).await,
        Ok(header) => refuse(node, stream, &header, "a connection header without topic and service").await,
        Err(reason) => {
            count(&node.counters.bad_requests);
            let reason = format!("malformed connection header: {reason}");
            refuse(node, stream, &Header::default(), &reason).await;
        }
    }
}

/// Tells the other side, and the log, why a connection is not made.
pub(crate) async fn refuse(node: &Node, mut stream: TcpStream, header: &Header, reason: &str) {
    count(&node.counters.refused);
    if let Some(count) = node.counters.may_tell() {
        warn!(count, from = header.shown("callerid"), "connection refused: {}", printable(reason));
    }
    let answer = Header::default().with("callerid", &node.name).with("error", reason).to_bytes();
    // Whether it arrives is up to the other side.
    drop(timeout(HANDSHAKE, stream.write_all(&answer)).await);
}

/// Has the system find out that the other machine has gone; ROS does the same.
pub(crate) fn keep_alive(stream: &TcpStream) {
    let probes = TcpKeepalive::new()
        .with_time(Duration::from_secs(30))
        .with_interval(Duration::from_secs(10))
        .with_retries(3);
    // Only a convenience.
    drop(SockRef::from(stream).set_tcp_keepalive(&probes));
}
