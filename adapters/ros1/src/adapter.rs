//! The adapter itself.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, Publisher, RosAdapter, RosVersion, SampleSink, ServiceClient,
        ServiceHandler,
    },
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use tokio::{sync::watch, time::interval};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{ConfigError, Ros1Config},
    node::Node,
    registrar::Registrar,
    server,
    service::{Client, Service},
    stats::Ros1Stats,
    topic::{self, Publication, Ros1Publisher, Sink, Subscription},
    types::TopicType,
};

/// One node in a ROS 1 graph.
///
/// Endpoints are announced, connected and answered while [`RosAdapter::run`] runs. The master need not be there yet.
pub struct Ros1Adapter {
    info: AdapterInfo,
    node: Arc<Node>,
    api: TcpListener,
    data: TcpListener,
}

impl Ros1Adapter {
    /// Opens the ports of a node; nothing is sent yet.
    ///
    /// **Errors**: settings that cannot be, or no free port.
    pub fn new(config: &Ros1Config) -> Result<Arc<Self>, AdapterError> {
        let invalid = |error: ConfigError| refused(&error);
        config.check().map_err(invalid)?;
        let name = config.full_name().map_err(invalid)?;
        let master = config.master().map_err(invalid)?;
        let bind = if config.is_local() { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
        let (api, api_port) = listen(bind)?;
        let (data, data_port) = listen(bind)?;
        let summary = format!("master {}, node {name}", config.master_uri);
        let node = Node::new(
            name,
            config.master_uri.clone(),
            master,
            config.host.clone(),
            (api_port, data_port),
            Arc::clone(&config.registry),
        );
        let info = AdapterInfo { name: "ros1", version: RosVersion::Ros1, summary };
        Ok(Arc::new(Self { info, node: Arc::new(node), api, data }))
    }

    /// Counters since the start.
    pub fn stats(&self) -> Ros1Stats {
        self.node.counters.snapshot()
    }

    /// What the parameter `/use_sim_time` says; `None` while it is not set or there is no master.
    pub fn use_sim_time(&self) -> watch::Receiver<Option<bool>> {
        self.node.use_sim_time.subscribe()
    }

    fn publisher(&self, topic: &TopicSpec) -> Result<Arc<dyn Publisher>, AdapterError> {
        let kind = TopicType::load(&self.node.registry, &topic.msg_type)?;
        let (publication, handle) = self.node.change(|graph| Publication::advertise(graph, topic, &kind))?;
        Ok(Arc::new(Ros1Publisher { node: Arc::clone(&self.node), publication, handle }))
    }

    fn subscription(&self, topic: &TopicSpec, sink: Sink) -> Result<Guard, AdapterError> {
        let kind = TopicType::load(&self.node.registry, &topic.msg_type)?;
        let added = sink.clone();
        let (subscription, owed) =
            self.node.change(|graph| Subscription::subscribe(graph, topic, &kind, added))?;
        for sample in owed {
            (sink.take)(sample);
        }
        Ok(Subscription::guard(Arc::clone(&self.node), subscription, sink))
    }

    /// Closes idle connections to services. Never resolves.
    async fn prune(&self) {
        let mut tick = interval(Duration::from_secs(1));
        loop {
            tick.tick().await;
            self.node.prune_pools(Instant::now());
        }
    }
}

impl RosAdapter for Ros1Adapter {
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
        Box::pin(std::future::ready(self.subscription(topic, Sink { take: sink, own: true })))
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(std::future::ready(self.subscription(topic, Sink { take: sink, own: false })))
    }

    /// Only the header of a connection says whether a publisher is latched.
    fn offers(&self, topic: &TopicName) -> Option<Vec<Qos>> {
        self.node.with_graph(|graph| graph.subscriptions.get(topic.as_str())?.offers())
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        let client = Client::new(Arc::clone(&self.node), service);
        Box::pin(std::future::ready(client.map(|client| Arc::new(client) as Arc<dyn ServiceClient>)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(std::future::ready(Service::offer(&self.node, service, handler)))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            let node = &self.node;
            let mut registrar = Registrar::new(node);
            let failed =
                |source| AdapterError::Io { context: "cannot serve ROS 1 connections".to_owned(), source };
            let ended = tokio::select! {
                biased;
                () = cancel.cancelled() => Ok(()),
                () = node.ended.cancelled() => Ok(()),
                ended = server::serve_api(&self.api, node) => ended.map_err(failed),
                ended = server::serve_data(&self.data, node) => ended.map_err(failed),
                () = topic::follow(node) => Ok(()),
                () = self.prune() => Ok(()),
                () = registrar.run() => Ok(()),
            };
            registrar.leave().await;
            if ended.is_ok() {
                node.ended.cancel();
            }
            ended
        })
    }
}

/// A listening socket at a free port.
fn listen(bind: Ipv4Addr) -> Result<(TcpListener, u16), AdapterError> {
    let open = || {
        let listener = TcpListener::bind((bind, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    open().map_err(|source| AdapterError::Io { context: format!("cannot listen on {bind}"), source })
}

fn refused(error: &ConfigError) -> AdapterError {
    AdapterError::Io { context: error.to_string(), source: io::ErrorKind::InvalidInput.into() }
}
