//! A ROS graph inside this process.
//!
//! Publishers, subscriptions and services meet by name and type, with the QoS rules of ROS 2, and nothing leaves
//! the process. It is what `--dry-run` starts and what tests look into: every publish is counted and the latest
//! are kept ([`MemoryAdapter::published`]), samples can be injected ([`MemoryAdapter::inject`]), and subscribers
//! can be pretended ([`MemoryAdapter::pretend_subscribers`]).
//!
//! It does not check types against a registry and never loses a sample between matching endpoints. Deadlines, lifespans
//! and liveliness are refused: nothing here would keep them.

mod service;
mod topic;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, CallError, Guard, PublishError, Publisher, RosAdapter, RosVersion,
        SampleSink, ServiceClient, ServiceHandler,
    },
    clock::RosTime,
    codec::Sample,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::TypeName;
use tokio_util::sync::CancellationToken;

use crate::{
    service::{Answer, Client, Services},
    topic::{MemoryPublisher, Of, Switches, Topic},
};

/// A ROS graph inside this process.
pub struct MemoryAdapter {
    info: AdapterInfo,
    record_limit: usize,
    topics: Mutex<HashMap<(String, TypeName), Arc<Topic>>>,
    services: Arc<Services>,
    offers: Mutex<HashMap<String, Vec<Qos>>>,
    switches: Arc<Switches>,
}

impl MemoryAdapter {
    /// An empty graph that keeps the last `record_limit` samples of each topic for [`MemoryAdapter::published`].
    ///
    /// With 0 publishes are only counted: no sample is kept alive, as on a real network.
    pub fn new(version: RosVersion, record_limit: usize) -> Arc<Self> {
        let summary = "in-process bus, nothing leaves this process".to_owned();
        Arc::new(Self {
            info: AdapterInfo { name: "memory", version, summary },
            record_limit,
            topics: Mutex::default(),
            services: Arc::default(),
            offers: Mutex::default(),
            switches: Arc::default(),
        })
    }

    /// Makes every publisher report `count` subscribers more than there are.
    pub fn pretend_subscribers(&self, count: usize) {
        self.switches.pretend(count);
    }

    /// Makes [`RosAdapter::offers`] tell of these foreign publishers of a topic; `None` makes it know nothing again.
    pub fn pretend_offers(&self, topic: &str, offers: Option<Vec<Qos>>) {
        let mut known = lock(&self.offers);
        known.remove(topic);
        known.extend(offers.map(|offers| (topic.to_owned(), offers)));
    }

    /// Makes every publish fail with `error`, or succeed again with `None`.
    pub fn refuse_publishes(&self, error: Option<PublishError>) {
        self.switches.refuse(error);
    }

    /// The kept samples of a topic, oldest first; empty when nobody publishes it.
    pub fn published(&self, topic: &str) -> Vec<Sample> {
        self.named(topic).iter().flat_map(|t| t.recorded()).collect()
    }

    /// How many samples were published on a topic, injected ones not counted.
    pub fn publish_count(&self, topic: &str) -> u64 {
        self.named(topic).iter().map(|t| t.count()).sum()
    }

    /// Waits until `count` samples were published on a topic; false when `within` passes first.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn wait_published(&self, topic: &str, count: u64, within: Duration) -> bool {
        let enough = async {
            loop {
                let progress = self.switches.progress();
                if self.publish_count(topic) >= count {
                    return;
                }
                progress.await;
            }
        };
        tokio::time::timeout(within, enough).await.is_ok()
    }

    /// Hands a sample to the subscriptions of a topic, whatever their type and QoS, as a foreign node would.
    ///
    /// Returns how many subscriptions got it.
    pub fn inject(&self, topic: &str, stamp: RosTime, payload: CdrBytes) -> usize {
        let sample = Sample { payload, stamp };
        self.named(topic).iter().map(|t| t.inject(&sample)).sum()
    }

    /// Answers a service with a function until the guard is dropped.
    pub fn answer(
        &self,
        service: &ServiceSpec,
        answer: impl Fn(CdrBytes) -> Result<CdrBytes, CallError> + Send + Sync + 'static,
    ) -> Guard {
        Services::offer(&self.services, service, Arc::new(Answer(answer)))
    }

    /// Calls a service, as a foreign node would.
    ///
    /// **Errors**: [`CallError::NoServer`] when nobody offers it before `deadline`, [`CallError::Timeout`] when
    /// the answer does not come before it.
    pub async fn call(
        &self,
        service: &ServiceSpec,
        request: CdrBytes,
        deadline: Instant,
    ) -> Result<CdrBytes, CallError> {
        self.services.call(service, request, deadline).await
    }

    /// Topics with a live publisher, sorted.
    pub fn advertised(&self) -> Vec<String> {
        self.names(Topic::has_publisher)
    }

    /// Topics with a live subscription, sorted.
    pub fn subscribed(&self) -> Vec<String> {
        self.names(Topic::has_subscription)
    }

    /// Services on offer, sorted.
    pub fn offered(&self) -> Vec<String> {
        self.services.names()
    }

    fn topic(&self, spec: &TopicSpec) -> Arc<Topic> {
        let key = (spec.name.as_str().to_owned(), spec.msg_type.clone());
        let new = || Arc::new(Topic::new(self.record_limit, Arc::clone(&self.switches)));
        Arc::clone(lock(&self.topics).entry(key).or_insert_with(new))
    }

    fn named(&self, name: &str) -> Vec<Arc<Topic>> {
        let topics = lock(&self.topics);
        topics.iter().filter(|((n, _), _)| n == name).map(|(_, t)| Arc::clone(t)).collect()
    }

    fn names(&self, wanted: impl Fn(&Topic) -> bool) -> Vec<String> {
        let topics = lock(&self.topics);
        let mut names: Vec<String> =
            topics.iter().filter(|(_, t)| wanted(t)).map(|((n, _), _)| n.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl RosAdapter for MemoryAdapter {
    fn info(&self) -> &AdapterInfo {
        &self.info
    }

    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        let publisher = possible(topic)
            .map(|()| -> Arc<dyn Publisher> { Arc::new(MemoryPublisher::new(self.topic(topic), topic.qos)) });
        Box::pin(std::future::ready(publisher))
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let guard = possible(topic).map(|()| Topic::subscribe(&self.topic(topic), topic.qos, sink, Of::All));
        Box::pin(std::future::ready(guard))
    }

    /// Only what is injected comes from elsewhere.
    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let guard =
            possible(topic).map(|()| Topic::subscribe(&self.topic(topic), topic.qos, sink, Of::Others));
        Box::pin(std::future::ready(guard))
    }

    fn offers(&self, topic: &TopicName) -> Option<Vec<Qos>> {
        lock(&self.offers).get(topic.as_str()).cloned()
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        let client: Arc<dyn ServiceClient> =
            Arc::new(Client::new(Arc::clone(&self.services), service.clone()));
        Box::pin(std::future::ready(Ok(client)))
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        let guard = Services::offer(&self.services, service, handler);
        Box::pin(std::future::ready(Ok(guard)))
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Box::pin(async move {
            cancel.cancelled().await;
            self.switches.refuse(Some(PublishError::Closed));
            Ok(())
        })
    }
}

/// Locks, ignoring poison: every critical section here leaves the data whole.
/// Time plays no role on this bus.
fn possible(topic: &TopicSpec) -> Result<(), AdapterError> {
    if topic.qos.is_timed() {
        return Err(AdapterError::Unsupported {
            adapter: "memory",
            what: "deadline, lifespan and liveliness of the QoS",
        });
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
