//! The ROS side: adapters, publishers, subscriptions, services.
//!
//! Set-up is asynchronous and cold; publishing is synchronous and hot.

use std::{any::Any, fmt, sync::Arc, time::Instant};

use rostrans_cdr::CdrBytes;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::RosTime,
    codec::Sample,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};

/// Which ROS an adapter speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RosVersion {
    /// ROS 1.
    Ros1,
    /// ROS 2.
    Ros2,
}

/// A way into a ROS graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fabric {
    /// ROS 1 over TCPROS.
    Ros1,
    /// ROS 2 over DDS.
    Dds,
    /// ROS 2 over Zenoh, as `rmw_zenoh` has it.
    Zenoh,
    /// ROS 2 through the libraries of a sourced ROS.
    R2r,
}

impl Fabric {
    /// Which ROS it leads to.
    pub fn version(self) -> RosVersion {
        match self {
            Self::Ros1 => RosVersion::Ros1,
            Self::Dds | Self::Zenoh | Self::R2r => RosVersion::Ros2,
        }
    }

    /// [`AdapterInfo::name`] of its adapters, and what users write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ros1 => "ros1",
            Self::Dds => "dds",
            Self::Zenoh => "zenoh",
            Self::R2r => "r2r",
        }
    }
}

impl fmt::Display for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An adapter's self-description.
#[derive(Clone, Debug)]
pub struct AdapterInfo {
    /// `dds`, `zenoh`, `ros1`, `memory`...
    pub name: &'static str,
    /// Which graph it joins.
    pub version: RosVersion,
    /// One line for the start-up summary, e.g. `domain 0, range SUBNET, node /rostrans`.
    pub summary: String,
}

/// Called for every received sample, on the adapter's receive thread. Must not block.
pub type SampleSink = Arc<dyn Fn(Sample) + Send + Sync>;

/// Withdraws an endpoint when dropped.
pub struct Guard(#[expect(dead_code, reason = "held for its Drop")] Box<dyn Any + Send + Sync>);

impl Guard {
    /// Keeps `held` alive; dropping the guard drops it.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self(Box::new(held))
    }
}

/// A connection to a ROS graph.
pub trait RosAdapter: Send + Sync + 'static {
    /// Name, version, summary.
    fn info(&self) -> &AdapterInfo;

    /// Announces a publisher.
    ///
    /// **Errors**: unknown type, or the graph cannot be reached for good.
    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>>;

    /// Subscribes; samples go to `sink` until the guard is dropped.
    ///
    /// **Errors**: as [`RosAdapter::advertise`].
    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>>;

    /// As [`RosAdapter::subscribe`], but without what this adapter publishes itself: what a bridge carries away must not
    /// come back.
    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>>;

    /// What the publishers of a topic offer, one entry each, those of this adapter left out.
    ///
    /// `None` where only a subscription can tell, or while none has told yet. It is asked now and then, not per sample.
    fn offers(&self, _topic: &TopicName) -> Option<Vec<Qos>> {
        None
    }

    /// Prepares to call a service.
    ///
    /// **Errors**: as [`RosAdapter::advertise`]; an absent server is not an error here.
    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>>;

    /// Offers a service until the guard is dropped.
    ///
    /// **Errors**: as [`RosAdapter::advertise`].
    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>>;

    /// Runs background work until cancelled.
    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>>;
}

/// A cached publish handle: no topic look-up per message. Un-advertises when the last clone is dropped.
pub trait Publisher: Send + Sync {
    /// Publishes one sample now; never waits.
    ///
    /// The adapter copies or clones what it keeps; `msg` is not consumed, so a pooled buffer can be used again.
    ///
    /// **Errors**: [`PublishError`]; the sample is lost.
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError>;

    /// Matched subscribers; decoders skip work when it is 0 on a volatile topic.
    fn matched(&self) -> usize;
}

/// Calls a service.
pub trait ServiceClient: Send + Sync {
    /// Sends the request and waits for the response.
    ///
    /// **Errors**: [`CallError::NoServer`] when none appears before `deadline`, [`CallError::Timeout`] when it
    /// does not answer in time.
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>>;
}

/// Answers a service.
pub trait ServiceHandler: Send + Sync {
    /// Produces the response to one request; an error sends none, or in ROS 1 the text of the error.
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>>;
}

/// Why an endpoint could not be set up.
#[derive(Debug, Error)]
pub enum AdapterError {
    /// The type is not in the registry.
    #[error(
        "type '{0}' is unknown; source the workspace that has it or add its definition to config/interfaces"
    )]
    UnknownType(String),
    /// The adapter cannot do this.
    #[error("adapter '{adapter}' does not support {what}")]
    Unsupported {
        /// Adapter name.
        adapter: &'static str,
        /// The missing feature.
        what: &'static str,
    },
    /// The network or the graph refused.
    #[error("{context}")]
    Io {
        /// What was being done.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Why a sample was not published.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PublishError {
    /// No room in the send path.
    #[error("send queue full; sample dropped")]
    Full,
    /// Larger than the adapter takes.
    #[error("sample of {0} bytes is too large")]
    TooLarge(usize),
    /// Not a value of the topic's type; only adapters that convert samples look.
    #[error("sample does not fit the type of its topic")]
    Malformed,
    /// The adapter has stopped.
    #[error("adapter closed")]
    Closed,
}

/// Why a call failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CallError {
    /// Nobody offers the service.
    #[error("no server for the service")]
    NoServer,
    /// No answer in time.
    #[error("the service did not answer in time")]
    Timeout,
    /// Too many calls wait already.
    #[error("too many calls in flight")]
    Busy,
    /// The server says that it could not do it, or the connection broke on the way.
    #[error("the service failed: {0}")]
    Failed(String),
    /// The adapter or rule is stopping.
    #[error("shutting down")]
    Closed,
}
