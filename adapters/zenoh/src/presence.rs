//! Our node in the graph, and the graph around it.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicUsize, atomic::Ordering::Relaxed},
    time::Duration,
};

use tracing::{debug, info, warn};
use zenoh::{
    Session, Wait,
    config::WhatAmI,
    liveliness::LivelinessToken,
    pubsub::Subscriber,
    sample::SampleKind,
    session::{TransportEvent, TransportEventsListener},
};

use crate::{context::Context, link::Attach, wire::domain_tokens};

/// What makes our node visible and others visible to us.
pub(crate) struct Presence {
    context: Arc<Context>,
    connections: Arc<AtomicUsize>,
    declared: OnceLock<(LivelinessToken, Subscriber<()>, TransportEventsListener<()>)>,
}

impl Presence {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            connections: Arc::default(),
            declared: OnceLock::new(),
        })
    }

    /// Says so when nobody is connected some time after the start. Never resolves.
    pub(crate) async fn watch(&self, waits_for: &str) {
        tokio::time::sleep(QUIET).await;
        if self.connections.load(Relaxed) == 0 {
            warn!(
                "no Zenoh router or peer yet at {waits_for}; start one, or set zenoh_connect; still trying"
            );
        }
        std::future::pending().await
    }
}

const QUIET: Duration = Duration::from_secs(3);

impl Attach for Presence {
    fn name(&self) -> String {
        "the node".to_owned()
    }

    fn attach(&self, session: &Session) -> zenoh::Result<()> {
        let connections = Arc::clone(&self.connections);
        let listener = session
            .info()
            .transport_events_listener()
            .history(true)
            .callback(move |event| connected(&event, &connections))
            .wait()?;
        let graph = Arc::clone(&self.context.graph);
        let tokens = session
            .liveliness()
            .declare_subscriber(domain_tokens(self.context.domain))
            .history(true)
            .callback(move |sample| match sample.kind() {
                SampleKind::Put => graph.put(sample.key_expr().as_str()),
                SampleKind::Delete => graph.delete(sample.key_expr().as_str()),
            })
            .wait()?;
        let token = session.liveliness().declare_token(self.context.node_token(session)).wait()?;
        let _only_once = self.declared.set((token, tokens, listener));
        Ok(())
    }
}

/// Counts connections; says when there is a first and when the last is lost.
fn connected(event: &TransportEvent, connections: &AtomicUsize) {
    let id = event.transport().zid();
    let router = event.transport().whatami() == WhatAmI::Router;
    match event.kind() {
        SampleKind::Put => {
            connections.fetch_add(1, Relaxed);
            if router {
                info!(%id, "connected to a Zenoh router");
            } else {
                debug!(%id, "connected to a Zenoh peer or client");
            }
        }
        SampleKind::Delete => {
            connections.fetch_sub(1, Relaxed);
            if router {
                warn!(%id, "connection to a Zenoh router lost; trying again");
            } else {
                debug!(%id, "connection to a Zenoh peer or client lost");
            }
        }
    }
}
