//! What one topic of this node sends.

use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, PublishError, Publisher},
    clock::RosTime,
    codec::Sample,
    text::chain,
    topic::{History, Qos, TopicSpec},
};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Subscription, connection::Connection, latch::Latches};
use crate::{
    graph::{Graph, Shared, two_types},
    lock,
    node::Node,
    server::{HANDSHAKE, refuse},
    stats::{Counters, count},
    types::TopicType,
    wire::{Frames, Header},
    xmlrpc::Value,
};

/// A topic with at least one publisher in this node.
pub(crate) struct Publication {
    pub(crate) topic: String,
    pub(crate) kind: TopicType,
    inner: Mutex<Inner>,
    /// Its last handle has gone.
    closed: CancellationToken,
}

#[derive(Default)]
struct Inner {
    pool: BytesMut,
    /// Of the last message.
    seq: u32,
    connections: Vec<Arc<Connection>>,
    latches: Latches,
    /// Handles made so far; each has a number.
    handles: usize,
    /// What this node subscribes of the topic.
    local: Option<Arc<Subscription>>,
    /// Messages that may wait for each subscriber.
    depth: usize,
}

impl Publication {
    /// Adds a handle to the topic's publication, making it if it is the first.
    ///
    /// **Errors**: another type under the same name.
    pub(crate) fn advertise(
        graph: &mut Graph,
        spec: &TopicSpec,
        kind: &TopicType,
    ) -> Result<(Arc<Self>, usize), AdapterError> {
        let topic = spec.name.as_str();
        let shared = graph.publications.entry(topic.to_owned()).or_insert_with(|| Shared {
            it: Arc::new(Self {
                topic: topic.to_owned(),
                kind: kind.clone(),
                inner: Mutex::default(),
                closed: CancellationToken::new(),
            }),
            handles: 0,
        });
        if shared.it.kind.name != kind.name {
            return Err(two_types(topic, shared.it.kind.name.as_str(), kind.name.as_str()));
        }
        shared.handles += 1;
        let mut inner = lock(&shared.it.inner);
        inner.widen(&spec.qos);
        inner.handles += 1;
        let handle = inner.handles;
        inner.latches.add(handle, &spec.qos, &kind.name);
        inner.local = graph.subscriptions.get(topic).filter(|s| s.kind.name == kind.name).cloned();
        Ok((Arc::clone(&shared.it), handle))
    }

    /// Takes a handle away; the last one ends the publication.
    pub(crate) fn withdraw(graph: &mut Graph, topic: &str, handle: usize) {
        let Some(shared) = graph.publications.get_mut(topic) else { return };
        shared.handles -= 1;
        lock(&shared.it.inner).latches.remove(handle);
        if shared.handles == 0 {
            shared.it.closed.cancel();
            graph.publications.remove(topic);
        }
    }

    /// Has samples go to the node's own subscription, or not any more; returns what a new one is owed.
    pub(crate) fn set_local(&self, local: Option<Arc<Subscription>>) -> Vec<Sample> {
        let mut inner = lock(&self.inner);
        inner.local = local;
        inner.latches.samples()
    }

    fn publish(&self, handle: usize, sample: &Sample, counters: &Counters) -> Result<(), PublishError> {
        let local = {
            let mut inner = lock(&self.inner);
            if !inner.connections.is_empty() || !inner.latches.is_empty() {
                self.send(&mut inner, handle, sample, counters)?;
            }
            inner.local.clone()
        };
        // Outside the lock: a sink may publish.
        if let Some(local) = local {
            local.deliver_own(sample);
        }
        Ok(())
    }

    fn send(
        &self,
        inner: &mut Inner,
        handle: usize,
        sample: &Sample,
        counters: &Counters,
    ) -> Result<(), PublishError> {
        let seq = inner.seq.wrapping_add(1);
        let body = self.kind.transcoder.to_ros1(&sample.payload, seq, &mut inner.pool).map_err(|error| {
            count(&counters.malformed);
            debug!(topic = self.topic, error = chain(&error), "sample does not fit its type");
            PublishError::Malformed
        })?;
        if body.len() > Frames::MAX_MESSAGE {
            return Err(PublishError::TooLarge(body.len()));
        }
        inner.latches.keep(handle, seq, sample, &body)?;
        inner.seq = seq;
        for connection in &inner.connections {
            let displaced = connection.send(&body);
            counters.dropped.fetch_add(displaced.count, std::sync::atomic::Ordering::Relaxed);
            if let Some(count) = displaced.tell {
                warn!(
                    topic = self.topic,
                    subscriber = connection.peer,
                    count,
                    "subscriber reads too slowly; messages dropped"
                );
            }
        }
        Ok(())
    }

    fn matched(&self) -> usize {
        let inner = lock(&self.inner);
        inner.connections.len() + inner.local.as_ref().map_or(0, |local| local.own_sinks())
    }

