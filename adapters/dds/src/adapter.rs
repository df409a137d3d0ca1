//! The adapter itself.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, Publisher, RosAdapter, RosVersion, SampleSink, ServiceClient,
        ServiceHandler,
    },
    jobs::Jobs,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use rostrans_rtps::{
    EndpointSpec, Guid, Participant, ParticipantConfig, ParticipantStats, Reader, RtpsError,
};
use rostrans_schema::TypeRegistry;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{
    complaint::{Complaint, Complaints},
    env::Discovery,
    graph::{Graph, Own},
    hosts::{self, Host},
    mismatch::{Mismatch, Mismatches},
    names,
    node::{self, Node},
    peers::Peers,
    service::{Client, Context, Server, ServiceStats, ServiceStyle},
    topic::{DdsPublisher, endpoint_qos, offered_qos, receiver},
};

/// How to join a ROS 2 graph.
#[derive(Clone, Debug)]
pub struct DdsConfig {
    /// Name of our node, without slash.
    pub node_name: String,
    /// Its namespace, `/` or `/robot_1`.
    pub namespace: String,
    /// Domain and reach.
    pub discovery: Discovery,
    /// Interfaces to use, by name or address; empty means all of them.
    pub interfaces: Vec<String>,
    /// How services find out which response is whose.
    pub service_style: ServiceStyle,
    /// Tell Humble nodes which endpoints are ours. Their node lists have GIDs of 24 bytes, those of Iron and later of
    /// 16; one list goes to all, and a node that expects the other form shows our endpoints without their node.
    pub humble: bool,
    /// The interface definitions, for type hashes.
    pub registry: Arc<TypeRegistry>,
}

impl DdsConfig {
    /// A node in the root namespace, on every interface.
    pub fn new(node_name: &str, discovery: Discovery, registry: Arc<TypeRegistry>) -> Self {
        Self {
            node_name: node_name.to_owned(),
            namespace: "/".to_owned(),
            discovery,
            interfaces: Vec::new(),
            service_style: ServiceStyle::default(),
            humble: false,
            registry,
        }
    }

    /// Namespace and name as one.
    ///
    /// **Errors**: one of them does not follow the rules, which are those of topic names.
    pub fn full_name(&self) -> Result<String, AdapterError> {
        let full_name = format!("{}/{}", self.namespace.trim_end_matches('/'), self.node_name);
        let valid = TopicName::parse(&full_name).is_ok()
            && self.namespace.starts_with('/')
            && !self.node_name.contains('/');
        if valid {
            return Ok(full_name);
        }
        let context = format!(
            "invalid node '{}' in namespace '{}'; use letters, digits and '_', and a namespace that starts with '/'",
            self.node_name, self.namespace
        );
        Err(AdapterError::Io { context, source: io::ErrorKind::InvalidInput.into() })
    }
}

/// One node in a ROS 2 graph, over DDS.
///
/// Discovery and topics work from the start; offered services answer while [`RosAdapter::run`] runs.
pub struct DdsAdapter {
    info: AdapterInfo,
    registry: Arc<TypeRegistry>,
    context: Context,
    jobs: Jobs,
    peers: Arc<Peers>,
    complaints: Arc<Complaints>,
    next_id: AtomicU32,
    static_peers: Vec<Host>,
    _node_lists: Reader,
}

