//! A route whose vehicles are on a UDP socket.

use std::{
    net::UdpSocket,
    sync::{Arc, PoisonError},
    time::Instant,
};

use rostrans_core::throttle::LogThrottle;
use rostrans_net::RecvBatch;

use super::{
    RouteConfig, RouteStats,
    fanout::{Outbox, Spare},
    learn::{Learner, Origin},
};
use crate::udp::{BATCH, Target};

/// Forwards batches of datagrams of one socket.
pub(crate) struct UdpRoute {
    config: RouteConfig,
    learner: Learner,
    stats: Arc<RouteStats>,
    /// Where the sink sends to: the flight controller.
    target: Arc<Target>,
    /// Which datagrams of the last batch came from vehicles, a bit each.
    from_vehicles: u64,
    spare: Spare,
    refused: LogThrottle,
    foreign: LogThrottle,
}

const _: () = assert!(BATCH <= u64::BITS as usize);

/// Receiver number of vehicles, behind those of endpoints.
const VEHICLE: u32 = u32::MAX;

impl UdpRoute {
    pub(crate) fn new(config: RouteConfig, target: Arc<Target>) -> Self {
        Self {
            learner: Learner::new(Arc::clone(&config.name), &config.endpoints),
            stats: Arc::new(RouteStats::new(&config.endpoints)),
            config,
            target,
            from_vehicles: 0,
            spare: Spare::default(),
            refused: LogThrottle::new(),
            foreign: LogThrottle::new(),
        }
    }

    pub(crate) fn stats(&self) -> Arc<RouteStats> {
        Arc::clone(&self.stats)
    }

    /// True when datagram `index` of the last batch came from a vehicle.
    pub(crate) fn is_from_vehicle(&self, index: usize) -> bool {
        self.from_vehicles >> index & 1 == 1
    }

    /// Sends on what was received.
    pub(crate) fn forward(&mut self, socket: &UdpSocket, batch: &RecvBatch, now: Instant) {
        let fcu_before = self.learner.fcu();
        self.from_vehicles = 0;
        let mut down = Tally::default();
        let mut outbox = Outbox::new(&mut self.spare);
        for (index, datagram) in batch.iter().enumerate() {
            let bytes = datagram.bytes;
            let len = bytes.len() as u64;
            match self.learner.classify(datagram.from, bytes, now) {
                Origin::Vehicle => {
                    self.from_vehicles |= 1 << index;
                    down.add(len);
                    continue;
                }
                Origin::Endpoint(number) => {
                    if let Some(endpoint) = self.stats.endpoints.get(number) {
                        endpoint.received.add(1, len);
                    }
                }
                Origin::Station => self.stats.from_stations.add(1, len),
                Origin::Foreign => {
                    self.stats.foreign.add(1, len);
                    if let Some(count) = self.foreign.event(now) {
                        super::log_foreign(&self.config.name, datagram.from, count);
                    }
                    continue;
                }
            }
            let mut sent = 0;
            self.learner.upstream(bytes, now, |vehicle| {
                outbox.push(bytes, vehicle, VEHICLE);
                sent += 1;
            });
            self.stats.to_vehicles.add(sent, sent * len);
            if sent == 0 {
                self.stats.unroutable.inc();
            }
        }
        // Endpoint by endpoint, not datagram by datagram: the kernel then finds the same route and receiver again and
        // again.
        for (number, endpoint) in (0..).zip(&self.config.endpoints) {
            for (index, datagram) in batch.iter().enumerate() {
                if self.from_vehicles >> index & 1 == 1 {
                    outbox.push(datagram.bytes, *endpoint, number);
                }
            }
        }
        self.stats.from_vehicles.add(down.frames, down.bytes);
        self.stats.endpoints.iter().for_each(|endpoint| endpoint.sent.add(down.frames, down.bytes));
        let (stats, throttle, rule) = (&self.stats, &mut self.refused, &self.config.name);
        outbox.send(socket, &mut self.spare, |receiver, error| {
            let endpoint = usize::try_from(receiver).ok().and_then(|number| stats.endpoints.get(number));
            match endpoint {
                Some(endpoint) => endpoint.send_errors.inc(),
                None => stats.vehicle_send_errors.inc(),
            }
            if let Some(count) = throttle.event(now) {
                super::log_refusal(rule, endpoint.map(|e| e.addr), error, count);
            }
        });
        if self.learner.fcu() != fcu_before {
            self.publish_fcu();
        }
    }

    #[cold]
    fn publish_fcu(&self) {
        let fcu = self.learner.fcu();
        *self.stats.fcu.lock().unwrap_or_else(PoisonError::into_inner) = fcu;
        fcu.into_iter().for_each(|addr| self.target.set(addr));
    }
}

#[derive(Default)]
struct Tally {
    frames: u64,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, bytes: u64) {
        self.frames += 1;
        self.bytes += bytes;
    }
}
