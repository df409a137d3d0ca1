//! From specifications to tasks.

use std::{
    future::ready,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    backoff::Backoff,
    clock::Clock,
    rule::{Direction, RuleId},
    transport::{ByteSink, TransportError},
};
use rostrans_transport::router::Hub;

use super::{Deps, LinkRow, RuleSnapshot, TransportSnapshot};
use crate::{
    clocks::Clocks,
    ingress::{Attachment, Dispatch, OpenedAs, Reader, Tap},
    link::Link,
    pipeline::{Env, Target, bridge::Unchanged},
    supervisor::{Context, Failure, OnExit, State, Supervisor, Task, lock},
    topology::{Device, HubSpec, LinkTarget, PipelineSpec, Topology, TransportId, TransportSpec},
    transports::explain,
};

/// Everything that was spawned for a topology.
pub(super) struct Built {
    pub(super) rules: Vec<RunningRule>,
    pub(super) transports: Vec<RunningTransport>,
}

pub(super) struct RunningRule {
    spec: PipelineSpec,
    links: Vec<Arc<Link>>,
    pub(super) task: Task,
    /// Indices of the transports it cannot do without.
    transports: Vec<usize>,
}

pub(super) struct RunningTransport {
    route: Option<RuleId>,
    /// Of ground stations' transports.
    hub: Option<(RuleId, Arc<Hub>)>,
    /// What hubs read from it.
    _attached: Vec<Attachment>,
    tap: Arc<Tap>,
    pub(super) task: Task,
}

/// Spawns an adapter's background work.
pub(super) fn adapter(supervisor: &Supervisor, adapter: &Arc<dyn RosAdapter>) -> Task {
    let name = format!("adapter {}", adapter.info().name);
    let adapter = Arc::clone(adapter);
    supervisor.spawn(name, OnExit::Restart(Backoff::new()), move |context| {
        let adapter = Arc::clone(&adapter);
        async move {
            context.up();
            adapter.run(context.cancel().clone()).await.map_err(|error| match error {
                AdapterError::Io { .. } => Failure::retry(error),
                AdapterError::UnknownType(_) | AdapterError::Unsupported { .. } => Failure::permanent(error),
            })
        }
    })
}

/// Spawns a task for each transport and each rule.
pub(super) fn build(
    topology: &Topology,
    deps: &Deps,
    clocks: &Clocks,
    rules: &Supervisor,
    transports: &Supervisor,
) -> Built {
    let Topology { transports: specs, pipelines, .. } = topology;
    let taps: Vec<Arc<Tap>> = specs.iter().map(|_| Arc::new(Tap::default())).collect();
    for pipeline in pipelines.iter().filter(|pipeline| reads(pipeline)) {
        if let Some(tap) = pipeline.source.and_then(|id| taps.get(id.0)) {
            tap.expect_rule();
        }
    }
    let hubs: Vec<(&HubSpec, Arc<Hub>)> =
        topology.hubs.iter().filter_map(|hub| Some((hub, join(hub, &taps)?))).collect();
    let open = |(index, (spec, tap)): (usize, (&TransportSpec, &Arc<Tap>))| {
        let id = TransportId(index);
        let readers = hubs.iter().flat_map(|(spec, hub)| hub_readers(spec, hub, id));
        let attached = readers.map(|reader| {
            tap.expect_rule();
            tap.attach(vec![reader])
        });
        let attached = attached.collect();
        let hub = hubs.iter().find(|(spec, _)| spec.stations == id);
        let hub = hub.and_then(|(spec, hub)| Some((spec.rules.first()?.clone(), Arc::clone(hub))));
        let name = transport_name(spec, users(index, pipelines, &topology.hubs));
        let task = transport(transports, name, spec, tap, deps);
        let route = spec.route.as_ref().map(|route| route.rule_id.clone());
        RunningTransport { route, hub, _attached: attached, tap: Arc::clone(tap), task }
    };
    let opened = specs.iter().zip(&taps).enumerate().map(open).collect();
    let start = |spec: &PipelineSpec| rule(rules, spec.clone(), specs, &taps, deps, clocks);
    Built { rules: pipelines.iter().map(start).collect(), transports: opened }
}

/// Whether a rule reads frames, now and then or all the time.
fn reads(pipeline: &PipelineSpec) -> bool {
    !matches!(pipeline.rule.direction, Direction::RostopicToUdp | Direction::RosToSerial)
}