impl DdsAdapter {
    /// Opens the sockets and announces the node.
    ///
    /// **Errors**: bad node name or namespace, bad domain, no free participant id, socket or thread failure.
    pub fn new(config: DdsConfig) -> Result<Arc<Self>, AdapterError> {
        let full_name = config.full_name()?;
        let discovery = &config.discovery;
        let static_peers: Vec<_> = discovery.hosts().collect();
        let participant = Participant::new(ParticipantConfig {
            domain: discovery.domain,
            range: discovery.range,
            // Names are looked up while it runs.
            static_peers: static_peers.iter().filter_map(Host::address).collect(),
            family: discovery.ip_family(),
            interfaces: config.interfaces,
            // As in any ROS node: what one rule publishes or offers, another may subscribe to or call.
            match_own: true,
            ..ParticipantConfig::default()
        })
        .map_err(refused)?;

        let node =
            Node::on(&participant, &config.namespace, &config.node_name, config.humble).map_err(refused)?;
        let peers = Arc::new(Peers::default());
        let heard = Arc::clone(&peers);
        let node_lists = participant
            .create_reader(node::list_endpoint(), Arc::new(move |sample| heard.heard(sample)))
            .map_err(refused)?;

        let changed = Arc::new(Notify::new());
        let notify = Arc::clone(&changed);
        participant.on_graph_change(Arc::new(move || notify.notify_waiters()));
        let complaints = Arc::<Complaints>::default();
        let hears = Arc::clone(&complaints);
        participant.on_event(Arc::new(move |event| hears.hear(event)));
        let (sender, jobs) = Jobs::new();
        let summary =
            format!("domain {}, range {}, node {full_name}", discovery.domain, discovery.range_name());
        Ok(Arc::new(Self {
            info: AdapterInfo { name: "dds", version: RosVersion::Ros2, summary },
            registry: config.registry,
            context: Context {
                participant,
                node,
                style: config.service_style,
                counters: Arc::default(),
                changed,
                jobs: sender,
            },
            jobs,
            peers,
            complaints,
            next_id: AtomicU32::new(1),
            static_peers,
            _node_lists: node_lists,
        }))
    }

    /// Counters of the RTPS engine.
    pub fn stats(&self) -> ParticipantStats {
        self.context.participant.stats()
    }

    /// The graph as this node sees it, itself included.
    pub fn graph(&self) -> Graph {
        let participant = &self.context.participant;
        let list = self.context.node.entities();
        let own = Own { guid: participant.guid(), list: Some(&list) };
        self.peers.with_lists(|lists| Graph::build(participant.discovered(), lists, own))
    }

    /// Counters of all services and clients.
    pub fn service_stats(&self) -> ServiceStats {
        self.context.counters.snapshot()
    }

