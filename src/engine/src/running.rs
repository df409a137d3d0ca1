//! A topology at work.

mod build;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use rostrans_core::{
    clock::{Clock, ClockName, ClockSnapshot, ClockSpec},
    registry::CodecRegistry,
    rule::{Direction, LinkName, RuleId},
    stats::LinkSnapshot,
};
use rostrans_schema::TypeRegistry;
use rostrans_transport::RouteSnapshot;
use tokio::time::{self, Instant};

use self::build::{RunningRule, RunningTransport};
use crate::{
    adapters::AdapterSet,
    clocks::Clocks,
    monitor::Monitor,
    supervisor::{Problem, State, Supervisor, Task},
    topology::Topology,
    transports::TransportFactory,
};

/// What a topology needs to run.
#[derive(Clone)]
pub struct Deps {
    /// The codecs rules name.
    pub codecs: Arc<CodecRegistry>,
    /// All interface definitions.
    pub types: Arc<TypeRegistry>,
    /// The ROS graphs.
    pub adapters: AdapterSet,
    /// Where stamps of rules without a clock of their own come from.
    pub clock: Arc<dyn Clock>,
    /// The simulated clocks that rules name.
    pub clocks: Vec<ClockSpec>,
    /// Opens sockets and ports.
    pub transports: Arc<dyn TransportFactory>,
    /// Reports rates now and then.
    pub monitor: Option<Monitor>,
}

/// Starts everything a topology names. Must be called within a tokio runtime.
///
/// What cannot start waits and is tried again, or is reported as failed; the rest runs. See [`Running::settled`].
pub fn start(topology: &Topology, deps: &Deps) -> Running {
    let root = Supervisor::new();
    let (rules, transports, adapters) = (root.branch(), root.branch(), root.branch());
    let adapter_tasks = deps.adapters.iter().map(|a| build::adapter(&adapters, a)).collect();
    let clocks = Clocks::new(&deps.clocks);
    let built = build::build(topology, deps, &clocks, &rules, &transports);
    let clock_tasks = clocks.spawn(&rules, topology, &deps.adapters);
    let parts = Arc::new(Parts {
        rules: built.rules,
        transports: built.transports,
        adapters: adapter_tasks,
        clocks,
        clock_tasks,
    });
    if let Some(monitor) = &deps.monitor {
        monitor.spawn(&root, Arc::clone(&parts));
    }
    Running { root, rules, transports, adapters, parts }
}

/// A running topology. Dropping it stops everything without waiting.
pub struct Running {
    root: Supervisor,
    rules: Supervisor,
    transports: Supervisor,
    adapters: Supervisor,
    parts: Arc<Parts>,
}

/// What there is to look at.
pub(crate) struct Parts {
    rules: Vec<RunningRule>,
    transports: Vec<RunningTransport>,
    adapters: Vec<Task>,
    clocks: Clocks,
    clock_tasks: Vec<Task>,
}

/// What a shutdown could not end in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shutdown {
    /// Names of the tasks that were aborted.
    pub aborted: Vec<Arc<str>>,
}

impl Running {
    /// States and counters at this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.parts.snapshot()
    }

    /// Waits until every rule, transport and adapter has either started or met a problem; returns the problems.
    ///
    /// What has done neither after `within` is among them, as [`State::Starting`]. A strict start ends here with
    /// exit code 69 when there are any. Until then, of many tasks that fail for one reason only a few are logged.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn settled(&self, within: Duration) -> Vec<Problem> {
        let deadline = Instant::now() + within;
        let mut problems = Vec::new();
        for task in self.parts.tasks() {
            match time::timeout_at(deadline, task.settled()).await {
                Ok(_) => problems.extend(task.problem()),
                Err(_) => problems.push(Problem { name: Arc::clone(task.name()), state: task.state() }),
            }
        }
        self.root.start_is_over();
        problems
    }

    /// Waits until going on makes no sense: every rule has failed. Never, while there is a byte route: it needs no
    /// rule to be of use.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn wait_failed(&self) -> Problem {
        self.parts.all_rules_failed().await
    }

    /// Waits until a simulated clock is given up: it has not come in time and shall not be replaced by wall time, or
    /// cannot come at all.
    ///
    /// **Cancel safety**: keeps no state.
    pub async fn wait_clock_failed(&self) -> Problem {
        self.parts.clocks.given_up().await
    }

    /// Spawns tasks that end with the run, after the rules.
    pub fn supervisor(&self) -> &Supervisor {
        &self.root
    }

    /// Ends in order within `budget`: rules stop reading, work off their queues, answer the calls they hold and
    /// withdraw their endpoints; then ports close; then adapters leave the graph. What is left is aborted.
    pub async fn shutdown(self, budget: Duration) -> Shutdown {
        let start = Instant::now();
        let mut aborted = Vec::new();
        // A stage that hangs must leave time for the next ones to end in order.
        let stages = [(&self.rules, 3), (&self.transports, 2), (&self.adapters, 1), (&self.root, 0)];
        for (supervisor, sixths_left) in stages {
            aborted.extend(supervisor.stop(start + budget - budget / 6 * sixths_left).await);
        }
        Shutdown { aborted }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.root.cancel();
    }
}

