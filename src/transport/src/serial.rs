//! Serial ports: see [`stream`](crate::stream) for how they are opened, lost and opened again.

use std::{fmt, future::Future, sync::Arc};

use rostrans_core::{
    rule::SerialSpec,
    transport::{Framing, TransportError},
};
use serial2_tokio::SerialPort;

use crate::{
    Opened, RouteConfig,
    router::SerialRoute,
    stream::{Line, Open, StreamTransport, WriteQueue},
};

mod port;

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
    let transport = Box::new(StreamTransport::new(SerialLine(port), framing, queue, route));
    Ok(Opened { transport, sink, route: stats, local_addr })
}

struct SerialLine(SerialSpec);

impl fmt::Display for SerialLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "serial {}", self.0)
    }
}

impl Line for SerialLine {
    type Stream = SerialPort;

    fn open(&self) -> impl Future<Output = Result<Open<SerialPort>, String>> + Send {
        let spec = self.0.clone();
        async move { port::open(&spec) }
    }
}
