//! Keeps the master in step with the node.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::atomic::Ordering::Relaxed, time::Duration};

use rostrans_core::{backoff::Backoff, text::excerpt};
use tokio::{
    net::{UdpSocket, lookup_host},
    time::{Instant, sleep, timeout},
};
use tracing::{debug, info, warn};

use crate::{
    graph::Registration,
    node::Node,
    stats::count,
    xmlrpc::{ApiError, Value},
};

/// How often the master is asked whether it still knows us: a new one after a restart does not.
const LOOK: Duration = Duration::from_secs(1);

/// How long leaving may take.
const LEAVE: Duration = Duration::from_millis(1500);

/// The parameter that says whether `/clock` is the time.
pub(crate) const USE_SIM_TIME: &str = "/use_sim_time";

/// What the master knows of us.
pub(crate) struct Registrar<'a> {
    node: &'a Node,
    joined: bool,
    /// The process that it is; a new one may know us already by what was registered just now, and nothing else.
    pid: Option<i32>,
    /// When the master was last seen to know us.
    seen: Instant,
    registered: BTreeSet<Registration>,
    /// Refusals that were told.
    refused: BTreeSet<Registration>,
    /// Whether its absence was told.
    told: bool,
}

impl<'a> Registrar<'a> {
    pub(crate) fn new(node: &'a Node) -> Self {
        Self {
            node,
            joined: false,
            pid: None,
            seen: Instant::now(),
            registered: BTreeSet::new(),
            refused: BTreeSet::new(),
            told: false,
        }
    }

    /// Registers what there is, and again what a new master does not know. Resolves only when another node has taken
    /// our name.
    ///
    /// **Cancel safety**: [`Registrar::leave`] takes back what may have been registered.
    pub(crate) async fn run(&mut self) {
        let mut backoff = Backoff::new().up_to(LOOK);
        loop {
            match self.follow().await {
                Ok(true) => {
                    backoff.reset();
                    tokio::select! {
                        () = self.node.registrations.notified() => {}
                        () = sleep(LOOK) => {}
                    }
                }
                Ok(false) => return,
                Err(error) => {
                    self.lost(&error);
                    sleep(backoff.next_delay()).await;
                }
            }
        }
    }

    /// Takes everything back, as far as the master answers.
    pub(crate) async fn leave(&mut self) {
        if !self.joined {
            return;
        }
        let leave = async {
            for registration in std::mem::take(&mut self.registered) {
                self.unregister(&registration).await?;
            }
            let uri = self.node.api_uri();
            self.node.ask_master("unsubscribeParam", &[&uri, USE_SIM_TIME]).await
        };
        if !matches!(timeout(LEAVE, leave).await, Ok(Ok(_))) {
            debug!(master = self.node.master_uri, "the ROS master could not be told that we leave");
        }
    }

    /// One round; false when our name belongs to another node.
    async fn follow(&mut self) -> Result<bool, ApiError> {
        if self.joined && self.seen.elapsed() >= LOOK && !self.still_known().await? {
            return Ok(false);
        }
        if !self.joined {
            self.join().await?;
        }
        let wanted = self.node.with_graph(|graph| graph.registrations());
        let surplus: Vec<_> = self.registered.difference(&wanted).cloned().collect();
        for registration in surplus {
            self.unregister(&registration).await?;
            self.registered.remove(&registration);
        }
        let missing: Vec<_> = wanted.difference(&self.registered).cloned().collect();
        for registration in missing {
            match self.register(&registration).await {
                Err(ApiError::Refused(reason)) => {
                    if self.refused.insert(registration.clone()) {
                        warn!(?registration, reason, "the ROS master refuses a registration");
                    }
                }
                Err(error) => {
                    // It may have arrived.
                    self.registered.insert(registration);
                    return Err(error);
                }
                Ok(()) => {
                    self.refused.remove(&registration);
                    self.registered.insert(registration);
                }
            }
        }
        Ok(true)
    }

    /// Finds our host, and gives the master a first word of us.
    async fn join(&mut self) -> Result<(), ApiError> {
        if self.node.host.get().is_none() {
            let host = own_host(self.node).await?;
            self.node.host.get_or_init(|| host);
        }
        let uri = self.node.api_uri();
        let value = self.node.ask_master("subscribeParam", &[&uri, USE_SIM_TIME]).await?;
        self.node.use_sim_time.send_replace(sim_time(&value));
        self.pid = self.master_pid().await?;
        (self.joined, self.told, self.seen) = (true, false, Instant::now());
        self.registered.clear();
        count(&self.node.counters.joined);
        let again = self.node.counters.joined.load(Relaxed) > 1;
        info!(master = self.node.master_uri, node = self.node.name, uri, again, "joined the ROS 1 graph");
        Ok(())
    }

