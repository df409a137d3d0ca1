//! Connections to publishers.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Instant,
};

use bytes::BytesMut;
use rostrans_core::{
    backoff::Backoff, clock::SystemClock, codec::Sample, text::chain, throttle::LogThrottle,
};
use thiserror::Error;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use super::{Subscription, subscription::LinkState};
use crate::{
    node::Node,
    server::{HANDSHAKE, keep_alive},
    stats::count,
    wire::{FrameError, Frames, Header, HeaderError, MAX_HEADER},
    xmlrpc::{Address, ApiError, Value, call},
};

/// Connects every subscription to every publisher of its topic, and follows what changes. Never resolves.
pub(crate) async fn follow(node: &Arc<Node>) {
    let mut running = JoinSet::new();
    let mut links: HashMap<(String, String), (Arc<Subscription>, AbortHandle)> = HashMap::new();
    loop {
        let wanted = wanted(node);
        links.retain(|key, (subscription, task)| {
            // A topic that was given up and subscribed again has another subscription.
            let stays = wanted.get(key).is_some_and(|s| Arc::ptr_eq(s, subscription)) && !task.is_finished();
            if !stays {
                task.abort();
                subscription.linked(&key.1, None);
            }
            stays
        });
        for (key, subscription) in wanted {
            links.entry(key).or_insert_with_key(|(_, uri)| {
                let state = Arc::new(LinkState { id: node.connection_id(), ..LinkState::default() });
                subscription.linked(uri, Some(Arc::clone(&state)));
                let link = Link {
                    node: Arc::clone(node),
                    subscription: Arc::clone(&subscription),
                    uri: uri.clone(),
                    state,
                };
                let task = running.spawn(link.run());
                (subscription, task)
            });
        }
        tokio::select! {
            () = node.links.notified() => {}
            Some(ended) = running.join_next() => {
                if let Err(error) = ended && error.is_panic() {
                    warn!(%error, "a subscription failed; connecting again");
                }
            }
        }
    }
}

/// Every publisher of every subscription but ourselves: own samples do not leave the process.
fn wanted(node: &Node) -> HashMap<(String, String), Arc<Subscription>> {
    let own = node.api_uri();
    node.with_graph(|graph| {
        let each = graph.subscriptions.values().flat_map(|subscription| {
            let key = |uri| ((subscription.topic.clone(), uri), Arc::clone(subscription));
            subscription.publishers().into_iter().map(key)
        });
        each.filter(|((_, uri), _)| *uri != own).collect()
    })
}

/// Why a link is down.
#[derive(Debug, Error)]
enum LinkError {
    #[error("asking the publisher: {0}")]
    Api(#[from] ApiError),
    #[error("no answer in time")]
    Timeout,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("malformed connection header: {0}")]
    Header(#[from] HeaderError),
    #[error("the publisher offers no TCPROS")]
    Protocol,
    #[error("the publisher refuses: {0}")]
    Refused(String),
    #[error(
        "the publisher has {theirs}, this node subscribes {ours}; have both use the same message definition"
    )]
    Mismatch { theirs: String, ours: String },
}

impl LinkError {
    /// Whether only somebody who changes something can help.
    fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Header(_)
                | Self::Protocol
                | Self::Refused(_)
                | Self::Mismatch { .. }
                | Self::Frame(FrameError::TooLong { .. })
        )
    }
}

/// One connection to one publisher, made again until it is not wanted any more.
struct Link {
    node: Arc<Node>,
    subscription: Arc<Subscription>,
    uri: String,
    state: Arc<LinkState>,
}

impl Link {
    async fn run(self) {
        let mut backoff = Backoff::new();
        let mut told = false;
        loop {
            let Err(error) = self.connect_and_read(&mut backoff).await;
            self.state.connected.store(false, Relaxed);
            let (topic, publisher) = (&self.subscription.topic, &self.uri);
            if error.is_lasting() && !std::mem::replace(&mut told, true) {
                count(&self.node.counters.refused);
                warn!(topic, publisher, "cannot subscribe: {error}");
            } else {
                debug!(topic, publisher, %error, "no connection to a publisher");
            }
            sleep(backoff.next_delay()).await;
        }
    }

