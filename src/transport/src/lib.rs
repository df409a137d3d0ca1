//! Byte transports: UDP sockets, TCP connections, serial ports, and the router between them.
//!
//! ```text
//!              +-- framing --> Ingress (links)          ByteSink --+
//! socket/port -+                                                   +-> socket/port
//!              +-- router  --> endpoints   endpoints --> router ---+
//! ```
//!
//! [`open`] turns a [`Config`] into a running half ([`Transport`]) and a write half ([`ByteSink`]). A transport runs
//! until it is cancelled: a lost port is opened again, an ICMP error is counted and forgotten. One task owns each
//! socket or port; nothing is allocated, locked or handed to another task for a packet.
//!
//! The crate decodes no message. The router looks at MAVLink headers only where an address does not say enough; see
//! [`router`].

use std::{net::SocketAddr, sync::Arc};

pub use rostrans_core::rule::Device;
use rostrans_core::{
    rule::TcpSpec,
    transport::{ByteSink, Framing, Transport, TransportError},
};

pub mod bench;
mod framing;
pub mod router;
mod serial;
mod stream;
mod tcp;
mod timer;
mod udp;

pub use self::router::{RouteConfig, RouteSnapshot, RouteStats};

/// One transport.
#[derive(Clone, Debug)]
pub struct Config {
    /// Socket or port.
    pub device: Device,
    /// How its bytes become frames for the links.
    pub framing: Framing,
    /// Routes its bytes to endpoints as well.
    pub route: Option<RouteConfig>,
    /// A UDP socket's frames without a receiver go to everybody heard of late, not only to the last one: what ground
    /// stations that share a port expect.
    pub everyone: bool,
}

/// An opened transport.
pub struct Opened {
    /// The running half.
    pub transport: Box<dyn Transport>,
    /// The write half; of a routed device, it sends to the flight controller.
    pub sink: Arc<dyn ByteSink>,
    /// Counters of the route, if there is one.
    pub route: Option<Arc<RouteStats>>,
    /// The address the UDP socket or TCP server got, also that of a serial route's upstream socket.
    pub local_addr: Option<SocketAddr>,
}

/// Opens a transport.
///
/// A UDP socket or TCP server is bound here. A serial port is opened, and a TCP server connected to, by
/// [`Transport::run`], which waits for it if it is missing. A TCP device routes nothing ([`Config::route`]).
///
/// **Errors**: [`TransportError::Bind`], [`TransportError::Listen`]: the address is in use or not local, or the multicast interface is unknown.
/// Worth another try later.
pub fn open(config: Config) -> Result<Opened, TransportError> {
    match config.device {
        Device::Udp(bind) => udp::open(&bind, config.framing, config.route, config.everyone),
        Device::Tcp(TcpSpec::Connect(to)) => Ok(tcp::connect(to, config.framing)),
        Device::Tcp(TcpSpec::Listen(at)) => tcp::listen(at, config.framing),
        Device::Serial(port) => serial::open(port, config.framing, config.route),
    }
}

/// A socket of its own for sending to addresses of `to`'s family; unicast, broadcast and multicast alike.
///
/// Without a receiver named in [`ByteSink::try_send`], frames go to `to`.
///
/// **Errors**: the system refused a socket.
pub fn sender(to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
    udp::sender(to)
}
