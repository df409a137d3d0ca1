//! Rates for people: what moved on each link since the last look.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use rostrans_core::{
    rule::{Direction, LinkName, RuleId},
    stats::LinkSnapshot,
};
use tokio::time::{self, Instant, MissedTickBehavior};
use tracing::info;

use crate::{
    running::{LinkRow, Parts, Snapshot, TransportSnapshot},
    supervisor::{OnExit, State, Supervisor},
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

    /// Logs one event per link and per transport with a field for each figure, for JSON logs.
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

/// What moved between two snapshots; prints as a table.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Time between the snapshots.
    pub window: Duration,
    /// One row per link.
    pub links: Vec<LinkRates>,
    /// One row per socket or port.
    pub transports: Vec<TransportRates>,
}

/// One link's row.
#[derive(Clone, Debug)]
pub struct LinkRates {
    /// The rule.
    pub rule: RuleId,
    /// The link.
    pub link: LinkName,
    /// Which way it moves data.
    pub direction: Direction,
    /// The rule's state.
    pub state: State,
    /// Switched off after too many codec panics.
    pub disabled: bool,
    /// What came in, per second: frames, ROS messages or service calls.
    pub in_hz: f64,
    /// What went out, per second: ROS messages, frames or answers.
    pub out_hz: f64,
    /// Bytes of its frames per second, in units of 1000.
    pub kbytes_s: f64,
    /// Displaced from a full queue, since the start.
    pub dropped: u64,
    /// Held back by the rate limit, since the start.
    pub limited: u64,
    /// Frames, samples and calls that failed, since the start.
    pub errors: u64,
    /// Time since the link last saw a frame or sample; `None` if it never did.
    pub idle: Option<Duration>,
}

/// One transport's row.
#[derive(Clone, Debug)]
pub struct TransportRates {
    /// What it is and who uses it.
    pub name: Arc<str>,
    /// Whether it is open.
    pub state: State,
    /// Frames received per second.
    pub in_hz: f64,
    /// Their bytes per second, in units of 1000.
    pub kbytes_s: f64,
    /// Frames per second that no link wanted.
    pub unwanted_hz: f64,
    /// Frames with a wrong checksum or cut short, since the start.
    pub malformed: u64,
    /// Bytes skipped between frames, since the start.
    pub skipped_bytes: u64,
}

impl Rates {
    /// The rates between two snapshots of the same run.
    pub fn between(before: &Snapshot, now: &Snapshot) -> Self {
        let window = now.at.saturating_duration_since(before.at);
        let per_second =
            |before: u64, now: u64| now.saturating_sub(before) as f64 / window.as_secs_f64().max(1e-9);
        let link = |rule: usize, link: usize, row: &LinkRow| {
            let old = before.rules.get(rule).and_then(|r| r.links.get(link));
            let old = old.map(|old| old.counters).unwrap_or_default();
            let rule = now.rules.get(rule)?;
            let counters = &row.counters;
            let (came, went) = flow(rule.direction, counters);
            let (had_come, had_gone) = flow(rule.direction, &old);
            Some(LinkRates {
                rule: rule.rule_id.clone(),
                link: row.link_name.clone(),
                direction: rule.direction,
                state: rule.state.clone(),
                disabled: row.disabled,
                in_hz: per_second(had_come, came),
                out_hz: per_second(had_gone, went),
                kbytes_s: per_second(old.bytes, counters.bytes) / 1e3,
                dropped: counters.dropped_queue,
                limited: counters.dropped_rate,
                errors: errors(counters),
                idle: counters.last_active.map(|at| now.at.saturating_duration_since(at)),
            })
        };
        let links = now.rules.iter().enumerate().flat_map(|(r, rule)| {
            let rows: Vec<_> = rule.links.iter().enumerate().filter_map(|(l, row)| link(r, l, row)).collect();
            rows
        });
        let transport = |(index, t): (usize, &TransportSnapshot)| {
            let old = before.transports.get(index);
            let old = |count: fn(&TransportSnapshot) -> u64| old.map_or(0, count);
            TransportRates {
                name: Arc::clone(&t.name),
                state: t.state.clone(),
                in_hz: per_second(old(|t| t.frames), t.frames),
                kbytes_s: per_second(old(|t| t.bytes), t.bytes) / 1e3,
                unwanted_hz: per_second(old(|t| t.unwanted), t.unwanted),
                malformed: t.bad_checksums + t.truncated,
                skipped_bytes: t.skipped_bytes,
            }
        };
        let transports = now.transports.iter().enumerate().map(transport);
        Self { window, links: links.collect(), transports: transports.collect() }
    }

