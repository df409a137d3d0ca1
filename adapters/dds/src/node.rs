//! Our own entry in the ROS graph.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_rtps::{EndpointQos, EndpointSpec, Guid, History, Participant, RtpsError};
use tokio::sync::Notify;
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
    list: Mutex<List>,
    changed: Notify,
}

struct List {
    entities: ParticipantEntities,
    /// [`Node::follow`] publishes changes that are put off.
    followed: bool,
    /// The latest change is not published yet.
    put_off: bool,
    /// When the list was published last.
    published: Instant,
}

/// Between two lists. Each holds all endpoints: without a pause, those of 50 vehicles would be sent 5,000 times while
/// they come to be.
const PAUSE: Duration = Duration::from_millis(50);

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
        publish(&entities.to_sample(humble));
        let list = List { entities, followed: false, put_off: false, published: Instant::now() };
        Arc::new(Self { publish: Box::new(publish), humble, list: Mutex::new(list), changed: Notify::new() })
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
        self.lock().entities.clone()
    }

    /// Publishes what is put off, after a pause. Never resolves; while nobody runs it, nothing is put off.
    pub async fn follow(&self) {
        self.lock().followed = true;
        let _end = Followed(self);
        loop {
            self.changed.notified().await;
            tokio::time::sleep(PAUSE).await;
            self.publish_put_off();
        }
    }

    /// Changes the list and publishes all of it, as ROS expects after each change: at once, or after a pause together
    /// with further changes. In order, so under the lock.
    fn change(&self, change: impl FnOnce(&mut Vec<NodeEntities>)) {
        let mut list = self.lock();
        change(&mut list.entities.nodes);
        if list.followed && list.published.elapsed() < PAUSE {
            list.put_off = true;
            self.changed.notify_one();
        } else {
            self.publish(&mut list);
        }
    }

    fn publish_put_off(&self) {
        let mut list = self.lock();
        if list.put_off {
            self.publish(&mut list);
        }
    }

    fn publish(&self, list: &mut List) {
        (list.put_off, list.published) = (false, Instant::now());
        (self.publish)(&list.entities.to_sample(self.humble));
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Ends [`Node::follow`], however it ends.
struct Followed<'a>(&'a Node);

impl Drop for Followed<'_> {
    fn drop(&mut self) {
        self.0.lock().followed = false;
        self.0.publish_put_off();
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
    use std::sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    };

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

    fn node() -> (Arc<Node>, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let publish = move |_: &CdrBytes| {
            counter.fetch_add(1, SeqCst);
        };
        (Node::new(Guid::from_bytes([1; 16]), "/", "n", false, publish), count)
    }

    #[test]
    fn each_change_is_published_while_nobody_follows() {
        let (node, count) = node();
        let entry = node.list(Guid::from_bytes([2; 16]));
        drop(entry);
        assert_eq!(count.load(SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn changes_of_one_moment_are_published_together() {
        let (node, count) = node();
        let entries = async {
            tokio::task::yield_now().await;
            let entries: Vec<Entry> = (0..100).map(|n| node.list(Guid::from_bytes([n; 16]))).collect();
            tokio::time::sleep(2 * PAUSE).await;
            entries
        };
        let entries = tokio::select! {
            () = node.follow() => unreachable!("it never resolves"),
            entries = entries => entries,
        };
        assert!(count.load(SeqCst) < 10, "{count:?}");
        assert_eq!(node.entities().nodes[0].readers.len() + node.entities().nodes[0].writers.len(), 100);
        assert!(!node.lock().put_off && !node.lock().followed);
        drop(entries);
    }
}