    async fn connect_and_read(&self, backoff: &mut Backoff) -> Result<std::convert::Infallible, LinkError> {
        let (mut stream, mut frames, latching) =
            timeout(HANDSHAKE, self.connect()).await.map_err(|_| LinkError::Timeout)??;
        backoff.reset();
        self.state.latching.store(latching, Relaxed);
        self.state.connected.store(true, Relaxed);
        debug!(topic = self.subscription.topic, publisher = self.uri, "connected to a publisher");
        let transcoder = &self.subscription.kind.transcoder;
        let mut pool = BytesMut::new();
        let mut misfits = LogThrottle::new();
        loop {
            let body = frames.next(&mut stream, Frames::MAX_MESSAGE).await?;
            self.state.bytes.fetch_add(4 + body.len() as u64, Relaxed);
            match transcoder.to_ros2(&body, &mut pool) {
                Ok(payload) => {
                    // Its memory is free for the next message.
                    drop(body);
                    let sample = Sample { payload, stamp: SystemClock::wall(Instant::now()) };
                    if latching {
                        self.subscription.deliver_latched(&self.uri, &sample);
                    } else {
                        self.subscription.deliver(&sample);
                    }
                }
                Err(error) => {
                    count(&self.node.counters.malformed);
                    if let Some(count) = misfits.event(Instant::now()) {
                        let topic = &self.subscription.topic;
                        warn!(topic, publisher = self.uri, count, error = chain(&error), "message ignored");
                    }
                }
            }
        }
    }

    async fn connect(&self) -> Result<(TcpStream, Frames, bool), LinkError> {
        let (node, topic, kind) = (&self.node, &self.subscription.topic, &self.subscription.kind);
        let api = Address::parse(&self.uri, "http").ok_or(LinkError::Protocol)?;
        let protocols = Value::Array(vec![Value::Array(vec!["TCPROS".into()])]);
        let params = [node.name.as_str().into(), topic.as_str().into(), protocols];
        let offer = call(&api, "requestTopic", &params).await?;
        let mut stream = tcpros(&offer).ok_or(LinkError::Protocol)?.connect().await?;
        keep_alive(&stream);
        let header = Header::default()
            .with("callerid", &node.name)
            .with("topic", topic)
            .with("type", &kind.ros1)
            .with("md5sum", &kind.md5)
            .with("message_definition", &kind.definition)
            .with("tcp_nodelay", "1");
        stream.write_all(&header.to_bytes()).await?;
        let mut frames = Frames::default();
        let answer = Header::parse(&frames.next(&mut stream, MAX_HEADER).await?)?;
        if let Some(reason) = answer.get("error") {
            return Err(LinkError::Refused(crate::reason(reason)));
        }
        let fits = |field, ours: &str| answer.get(field).is_none_or(|theirs| theirs == "*" || theirs == ours);
        if !fits("md5sum", &kind.md5) || !fits("type", &kind.ros1) {
            let named = |name: &str, sum: &str| format!("{name} with md5sum {sum}");
            let theirs = named(&answer.shown("type"), &answer.shown("md5sum"));
            return Err(LinkError::Mismatch { theirs, ours: named(&kind.ros1, &kind.md5) });
        }
        Ok((stream, frames, answer.flag("latching")))
    }
}

/// Host and port of `["TCPROS", host, port]`.
fn tcpros(offer: &Value) -> Option<Address> {
    let [protocol, host, port] = offer.as_array()? else { return None };
    let port = u16::try_from(port.as_int()?).ok().filter(|port| *port != 0)?;
    (protocol.as_str() == Some("TCPROS")).then(|| Some(Address { host: host.as_str()?.to_owned(), port }))?
}