impl Parts {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let transports: Vec<_> = self.transports.iter().map(RunningTransport::snapshot).collect();
        Snapshot {
            at: Instant::now().into_std(),
            rules: self.rules.iter().map(|rule| rule.snapshot(&transports)).collect(),
            transports,
            adapters: self.adapters.iter().map(|task| (Arc::clone(task.name()), task.state())).collect(),
            clocks: self.clocks.snapshots(),
        }
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        let transports = self.transports.iter().map(|transport| &transport.task);
        self.rules
            .iter()
            .map(|rule| &rule.task)
            .chain(transports)
            .chain(&self.adapters)
            .chain(&self.clock_tasks)
    }

    async fn all_rules_failed(&self) -> Problem {
        if self.transports.iter().any(RunningTransport::routes) {
            std::future::pending::<()>().await;
        }
        let mut last = None;
        for rule in &self.rules {
            rule.task.reaches(|state| matches!(state, State::Failed(_))).await;
            last = rule.task.problem();
        }
        match last {
            Some(problem) => problem,
            // No rules, or they ended in good order.
            None => std::future::pending().await,
        }
    }
}

/// States and counters at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The moment.
    pub at: std::time::Instant,
    /// The rules, in planned order.
    pub rules: Vec<RuleSnapshot>,
    /// Sockets and ports.
    pub transports: Vec<TransportSnapshot>,
    /// Adapters by name.
    pub adapters: Vec<(Arc<str>, State)>,
    /// The simulated clocks.
    pub clocks: Vec<ClockSnapshot>,
}

/// One rule at one moment.
#[derive(Clone, Debug)]
pub struct RuleSnapshot {
    /// The rule.
    pub rule_id: RuleId,
    /// Which way it moves data.
    pub direction: Direction,
    /// The clock of its stamps, unless that is wall time.
    pub clock: Option<ClockName>,
    /// Its state, or that of the transport it waits for.
    pub state: State,
    /// How often it was started again.
    pub restarts: u64,
    /// Its links, in configured order.
    pub links: Vec<LinkRow>,
}

/// One link at one moment.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// The link.
    pub link_name: LinkName,
    /// Its counters.
    pub counters: LinkSnapshot,
    /// Codec panics.
    pub panics: u64,
    /// Switched off after too many of them.
    pub disabled: bool,
}

/// One transport at one moment.
#[derive(Clone, Debug)]
pub struct TransportSnapshot {
    /// What it is: `udp 0.0.0.0:14550`.
    pub name: Arc<str>,
    /// Whether it is open.
    pub state: State,
    /// How often it was opened again by the engine.
    pub restarts: u64,
    /// The address a UDP socket got, while it is open.
    pub local_addr: Option<SocketAddr>,
    /// The byte route on it, since it was last opened.
    pub route: Option<(RuleId, RouteSnapshot)>,
    /// Frames received.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames no link wanted.
    pub unwanted: u64,
    /// Bytes skipped between frames.
    pub skipped_bytes: u64,
    /// Frames with a wrong checksum.
    pub bad_checksums: u64,
    /// Frames cut short.
    pub truncated: u64,
}
