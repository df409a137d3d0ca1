//! UDP sockets: one task drains each in batches.

use std::{io, net::SocketAddr, sync::Arc};

use rostrans_core::{
    rule::UdpBind,
    transport::{ByteSink, Framing, TransportError},
};

use crate::{Opened, RouteConfig, router::UdpRoute};

mod sink;
mod socket;
mod transport;

pub(crate) use self::{
    sink::{Target, UdpSink},
    socket::{any_port, bind},
    transport::{BATCH, SLOT, is_icmp},
};

pub(crate) fn open(
    bind_to: &UdpBind,
    framing: Framing,
    route: Option<RouteConfig>,
    everyone: bool,
) -> Result<Opened, TransportError> {
    let (socket, leave_by) = bind(bind_to)?;
    let socket = Arc::new(socket);
    let local_addr = socket.local_addr().map_err(|source| io_error(bind_to.addr, source))?;
    let target = Arc::new(if everyone { Target::everyone() } else { Target::default() });
    let sink = Arc::new(UdpSink::new(Arc::clone(&socket), Arc::clone(&target), leave_by));
    let route = route.map(|config| UdpRoute::new(config, Arc::clone(&target)));
    let stats = route.as_ref().map(UdpRoute::stats);
    let transport =
        Box::new(transport::UdpTransport::new(socket, framing, target, route, bind_to.peer.clone()));
    Ok(Opened { transport, sink, route: stats, local_addr: Some(local_addr) })
}

pub(crate) fn sender(to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
    let any = any_port(to);
    let (socket, leave_by) = bind(&UdpBind::new(any))?;
    let target = Arc::new(Target::default());
    target.set(to);
    Ok(Arc::new(UdpSink::new(Arc::new(socket), target, leave_by)))
}

/// An error of a socket that was open.
pub(crate) fn io_error(addr: SocketAddr, source: io::Error) -> TransportError {
    TransportError::Io { device: format!("udp {addr}"), source }
}
