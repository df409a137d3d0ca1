//! What a node publishes, subscribes and offers.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use rostrans_core::adapter::AdapterError;

use crate::{
    service::Service,
    topic::{Publication, Subscription},
};

/// Topics and services by name. ROS 1 has one publication and one subscription for each topic and node, so handles
/// share them.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) publications: BTreeMap<String, Shared<Publication>>,
    pub(crate) subscriptions: BTreeMap<String, Arc<Subscription>>,
    pub(crate) services: BTreeMap<String, Arc<Service>>,
    /// How many subscriptions there have been.
    pub(crate) subscribed: u64,
}

/// Something with so many handles.
pub(crate) struct Shared<T> {
    pub(crate) it: Arc<T>,
    pub(crate) handles: usize,
}

/// Something the master is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Registration {
    /// First, so that a service is there when topics announce the node.
    Service {
        name: String,
    },
    Publisher {
        topic: String,
        type_name: String,
    },
    Subscriber {
        topic: String,
        type_name: String,
        /// [`Subscription::number`]: one that follows another at once needs the master's answer for itself.
        number: u64,
    },
}

impl Graph {
    /// All that the master should know.
    pub(crate) fn registrations(&self) -> BTreeSet<Registration> {
        let services = self.services.keys().map(|name| Registration::Service { name: name.clone() });
        let publishers = self.publications.iter().map(|(topic, publication)| Registration::Publisher {
            topic: topic.clone(),
            type_name: publication.it.kind.ros1.clone(),
        });
        let subscribers = self.subscriptions.iter().map(|(topic, subscription)| Registration::Subscriber {
            topic: topic.clone(),
            type_name: subscription.kind.ros1.clone(),
            number: subscription.number,
        });
        services.chain(publishers).chain(subscribers).collect()
    }
}

/// ROS 1 knows one type for each topic.
pub(crate) fn two_types(topic: &str, first: &str, second: &str) -> AdapterError {
    AdapterError::Io {
        context: format!(
            "topic '{topic}' is '{first}' for one rule and '{second}' for another; give both the same type"
        ),
        source: io::ErrorKind::InvalidInput.into(),
    }
}