    fn spec(&self, topic: &TopicSpec) -> Result<EndpointSpec, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(topic.msg_type.to_string());
        let msg_type = self.registry.message(&topic.msg_type).map_err(unknown)?;
        Ok(EndpointSpec {
            topic: names::topic(&topic.name),
            type_name: topic.msg_type.dds(),
            qos: endpoint_qos(topic.qos),
            user_data: names::type_hash_data(msg_type.rihs01()),
            partitions: Vec::new(),
        })
    }

    fn publisher(&self, topic: &TopicSpec) -> Result<Arc<dyn Publisher>, AdapterError> {
        let writer = self.context.participant.create_writer(self.spec(topic)?).map_err(refused)?;
        let entry = self.context.node.list(writer.guid());
        let watched = self.complaints.watch(writer.guid(), topic);
        let stamped = topic.qos.lifespan.is_none();
        Ok(Arc::new(DdsPublisher { writer, stamped, _entry: entry, _watched: watched }))
    }

    /// Subscribes; leaves out what the participant `but` writes.
    fn subscription(
        &self,
        topic: &TopicSpec,
        sink: SampleSink,
        but: Option<Guid>,
    ) -> Result<Guard, AdapterError> {
        let receiver = receiver(sink, but);
        let reader = self.context.participant.create_reader(self.spec(topic)?, receiver).map_err(refused)?;
        let entry = self.context.node.list(reader.guid());
        let watched = self.complaints.watch(reader.guid(), topic);
        Ok(Guard::new((reader, entry, watched)))
    }

    /// An id for one side of a service, unique in the graph.
    fn service_id(&self) -> [u8; 16] {
        let entity = self.next_id.fetch_add(1, Relaxed).to_be_bytes();
        Guid { prefix: self.context.participant.guid().prefix, entity }.as_bytes()
    }

    /// Logs incompatible pairs as they appear. Never resolves.
    async fn watch_graph(&self) {
        let mut mismatches = Mismatches::default();
        loop {
            let changed = self.context.changed.notified();
            let graph = self.context.participant.discovered();
            self.peers.keep(|prefix| graph.participants.iter().any(|p| p.guid.prefix == *prefix));
            let named = |peer| self.peers.name_of(peer).is_some();
            for pair in mismatches.due(&graph.incompatible, named, Instant::now()) {
                let peer = self.peers.name_of(pair.remote).unwrap_or_else(|| pair.remote.to_string());
                warn!("{}", Mismatch { pair, peer });
            }
            if !mismatches.waiting() {
                changed.await;
            }
            // Changes come in bursts.
            tokio::time::sleep(SETTLE).await;
        }
    }

    /// Logs what happens to our endpoints. Never resolves.
    async fn watch_events(&self) {
        loop {
            let (due, next) = self.complaints.due(Instant::now());
            for mut complaint in due {
                complaint.peers = self.across(&complaint);
                if complaint.is_minor() {
                    debug!("{complaint}");
                } else {
                    warn!("{complaint}");
                }
            }
            let news = self.complaints.news.notified();
            match next {
                // Either way there may be something to tell.
                Some(at) => drop(tokio::time::timeout_at(at.into(), news).await),
                None => news.await,
            }
        }
    }

    /// The nodes on the other side of a complaint.
    fn across(&self, complaint: &Complaint) -> Vec<String> {
        let name = |guid: Guid| self.peers.name_of(guid).unwrap_or_else(|| guid.to_string());
        if complaint.theirs != Guid::UNKNOWN {
            return vec![name(complaint.theirs)];
        }
        let participant = &self.context.participant;
        participant.matched_writers(complaint.ours).into_iter().map(name).collect()
    }
}

impl RosAdapter for DdsAdapter {
    fn info(&self) -> &AdapterInfo {
        &self.info
    }

    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        Box::pin(std::future::ready(self.publisher(topic)))
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(std::future::ready(self.subscription(topic, sink, None)))
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let own = self.context.participant.guid();
        Box::pin(std::future::ready(self.subscription(topic, sink, Some(own))))
    }

    fn offers(&self, topic: &TopicName) -> Option<Vec<Qos>> {
        let writers = self.context.participant.discovered_writers(&names::topic(topic));
        Some(writers.iter().map(|writer| offered_qos(&writer.qos)).collect())
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        let client = Client::new(self.context.clone(), service, &self.registry, &self.service_id());
        Box::pin(std::future::ready(client.map(|c| Arc::new(c) as Arc<dyn ServiceClient>)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let offer = Server::offer(self.context.clone(), service, &self.registry, handler, &self.service_id());
        Box::pin(std::future::ready(offer))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.watch_graph() => {}
                () = self.watch_events() => {}
                () = self.jobs.run() => {}
                () = self.context.node.follow() => {}
                () = hosts::follow(self.static_peers.clone(), |peers| self.context.participant.set_static_peers(peers)) => {}
            }
            self.context.participant.close();
            Ok(())
        })
    }
}

const SETTLE: Duration = Duration::from_millis(250);

/// The engine's refusal as an adapter error.
pub(crate) fn refused(error: RtpsError) -> AdapterError {
    let context = error.to_string();
    let source = match error {
        RtpsError::Socket(source) | RtpsError::Thread(source) => source,
        RtpsError::NoFreeParticipant { .. } => io::ErrorKind::AddrInUse.into(),
        RtpsError::Closed => io::ErrorKind::NotConnected.into(),
        RtpsError::Domain(_)
        | RtpsError::Name { .. }
        | RtpsError::UserData(_)
        | RtpsError::Partitions
        | RtpsError::Period(_) => io::ErrorKind::InvalidInput.into(),
    };
    AdapterError::Io { context, source }
}
