//! What every endpoint is made with.

use std::{
    collections::HashSet,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use rostrans_core::{
    adapter::AdapterError,
    jobs::Job,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};
use tokio::sync::mpsc;
use zenoh::Session;

use crate::{
    graph::Graph,
    link::Link,
    stats::Counters,
    wire::{Endpoint, Gid, Kind, NO_HASH, Token, data_key},
};

/// One node's identity and what its endpoints share.
pub(crate) struct Context {
    pub(crate) link: Link,
    pub(crate) graph: Arc<Graph>,
    pub(crate) counters: Arc<Counters>,
    /// Work for the adapter's `run`.
    pub(crate) jobs: mpsc::Sender<Job>,
    pub(crate) domain: u16,
    pub(crate) namespace: String,
    pub(crate) node: String,
    pub(crate) type_hashes: bool,
    pub(crate) registry: Arc<TypeRegistry>,
    pub(crate) next_id: AtomicU64,
    pub(crate) own: RwLock<HashSet<Gid>>,
}

/// An endpoint of ours before it has a session.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    /// Where its data go.
    pub(crate) key: String,
    pub(crate) id: u64,
    pub(crate) endpoint: Endpoint,
}

impl Context {
    /// A publisher or subscription.
    ///
    /// **Errors**: unknown type.
    pub(crate) fn topic(&self, spec: &TopicSpec) -> Result<Entity, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(spec.msg_type.to_string());
        let hash = *self.registry.message(&spec.msg_type).map_err(unknown)?.rihs01();
        Ok(self.entity(&spec.name, &spec.msg_type, &hash, spec.qos))
    }

    /// A server or client.
    ///
    /// **Errors**: unknown type.
    pub(crate) fn service(&self, spec: &ServiceSpec) -> Result<Entity, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(spec.srv_type.to_string());
        let hash = *self.registry.service(&spec.srv_type).map_err(unknown)?.rihs01();
        Ok(self.entity(&spec.name, &spec.srv_type, &hash, Qos::reliable()))
    }

    fn entity(&self, name: &TopicName, type_name: &TypeName, hash: &[u8; 32], qos: Qos) -> Entity {
        let hash = if self.type_hashes { rostrans_schema::rihs01_text(hash) } else { NO_HASH.to_owned() };
        Entity {
            key: data_key(self.domain, name, type_name, &hash),
            id: self.next_id.fetch_add(1, Relaxed),
            endpoint: Endpoint { name: name.to_string(), type_name: type_name.dds(), hash, qos },
        }
    }

    /// The liveliness key of our node.
    pub(crate) fn node_token(&self, session: &Session) -> String {
        self.token(session, Kind::Node, 0, None).to_key()
    }

    /// The liveliness key of an endpoint, and its GID.
    pub(crate) fn endpoint_token(&self, session: &Session, kind: Kind, entity: &Entity) -> (String, Gid) {
        let key = self.token(session, kind, entity.id, Some(entity.endpoint.clone())).to_key();
        let gid = Gid::of(&key);
        (key, gid)
    }

    fn token(&self, session: &Session, kind: Kind, entity_id: u64, endpoint: Option<Endpoint>) -> Token {
        Token {
            domain: self.domain.into(),
            session: session.zid().to_string(),
            node_id: 0,
            entity_id,
            kind,
            enclave: "/".to_owned(),
            namespace: self.namespace.clone(),
            node: self.node.clone(),
            endpoint,
        }
    }

    /// Whether a publisher of this adapter has this GID.
    pub(crate) fn is_own(&self, gid: Gid) -> bool {
        self.own.read().unwrap_or_else(PoisonError::into_inner).contains(&gid)
    }

    /// Makes a GID known as ours, or forgets it.
    pub(crate) fn set_own(&self, gid: Gid, own: bool) {
        let mut gids = self.own.write().unwrap_or_else(PoisonError::into_inner);
        if own {
            gids.insert(gid);
        } else {
            gids.remove(&gid);
        }
    }
}

/// The system's clock, in ns since 1970: what attachments have.
pub(crate) fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}