/// Joins the write halves of a hub's transports.
fn join(spec: &HubSpec, taps: &[Arc<Tap>]) -> Option<Arc<Hub>> {
    let sink = |id: &TransportId| taps.get(id.0).map(|tap| Arc::clone(&tap.sink) as Arc<dyn ByteSink>);
    let vehicles = spec.vehicles.iter().map(sink).collect::<Option<_>>()?;
    Some(Hub::new(Arc::clone(&spec.rules.first()?.0), vehicles, sink(&spec.stations)?))
}

/// What a hub reads from a transport.
fn hub_readers(spec: &HubSpec, hub: &Arc<Hub>, id: TransportId) -> Vec<Reader> {
    let vehicles = spec.vehicles.iter().position(|vehicles| *vehicles == id);
    let vehicles = vehicles.map(|device| Reader::Vehicles(Arc::clone(hub), device));
    let stations = (spec.stations == id).then(|| Reader::Stations(Arc::clone(hub)));
    vehicles.into_iter().chain(stations).collect()
}

fn users<'a>(transport: usize, pipelines: &'a [PipelineSpec], hubs: &'a [HubSpec]) -> Vec<&'a str> {
    let uses = |pipeline: &&PipelineSpec| needed_transports(pipeline).contains(&transport);
    let rules = pipelines.iter().filter(uses).map(|pipeline| pipeline.rule.rule_id.as_str());
    let id = TransportId(transport);
    let hubs = hubs.iter().filter(|hub| hub.stations == id || hub.vehicles.contains(&id));
    rules.chain(hubs.flat_map(|hub| hub.rules.iter().map(RuleId::as_str))).collect()
}

