//! From a plan to a running program, and its end.

use std::{io, sync::Arc, time::Duration};

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery};
use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    clock::SystemClock,
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

use crate::{dry_run::DryRun, exit::Exit, load::Env, summary};

/// What a run works with.
pub(crate) struct Job<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) topology: &'a Topology,
    pub(crate) codecs: Arc<CodecRegistry>,
    pub(crate) types: Arc<TypeRegistry>,
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
    let adapter = match adapter(job) {
        Ok(adapter) => adapter,
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
        adapters: AdapterSet::new(vec![Arc::clone(&adapter)]),
        clock: Arc::new(SystemClock),
        transports: Arc::new(SystemTransports),
        monitor: monitor(job.settings),
    };
    let running = running::start(job.topology, &deps);
    let problems = tokio::select! {
        problems = running.settled(SETTLE) => problems,
        name = signals.next() => return stop(running, signals, name).await,
    };
    if job.settings.flag("strict") && !problems.is_empty() {
        for problem in &problems {
            let reason = problem.state.problem().unwrap_or("not ready in time");
            error!(name = %problem.name, reason, "not available, and strict is on");
        }
        running.shutdown(BUDGET).await;
        return Exit::Unavailable;
    }
    tell(job, adapter.as_ref(), &running.snapshot());
    tokio::select! {
        problem = running.wait_failed() => {
            error!(name = %problem.name, reason = problem.state.problem(), "nothing works; giving up");
            running.shutdown(BUDGET).await;
            Exit::Unavailable
        }
        name = signals.next() => stop(running, signals, name).await,
    }
}

/// How long start-up waits for everything to be open before it tells what is not.
const SETTLE: Duration = Duration::from_secs(3);

/// How long an orderly end may take.
const BUDGET: Duration = Duration::from_secs(3);

fn adapter(job: &Job<'_>) -> Result<Arc<dyn RosAdapter>, AdapterError> {
    if job.dry_run {
        return Ok(DryRun::new(Arc::clone(&job.types), Box::new(io::stdout())));
    }
    // Bad variables were reported before planning.
    let discovery = Discovery::from_env(job.env).unwrap_or_default();
    let config = DdsConfig::new(job.settings.text("node_name"), discovery, Arc::clone(&job.types));
    let namespace = job.settings.text("node_namespace").to_owned();
    Ok(DdsAdapter::new(DdsConfig { namespace, ..config })?)
}

fn monitor(settings: &Settings) -> Option<Monitor> {
    let every = Duration::from_secs(settings.int("monitor_interval").unsigned_abs());
    let json = settings.text("log_format") == "json";
    settings.flag("enable_monitor").then(|| if json { Monitor::fields(every) } else { Monitor::table(every) })
}

/// Logs the summary: a text for people, or one event for each port and topic.
fn tell(job: &Job<'_>, adapter: &dyn RosAdapter, now: &Snapshot) {
    let planned = job.topology.transports.iter();
    let states: Vec<String> = planned.zip(&now.transports).map(|(spec, t)| state(&spec.device, t)).collect();
    if job.settings.text("log_format") == "json" {
        info!(adapter = adapter.info().name, summary = adapter.info().summary, "joined ROS");
        for (transport, state) in job.topology.transports.iter().zip(&states) {
            info!(device = %transport.device, state, "port");
        }
        for pipeline in &job.topology.pipelines {
            let rule = &pipeline.rule;
            for link in &rule.links {
                for topic in link.topic.iter().chain(link.ports.values()) {
                    info!(rule = %rule.rule_id, direction = %rule.direction, topic = %topic.name, msg_type = %topic.msg_type, "topic");
                }
                if let Some(service) = &link.service {
                    info!(rule = %rule.rule_id, direction = %rule.direction, service = %service.name, srv_type = %service.srv_type, "service");
                }
            }
        }
        return;
    }
    let text = summary::print(job.topology, &[adapter.info().clone()], &states);
    info!("running; Ctrl-C ends it\n{}", text.trim_end());
}

/// `open`, or why not, in few words; the log has the remedy.
fn state(device: &Device, transport: &TransportSnapshot) -> String {
    match (&transport.state, device, transport.local_addr) {
        (State::Running, Device::Udp(bind), Some(addr)) if bind.addr.port() == 0 => {
            format!("open at port {}", addr.port())
        }
        (State::Running, ..) => "open".to_owned(),
        (state, ..) => match state.problem().and_then(|reason| reason.split(';').next()) {
            Some(reason) => format!("{state}: {reason}"),
            None => state.to_string(),
        },
    }
}

async fn stop(running: Running, mut signals: Signals, name: &'static str) -> Exit {
    info!(signal = name, "stopping");
    end(running.shutdown(BUDGET), signals.next()).await
}

/// Waits for the orderly end, unless another signal cuts it short.
async fn end(
    shutdown: impl Future<Output = Shutdown>,
    next_signal: impl Future<Output = &'static str>,
) -> Exit {
    tokio::select! {
        shutdown = shutdown => {
            for task in &shutdown.aborted {
                warn!(%task, "did not end in time");
            }
            info!("stopped");
            Exit::Ok
        }
        name = next_signal => {
            warn!(signal = name, "stopping at once");
            Exit::Aborted
        }
    }
}

/// The signals that end the program.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The next one, by name.
    ///
    /// **Cancel safety**: a signal that arrives is kept for the next call.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}

/// The signals that end the program.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> &'static str {
        self.0.recv().await;
        "Ctrl-C"
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn second_signal_cuts_the_shutdown_short() {
        assert_eq!(end(pending(), ready("SIGINT")).await, Exit::Aborted);
        let stubborn = Shutdown { aborted: vec!["stubborn".into()] };
        assert_eq!(end(ready(stubborn), pending()).await, Exit::Ok);
    }
}
