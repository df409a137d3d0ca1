//! Runs the cases round by round, engines taking turns, within a time limit.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::case::{CASES, Case, Peer};
use crate::engine;
use crate::options::Options;
use crate::process::Process;
use crate::table::{self, Row};

/// What one run of one engine showed.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) sent: f64,
    pub(crate) received: f64,
    /// Messages that came twice, in the wrong order or were refused by the engine.
    pub(crate) wrong: f64,
    pub(crate) sent_per_s: f64,
    pub(crate) received_per_s: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// CPU microseconds per message sent or received.
    pub(crate) writer_us: f64,
    pub(crate) reader_us: f64,
    /// Peak memory.
    pub(crate) writer_kib: f64,
    pub(crate) reader_kib: f64,
}

struct Plan {
    program: PathBuf,
    seconds: f64,
    domain: u16,
    python: Option<PathBuf>,
    script: PathBuf,
}

/// From `go` to what is left on its way when the writer is done.
const DRAIN: Duration = Duration::from_millis(800);
/// Both sides see each other a little later than the first of them does.
const SETTLE: Duration = Duration::from_millis(700);
const START: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(3);

pub(crate) fn run(mut options: Options) -> Result<(), String> {
    let quick = options.flag("--quick");
    let rounds: usize = options.number("--rounds", if quick { 1 } else { 3 })?;
    let seconds: f64 = options.number("--seconds", if quick { 1.0 } else { 2.0 })?;
    let limit: u64 = options.number("--limit", if quick { 115 } else { 590 })?;
    let domain: u16 = options.number("--domain", 1)?;
    let engines = options
        .list("--engines")
        .unwrap_or_else(|| engine::names().iter().map(|n| (*n).to_owned()).collect());
    let wanted = options.list("--cases");
    options.finish()?;
    let known = |id: &String| CASES.iter().any(|c| c.id == id);
    if let Some(bad) = wanted.iter().flatten().find(|id| !known(id)) {
        let ids: Vec<_> = CASES.iter().map(|c| c.id).collect();
        return Err(format!("unknown case '{bad}'; use some of {}", ids.join(",")));
    }
    let python = python();
    if python.is_none() {
        eprintln!("no rclpy venv (PEERS_VENV): cases with a Fast DDS reader are left out");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rclpy_reader.py");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let plan = Plan { program, seconds, domain, python, script };
    let cases: Vec<&Case> = CASES
        .iter()
        .filter(|case| wanted.as_ref().is_none_or(|ids| ids.iter().any(|id| id == case.id)))
        .filter(|case| case.peer == Peer::Same || plan.python.is_some())
        .collect();
    let mut tables: Vec<Vec<Row>> = cases
        .iter()
        .map(|case| engines.iter().filter(|e| case.is_for(e)).map(|e| Row::new(e)).collect())
        .collect();

    let deadline = Instant::now() + Duration::from_secs(limit);
    'all: for round in 0..rounds {
        for (case, rows) in cases.iter().zip(&mut tables) {
            let count = rows.len();
            for turn in 0..count {
                if Instant::now() > deadline {
                    eprintln!("time is up in round {}; the tables show what there is", round + 1);
                    break 'all;
                }
                // Another engine begins in each round, so that none always has the warmest machine.
                let row = &mut rows[(turn + round) % count];
                progress(&format!("round {} {} {}", round + 1, case.id, row.engine));
                row.outcomes.push(once(&plan, case, &row.engine));
            }
        }
    }
    progress("");
    for (case, rows) in cases.iter().zip(&tables) {
        table::print(case, rows);
    }
    Ok(())
}

/// One run of one engine.
fn once(plan: &Plan, case: &Case, engine: &str) -> Result<Outcome, String> {
    let common = |command: &mut Command| {
        command.args(["--domain", &plan.domain.to_string(), "--topics", &case.topics.to_string()]);
        if case.reliable {
            command.arg("--reliable");
        }
    };
    let child = |what: &str| {
        let mut command = Command::new(&plan.program);
        command.args([what, "--engine", engine, "--kind", case.kind.name()]);
        if case.keep_all {
            command.arg("--keep-all");
        }
        common(&mut command);
        command
    };
    let mut reader = match (case.peer, &plan.python) {
        (Peer::FastDds, Some(python)) => {
            let mut command = Command::new(python);
            command.arg(&plan.script);
            common(&mut command);
            Process::start(&mut command)?
        }
        _ => Process::start(&mut child("read"))?,
    };
    reader.wait("ready", START).map_err(|e| format!("reader: {e}"))?;
    let mut command = child("write");
    command.args(["--rate", &case.rate.to_string(), "--seconds", &plan.seconds.to_string()]);
    if case.together {
        command.arg("--together");
    }
    let mut writer = Process::start(&mut command)?;
    writer.wait("matched", START).map_err(|e| format!("writer: {e}"))?;
    std::thread::sleep(SETTLE);
    reader.tell("go");
    writer.tell("go");
    writer
        .wait("sent", Duration::from_secs_f64(plan.seconds * 2.0 + 12.0))
        .map_err(|e| format!("writer: {e}"))?;
    std::thread::sleep(DRAIN);
    writer.tell("stop");
    reader.tell("stop");
    let wrote = writer.result(ANSWER).map_err(|e| format!("writer: {e}"))?;
    let read = reader.result(ANSWER).map_err(|e| format!("reader: {e}"))?;
    let (sent, received) = (wrote.get("sent"), read.get("received"));
    Ok(Outcome {
        sent,
        received,
        wrong: read.get("disorder") + wrote.get("refused"),
        sent_per_s: sent / (wrote.get("span_us") / 1e6),
        received_per_s: (received - 1.0).max(0.0) / (read.get("span_us").max(1.0) / 1e6),
        p50_us: read.get("p50_us"),
        p99_us: read.get("p99_us"),
        writer_us: wrote.get("cpu_us") / sent,
        reader_us: read.get("cpu_us") / received.max(1.0),
        writer_kib: wrote.get("peak_kib"),
        reader_kib: read.get("peak_kib"),
    })
}

/// Shows what is going on, when somebody watches.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("{what:40}\r");
    }
}

/// Python with rclpy: the Jazzy venv of `PEERS_VENV`, or Kilted's.
fn python() -> Option<PathBuf> {
    let venv = PathBuf::from(std::env::var_os("PEERS_VENV")?);
    let paths = ["ros2-jazzy", "ros2-kilted"].map(|name| venv.join(name).join("bin/ros-python"));
    paths.into_iter().find(|path| path.exists())
}
