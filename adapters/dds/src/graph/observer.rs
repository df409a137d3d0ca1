//! A participant that only looks.

use std::sync::Arc;

use rostrans_core::adapter::AdapterError;
use rostrans_rtps::{Limits, Participant, ParticipantConfig, ParticipantStats, Reader};
use tokio::sync::Notify;

use super::{Graph, build::Own};
use crate::{adapter::refused, env::Discovery, node, peers::Peers};

/// Sees the graph without being in it: no node, no topic, one reader of the node lists.
///
/// `ros2 node list` and `ros2 topic list` do not show it.
pub struct Observer {
    participant: Participant,
    peers: Arc<Peers>,
    changed: Arc<Notify>,
    _node_lists: Reader,
}

impl Observer {
    /// Opens the sockets and begins to look; `interfaces` are names or addresses, none means all.
    ///
    /// Finding the addresses of static peers takes as long as the network likes.
    ///
    /// **Errors**: bad domain, no free participant id, socket or thread failure.
    pub fn new(discovery: &Discovery, interfaces: Vec<String>) -> Result<Self, AdapterError> {
        let participant = Participant::new(ParticipantConfig {
            domain: discovery.domain,
            range: discovery.range,
            static_peers: discovery.resolve(),
            family: discovery.ip_family(),
            interfaces,
            // No enclave: it is no participant of ROS.
            user_data: Vec::new(),
            limits: Limits {
                peers: MAX_PEERS,
                endpoints_per_peer: MAX_ENDPOINTS,
                sample_bytes: MAX_LIST,
                ..Limits::default()
            },
            ..ParticipantConfig::default()
        })
        .map_err(refused)?;
        let peers = Arc::new(Peers::default());
        let changed = Arc::new(Notify::new());
        let (heard, notify) = (Arc::clone(&peers), Arc::clone(&changed));
        let sink = Arc::new(move |sample| {
            heard.heard(sample);
            notify.notify_one();
        });
        let node_lists = participant.create_reader(node::list_endpoint(), sink).map_err(refused)?;
        let notify = Arc::clone(&changed);
        participant.on_graph_change(Arc::new(move || notify.notify_one()));
        Ok(Self { participant, peers, changed, _node_lists: node_lists })
    }

    /// What is known now.
    pub fn graph(&self) -> Graph {
        let found = self.participant.discovered();
        self.peers.keep(|prefix| found.participants.iter().any(|p| p.guid.prefix == *prefix));
        let own = Own { guid: self.participant.guid(), list: None };
        self.peers.with_lists(|lists| Graph::build(found, lists, own))
    }

    /// Waits until the graph changes; a change since the last call counts.
    ///
    /// **Cancel safety**: no change is missed.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Counters of the RTPS engine.
    pub fn stats(&self) -> ParticipantStats {
        self.participant.stats()
    }

    /// Says goodbye to the other participants.
    pub fn close(&self) {
        self.participant.close();
    }
}

/// Participants seen at most.
const MAX_PEERS: usize = 4096;

/// Endpoints of one participant seen at most.
const MAX_ENDPOINTS: usize = 1 << 16;

/// Longest node list taken, bytes: that of some ten thousand endpoints.
const MAX_LIST: usize = 1 << 20;
