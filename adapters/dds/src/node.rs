//! Our own entry in the ROS graph.

use std::sync::{Arc, Mutex, PoisonError};

use rostrans_cdr::CdrBytes;
use rostrans_rtps::{EndpointQos, EndpointSpec, Guid, History, Participant, RtpsError};
use tracing::warn;

use crate::{
    entities::{NodeEntities, ParticipantEntities},
    names,
};

/// The one node of a participant: announces to all which endpoints are its own.
pub struct Node {
    publish: Box<dyn Fn(&CdrBytes) + Send + Sync>,
    /// Whether its lists are for Humble nodes, which read no others.
    humble: bool,
    entities: Mutex<ParticipantEntities>,
}

impl Node {
    /// Announces a node without endpoints. `publish` sends a list on [`names::DISCOVERY_TOPIC`]; `humble`: in the form
    /// that Humble reads.
    pub fn new(
        participant: Guid,
        namespace: &str,
        name: &str,
        humble: bool,
        publish: impl Fn(&CdrBytes) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let node = NodeEntities {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            readers: Vec::new(),
            writers: Vec::new(),
        };
        let entities = ParticipantEntities { participant, nodes: vec![node] };
        let node = Arc::new(Self { publish: Box::new(publish), humble, entities: Mutex::new(entities) });
        node.change(|_| ());
        node
    }

    /// The same, on the native engine.
    pub(crate) fn on(
        participant: &Participant,
        namespace: &str,
        name: &str,
        humble: bool,
    ) -> Result<Arc<Self>, RtpsError> {
        let writer = participant.create_writer(list_endpoint())?;
        let publish = move |list: &CdrBytes| {
            if let Err(error) = writer.write(list.as_bytes()) {
                warn!(%error, "cannot publish the node list");
            }
        };
        Ok(Self::new(participant.guid(), namespace, name, humble, publish))
    }

    /// Lists an endpoint as ours until the returned entry is dropped.
    pub fn list(self: &Arc<Self>, endpoint: Guid) -> Entry {
        self.change(|node| {
            if endpoint.is_reader() { &mut node.readers } else { &mut node.writers }.push(endpoint);
        });
        Entry { node: Arc::clone(self), endpoint }
    }

    /// The list as it is now.
    pub(crate) fn entities(&self) -> ParticipantEntities {
        self.entities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the list and publishes all of it, as ROS expects after each change; in order, so under the lock.
    fn change(&self, change: impl FnOnce(&mut NodeEntities)) {
        let mut entities = self.entities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = entities.nodes.first_mut() {
            change(node);
        }
        (self.publish)(&entities.to_sample(self.humble));
    }
}

/// What every ROS participant writes and reads node lists with.
pub(crate) fn list_endpoint() -> EndpointSpec {
    EndpointSpec {
        topic: names::DISCOVERY_TOPIC.to_owned(),
        type_name: names::DISCOVERY_TYPE.to_owned(),
        qos: EndpointQos { transient_local: true, history: History::KeepLast(1), ..EndpointQos::DEFAULT },
        ..EndpointSpec::default()
    }
}

/// An endpoint's place in the node list.
pub struct Entry {
    node: Arc<Node>,
    endpoint: Guid,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.node.change(|node| {
            node.readers.retain(|g| *g != self.endpoint);
            node.writers.retain(|g| *g != self.endpoint);
        });
    }
}
