//! Opens the sockets and serial ports a topology names.

use std::{
    fmt::Write as _,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rostrans_core::{
    rule::RuleId,
    transport::{ByteSink, TransportError},
};
use rostrans_engine::{
    topology::{Device, TransportSpec},
    transports::{Opened, TransportFactory},
};
use rostrans_transport::{Config, RouteConfig, RouteStats};

use crate::table::Table;

/// Real sockets and ports; remembers the counters of byte routes for the monitor.
#[derive(Default)]
pub(crate) struct Ports {
    routes: Mutex<Vec<(RuleId, Arc<RouteStats>)>>,
}

impl Ports {
    /// Totals of every byte route since it was opened, as a table; empty without routes.
    pub(crate) fn routes(&self) -> String {
        let mut table = Table::new([
            "ROUTE",
            "FCU",
            "FROM FCU",
            "TO FCU",
            "ENDPOINTS (SENT/RECEIVED/LOST)",
            "UNROUTABLE",
        ]);
        for (rule, stats) in self.lock().iter() {
            let route = stats.snapshot();
            let mut ends = String::new();
            for end in &route.endpoints {
                let (sent, received, lost) = (end.sent.frames, end.received.frames, end.send_errors);
                let _infallible = write!(ends, "{} {sent}/{received}/{lost}  ", end.addr);
            }
            table.row([
                rule.to_string(),
                route.fcu.map_or_else(|| "-".to_owned(), |addr| addr.to_string()),
                route.from_vehicles.frames.to_string(),
                route.to_vehicles.frames.to_string(),
                ends.trim_end().to_owned(),
                route.unroutable.to_string(),
            ]);
        }
        if table.is_empty() { String::new() } else { table.to_string() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(RuleId, Arc<RouteStats>)>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TransportFactory for Ports {
    fn open(&self, spec: &TransportSpec) -> Result<Opened, TransportError> {
        let device = match &spec.device {
            Device::Udp(bind) => rostrans_transport::Device::Udp(bind.clone()),
            Device::Serial(port) => rostrans_transport::Device::Serial(port.clone()),
        };
        let route = spec.route.as_ref().map(|route| RouteConfig {
            name: Arc::clone(&route.rule_id.0),
            endpoints: route.endpoints.clone(),
            upstream: route.upstream,
        });
        let opened = rostrans_transport::open(Config { device, framing: spec.framing, route })?;
        if let (Some(stats), Some(route)) = (&opened.route, &spec.route) {
            let mut routes = self.lock();
            // Opened again after a failure: the new counters replace the old.
            routes.retain(|(rule, _)| *rule != route.rule_id);
            routes.push((route.rule_id.clone(), Arc::clone(stats)));
        }
        Ok(opened)
    }

    fn sender(&self, to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
        rostrans_transport::sender(to)
    }
}
