//! MAVLink between vehicles on any devices and ground stations on another one.
//!
//! ```text
//! UDP socket, serial port, TCP --frame--> VehicleSide --> stations' sink
//! vehicles' sinks <-- by system id <-- StationSide <--frame-- UDP socket, TCP server, ...
//! ```
//!
//! Where a [`UdpRoute`](super::UdpRoute) moves datagrams between addresses of one socket, a hub moves single MAVLink
//! frames between write halves, so that each side can be anything. The tasks of the devices call it; frames pass
//! unchanged, and nothing waits.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rostrans_core::{
    stats::Counter,
    throttle::LogThrottle,
    transport::{ByteSink, Frame, SendError},
};
use rostrans_mavlink::Packet;
use tracing::warn;

use super::{
    evidence::sysid,
    stats::{Flow, RouteSnapshot},
};

/// Vehicles on one side, ground stations on the other.
pub struct Hub {
    name: Arc<str>,
    vehicles: Vec<Arc<dyn ByteSink>>,
    stations: Arc<dyn ByteSink>,
    /// By system id; written when a vehicle is met or moves, read for frames of stations.
    owners: Mutex<[Option<Owner>; 256]>,
    stats: HubStats,
}

/// Where a vehicle is: the number of its device, and its address there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    device: usize,
    addr: Option<SocketAddr>,
}

#[derive(Default)]
struct HubStats {
    from_vehicles: Flow,
    to_vehicles: Flow,
    from_stations: Flow,
    to_stations: Flow,
    vehicle_send_errors: Counter,
    station_send_errors: Counter,
}

impl Hub {
    /// Joins `vehicles`' devices with the stations' one. `name` is the rule's, for log lines.
    pub fn new(name: Arc<str>, vehicles: Vec<Arc<dyn ByteSink>>, stations: Arc<dyn ByteSink>) -> Arc<Self> {
        let owners = Mutex::new([None; 256]);
        Arc::new(Self { name, vehicles, stations, owners, stats: HubStats::default() })
    }

    /// The part for the task of the vehicles' device of number `device`.
    pub fn vehicle_side(self: &Arc<Self>, device: usize) -> VehicleSide {
        let hub = Arc::clone(self);
        VehicleSide { hub, device, known: Box::new([None; 256]), refused: LogThrottle::new() }
    }

    /// The part for the task of the stations' device.
    pub fn station_side(self: &Arc<Self>) -> StationSide {
        StationSide { hub: Arc::clone(self), refused: LogThrottle::new() }
    }

    /// Reads all counters.
    pub fn snapshot(&self) -> RouteSnapshot {
        RouteSnapshot {
            fcu: None,
            endpoints: Vec::new(),
            from_vehicles: self.stats.from_vehicles.snapshot(),
            to_vehicles: self.stats.to_vehicles.snapshot(),
            from_stations: self.stats.from_stations.snapshot(),
            to_stations: self.stats.to_stations.snapshot(),
            foreign: Default::default(),
            vehicle_send_errors: self.stats.vehicle_send_errors.load(),
            station_send_errors: self.stats.station_send_errors.load(),
            unroutable: 0,
        }
    }

    fn owners(&self) -> MutexGuard<'_, [Option<Owner>; 256]> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a frame for `target` goes: to that vehicle, or to all when it is for all or not known.
    fn receivers(&self, target: u8) -> Vec<Owner> {
        let owners = self.owners();
        if let Some(owner) = owners.get(usize::from(target)).copied().flatten().filter(|_| target != 0) {
            return vec![owner];
        }
        let mut all: Vec<Owner> = Vec::new();
        for owner in owners.iter().flatten() {
            if !all.contains(owner) {
                all.push(*owner);
            }
        }
        // A device where nobody was heard may still know whom to send to.
        for device in 0..self.vehicles.len() {
            if all.iter().all(|owner| owner.device != device) {
                all.push(Owner { device, addr: None });
            }
        }
        all
    }
}

/// What a vehicles' device's task calls.
pub struct VehicleSide {
    hub: Arc<Hub>,
    device: usize,
    /// What this task told the hub, so that it only locks on news.
    known: Box<[Option<Owner>; 256]>,
    refused: LogThrottle,
}

impl VehicleSide {
    /// Sends a vehicle's frame to the stations.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        if let Some(sysid) = sysid(frame.bytes) {
            let owner = Some(Owner { device: self.device, addr: frame.peer.addr() });
            if let Some(known) = self.known.get_mut(usize::from(sysid)).filter(|known| **known != owner) {
                *known = owner;
                if let Some(slot) = self.hub.owners().get_mut(usize::from(sysid)) {
                    *slot = owner;
                }
            }
        }
        let stats = &self.hub.stats;
        let len = frame.bytes.len() as u64;
        stats.from_vehicles.add(1, len);
        match self.hub.stations.try_send(frame.bytes, None) {
            Ok(()) => stats.to_stations.add(1, len),
            // No station is there yet, or none any more: not worth a word.
            Err(SendError::NoTarget | SendError::Down) => {}
            Err(error) => {
                stats.station_send_errors.inc();
                if let Some(count) = self.refused.event(frame.received) {
                    warn!(rule = %self.hub.name, %error, count, "frames for ground stations lost");
                }
            }
        }
    }
}

/// What the stations' device's task calls.
pub struct StationSide {
    hub: Arc<Hub>,
    refused: LogThrottle,
}

impl StationSide {
    /// Sends a station's frame to the vehicle it is for, or to all.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        let len = frame.bytes.len() as u64;
        self.hub.stats.from_stations.add(1, len);
        let target = Packet::parse(frame.bytes).and_then(|packet| packet.target_system()).unwrap_or(0);
        for Owner { device, addr } in self.hub.receivers(target) {
            let Some(vehicle) = self.hub.vehicles.get(device) else { continue };
            match vehicle.try_send(frame.bytes, addr) {
                Ok(()) => self.hub.stats.to_vehicles.add(1, len),
                Err(SendError::NoTarget | SendError::Down) => {}
                Err(error) => {
                    self.hub.stats.vehicle_send_errors.inc();
                    if let Some(count) = self.refused.event(frame.received) {
                        warn!(rule = %self.hub.name, %error, count, "frames for vehicles lost");
                    }
                }
            }
        }
    }
}
