//! From a plan to a running program, and its end.

use std::{
    io,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    adapter::{AdapterError, AdapterInfo, RosAdapter},
    clock::{ClockSource, ClockSpec, Fallback, SystemClock, Tuning},
    param::Settings,
    registry::CodecRegistry,
    text::chain,
};
use rostrans_engine::{
    adapters::AdapterSet,
    monitor::Monitor,
    running::{self, Deps, Running, Shutdown, Snapshot, TransportSnapshot},
    supervisor::State,
    topology::{Device, Topology},
    transports::SystemTransports,
};
use rostrans_schema::TypeRegistry;
use tracing::{error, info, warn};

use crate::{
    dry_run::DryRun,
    exit::Exit,
    join::{self, Choice, Joining},
    load::Env,
    signals::{Arrived, Signals},
    summary::{self, MAX_REASONS, PortState},
};

/// What a run works with.
pub(crate) struct Job<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) topology: &'a Topology,
    pub(crate) clocks: &'a [ClockSpec],
    pub(crate) codecs: Arc<CodecRegistry>,
    pub(crate) types: Arc<TypeRegistry>,
    /// What to join.
    pub(crate) choice: &'a Choice,
    pub(crate) dry_run: bool,
    pub(crate) env: Env<'a>,
}

/// Runs until a signal, or until nothing works.
pub(crate) fn run(job: &Job<'_>) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!(%error, "cannot start worker threads");
            return Exit::Unavailable;
        }
    };
    let exit = runtime.block_on(serve(job));
    // Whatever outlived the shutdown must not hold up the exit.
    runtime.shutdown_background();
    exit
}

async fn serve(job: &Job<'_>) -> Exit {
    // Before anything is opened: a signal during start-up must end it in order, too.
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => {
            error!(%error, "cannot listen for signals");
            return Exit::Unavailable;
        }
    };
    // Byte routes need no ROS; a node that does nothing would only worry people.
    let needs_ros = !job.topology.pipelines.is_empty();
    let adapters = match adapters(job, needs_ros) {
        Ok(adapters) => adapters,
        Err(error) => {
            error!(error = chain(&error), "cannot join the ROS graph");
            return match error {
                AdapterError::Io { .. } => Exit::Unavailable,
                AdapterError::UnknownType(_) | AdapterError::Unsupported { .. } => Exit::Config,
            };
        }
    };
    let deps = Deps {
        codecs: Arc::clone(&job.codecs),
        types: Arc::clone(&job.types),
        adapters: AdapterSet::new(adapters.clone()),
        clock: Arc::new(SystemClock),
        clocks: clocks(job),
        transports: Arc::new(SystemTransports),
        monitor: monitor(job.settings),
    };
    let running = running::start(job.topology, &deps);
    let problems = tokio::select! {
        problems = running.settled(SETTLE) => problems,
        signal = signals.next() => return stop(running, signals, signal).await,
    };
    if job.settings.flag("strict") && !problems.is_empty() {
        for problem in problems.iter().take(MAX_REASONS) {
            let reason = problem.state.problem().unwrap_or("not ready in time");
            error!(name = &*problem.name, reason, "not available, and strict is on");
        }
        if let Some(more @ 1..) = problems.len().checked_sub(MAX_REASONS) {
            error!("and {more} more");
        }
        running.shutdown(BUDGET).await;
        return Exit::Unavailable;
    }
    if !job.choice.why.is_empty() && !job.dry_run && needs_ros {
        let chosen: Vec<String> = job.choice.fabrics.iter().map(ToString::to_string).collect();
        info!(joined = chosen.join(","), why = job.choice.why, "chosen by the environment");
    }
    let infos: Vec<AdapterInfo> = adapters.iter().map(|adapter| adapter.info().clone()).collect();
    tell(job, &infos, &running.snapshot());
    tokio::select! {
        problem = running.wait_failed() => {
            error!(name = &*problem.name, reason = problem.state.problem(), "nothing works; giving up");
            running.shutdown(BUDGET).await;
            Exit::Unavailable
        }
        problem = running.wait_clock_failed() => {
            error!(name = &*problem.name, reason = problem.state.problem(), "cannot go on without it");
            running.shutdown(BUDGET).await;
            Exit::NoClock
        }
        signal = signals.next() => stop(running, signals, signal).await,
    }
}

/// The clocks to follow. A dry run hears none: its stamps are wall time at once, those of simulators' packets apart.
fn clocks(job: &Job<'_>) -> Vec<ClockSpec> {
    let mut clocks = job.clocks.to_vec();
    for clock in clocks.iter_mut().filter(|_| job.dry_run) {
        if let ClockSource::Topic { .. } = clock.source {
            let (acquire_timeout, fallback) = (Duration::ZERO, Fallback::Wall);
            clock.tuning = Tuning { acquire_timeout, fallback, ..clock.tuning };
        }
    }
    clocks
}

/// How long start-up waits for everything to be open before it tells what is not.
const SETTLE: Duration = Duration::from_secs(3);

/// How long an orderly end may take.
const BUDGET: Duration = Duration::from_secs(3);