fn needed_transports(pipeline: &PipelineSpec) -> Vec<usize> {
    let targets = pipeline.targets.iter().flatten().filter_map(|target| match target {
        LinkTarget::Serial(id) => Some(id.0),
        LinkTarget::Udp(_) => None,
    });
    let mut needed: Vec<usize> = pipeline.source.iter().map(|id| id.0).chain(targets).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// What the transport is and whom its loss concerns.
fn transport_name(spec: &TransportSpec, users: Vec<&str>) -> String {
    let device = spec.device.to_string();
    let route = spec.route.iter().map(|route| route.rule_id.as_str());
    let users: Vec<&str> = route.chain(users).collect();
    match users.as_slice() {
        [] => device,
        [only] => format!("{device} (rule {only})"),
        [first, second] => format!("{device} (rules {first}, {second})"),
        [first, second, more @ ..] => format!("{device} (rules {first}, {second} and {} more)", more.len()),
    }
}

/// Who frees a port does not want to wait for it to be taken.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

fn transport(
    supervisor: &Supervisor,
    name: String,
    spec: &TransportSpec,
    tap: &Arc<Tap>,
    deps: &Deps,
) -> Task {
    let (spec, tap, deps) = (Arc::new(spec.clone()), Arc::clone(tap), deps.clone());
    let backoff = Backoff::new().up_to(LONGEST_WAIT);
    supervisor.spawn(name, OnExit::Restart(backoff), move |context| {
        let (spec, tap, deps) = (Arc::clone(&spec), Arc::clone(&tap), deps.clone());
        async move { run_transport(&spec, &tap, &deps, &context).await.map_err(explain) }
    })
}

async fn run_transport(
    spec: &TransportSpec,
    tap: &Arc<Tap>,
    deps: &Deps,
    context: &Context,
) -> Result<(), TransportError> {
    let opened = deps.transports.open(spec)?;
    let _open = tap.open(opened.sink, OpenedAs { local_addr: opened.local_addr, route: opened.route });
    let now = tokio::time::Instant::now().into_std();
    let dispatch = Dispatch::new(Arc::clone(tap), context.clone(), now);
    opened.transport.run(Box::new(dispatch), context.cancel().clone()).await
}

fn rule(
    supervisor: &Supervisor,
    spec: PipelineSpec,
    specs: &[TransportSpec],
    taps: &[Arc<Tap>],
    deps: &Deps,
    clocks: &Clocks,
) -> RunningRule {
    let name = format!("rule {}", spec.rule.rule_id);
    let (links, task) = match env(&spec, specs, taps, deps, clocks) {
        Ok(env) => {
            let env = Arc::new(env);
            let links = env.links.clone();
            let run = move |context: Context| {
                let env = Arc::clone(&env);
                async move { env.run(&context).await }
            };
            (links, supervisor.spawn(name, OnExit::Restart(Backoff::new()), run))
        }
        Err(reason) => {
            let fail = move |_| ready(Err(Failure::permanent(reason.clone())));
            (Vec::new(), supervisor.spawn(name, OnExit::Stop, fail))
        }
    };
    let transports = needed_transports(&spec);
    RunningRule { spec, links, task, transports }
}

fn env(
    spec: &PipelineSpec,
    specs: &[TransportSpec],
    taps: &[Arc<Tap>],
    deps: &Deps,
    clocks: &Clocks,
) -> Result<Env, String> {
    let tap = |id: TransportId| taps.get(id.0).cloned().ok_or_else(|| format!("no transport {}", id.0));
    let source = spec.source.map(tap).transpose()?;
    let from_udp = spec.source.is_some_and(|id| {
        specs.get(id.0).is_some_and(|transport| matches!(transport.device, Device::Udp(_)))
    });
    let target = |target: &Option<LinkTarget>| match (target, &source) {
        (Some(LinkTarget::Serial(id)), _) => Ok(Target::Transport(tap(*id)?, None)),
        (Some(LinkTarget::Udp(to)), Some(source)) if from_udp => {
            Ok(Target::Transport(Arc::clone(source), Some(*to)))
        }
        (Some(LinkTarget::Udp(to)), _) => Ok(Target::Socket(*to)),
        (None, _) => Ok(Target::None),
    };
    let targets = spec.targets.iter().map(target).collect::<Result<Vec<_>, String>>()?;
    let bridge = spec.rule.direction == Direction::RostopicToRostopic;
    let link = |index: usize| {
        if bridge {
            let codec = Arc::new(Unchanged);
            return Ok(Arc::new(Link::new(Arc::clone(&spec.rule), index, codec, Arc::clone(&deps.types))));
        }
        let name = spec.rule.links.get(index).and_then(|link| link.codec.as_ref());
        let name = name.map_or("", |name| name.as_str());
        let codec = deps.codecs.get(name).ok_or_else(|| format!("codec '{name}' is unknown"))?;
        let link = Link::new(Arc::clone(&spec.rule), index, Arc::clone(codec), Arc::clone(&deps.types));
        Ok(Arc::new(link))
    };
    let clock = match &spec.rule.clock {
        None => Arc::clone(&deps.clock),
        Some(name) => {
            let followed = clocks.get(name).ok_or_else(|| format!("no clock '{name}'"))?;
            Arc::clone(&followed.clock) as Arc<dyn Clock>
        }
    };
    Ok(Env {
        rule: Arc::clone(&spec.rule),
        links: (0..spec.rule.links.len()).map(link).collect::<Result<Vec<_>, String>>()?,
        source,
        targets,
        adapters: deps.adapters.clone(),
        clock,
        clocks: clocks.clone(),
        transports: Arc::clone(&deps.transports),
    })
}

impl RunningRule {
    pub(super) fn snapshot(&self, transports: &[TransportSnapshot]) -> RuleSnapshot {
        let own = self.task.state();
        let waits_for = self.transports.iter().filter_map(|index| transports.get(*index)).find_map(|t| {
            let reason = t.state.problem()?;
            Some(State::Waiting(format!("{}: {reason}", t.name).into()))
        });
        let row = |link: &Arc<Link>| LinkRow {
            link_name: link.config().link_name.clone(),
            counters: link.stats.snapshot(),
            panics: link.panics.load(),
            disabled: link.disabled.load(Relaxed),
        };
        RuleSnapshot {
            rule_id: self.spec.rule.rule_id.clone(),
            direction: self.spec.rule.direction,
            clock: self.spec.rule.clock.clone(),
            state: if own == State::Running { waits_for.unwrap_or(own) } else { own },
            restarts: self.task.restarts(),
            links: self.links.iter().map(row).collect(),
        }
    }
}

impl RunningTransport {
    /// Whether a byte route runs on it.
    pub(super) fn routes(&self) -> bool {
        self.route.is_some() || self.hub.is_some()
    }

    pub(super) fn snapshot(&self) -> TransportSnapshot {
        let stats = &self.tap.stats;
        let opened = lock(&self.tap.opened).clone();
        let route = self.route.clone().zip(opened.route).map(|(rule_id, stats)| (rule_id, stats.snapshot()));
        let route =
            route.or_else(|| self.hub.as_ref().map(|(rule_id, hub)| (rule_id.clone(), hub.snapshot())));
        TransportSnapshot {
            name: Arc::clone(self.task.name()),
            state: self.task.state(),
            restarts: self.task.restarts(),
            local_addr: opened.local_addr,
            route,
            frames: stats.frames.load(),
            bytes: stats.bytes.load(),
            unwanted: stats.unwanted.load(),
            skipped_bytes: stats.skipped_bytes.load(),
            bad_checksums: stats.bad_checksums.load(),
            truncated: stats.truncated.load(),
        }
    }
}
