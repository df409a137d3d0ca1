//! Our own entry in the ROS graph.

use std::sync::{Arc, Mutex, PoisonError};

use rostrans_cdr::CdrBytes;
use rostrans_rtps::{EndpointQos, EndpointSpec, Guid, History, Participant, RtpsError};
use tracing::warn;

use crate::{
    entities::{NodeEntities, ParticipantEntities},
    names,
};

/// The node of a participant: announces to all which endpoints are its own.
///
/// Parameter services are shown as those of the node that their names speak of, beside it: programs look for that
/// node before they ask it for its parameters (`ros2 param get /mavros/param X`).
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
        self.change(|nodes| {
            if let Some(node) = nodes.first_mut() {
                node.add(endpoint);
            }
        });
        Entry { node: Arc::clone(self), endpoint }
    }

    /// The same for an endpoint of a service that we offer.
    pub fn list_service(self: &Arc<Self>, service: &str, endpoint: Guid) -> Entry {
        let Some((namespace, name)) = parameter_node(service) else { return self.list(endpoint) };
        self.change(|nodes| {
            match nodes.iter_mut().find(|node| node.name == name && node.namespace == namespace) {
                Some(node) => node.add(endpoint),
                None => {
                    let (namespace, name) = (namespace.to_owned(), name.to_owned());
                    let mut node = NodeEntities { namespace, name, readers: Vec::new(), writers: Vec::new() };
                    node.add(endpoint);
                    nodes.push(node);
                }
            }
        });
        Entry { node: Arc::clone(self), endpoint }
    }

    /// The list as it is now.
    pub(crate) fn entities(&self) -> ParticipantEntities {
        self.entities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the list and publishes all of it, as ROS expects after each change; in order, so under the lock.
    fn change(&self, change: impl FnOnce(&mut Vec<NodeEntities>)) {
        let mut entities = self.entities.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut entities.nodes);
        (self.publish)(&entities.to_sample(self.humble));
    }
}

impl NodeEntities {
    fn add(&mut self, endpoint: Guid) {
        if endpoint.is_reader() { &mut self.readers } else { &mut self.writers }.push(endpoint);
    }

    fn remove(&mut self, endpoint: Guid) {
        self.readers.retain(|g| *g != endpoint);
        self.writers.retain(|g| *g != endpoint);
    }
}

/// Namespace and name of the node that a parameter service is about; `None` for other services.
fn parameter_node(service: &str) -> Option<(&str, &str)> {
    let (node, last) = service.rsplit_once('/')?;
    if !PARAMETER_SERVICES.contains(&last) {
        return None;
    }
    match node.rsplit_once('/')? {
        (_, "") => None,
        ("", name) => Some(("/", name)),
        whole => Some(whole),
    }
}

/// What every ROS 2 node offers below its name.
const PARAMETER_SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

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
        self.node.change(|nodes| {
            nodes.iter_mut().for_each(|node| node.remove(self.endpoint));
            // Our own stays; one of parameters goes with its last service.
            let mut own = true;
            nodes.retain(|node| {
                std::mem::take(&mut own) || !node.readers.is_empty() || !node.writers.is_empty()
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn endpoint(number: u8, kind: u8) -> Guid {
        Guid { prefix: [7; 12], entity: [0, 0, number, kind] }
    }

    #[test]
    fn parameter_services_are_those_of_the_node_they_speak_of() {
        let published = Arc::new(Mutex::new(Vec::new()));
        let lists = Arc::clone(&published);
        let node = Node::new(endpoint(0, 0xc1), "/", "rostrans", false, move |list| {
            lists.lock().unwrap().push(ParticipantEntities::decode(list).unwrap());
        });
        let names = || {
            let lists = published.lock().unwrap();
            let nodes = lists.last().unwrap().nodes.clone();
            nodes.iter().map(|n| (n.full_name(), n.readers.len(), n.writers.len())).collect::<Vec<_>>()
        };
        let (reader, writer) = (endpoint(1, 4), endpoint(2, 3));
        let arming = node.list_service("/mavros/cmd/arming", reader);
        let list = node.list_service("/mavros/param/list_parameters", endpoint(3, 4));
        let get = node.list_service("/mavros/param/get_parameters", writer);
        let other = node.list_service("/param2/get_parameters", endpoint(4, 4));
        // Names that speak of no node.
        let odd = node.list_service("/get_parameters", endpoint(5, 4));
        assert_eq!(
            names(),
            [("/rostrans".into(), 2, 0), ("/mavros/param".into(), 1, 1), ("/param2".into(), 1, 0)]
        );
        drop((arming, list, odd));
        assert_eq!(
            names(),
            [("/rostrans".into(), 0, 0), ("/mavros/param".into(), 0, 1), ("/param2".into(), 1, 0)]
        );
        drop((get, other));
        assert_eq!(names(), [("/rostrans".to_owned(), 0, 0)]);
    }
}
