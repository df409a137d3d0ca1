//! TCP: one connection that is made again and again, or a server for several clients.

use std::{fmt, future::Future, io, sync::Arc, time::Duration};

use rostrans_core::{
    rule::Host,
    transport::{Framing, Peer},
};
use socket2::{SockRef, TcpKeepalive};
use tokio::{net::TcpStream, time::timeout};

use crate::{
    Opened,
    stream::{Line, Open, StreamTransport, WriteQueue},
};

mod client;
mod server;

pub(crate) use self::server::listen;

/// A connection to a server.
pub(crate) fn connect(to: Host, framing: Framing) -> Opened {
    let queue = Arc::new(WriteQueue::of_connection());
    let sink = Arc::clone(&queue);
    let transport = Box::new(StreamTransport::new(TcpLine(to), framing, queue, None));
    Opened { transport, sink, route: None, local_addr: None }
}

struct TcpLine(Host);

impl fmt::Display for TcpLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp {}", self.0)
    }
}

impl Line for TcpLine {
    type Stream = TcpStream;

    fn open(&self) -> impl Future<Output = Result<Open<TcpStream>, String>> + Send {
        let to = self.0.clone();
        async move {
            match timeout(PATIENCE, TcpStream::connect((&*to.name, to.port))).await {
                Ok(Ok(stream)) => {
                    let opened = prepare(&stream).and_then(|()| stream.peer_addr());
                    let peer = Peer::Tcp(opened.map_err(|error| error.to_string())?);
                    Ok(Open { stream, peer, claim: None })
                }
                Ok(Err(error)) => Err(explain(&error)),
                Err(_) => Err(format!("no answer within {} s; is the address right?", PATIENCE.as_secs())),
            }
        }
    }
}

/// Frames leave at once, and a peer that was switched off is noticed.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(
        &TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE).with_retries(2),
    )?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(3 * KEEPALIVE))?;
    Ok(())
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "connection refused; start the server, or see its port".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Longest wait for a server that does not answer at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// Silence after which the other end is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(5);