    /// Logs one event per link and per transport.
    pub fn log_fields(&self) {
        for row in &self.links {
            info!(
                rule = %row.rule,
                link = %row.link,
                direction = %row.direction,
                state = row.state_text(),
                in_hz = row.in_hz,
                out_hz = row.out_hz,
                kbytes_s = row.kbytes_s,
                dropped = row.dropped,
                limited = row.limited,
                errors = row.errors,
                idle_s = row.idle.map(|idle| idle.as_secs_f64()),
                "link rates"
            );
        }
        for row in &self.transports {
            info!(
                transport = &*row.name,
                state = %row.state,
                in_hz = row.in_hz,
                kbytes_s = row.kbytes_s,
                unwanted_hz = row.unwanted_hz,
                malformed = row.malformed,
                skipped_bytes = row.skipped_bytes,
                "transport rates"
            );
        }
    }

    fn total(&self) -> [String; 11] {
        let sum = |figure: fn(&LinkRates) -> f64| self.links.iter().map(figure).sum::<f64>();
        let count = |figure: fn(&LinkRates) -> u64| self.links.iter().map(figure).sum::<u64>().to_string();
        [
            "total".to_owned(),
            String::new(),
            String::new(),
            String::new(),
            format!("{:.1}", sum(|row| row.in_hz)),
            format!("{:.1}", sum(|row| row.out_hz)),
            format!("{:.1}", sum(|row| row.kbytes_s)),
            count(|row| row.dropped),
            count(|row| row.limited),
            count(|row| row.errors),
            String::new(),
        ]
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = [
            "rule",
            "link",
            "direction",
            "state",
            "in/s",
            "out/s",
            "kB/s",
            "dropped",
            "limited",
            "errors",
            "last",
        ];
        let mut rows = vec![titles.map(str::to_owned)];
        rows.extend(self.links.iter().map(LinkRates::cells));
        rows.push(self.total());
        table(f, &rows, 4)?;
        if !self.transports.is_empty() {
            let titles = ["transport", "state", "in/s", "kB/s", "unwanted/s", "malformed", "skipped B"];
            let mut rows = vec![titles.map(str::to_owned)];
            rows.extend(self.transports.iter().map(TransportRates::cells));
            f.write_char('\n')?;
            table(f, &rows, 2)?;
        }
        Ok(())
    }
}

impl LinkRates {
    fn cells(&self) -> [String; 11] {
        [
            self.rule.to_string(),
            self.link.to_string(),
            self.direction.to_string(),
            self.state_text(),
            format!("{:.1}", self.in_hz),
            format!("{:.1}", self.out_hz),
            format!("{:.1}", self.kbytes_s),
            self.dropped.to_string(),
            self.limited.to_string(),
            self.errors.to_string(),
            match self.idle {
                None => "never".to_owned(),
                Some(idle) if idle < Duration::from_secs(1) => "now".to_owned(),
                Some(idle) => format!("{} s ago", idle.as_secs()),
            },
        ]
    }

    fn state_text(&self) -> String {
        if self.disabled { "off".to_owned() } else { self.state.to_string() }
    }
}

impl TransportRates {
    fn cells(&self) -> [String; 7] {
        [
            self.name.to_string(),
            self.state.to_string(),
            format!("{:.1}", self.in_hz),
            format!("{:.1}", self.kbytes_s),
            format!("{:.1}", self.unwanted_hz),
            self.malformed.to_string(),
            self.skipped_bytes.to_string(),
        ]
    }
}

/// What came in and what went out, for a direction.
fn flow(direction: Direction, counters: &LinkSnapshot) -> (u64, u64) {
    let LinkSnapshot { frames, messages, calls, .. } = *counters;
    match direction {
        Direction::UdpToRostopic | Direction::SerialToRos | Direction::MemToRostopic => (frames, messages),
        Direction::RostopicToUdp | Direction::RosToSerial => (messages, frames),
        Direction::UdpToRosservice | Direction::RosserviceToUdp => (messages, calls),
        Direction::BytesRoute => (frames, frames),
    }
}

fn errors(counters: &LinkSnapshot) -> u64 {
    counters.decode_errors + counters.encode_errors + counters.send_errors + counters.failed_calls
}

/// Writes rows of cells: the first `texts` columns to the left, figures to the right.
fn table<const N: usize>(f: &mut fmt::Formatter<'_>, rows: &[[String; N]], texts: usize) -> fmt::Result {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            if column < texts {
                write!(line, "{gap}{cell:<width$}")?;
            } else {
                write!(line, "{gap}{cell:>width$}")?;
            }
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
