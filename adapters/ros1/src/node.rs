//! What all parts of one node share.

use std::{
    process,
    sync::{
        Arc, Mutex, OnceLock, Weak,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    time::Instant,
};

use rostrans_core::adapter::AdapterError;
use rostrans_schema::TypeRegistry;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    graph::Graph,
    lock,
    service::Pool,
    stats::Counters,
    xmlrpc::{Address, ApiError, Value, call},
};

/// One node of a ROS 1 graph.
pub(crate) struct Node {
    /// Its full name, which is its caller id.
    pub(crate) name: String,
    /// As configured, for people and for `getMasterUri`.
    pub(crate) master_uri: String,
    pub(crate) master: Address,
    pub(crate) registry: Arc<TypeRegistry>,
    /// Under which others reach this machine; found when the master is.
    pub(crate) host: OnceLock<String>,
    pub(crate) api_port: u16,
    /// Of the TCPROS server.
    pub(crate) data_port: u16,
    graph: Mutex<Graph>,
    /// What is to be registered has changed.
    pub(crate) registrations: Notify,
    /// What is subscribed, or who publishes it, has changed.
    pub(crate) links: Notify,
    pub(crate) use_sim_time: watch::Sender<Option<bool>>,
    /// The adapter has ended, or somebody told the node to.
    pub(crate) ended: CancellationToken,
    pub(crate) counters: Counters,
    next_connection: AtomicI32,
    /// Idle connections of service clients.
    pools: Mutex<Vec<Weak<Pool>>>,
}

impl Node {
    pub(crate) fn new(
        name: String,
        master_uri: String,
        master: Address,
        host: Option<String>,
        ports: (u16, u16),
        registry: Arc<TypeRegistry>,
    ) -> Self {
        let known = host.map_or_else(OnceLock::new, OnceLock::from);
        Self {
            name,
            master_uri,
            master,
            registry,
            host: known,
            api_port: ports.0,
            data_port: ports.1,
            graph: Mutex::default(),
            registrations: Notify::new(),
            links: Notify::new(),
            use_sim_time: watch::Sender::new(None),
            ended: CancellationToken::new(),
            counters: Counters::default(),
            next_connection: AtomicI32::new(1),
            pools: Mutex::default(),
        }
    }

    /// Topics and services; change them with [`Node::change`].
    pub(crate) fn with_graph<T>(&self, look: impl FnOnce(&Graph) -> T) -> T {
        look(&lock(&self.graph))
    }

    /// Changes topics or services and has the master and the links follow.
    ///
    /// **Errors**: what `change` gives, or that the adapter is closed.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Graph) -> Result<T, AdapterError>,
    ) -> Result<T, AdapterError> {
        if self.ended.is_cancelled() {
            let context = "the ROS 1 adapter is closed".to_owned();
            return Err(AdapterError::Io { context, source: std::io::ErrorKind::NotConnected.into() });
        }
        let changed = change(&mut lock(&self.graph));
        self.registrations.notify_one();
        self.links.notify_one();
        changed
    }

    /// Takes something out, also after the end.
    pub(crate) fn withdraw<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T {
        let withdrawn = change(&mut lock(&self.graph));
        self.registrations.notify_one();
        self.links.notify_one();
        withdrawn
    }

    /// The URI of our node API; empty before the host is known.
    pub(crate) fn api_uri(&self) -> String {
        self.host.get().map(|host| format!("http://{host}:{}/", self.api_port)).unwrap_or_default()
    }

    /// The URI of our services.
    pub(crate) fn service_uri(&self) -> String {
        self.host.get().map(|host| format!("rosrpc://{host}:{}", self.data_port)).unwrap_or_default()
    }

    /// Calls the master with our name in front of the parameters.
    ///
    /// **Errors**: [`ApiError`].
    pub(crate) async fn ask_master(&self, method: &str, params: &[&str]) -> Result<Value, ApiError> {
        let name = std::iter::once(self.name.as_str());
        let params: Vec<Value> = name.chain(params.iter().copied()).map(Value::from).collect();
        call(&self.master, method, &params).await
    }

    /// A number for a connection, for `getBusInfo`.
    pub(crate) fn connection_id(&self) -> i32 {
        self.next_connection.fetch_add(1, Relaxed)
    }

    /// A pool that [`Node::prune_pools`] looks after.
    pub(crate) fn pool(&self) -> Arc<Pool> {
        let pool = Arc::<Pool>::default();
        lock(&self.pools).push(Arc::downgrade(&pool));
        pool
    }

    /// Closes connections to services that have waited for too long.
    pub(crate) fn prune_pools(&self, now: Instant) {
        lock(&self.pools).retain(|pool| pool.upgrade().inspect(|pool| pool.prune(now)).is_some());
    }

    /// Our process id.
    pub(crate) fn pid() -> i32 {
        i32::try_from(process::id()).unwrap_or(i32::MAX)
    }
}
