//! Services: two conventions over one pair of topics.
//!
//! Fast DDS correlates by a sample identity beside the payload, Cyclone DDS by 16 bytes in front of it. Which one a
//! peer uses shows in the vendor id of its GUID, so each request and reply is read and written as its peer does, unless
//! [`ServiceStyle`] forces one.

mod client;
mod server;
mod servers;
mod stats;
mod style;

use std::{sync::Arc, time::Duration};

use rostrans_rtps::{EndpointQos, EndpointSpec, History, Participant};
use rostrans_schema::TypeRegistry;
use tokio::sync::{Notify, mpsc};

pub(crate) use client::Client;
pub(crate) use server::Server;
pub(crate) use stats::Counters;
pub use stats::ServiceStats;
pub use style::{Header, ServiceStyle};

use rostrans_core::{adapter::AdapterError, topic::ServiceSpec, transport::BoxFuture};

use crate::{names, node::Node};

/// What service endpoints are made with.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) participant: Participant,
    pub(crate) node: Arc<Node>,
    pub(crate) style: ServiceStyle,
    pub(crate) counters: Arc<Counters>,
    /// Notified after each change of the graph.
    pub(crate) changed: Arc<Notify>,
    /// Work for the adapter's `run`.
    pub(crate) jobs: mpsc::Sender<BoxFuture<'static, ()>>,
}

impl Context {
    /// Waits for `found` to give something, looking again after each change of the graph.
    ///
    /// Matching is not part of the graph, so it also looks every [`POLL`].
    async fn until<T>(&self, found: impl Fn() -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(value) = found() {
                return value;
            }
            // Elapsed or notified, it looks again.
            tokio::time::timeout(POLL, changed).await.unwrap_or_default();
        }
    }

    /// Waits until `holds` is false, looking again after each change of the graph.
    async fn while_it(&self, holds: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            if !holds() {
                return;
            }
            changed.await;
        }
    }
}

const POLL: Duration = Duration::from_millis(10);

/// The two endpoints of one side of a service.
struct Pair {
    request: EndpointSpec,
    reply: EndpointSpec,
}

impl Pair {
    /// `key` and `id` tie the two endpoints together for Cyclone peers.
    fn new(
        service: &ServiceSpec,
        registry: &TypeRegistry,
        key: &str,
        id: &[u8; 16],
    ) -> Result<Self, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(service.srv_type.to_string());
        let types = registry.service(&service.srv_type).map_err(unknown)?;
        let spec = |topic, type_name, hash: &[u8; 32]| EndpointSpec {
            topic,
            type_name,
            qos: SERVICE_QOS,
            user_data: names::service_data(key, id, hash),
            partitions: Vec::new(),
        };
        Ok(Self {
            request: spec(
                names::request_topic(&service.name),
                names::request_type(&service.srv_type),
                types.request().rihs01(),
            ),
            reply: spec(
                names::reply_topic(&service.name),
                names::response_type(&service.srv_type),
                types.response().rihs01(),
            ),
        })
    }
}

/// As ROS has it, but for the depth: 10 replies would push each other out when more callers than that wait.
const SERVICE_QOS: EndpointQos = EndpointQos { history: History::KeepLast(64), ..EndpointQos::DEFAULT };
