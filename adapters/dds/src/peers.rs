//! Names of other nodes' endpoints, for messages to people.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use rostrans_cdr::CdrBytes;
use rostrans_rtps::{Guid, Sample};

use crate::entities::ParticipantEntities;

/// The node lists of other participants.
#[derive(Default)]
pub(crate) struct Peers {
    /// By participant prefix.
    lists: Mutex<HashMap<[u8; 12], ParticipantEntities>>,
}

impl Peers {
    /// Takes in a node list; a malformed one is ignored, as its participant is still usable.
    pub(crate) fn heard(&self, sample: Sample) {
        let list = CdrBytes::new(sample.payload).and_then(|cdr| ParticipantEntities::decode(&cdr).ok());
        if let Some(list) = list {
            // Kept under who sent it, not under what it says: one participant cannot fill the table.
            self.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(sample.writer.prefix, list);
        }
    }

    /// Forgets participants that `alive` does not know.
    pub(crate) fn keep(&self, alive: impl Fn(&[u8; 12]) -> bool) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).retain(|prefix, _| alive(prefix));
    }

    /// Reads all node lists, by participant prefix.
    pub(crate) fn with_lists<T>(&self, f: impl FnOnce(&HashMap<[u8; 12], ParticipantEntities>) -> T) -> T {
        f(&self.lists.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `/node` of an endpoint, once a node lists it.
    pub(crate) fn name_of(&self, endpoint: Guid) -> Option<String> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let mut nodes = lists.get(&endpoint.prefix)?.nodes.iter();
        let owner = nodes.find(|n| n.readers.contains(&endpoint) || n.writers.contains(&endpoint))?;
        Some(owner.full_name())
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::entities::NodeEntities;

    fn endpoint(kind: u8) -> Guid {
        Guid { prefix: [1, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], entity: [0, 0, 1, kind] }
    }

    fn heard(payload: bytes::Bytes) -> Sample {
        Sample { payload, writer: endpoint(3), seq: 1, related: None, source_time: None }
    }

    #[test]
    fn endpoints_are_called_by_their_node() {
        let peers = Peers::default();
        assert_eq!(peers.name_of(endpoint(4)), None);
        let node = NodeEntities {
            namespace: "/robot".into(),
            name: "camera".into(),
            readers: vec![endpoint(4)],
            writers: vec![],
        };
        let list = ParticipantEntities { participant: endpoint(0xc1), nodes: vec![node] };
        peers.heard(heard(list.to_sample(false).into_bytes()));
        assert_eq!(peers.name_of(endpoint(4)).unwrap(), "/robot/camera");
        peers.heard(heard(bytes::Bytes::from_static(b"nonsense")));
        assert_eq!(peers.name_of(endpoint(4)).unwrap(), "/robot/camera");
        peers.keep(|_| false);
        assert_eq!(peers.name_of(endpoint(4)), None);
    }
}