    /// Serves a subscriber that has sent its header, until one of both ends.
    pub(crate) async fn serve(node: &Node, mut stream: TcpStream, header: &Header) {
        let topic = header.get("topic").unwrap_or_default();
        let publication = node.with_graph(|graph| graph.publications.get(topic).map(|p| Arc::clone(&p.it)));
        let Some(publication) = publication else {
            let reason = format!("[{}] is not a publisher of [{}]", node.name, header.shown("topic"));
            return refuse(node, stream, header, &reason).await;
        };
        let kind = &publication.kind;
        let fits =
            |field: &str, ours: &str| header.get(field).is_none_or(|theirs| theirs == "*" || theirs == ours);
        if header.get("md5sum").is_none() || !fits("md5sum", &kind.md5) || !fits("type", &kind.ros1) {
            let reason = format!(
                "{} is {} with md5sum {} here, and {} with md5sum {} for the subscriber; \
                 have both use the same message definition",
                publication.topic,
                kind.ros1,
                kind.md5,
                header.shown("type"),
                header.shown("md5sum")
            );
            return refuse(node, stream, header, &reason).await;
        }
        let latching = !lock(&publication.inner).latches.is_empty();
        let answer = Header::default()
            .with("callerid", &node.name)
            .with("latching", if latching { "1" } else { "0" })
            .with("md5sum", &kind.md5)
            .with("message_definition", &kind.definition)
            .with("topic", &publication.topic)
            .with("type", &kind.ros1);
        if !matches!(timeout(HANDSHAKE, stream.write_all(&answer.to_bytes())).await, Ok(Ok(()))) {
            return;
        }
        let connection = publication.attach(stream, node.connection_id(), header.shown("callerid"));
        debug!(topic, subscriber = connection.peer, "subscriber connected");
        tokio::select! {
            () = connection.run() => {}
            () = publication.closed.cancelled() => {}
        }
        debug!(topic, subscriber = connection.peer, "subscriber gone");
        lock(&publication.inner).connections.retain(|other| !Arc::ptr_eq(other, &connection));
    }

    fn attach(&self, stream: TcpStream, id: i32, peer: String) -> Arc<Connection> {
        let mut inner = lock(&self.inner);
        let owed = inner.latches.bodies();
        let connection = Arc::new(Connection::new(stream, id, peer, owed, inner.depth));
        inner.connections.push(Arc::clone(&connection));
        connection
    }

    /// `[id, subscriber, "o", "TCPROS", topic, connected]` for each connection.
    pub(crate) fn bus_info(&self) -> Vec<Value> {
        let entry = |c: &Arc<Connection>| {
            let (peer, topic) = (c.peer.as_str().into(), self.topic.as_str().into());
            Value::Array(vec![c.id.into(), peer, "o".into(), "TCPROS".into(), topic, 1.into()])
        };
        lock(&self.inner).connections.iter().map(entry).collect()
    }

    /// `[topic, bytes, [[id, bytes, messages, connected], ...]]`; XML-RPC has 32 bits.
    pub(crate) fn bus_stats(&self) -> Value {
        let inner = lock(&self.inner);
        let small = |number: u64| Value::Int(i32::try_from(number).unwrap_or(i32::MAX));
        let sent: Vec<_> = inner.connections.iter().map(|c| (c.id, c.sent())).collect();
        let total = sent.iter().map(|(_, sent)| sent.bytes).sum();
        let entry = |(id, sent): &(i32, super::connection::Sent)| {
            Value::Array(vec![(*id).into(), small(sent.bytes), small(sent.messages), 1.into()])
        };
        let connections = Value::Array(sent.iter().map(entry).collect());
        Value::Array(vec![self.topic.as_str().into(), small(total), connections])
    }
}

impl Inner {
    /// Makes the promises of one more handle.
    fn widen(&mut self, qos: &Qos) {
        let all = qos.history == History::KeepAll;
        let depth = if all { usize::MAX } else { usize::from(qos.depth.max(1)) };
        self.depth = self.depth.max(depth);
    }
}

/// A publish handle; the last one of a topic withdraws it.
pub(crate) struct Ros1Publisher {
    pub(crate) node: Arc<Node>,
    pub(crate) publication: Arc<Publication>,
    /// Its number at the publication.
    pub(crate) handle: usize,
}

impl Publisher for Ros1Publisher {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        if self.node.ended.is_cancelled() {
            return Err(PublishError::Closed);
        }
        self.publication.publish(self.handle, &Sample { payload: msg.clone(), stamp }, &self.node.counters)
    }

    fn matched(&self) -> usize {
        self.publication.matched()
    }
}

impl Drop for Ros1Publisher {
    fn drop(&mut self) {
        self.node.withdraw(|graph| Publication::withdraw(graph, &self.publication.topic, self.handle));
    }
}
