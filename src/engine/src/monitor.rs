//! Rates for people: what moved on each link since the last look.

mod clocks;
mod rates;
mod report;

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::{self, Instant, MissedTickBehavior};
use tracing::info;

pub use self::{
    clocks::ClockRates,
    rates::{LinkRates, Rates, RouteRates, TransportRates},
};
use crate::{
    running::Parts,
    supervisor::{OnExit, Supervisor},
};

/// Reports rates every so often.
#[derive(Clone)]
pub struct Monitor {
    every: Duration,
    report: Arc<dyn Fn(&Rates) + Send + Sync>,
}

impl Monitor {
    /// Hands the rates of each interval to `report`, which must not block.
    ///
    /// An interval of zero counts as one second.
    pub fn new(every: Duration, report: impl Fn(&Rates) + Send + Sync + 'static) -> Self {
        let every = if every.is_zero() { Duration::from_secs(1) } else { every };
        Self { every, report: Arc::new(report) }
    }

    /// Logs the rates as a table, for people.
    pub fn table(every: Duration) -> Self {
        Self::new(every, |rates| info!("rates\n{rates}"))
    }

    /// Logs one event per link, transport and route peer with a field for each figure, for JSON logs.
    pub fn fields(every: Duration) -> Self {
        Self::new(every, Rates::log_fields)
    }

    pub(crate) fn spawn(&self, supervisor: &Supervisor, parts: Arc<Parts>) {
        let monitor = self.clone();
        supervisor.spawn("monitor", OnExit::Stop, move |context| {
            let (monitor, parts) = (monitor.clone(), Arc::clone(&parts));
            async move {
                context.up();
                let mut before = parts.snapshot();
                let mut ticks = time::interval_at(Instant::now() + monitor.every, monitor.every);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    tokio::select! {
                        () = context.cancel().cancelled() => return Ok(()),
                        _ = ticks.tick() => {}
                    }
                    let now = parts.snapshot();
                    (monitor.report)(&Rates::between(&before, &now));
                    before = now;
                }
            }
        });
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("every", &self.every).finish_non_exhaustive()
    }
}
