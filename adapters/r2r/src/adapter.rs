//! The adapter itself.

use std::{ffi::CStr, future::ready, sync::Arc};

use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, Publisher, RosAdapter, RosVersion, SampleSink, ServiceClient,
        ServiceHandler,
    },
    jobs::{Job, Jobs},
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::TypeRegistry;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    library::rcl,
    node::Node,
    service::{Client, Server},
    topic::{R2rPublisher, Subscription, offers},
    types::{MessageSupport, ServiceSupport},
    waiter::Waiter,
};

/// What to join as.
#[derive(Clone, Debug)]
pub struct R2rConfig {
    /// Without a `/`.
    pub node_name: String,
    /// `/`, or `/uav1`.
    pub namespace: String,
    /// `ROS_DOMAIN_ID`; all else that ROS has in variables is read by its libraries.
    pub domain: u16,
    /// Types; those of the sourced ROS must be the same.
    pub registry: Arc<TypeRegistry>,
}

/// One node in a ROS 2 graph, through the sourced ROS.
///
/// Topics and calls work from the start; offered services answer while [`RosAdapter::run`] runs.
pub struct R2rAdapter {
    info: AdapterInfo,
    registry: Arc<TypeRegistry>,
    node: Arc<Node>,
    waiter: Waiter,
    sender: mpsc::Sender<Job>,
    jobs: Jobs,
}

impl R2rAdapter {
    /// Joins the graph.
    ///
    /// **Errors**: ROS is not sourced or is not the one this was built for (with the remedy); what its libraries say.
    pub fn new(config: R2rConfig) -> Result<Arc<Self>, AdapterError> {
        let rcl = rcl()?;
        let R2rConfig { node_name, namespace, domain, registry } = config;
        let node = Arc::new(Node::new(rcl, &node_name, &namespace, domain)?);
        let waiter = Waiter::new(&node)?;
        // SAFETY: gives a constant text that ends in NUL.
        let rmw = unsafe { CStr::from_ptr(rcl.rmw_get_implementation_identifier()) }.to_string_lossy();
        let full_name = format!("{}/{node_name}", namespace.trim_end_matches('/'));
        let summary =
            format!("domain {domain}, ROS 2 {}, {rmw}, node {full_name}", env!("ROSTRANS_BUILT_FOR"));
        let (sender, jobs) = Jobs::new();
        let info = AdapterInfo { name: "r2r", version: RosVersion::Ros2, summary };
        Ok(Arc::new(Self { info, registry, node, waiter, sender, jobs }))
    }

    fn publisher(&self, topic: &TopicSpec) -> Result<Arc<dyn Publisher>, AdapterError> {
        let support = MessageSupport::of(&topic.msg_type, &self.registry)?;
        Ok(Arc::new(R2rPublisher::new(&self.node, topic, support)?))
    }

    fn subscription(&self, topic: &TopicSpec, sink: SampleSink, remote: bool) -> Result<Guard, AdapterError> {
        let support = MessageSupport::of(&topic.msg_type, &self.registry)?;
        Subscription::new(&self.node, &self.waiter, topic, support, sink, remote).map(Guard::new)
    }

    fn client(&self, service: &ServiceSpec) -> Result<Arc<dyn ServiceClient>, AdapterError> {
        let support = ServiceSupport::of(&service.srv_type, &self.registry)?;
        Ok(Arc::new(Client::new(&self.node, &self.waiter, service, support)?))
    }

    fn server(&self, service: &ServiceSpec, handler: Arc<dyn ServiceHandler>) -> Result<Guard, AdapterError> {
        let support = ServiceSupport::of(&service.srv_type, &self.registry)?;
        Server::offer(&self.node, &self.waiter, service, support, handler, self.sender.clone())
    }
}

impl RosAdapter for R2rAdapter {
    fn info(&self) -> &AdapterInfo {
        &self.info
    }

    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        Box::pin(ready(self.publisher(topic)))
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(ready(self.subscription(topic, sink, false)))
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(ready(self.subscription(topic, sink, true)))
    }

    fn offers(&self, topic: &TopicName) -> Option<Vec<Qos>> {
        offers(&self.node, topic)
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        Box::pin(ready(self.client(service)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(ready(self.server(service, handler)))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.jobs.run() => {}
            }
            self.node.close();
            let this = Arc::clone(&self);
            // The thread may be in a callback.
            if tokio::task::spawn_blocking(move || this.waiter.end()).await.is_err() {
                warn!("the thread that waits for ROS did not end");
            }
            Ok(())
        })
    }
}
