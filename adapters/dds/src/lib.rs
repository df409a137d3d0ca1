//! ROS 2 over DDS, with no ROS and no DDS library installed.
//!
//! [`DdsAdapter`] joins a ROS 2 graph as one node on the RTPS engine of `rostrans-rtps` and adds what ROS means on
//! top of it: topic, service and type names, type hashes, the node list (`ros_discovery_info`) and both request
//! conventions for services. Samples pass through as they are; a publish copies nothing and allocates nothing here.
//!
//! ```no_run
//! # async fn demo(registry: std::sync::Arc<rostrans_schema::TypeRegistry>) -> Result<(), Box<dyn std::error::Error>> {
//! use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery};
//! use rostrans_core::{adapter::RosAdapter, topic::{Qos, TopicName, TopicSpec}};
//! use rostrans_schema::TypeName;
//!
//! let discovery = Discovery::from_env(|name| std::env::var(name).ok()).map_err(|problems| problems[0].clone())?;
//! let adapter = DdsAdapter::new(DdsConfig::new("rostrans", discovery, registry))?;
//! let chatter = TopicSpec {
//!     name: TopicName::parse("/chatter")?,
//!     msg_type: TypeName::message("std_msgs/msg/String")?,
//!     qos: Qos::reliable(),
//! };
//! let publisher = adapter.advertise(&chatter).await?;
//! # Ok(()) }
//! ```
//!
//! [`graph`] tells what is in the graph and who cannot talk to whom; [`graph::Observer`] looks without joining.
//!
//! Not here: parameters, actions, `/rosout`, and the logging services that a full ROS node also offers.

#![warn(clippy::indexing_slicing)]

mod adapter;
mod complaint;
mod entities;
mod env;
pub mod graph;
mod hosts;
mod mismatch;
mod names;
mod node;
mod peers;
mod service;
mod topic;

pub use adapter::{DdsAdapter, DdsConfig};
pub use env::{Discovery, EnvError};
pub use rostrans_core::jobs::{Job, Jobs};
pub use rostrans_rtps::{
    DiscoveryRange, Durability, Guid, IpFamily, Liveliness, ParticipantStats, Policy, RemoteQos,
};
pub use service::{ServiceStats, ServiceStyle};

/// What ROS means on DDS, for adapters on other engines: names, USER_DATA, node lists, the header of services.
pub mod ros {
    pub use crate::{
        entities::{NodeEntities, ParticipantEntities},
        names::{
            DISCOVERY_TOPIC, DISCOVERY_TYPE, reply_topic, request_topic, request_type, response_type,
            service_data, topic, type_hash_data, user_value,
        },
        node::{Entry, Node},
        service::Header,
    };
}