fn adapters(job: &Job<'_>, needed: bool) -> Result<Vec<Arc<dyn RosAdapter>>, AdapterError> {
    if !needed {
        return Ok(Vec::new());
    }
    if job.dry_run {
        return Ok(vec![DryRun::new(Arc::clone(&job.types), Box::new(io::stdout()))]);
    }
    let cx = Joining { settings: job.settings, env: job.env, types: &job.types };
    join::open(job.choice, &cx)
}

fn monitor(settings: &Settings) -> Option<Monitor> {
    let every = Duration::from_secs(settings.int("monitor_interval").unsigned_abs());
    let json = settings.text("log_format") == "json";
    settings.flag("enable_monitor").then(|| if json { Monitor::fields(every) } else { Monitor::table(every) })
}

/// Logs the summary: a text for people, or one event for each port and topic.
fn tell(job: &Job<'_>, adapters: &[AdapterInfo], now: &Snapshot) {
    let planned = job.topology.transports.iter();
    let states: Vec<PortState> =
        planned.zip(&now.transports).map(|(spec, t)| state(&spec.device, t)).collect();
    if job.settings.text("log_format") == "json" {
        for adapter in adapters {
            info!(adapter = adapter.name, summary = adapter.summary, "joined ROS");
        }
        for (transport, state) in job.topology.transports.iter().zip(&states) {
            info!(device = %transport.device, state = state.short, reason = state.reason, "port");
        }
        for pipeline in &job.topology.pipelines {
            let rule = &pipeline.rule;
            for link in &rule.links {
                for (topic, read) in summary::link_topics(rule, link, &job.codecs) {
                    info!(rule = %rule.rule_id, direction = %rule.direction, topic = %topic.name, msg_type = %topic.msg_type, read, "topic");
                }
                for (service, called) in summary::link_services(rule, link) {
                    info!(rule = %rule.rule_id, direction = %rule.direction, service = %service.name, srv_type = %service.srv_type, called, "service");
                }
            }
        }
        return;
    }
    let text = summary::print(job.topology, &job.codecs, adapters, &states);
    info!("running; Ctrl-C ends it\n{}", text.trim_end());
}

/// `open`, or what else and why; the log has the remedy.
fn state(device: &Device, transport: &TransportSnapshot) -> PortState {
    let short = match (&transport.state, device, transport.local_addr) {
        (State::Running, Device::Udp(bind), Some(addr)) if bind.addr.port() == 0 => {
            format!("open at port {}", addr.port())
        }
        (State::Running, ..) => "open".to_owned(),
        (state, ..) => state.to_string(),
    };
    let reason = transport.state.problem().and_then(|reason| reason.split(';').next());
    PortState { short, reason: reason.map(str::to_owned) }
}

async fn stop(running: Running, mut signals: Signals, (name, at): Arrived) -> Exit {
    info!(signal = name, "stopping");
    end(running.shutdown(BUDGET), at, async || signals.next().await).await
}

/// Signals that come so soon after the first are the same wish: `timeout` and launch tools tell the process and its
/// group.
const SAME_WISH: Duration = Duration::from_millis(500);

/// Waits for the orderly end, unless another signal, long enough after the `first`, cuts it short.
async fn end(
    shutdown: impl Future<Output = Shutdown>,
    first: Instant,
    mut next_signal: impl AsyncFnMut() -> Arrived,
) -> Exit {
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            shutdown = &mut shutdown => {
                for task in &shutdown.aborted {
                    warn!(%task, "did not end in time");
                }
                info!("stopped");
                return Exit::Ok;
            }
            (name, at) = next_signal() => {
                if at.saturating_duration_since(first) >= SAME_WISH {
                    warn!(signal = name, "stopping at once");
                    return Exit::Aborted;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        future::{pending, ready},
    };

    use super::*;

    /// Ends a shutdown that never ends by itself with signals so many milliseconds after the first; returns how many
    /// of them were needed, too.
    async fn ended_by(signals_ms: &[u64]) -> (Exit, usize) {
        let first = Instant::now();
        let used = Cell::new(0);
        let mut signals = signals_ms.iter();
        let stubborn = async { if signals_ms.is_empty() { Shutdown::default() } else { pending().await } };
        let next_signal = async || match signals.next() {
            Some(ms) => {
                used.set(used.get() + 1);
                ("SIGINT", first + Duration::from_millis(*ms))
            }
            None => pending().await,
        };
        let exit = end(stubborn, first, next_signal).await;
        (exit, used.get())
    }

    #[tokio::test]
    async fn second_signal_cuts_the_shutdown_short() {
        assert_eq!(ended_by(&[600]).await, (Exit::Aborted, 1));
        assert_eq!(ended_by(&[]).await, (Exit::Ok, 0));
        let late = Shutdown { aborted: vec!["stubborn".into()] };
        assert_eq!(end(ready(late), Instant::now(), async || pending().await).await, Exit::Ok);
    }

    #[tokio::test]
    async fn one_wish_delivered_twice_is_one() {
        assert_eq!(ended_by(&[0, 1, 499, 500, 501]).await, (Exit::Aborted, 4));
    }
}
