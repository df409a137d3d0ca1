//! The adapter itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use rostrans_adapter_dds::{DdsConfig, Guid, Job, Jobs, ros};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, PublishError, Publisher, RosAdapter, RosVersion, SampleSink,
        ServiceClient, ServiceHandler,
    },
    clock::RosTime,
    codec::Sample,
    topic::{Qos, ServiceSpec, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::TypeRegistry;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    endpoint::{EndpointSpec, Of, Participant, Writer},
    sample::Received,
    service::{Client, Server},
};

/// One node in a ROS 2 graph, over Cyclone DDS.
///
/// Discovery and topics work from the start; offered services answer while [`RosAdapter::run`] runs.
pub struct CycloneAdapter {
    info: AdapterInfo,
    registry: Arc<TypeRegistry>,
    context: Context,
    jobs: Jobs,
}

/// What endpoints are made with.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) participant: Arc<Participant>,
    pub(crate) node: Arc<ros::Node>,
    /// Work for the adapter's `run`.
    pub(crate) jobs: mpsc::Sender<Job>,
    next_id: Arc<AtomicU32>,
}

impl CycloneAdapter {
    /// Joins the graph and announces the node.
    ///
    /// `service_style` is not used: this engine has one style.
    ///
    /// **Errors**: bad node name or namespace, other settings for the same domain in this process, or a refusal of
    /// the library.
    pub fn new(config: &DdsConfig) -> Result<Arc<Self>, AdapterError> {
        let full_name = config.full_name()?;
        let participant = Arc::new(Participant::new(&config.discovery, &config.interfaces)?);
        let lists = participant.writer(&EndpointSpec {
            topic: ros::DISCOVERY_TOPIC.to_owned(),
            type_name: ros::DISCOVERY_TYPE.to_owned(),
            qos: Qos::latched(1),
            user_data: Vec::new(),
        })?;
        let publish = move |list: &CdrBytes| {
            if let Err(error) = lists.write(list, None) {
                warn!(%error, "cannot publish the node list");
            }
        };
        let (namespace, name) = (&config.namespace, &config.node_name);
        let node = ros::Node::new(participant.guid(), namespace, name, config.humble, publish);
        let (sender, jobs) = Jobs::new();
        let discovery = &config.discovery;
        let range = discovery.range_name();
        let summary = format!("domain {}, range {range}, node {full_name}", discovery.domain);
        Ok(Arc::new(Self {
            info: AdapterInfo { name: "cyclone", version: RosVersion::Ros2, summary },
            registry: Arc::clone(&config.registry),
            context: Context { participant, node, jobs: sender, next_id: Arc::new(AtomicU32::new(1)) },
            jobs,
        }))
    }

    fn spec(&self, topic: &TopicSpec) -> Result<EndpointSpec, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(topic.msg_type.to_string());
        let msg_type = self.registry.message(&topic.msg_type).map_err(unknown)?;
        Ok(EndpointSpec {
            topic: ros::topic(&topic.name),
            type_name: topic.msg_type.dds(),
            qos: topic.qos,
            user_data: ros::type_hash_data(msg_type.rihs01()),
        })
    }

    fn publisher(&self, topic: &TopicSpec) -> Result<Arc<dyn Publisher>, AdapterError> {
        let writer = self.context.participant.writer(&self.spec(topic)?)?;
        let entry = self.context.node.list(writer.guid());
        Ok(Arc::new(CyclonePublisher { writer, stamped: topic.qos.lifespan.is_none(), _entry: entry }))
    }

    fn subscription(&self, topic: &TopicSpec, sink: SampleSink, of: Of) -> Result<Guard, AdapterError> {
        let deliver = move |received: Received| {
            if let Some(payload) = CdrBytes::new(received.payload) {
                sink(Sample { payload, stamp: RosTime { ns: received.source_time } });
            }
        };
        let reader = self.context.participant.reader(&self.spec(topic)?, of, deliver)?;
        let entry = self.context.node.list(reader.guid());
        Ok(Guard::new((reader, entry)))
    }
}

impl RosAdapter for CycloneAdapter {
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
        Box::pin(std::future::ready(self.subscription(topic, sink, Of::All)))
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(std::future::ready(self.subscription(topic, sink, Of::Others)))
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        let client = Client::new(&self.context, service, &self.registry);
        Box::pin(std::future::ready(client.map(|c| Arc::new(c) as Arc<dyn ServiceClient>)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let offer = Server::offer(&self.context, service, &self.registry, handler);
        Box::pin(std::future::ready(offer))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.jobs.run() => {}
                () = self.context.node.follow() => {}
            }
            self.context.participant.close();
            Ok(())
        })
    }
}

impl Context {
    /// An id for one side of a service, unique in the graph.
    pub(crate) fn service_id(&self) -> [u8; 16] {
        let entity = self.next_id.fetch_add(1, Relaxed).to_be_bytes();
        Guid { prefix: self.participant.guid().prefix, entity }.as_bytes()
    }

    /// Waits for `found` to give something. The library has no news to wait for here, so it looks every [`POLL`].
    pub(crate) async fn until<T>(found: impl Fn() -> Option<T>) -> T {
        loop {
            if let Some(value) = found() {
                return value;
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

const POLL: Duration = Duration::from_millis(10);

/// A publish handle: the writer and its place in the node list.
struct CyclonePublisher {
    writer: Writer,
    /// Whether the source time is the stamp of the message. A lifespan counts from when it was really published.
    stamped: bool,
    _entry: ros::Entry,
}

impl Publisher for CyclonePublisher {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        self.writer.write(msg, (self.stamped && stamp.ns > 0).then_some(stamp.ns))
    }

    fn matched(&self) -> usize {
        self.writer.matched()
    }
}
