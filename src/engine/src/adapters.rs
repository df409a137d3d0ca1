//! The ROS graphs of a run, addressed as one.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{
        AdapterError, CallError, Guard, PublishError, Publisher, RosAdapter, SampleSink, ServiceClient,
        ServiceHandler,
    },
    clock::RosTime,
    rule::RosSelector,
    topic::{ServiceSpec, TopicSpec},
    transport::BoxFuture,
};
use thiserror::Error;
use tracing::{debug, warn};

use crate::supervisor::Failure;

/// Every adapter of a run.
#[derive(Clone, Default)]
pub struct AdapterSet {
    adapters: Vec<Arc<dyn RosAdapter>>,
}

/// Why a rule got no endpoint.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The rule asks for a ROS that no adapter speaks.
    #[error("no {0} adapter runs; change the rule's ros_version or start with that ROS version")]
    NoAdapter(&'static str),
    /// An adapter refused.
    #[error("{adapter}: {endpoint}")]
    Refused {
        /// The adapter.
        adapter: &'static str,
        /// Topic or service name.
        endpoint: String,
        /// Its reason.
        source: AdapterError,
    },
}

impl EndpointError {
    /// As the failure of a rule; only a network error may pass.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Refused { source: AdapterError::Io { .. }, .. } => Failure::retry(self),
            _ => Failure::permanent(self),
        }
    }
}

impl AdapterSet {
    /// A set; its order decides who is asked first where only one can answer.
    pub fn new(adapters: Vec<Arc<dyn RosAdapter>>) -> Self {
        Self { adapters }
    }

    /// All adapters.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn RosAdapter>> {
        self.adapters.iter()
    }

    /// The adapters a rule's `ros_version` means.
    pub fn selected(&self, selector: RosSelector) -> impl Iterator<Item = &Arc<dyn RosAdapter>> {
        self.adapters
            .iter()
            .filter(move |adapter| selector.means(adapter.info().name, adapter.info().version))
    }

    /// Announces a publisher on every selected adapter.
    ///
    /// With one adapter the result is its own handle: no extra call per message.
    ///
    /// **Errors**: all of them refused; one that refuses beside others is logged.
    pub async fn advertise(
        &self,
        selector: RosSelector,
        topic: &TopicSpec,
    ) -> Result<Arc<dyn Publisher>, EndpointError> {
        let mut all = Gathered::new(selector, topic.name.as_str());
        for adapter in self.selected(selector) {
            all.add(adapter, adapter.advertise(topic).await);
        }
        Ok(one_or(all.finish()?, |publishers| Arc::new(FanOut { publishers: publishers.into() })))
    }

    /// Subscribes on every selected adapter.
    ///
    /// **Errors**: as [`AdapterSet::advertise`].
    pub async fn subscribe(
        &self,
        selector: RosSelector,
        topic: &TopicSpec,
        sink: SampleSink,
    ) -> Result<Guard, EndpointError> {
        let mut all = Gathered::new(selector, topic.name.as_str());
        for adapter in self.selected(selector) {
            all.add(adapter, adapter.subscribe(topic, Arc::clone(&sink)).await);
        }
        Ok(one_or(all.finish()?, Guard::new))
    }

    /// Offers a service on every selected adapter.
    ///
    /// **Errors**: as [`AdapterSet::advertise`].
    pub async fn advertise_service(
        &self,
        selector: RosSelector,
        service: &ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> Result<Guard, EndpointError> {
        let mut all = Gathered::new(selector, service.name.as_str());
        for adapter in self.selected(selector) {
            all.add(adapter, adapter.advertise_service(service, Arc::clone(&handler)).await);
        }
        Ok(one_or(all.finish()?, Guard::new))
    }

    /// Prepares to call a service on the selected adapters.
    ///
    /// With several, they are asked in order: a graph without a server for it gives way to the next.
    ///
    /// **Errors**: as [`AdapterSet::advertise`].
    pub async fn service_client(
        &self,
        selector: RosSelector,
        service: &ServiceSpec,
    ) -> Result<Arc<dyn ServiceClient>, EndpointError> {
        let mut all = Gathered::new(selector, service.name.as_str());
        for adapter in self.selected(selector) {
            all.add(adapter, adapter.service_client(service).await);
        }
        Ok(one_or(all.finish()?, |clients| Arc::new(FirstServer { clients })))
    }
}

impl fmt::Debug for AdapterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|adapter| adapter.info().name)).finish()
    }
}

/// Endpoints on several adapters, of which at least one must come to be.
struct Gathered<'a, T> {
    selector: RosSelector,
    endpoint: &'a str,
    made: Vec<T>,
    refused: Option<EndpointError>,
}

impl<'a, T> Gathered<'a, T> {
    fn new(selector: RosSelector, endpoint: &'a str) -> Self {
        Self { selector, endpoint, made: Vec::new(), refused: None }
    }

    fn add(&mut self, adapter: &Arc<dyn RosAdapter>, outcome: Result<T, AdapterError>) {
        let adapter = adapter.info().name;
        match outcome {
            Ok(made) => self.made.push(made),
            Err(source) => {
                // The plan has told of types that one of several graphs does not have.
                if matches!(source, AdapterError::UnknownType(_)) {
                    debug!(adapter, endpoint = self.endpoint, error = %source, "endpoint refused");
                } else {
                    warn!(adapter, endpoint = self.endpoint, error = %source, "endpoint refused");
                }
                let endpoint = self.endpoint.to_owned();
                self.refused = Some(EndpointError::Refused { adapter, endpoint, source });
            }
        }
    }

    fn finish(self) -> Result<Vec<T>, EndpointError> {
        if !self.made.is_empty() {
            return Ok(self.made);
        }
        let version = match self.selector {
            RosSelector::Ros1 => "ROS 1",
            RosSelector::Ros2 => "ROS 2",
            RosSelector::All => "ROS",
            RosSelector::Only(fabric) => fabric.as_str(),
        };
        Err(self.refused.unwrap_or(EndpointError::NoAdapter(version)))
    }
}

/// The only one, or what `join` makes of several.
fn one_or<T>(mut made: Vec<T>, join: impl FnOnce(Vec<T>) -> T) -> T {
    match made.pop() {
        Some(only) if made.is_empty() => only,
        last => {
            made.extend(last);
            join(made)
        }
    }
}

/// Publishes to several graphs.
struct FanOut {
    publishers: Box<[Arc<dyn Publisher>]>,
}

impl Publisher for FanOut {
    /// Every graph gets the sample; the last failure is reported.
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        let mut outcome = Ok(());
        for publisher in &self.publishers {
            outcome = publisher.publish(stamp, msg).and(outcome);
        }
        outcome
    }

    fn matched(&self) -> usize {
        self.publishers.iter().map(|p| p.matched()).sum()
    }
}

/// Calls the first graph that has a server.
struct FirstServer {
    clients: Vec<Arc<dyn ServiceClient>>,
}

impl ServiceClient for FirstServer {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(async move {
            let mut left = u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
            let mut outcome = Err(CallError::NoServer);
            for client in &self.clients {
                // Each graph gets an equal share of what time is left to show a server.
                let now = tokio::time::Instant::now().into_std();
                let share =
                    deadline.saturating_duration_since(now).checked_div(left).unwrap_or(Duration::ZERO);
                outcome = client.call(request.clone(), now + share).await;
                if outcome != Err(CallError::NoServer) {
                    break;
                }
                left -= 1;
            }
            outcome
        })
    }
}
