//! The simulated clocks of a run: what follows them, and what they drive.
//!
//! ```text
//! /clock ----sample----> SimClock ----time----> rules that name the clock (after their gate)
//! packets --simulated--/     |
//!                            +--newest--> /clock elsewhere
//! ```
//!
//! Each clock has a task that subscribes, looks at the watch for the clock's follower, tells people what happens, and
//! publishes. Samples do not pass through it: they are taken where they arrive.

mod follow;
mod publish;
mod words;

use std::sync::Arc;

use rostrans_core::{
    backoff::Backoff,
    clock::{ClockName, ClockSnapshot, ClockSource, ClockSpec, SimClock},
    rule::RuleId,
};
use tokio::sync::watch;

use crate::{
    adapters::AdapterSet,
    link::Link,
    pipeline::now,
    supervisor::{OnExit, Problem, State, Supervisor, Task},
    topology::Topology,
};

/// A clock of the run.
pub(crate) struct Followed {
    pub(crate) spec: ClockSpec,
    pub(crate) clock: Arc<SimClock>,
}

/// All clocks of the run.
#[derive(Clone)]
pub(crate) struct Clocks {
    all: Arc<[Followed]>,
    /// A clock that is given up, and why.
    given_up: Arc<watch::Sender<Option<Problem>>>,
}

impl Clocks {
    /// Clocks whose first samples are awaited from now on.
    pub(crate) fn new(specs: &[ClockSpec]) -> Self {
        let follow = |spec: &ClockSpec| {
            let clock = SimClock::new(spec.name.clone(), spec.tuning, now());
            if !spec.outputs.is_empty() {
                clock.wake_on_samples();
            }
            Followed { spec: spec.clone(), clock: Arc::new(clock) }
        };
        Self { all: specs.iter().map(follow).collect(), given_up: Arc::new(watch::Sender::new(None)) }
    }

    /// The clock of that name.
    pub(crate) fn get(&self, name: &ClockName) -> Option<&Followed> {
        self.all.iter().find(|followed| followed.spec.name == *name)
    }

    /// The clock that frames of a link tell.
    pub(crate) fn told_by(&self, link: &Link) -> Option<&Followed> {
        self.all.iter().find(|followed| match &followed.spec.source {
            ClockSource::Topic { .. } => false,
            ClockSource::Field { rule, link: name, field } => {
                *rule == link.rule.rule_id
                    && name.as_ref().is_none_or(|name| *name == link.config().link_name)
                    && link.codec.clock_field() == Some(field)
            }
        })
    }

    /// Spawns a task for each clock.
    pub(crate) fn spawn(
        &self,
        supervisor: &Supervisor,
        topology: &Topology,
        adapters: &AdapterSet,
    ) -> Vec<Task> {
        let task = |index: usize, followed: &Followed| {
            let name = &followed.spec.name;
            let rules = topology.pipelines.iter().map(|pipeline| &pipeline.rule);
            let waiting = rules.filter(|rule| rule.clock.as_ref() == Some(name) && rule.stamping.is_gated());
            let waiting: Arc<[RuleId]> = waiting.map(|rule| rule.rule_id.clone()).collect();
            let (clocks, adapters) = (self.clone(), adapters.clone());
            supervisor.spawn(format!("clock {name}"), OnExit::Restart(Backoff::new()), move |context| {
                let (clocks, adapters, waiting) = (clocks.clone(), adapters.clone(), Arc::clone(&waiting));
                async move {
                    // The index is that of the same list.
                    let Some(followed) = clocks.all.get(index) else { return Ok(()) };
                    let outcome = follow::run(followed, &adapters, &waiting, &context).await;
                    if let Err(failure) = &outcome
                        && !failure.may_pass()
                    {
                        let state = State::Failed(failure.to_string().into());
                        clocks
                            .given_up
                            .send_replace(Some(Problem { name: Arc::clone(context.name()), state }));
                    }
                    outcome
                }
            })
        };
        self.all.iter().enumerate().map(|(index, followed)| task(index, followed)).collect()
    }

    /// Waits until a clock is given up.
    ///
    /// **Cancel safety**: keeps no state.
    pub(crate) async fn given_up(&self) -> Problem {
        let mut given_up = self.given_up.subscribe();
        let problem = given_up.wait_for(Option::is_some).await.ok().and_then(|problem| problem.clone());
        match problem {
            Some(problem) => problem,
            None => std::future::pending().await,
        }
    }

    /// States and figures of all.
    pub(crate) fn snapshots(&self) -> Vec<ClockSnapshot> {
        self.all.iter().map(|followed| followed.clock.snapshot(now())).collect()
    }
}