    /// Whether our name is still ours. A master that does not know it is a new one.
    async fn still_known(&mut self) -> Result<bool, ApiError> {
        match self.node.ask_master("lookupNode", &[&self.node.name]).await {
            Ok(uri) if uri.as_str() == Some(&self.node.api_uri()) => {
                if self.master_pid().await? == self.pid {
                    self.seen = Instant::now();
                } else {
                    self.restarted();
                }
            }
            Ok(uri) => {
                let other = excerpt(uri.as_str().unwrap_or("?"));
                warn!(
                    node = self.node.name,
                    other, "another ROS 1 node has taken our name; leaving the graph; set node_name"
                );
                return Ok(false);
            }
            Err(error) if error.is_refusal() => self.restarted(),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn restarted(&mut self) {
        info!(master = self.node.master_uri, "the ROS master was restarted; registering again");
        self.joined = false;
    }

    /// `None` where a master does not say.
    async fn master_pid(&self) -> Result<Option<i32>, ApiError> {
        match self.node.ask_master("getPid", &[]).await {
            Ok(pid) => Ok(pid.as_int()),
            Err(error) if error.is_refusal() => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn register(&self, registration: &Registration) -> Result<(), ApiError> {
        let (node, uri) = (self.node, self.node.api_uri());
        match registration {
            Registration::Service { name } => {
                node.ask_master("registerService", &[name, &node.service_uri(), &uri]).await?;
            }
            Registration::Publisher { topic, type_name } => {
                node.ask_master("registerPublisher", &[topic, type_name, &uri]).await?;
            }
            Registration::Subscriber { topic, type_name, .. } => {
                let subscription = node.with_graph(|graph| graph.subscriptions.get(topic).cloned());
                let before = subscription.as_ref().map(|s| s.updates());
                let publishers = node.ask_master("registerSubscriber", &[topic, type_name, &uri]).await?;
                // An update that came meanwhile is newer than this answer.
                if let Some(subscription) = subscription.filter(|s| Some(s.updates()) == before) {
                    subscription.set_publishers(&publishers);
                    node.links.notify_one();
                }
            }
        }
        Ok(())
    }

    async fn unregister(&self, registration: &Registration) -> Result<(), ApiError> {
        let (node, uri) = (self.node, self.node.api_uri());
        let answer = match registration {
            Registration::Service { name } => {
                node.ask_master("unregisterService", &[name, &node.service_uri()]).await
            }
            Registration::Publisher { topic, .. } => {
                node.ask_master("unregisterPublisher", &[topic, &uri]).await
            }
            Registration::Subscriber { topic, .. } => {
                node.ask_master("unregisterSubscriber", &[topic, &uri]).await
            }
        };
        match answer {
            Err(error) if !error.is_refusal() => Err(error),
            _ => Ok(()),
        }
    }

    fn lost(&mut self, error: &ApiError) {
        if !self.told {
            self.told = true;
            let uri = &self.node.master_uri;
            warn!(
                "ROS master at {uri} cannot be reached: {error}; start roscore there or set ROS_MASTER_URI; trying again"
            );
        }
        // A master that comes back may be a new one: everything is registered again.
        self.joined = false;
    }
}

/// The flag in the answer to a question for a parameter; one that is not set is an empty structure.
pub(crate) fn sim_time(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Int(number) => Some(*number != 0),
        _ => None,
    }
}

/// Under which name others reach this machine: the address on the way to the master; with the master on this machine
/// its name, as ROS does, if that can be resolved.
async fn own_host(node: &Node) -> Result<String, ApiError> {
    let master = lookup_host((node.master.host.as_str(), node.master.port)).await?;
    for address in master.filter(std::net::SocketAddr::is_ipv4) {
        // Connecting a datagram socket only looks up the route.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        if socket.connect(address).await.is_ok() {
            let own = socket.local_addr()?.ip();
            if !own.is_loopback() && !own.is_unspecified() {
                return Ok(own.to_string());
            }
        }
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let resolves = !name.is_empty() && lookup_host((name.as_str(), 0)).await.is_ok();
    Ok(if resolves { name } else { Ipv4Addr::LOCALHOST.to_string() })
}
