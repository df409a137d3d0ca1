//! Opening transports, and write halves that outlive them.

use std::{
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

pub use rostrans_transport::Opened;
use rostrans_transport::{Config, RouteConfig};

use rostrans_core::{
    text::file_limit_remedy,
    transport::{ByteSink, SendError, TransportError},
};

use crate::{
    supervisor::Failure,
    topology::{RouteSpec, TransportSpec},
};

/// Opens what the topology names: [`SystemTransports`], or fakes in tests.
pub trait TransportFactory: Send + Sync {
    /// Opens one transport.
    ///
    /// A UDP socket is bound when this returns; a serial port is opened, and opened again, by its `run`. The
    /// transport says through [`rostrans_core::transport::Ingress::device`] when frames can arrive.
    ///
    /// **Errors**: the socket cannot be bound; it is tried again later.
    fn open(&self, spec: &TransportSpec) -> Result<Opened, TransportError>;

    /// A socket that only sends to addresses of `to`'s family, broadcast and multicast included, from a port of
    /// the system's choice.
    ///
    /// **Errors**: the system refused a socket.
    fn sender(&self, to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError>;
}

/// Sockets and serial ports of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemTransports;

impl TransportFactory for SystemTransports {
    fn open(&self, spec: &TransportSpec) -> Result<Opened, TransportError> {
        let route = |route: &RouteSpec| RouteConfig {
            name: Arc::clone(&route.rule_id.0),
            endpoints: route.endpoints.clone(),
            upstream: route.upstream,
        };
        rostrans_transport::open(Config {
            device: spec.device.clone(),
            framing: spec.framing,
            route: spec.route.as_ref().map(route),
            everyone: spec.everyone,
        })
    }

    fn sender(&self, to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
        rostrans_transport::sender(to)
    }
}

/// Adds to a transport's error what to do about it.
pub(crate) fn explain(error: TransportError) -> Failure {
    let remedy = match &error {
        TransportError::Bind { addr, source } | TransportError::Listen { addr, source } => {
            match source.kind() {
                std::io::ErrorKind::AddrInUse => {
                    let kind = if matches!(error, TransportError::Bind { .. }) { 'u' } else { 't' };
                    format!(
                        "another program has that port; 'ss -{kind}lpn sport = :{}' shows which",
                        addr.port()
                    )
                }
                std::io::ErrorKind::AddrNotAvailable => {
                    "no interface has that address; use 0.0.0.0 or an address of this machine".to_owned()
                }
                std::io::ErrorKind::PermissionDenied => "use a port of 1024 or above".to_owned(),
                _ => file_limit_remedy(source).unwrap_or_default().to_owned(),
            }
        }
        TransportError::Io { source, .. } => file_limit_remedy(source).unwrap_or_default().to_owned(),
    };
    Failure::retry(error).with_remedy(remedy)
}

/// The write half of a transport that may not be open yet or may be opened again.
#[derive(Default)]
pub(crate) struct SinkSlot {
    current: RwLock<Option<Arc<dyn ByteSink>>>,
}

impl SinkSlot {
    pub(crate) fn set(&self, sink: Option<Arc<dyn ByteSink>>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = sink;
    }
}

impl ByteSink for SinkSlot {
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        // The lock is only ever taken for writing when the device opens or closes, and a send is a system call.
        match &*self.current.read().unwrap_or_else(PoisonError::into_inner) {
            Some(sink) => sink.try_send(frame, to),
            None => Err(SendError::Down),
        }
    }
}
