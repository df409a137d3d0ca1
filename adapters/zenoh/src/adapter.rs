//! The adapter itself.

use std::{
    future::ready,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, Publisher, RosAdapter, RosVersion, SampleSink, ServiceClient,
        ServiceHandler,
    },
    backoff::Backoff,
    jobs::Jobs,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};
use zenoh::{Config, Wait};

use crate::{
    client::Client,
    config::{Mode, ZenohConfig, refused},
    context::Context,
    graph::Graph,
    link::Link,
    presence::Presence,
    publisher::ZenohPublisher,
    server::Server,
    stats::{Counters, ZenohStats},
    subscription::Subscription,
    wire::Token,
};

/// One node in a ROS 2 graph, over Zenoh.
///
/// Topics work from the start; a client whose router is not there yet looks for it in [`RosAdapter::run`]. Offered services
/// answer while that runs. Needs a multi-threaded tokio runtime.
pub struct ZenohAdapter {
    info: AdapterInfo,
    context: Arc<Context>,
    jobs: Jobs,
    presence: Arc<Presence>,
    config: Config,
    /// Where it connects to, for the log; empty where it waits for others.
    waits_for: String,
}

impl ZenohAdapter {
    /// Opens the session, which takes half a second when there is no router.
    ///
    /// **Errors**: bad node name, a configuration that Zenoh refuses, or an address that cannot be listened at.
    pub fn new(config: ZenohConfig) -> Result<Arc<Self>, AdapterError> {
        let full_name = config.full_name()?;
        let (mode, session) = config.session()?;
        let endpoints = |key| session.get_json(key).unwrap_or_default().replace(['[', ']', '"'], "");
        let (connect, listen) = (endpoints("connect/endpoints"), endpoints("listen/endpoints"));
        let place = match mode {
            Mode::Router => format!("listening at {listen}"),
            Mode::Client | Mode::Peer => format!("router {connect}"),
        };
        let summary = format!("domain {}, {mode}, {place}, node {full_name}", config.domain);
        let counters = Arc::<Counters>::default();
        let (sender, jobs) = Jobs::new();
        let context = Arc::new(Context {
            link: Link::new(),
            graph: Arc::new(Graph::new(Arc::clone(&counters))),
            counters,
            jobs: sender,
            domain: config.domain,
            namespace: config.namespace,
            node: config.node_name,
            type_hashes: config.type_hashes,
            registry: config.registry,
            next_id: AtomicU64::new(1),
            own: Default::default(),
        });
        let presence = Presence::new(&context);
        context.link.add(&presence)?;
        let adapter = Arc::new(Self {
            info: AdapterInfo { name: "zenoh", version: RosVersion::Ros2, summary },
            context,
            jobs,
            presence,
            config: session,
            waits_for: if mode == Mode::Router { String::new() } else { connect },
        });
        let mut first = adapter.config.clone();
        if mode == Mode::Client {
            first
                .insert_json5("connect/timeout_ms", FIRST_MS)
                .map_err(|e| refused(FIRST_MS.to_owned(), e))?;
        }
        match zenoh::open(first).wait() {
            Ok(session) => adapter.context.link.open(&session),
            Err(error) if mode == Mode::Client => debug!(%error, "no Zenoh router yet"),
            Err(error) => return Err(refused(format!("cannot open a Zenoh {mode} at {listen}"), error)),
        }
        Ok(adapter)
    }

    /// Counters since the start.
    pub fn stats(&self) -> ZenohStats {
        self.context.counters.snapshot()
    }

    /// Every node and endpoint of the domain, our own included, in no order.
    pub fn graph(&self) -> Vec<Token> {
        self.context.graph.tokens()
    }

    /// Where it can be reached, `tcp/127.0.0.1:41234`; empty before there is a session.
    pub fn locators(&self) -> Vec<String> {
        let Some(session) = self.context.link.session() else { return Vec::new() };
        session.info().locators().wait().iter().map(ToString::to_string).collect()
    }

    /// Opens a client's session as soon as its router is there. Zenoh itself connects again later. Never resolves.
    async fn open(&self) {
        let mut backoff = Backoff::new();
        while self.context.link.session().is_none() && !self.context.link.is_closed() {
            match zenoh::open(self.config.clone()).await {
                Ok(session) => self.context.link.open(&session),
                Err(error) => {
                    debug!(%error, "no Zenoh router yet");
                    tokio::time::sleep(backoff.next_delay()).await;
                }
            }
        }
        std::future::pending().await
    }

    /// Says once what Zenoh does not do.
    fn check(topic: &TopicSpec) {
        if topic.qos.is_timed() {
            warn!(topic = %topic.name, "deadline, lifespan and liveliness are announced over Zenoh but not enforced");
        }
    }
}

impl RosAdapter for ZenohAdapter {
    fn info(&self) -> &AdapterInfo {
        &self.info
    }

    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        Self::check(topic);
        let publisher = ZenohPublisher::new(&self.context, topic);
        Box::pin(ready(publisher.map(|publisher| publisher as Arc<dyn Publisher>)))
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Self::check(topic);
        Box::pin(ready(Subscription::new(&self.context, topic, sink, false).map(Guard::new)))
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Self::check(topic);
        Box::pin(ready(Subscription::new(&self.context, topic, sink, true).map(Guard::new)))
    }

    fn offers(&self, topic: &TopicName) -> Option<Vec<Qos>> {
        let session = self.context.link.session()?;
        Some(self.context.graph.offers(topic.as_str(), &session.zid().to_string()))
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        let client = Client::new(&self.context, service);
        Box::pin(ready(client.map(|client| client as Arc<dyn ServiceClient>)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(ready(Server::new(&self.context, service, handler).map(Guard::new)))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.open() => {}
                () = self.jobs.run() => {}
                () = self.presence.watch(&self.waits_for), if !self.waits_for.is_empty() => {}
            }
            // A router that does not answer must not hold up the end.
            if tokio::time::timeout(CLOSING, self.context.link.close()).await.is_err() {
                warn!("the Zenoh session did not close in time");
            }
            Ok(())
        })
    }
}

/// How long the start waits for a client's router. A number of JSON.
const FIRST_MS: &str = "500";

const CLOSING: Duration = Duration::from_secs(2);
