//! Counters of a route.

use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use rostrans_core::stats::Counter;

/// Frames and bytes one way; relaxed atomics with one writer.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    frames: Counter,
    bytes: Counter,
}

impl Flow {
    pub(crate) fn add(&self, frames: u64, bytes: u64) {
        if frames > 0 {
            self.frames.add(frames);
            self.bytes.add(bytes);
        }
    }

    pub(crate) fn snapshot(&self) -> FlowSnapshot {
        FlowSnapshot { frames: self.frames.load(), bytes: self.bytes.load() }
    }
}

/// Counters of one endpoint.
#[derive(Debug)]
pub(crate) struct EndpointStats {
    pub(crate) addr: SocketAddr,
    pub(crate) sent: Flow,
    pub(crate) received: Flow,
    pub(crate) send_errors: Counter,
}

/// Counters of a running route.
#[derive(Debug)]
pub struct RouteStats {
    pub(crate) endpoints: Vec<EndpointStats>,
    pub(crate) from_vehicles: Flow,
    pub(crate) to_vehicles: Flow,
    pub(crate) from_stations: Flow,
    pub(crate) foreign: Flow,
    pub(crate) vehicle_send_errors: Counter,
    pub(crate) unroutable: Counter,
    /// Written when the flight controller changes, read by snapshots: not on the packet path.
    pub(crate) fcu: Mutex<Option<SocketAddr>>,
}

impl RouteStats {
    pub(crate) fn new(endpoints: &[SocketAddr]) -> Self {
        let endpoint = |addr: &SocketAddr| EndpointStats {
            addr: *addr,
            sent: Flow::default(),
            received: Flow::default(),
            send_errors: Counter::default(),
        };
        Self {
            endpoints: endpoints.iter().map(endpoint).collect(),
            from_vehicles: Flow::default(),
            to_vehicles: Flow::default(),
            from_stations: Flow::default(),
            foreign: Flow::default(),
            vehicle_send_errors: Counter::default(),
            unroutable: Counter::default(),
            fcu: Mutex::new(None),
        }
    }

    /// Reads all counters.
    pub fn snapshot(&self) -> RouteSnapshot {
        let endpoint = |e: &EndpointStats| EndpointSnapshot {
            addr: e.addr,
            sent: e.sent.snapshot(),
            received: e.received.snapshot(),
            send_errors: e.send_errors.load(),
        };
        RouteSnapshot {
            fcu: *self.fcu.lock().unwrap_or_else(PoisonError::into_inner),
            endpoints: self.endpoints.iter().map(endpoint).collect(),
            from_vehicles: self.from_vehicles.snapshot(),
            to_vehicles: self.to_vehicles.snapshot(),
            from_stations: self.from_stations.snapshot(),
            to_stations: FlowSnapshot::default(),
            foreign: self.foreign.snapshot(),
            vehicle_send_errors: self.vehicle_send_errors.load(),
            station_send_errors: 0,
            unroutable: self.unroutable.load(),
        }
    }
}

/// Frames and bytes one way. A frame is a datagram; on a serial port, a MAVLink frame or a run of other bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSnapshot {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// One endpoint's counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointSnapshot {
    /// The configured address.
    pub addr: SocketAddr,
    /// Frames for it, those of `send_errors` included.
    pub sent: FlowSnapshot,
    /// Received from it.
    pub received: FlowSnapshot,
    /// Frames for it that the kernel did not take.
    pub send_errors: u64,
}

/// A route's counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteSnapshot {
    /// The flight controller that endpoints' bytes go to; `None` before it was heard, and for a serial source.
    pub fcu: Option<SocketAddr>,
    /// The endpoints, in configured order.
    pub endpoints: Vec<EndpointSnapshot>,
    /// Received from vehicles.
    pub from_vehicles: FlowSnapshot,
    /// Frames for vehicles; of a UDP source, those of `vehicle_send_errors` included.
    pub to_vehicles: FlowSnapshot,
    /// Received from ground stations that are no configured endpoint.
    pub from_stations: FlowSnapshot,
    /// Sent to ground stations that are no configured endpoint.
    pub to_stations: FlowSnapshot,
    /// Received from unknown senders without valid MAVLink, on a route whose flight controller speaks it; not sent on.
    pub foreign: FlowSnapshot,
    /// Frames for vehicles that the kernel or the port did not take.
    pub vehicle_send_errors: u64,
    /// Frames for `to_stations` that the kernel or the port did not take.
    pub station_send_errors: u64,
    /// Frames of endpoints that came before any vehicle was known.
    pub unroutable: u64,
}
