//! Serial ports: opened, lost and opened again by one task.
//!
//! ```text
//! Closed --> Opening --> Open --> Lost --+
//!               ^                        |
//!               +---- 0.2 s .. 5 s ------+
//! ```
//!
//! A missing port is waited for. Each change of state is told to the ingress once, with what to do about it.

use std::sync::Arc;

use rostrans_core::{
    rule::SerialSpec,
    transport::{Framing, TransportError},
};

use crate::{Opened, RouteConfig, router::SerialRoute};

mod port;
mod queue;
mod transport;

pub(crate) use self::queue::WriteQueue;

pub(crate) fn open(
    port: SerialSpec,
    framing: Framing,
    route: Option<RouteConfig>,
) -> Result<Opened, TransportError> {
    let queue = Arc::new(WriteQueue::new(port.baud));
    let route = route.map(|config| SerialRoute::bind(config, Arc::clone(&queue))).transpose()?;
    let stats = route.as_ref().map(SerialRoute::stats);
    let local_addr = route.as_ref().and_then(SerialRoute::local_addr);
    let sink = Arc::clone(&queue);
    let transport = Box::new(transport::SerialTransport::new(port, framing, queue, route));
    Ok(Opened { transport, sink, route: stats, local_addr })
}
