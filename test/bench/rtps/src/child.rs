//! The two processes of a run: `write` and `read`.
//!
//! Both talk to the runner over their pipes: they print `ready` (and the writer `matched`), begin at `go`, print what
//! they measured at `stop` and end with their input. The writer also prints `sent` when it has written everything.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{self, Failure, Topic, Writer};
use crate::options::Options;
use crate::payload::{self, Kind};
use crate::usage;

/// What both processes are told about the run.
struct Job {
    engine: String,
    domain: u16,
    kind: Kind,
    topics: Vec<Topic>,
}

impl Job {
    fn parse(options: &mut Options) -> Result<Self, Failure> {
        let kind = Kind::parse(&options.value("--kind").unwrap_or_default())?;
        let (reliable, keep_all) = (options.flag("--reliable"), options.flag("--keep-all"));
        let count: usize = options.number("--topics", 1)?;
        let topic = |n| Topic {
            name: format!("bench{n}"),
            type_name: kind.type_name(),
            reliable,
            keep_all,
            depth: 0,
        };
        Ok(Self {
            engine: options.value("--engine").unwrap_or_default(),
            domain: options.number("--domain", 1)?,
            kind,
            topics: (0..count).map(topic).collect(),
        })
    }
}

/// Lines of standard input, without waiting for them where they are not due.
pub(crate) fn commands() -> Receiver<String> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    from
}

pub(crate) fn write(mut options: Options) -> Result<(), Failure> {
    let job = Job::parse(&mut options)?;
    let rate: f64 = options.number("--rate", 0.0)?;
    let seconds: f64 = options.number("--seconds", 1.0)?;
    let together = options.flag("--together");
    options.finish()?;
    usage::sharp_timers();
    let commands = commands();
    let engine = engine::open(&job.engine, job.domain)?;
    let writers = job.topics.iter().map(|t| engine.writer(t)).collect::<Result<Vec<_>, _>>()?;
    println!("ready");
    while writers.iter().any(|w| w.matched() == 0) {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("matched");
    if commands.recv()? != "go" {
        return Ok(());
    }
    let cpu = usage::cpu_us();
    let begin = Instant::now();
    let (sent, refused) = match rate {
        0.0 => at_full_speed(&writers, job.kind, seconds),
        _ => paced(&writers, job.kind, rate, seconds, together),
    };
    let span = begin.elapsed();
    println!("sent");
    while commands.recv().is_ok_and(|line| line != "stop") {}
    println!("result sent={sent} refused={refused} span_us={} {}", span.as_micros(), own_usage(cpu));
    if std::env::var_os("BENCH_NOTES").is_some() {
        eprintln!("{} writer: {}", job.engine, engine.note());
    }
    while commands.recv().is_ok() {}
    // Rivals may take long to say goodbye; nobody waits for it.
    std::process::exit(0)
}

fn own_usage(cpu_before: u64) -> String {
    let memory = |what| usage::memory_kib("self", what);
    format!(
        "cpu_us={} rss_kib={} peak_kib={}",
        usage::cpu_us() - cpu_before,
        memory("VmRSS"),
        memory("VmHWM")
    )
}

/// Messages of all topics at `rate` each: evenly spread over time, or all topics at the same moments.
fn paced(writers: &[Box<dyn Writer>], kind: Kind, rate: f64, seconds: f64, together: bool) -> (u64, u64) {
    let mut message = kind.build();
    let count = writers.len() as u64;
    let total = (rate * seconds) as u64 * count;
    let begin = Instant::now();
    let mut refused = 0;
    for n in 0..total {
        let step = if together { n / count * count } else { n };
        let due = begin + Duration::from_secs_f64(step as f64 / (rate * count as f64));
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        payload::mark(&mut message, n / count);
        refused += u64::from(!writers[(n % count) as usize].write(&message));
    }
    (total, refused)
}

fn at_full_speed(writers: &[Box<dyn Writer>], kind: Kind, seconds: f64) -> (u64, u64) {
    let mut message = kind.build();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut sent, mut refused) = (0, 0);
    while Instant::now() < end {
        for writer in writers {
            payload::mark(&mut message, sent);
            refused += u64::from(!writer.write(&message));
        }
        sent += 1;
    }
    (sent * writers.len() as u64, refused)
}

/// What arrived on one topic.
#[derive(Default)]
struct Arrivals {
    count: u64,
    first: Option<Instant>,
    last: Option<Instant>,
    next: u64,
    /// Messages that came twice or in the wrong order.
    disorder: u64,
    latencies: Vec<i64>,
}

impl Arrivals {
    fn take(&mut self, body: &[u8], with_latency: bool) {
        let now = Instant::now();
        let Some((stamp, number)) = payload::read(body) else { return };
        if number < self.next {
            self.disorder += 1;
            return;
        }
        self.next = number + 1;
        self.count += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
        if with_latency {
            self.latencies.push(payload::wall_ns() - stamp);
        }
    }
}

pub(crate) fn read(mut options: Options) -> Result<(), Failure> {
    let job = Job::parse(&mut options)?;
    options.finish()?;
    usage::sharp_timers();
    let commands = commands();
    let engine = engine::open(&job.engine, job.domain)?;
    let with_latency = job.kind != Kind::Kilobyte;
    let mut topics = Vec::new();
    let mut readers = Vec::new();
    for topic in &job.topics {
        let arrivals = Arc::new(Mutex::new(Arrivals::default()));
        topics.push(arrivals.clone());
        let sink = move |body: &[u8]| {
            arrivals.lock().unwrap_or_else(PoisonError::into_inner).take(body, with_latency);
        };
        readers.push(engine.reader(topic, Box::new(sink))?);
    }
    println!("ready");
    if commands.recv()? != "go" {
        return Ok(());
    }
    let cpu = usage::cpu_us();
    while commands.recv().is_ok_and(|line| line != "stop") {}
    let usage = own_usage(cpu);
    let (mut count, mut disorder, mut span_us, mut latencies) = (0, 0, 0, Vec::new());
    for topic in &topics {
        let arrivals = topic.lock().unwrap_or_else(PoisonError::into_inner);
        count += arrivals.count;
        disorder += arrivals.disorder;
        let span = arrivals.last.zip(arrivals.first).map_or(0, |(last, first)| (last - first).as_micros());
        span_us = span_us.max(span);
        latencies.extend_from_slice(&arrivals.latencies);
    }
    latencies.sort_unstable();
    let at = |percent: usize| match latencies.len() {
        0 => 0,
        len => latencies[(len - 1) * percent / 100] / 1000,
    };
    println!(
        "result received={count} disorder={disorder} span_us={span_us} p50_us={} p99_us={} {usage}",
        at(50),
        at(99)
    );
    if std::env::var_os("BENCH_NOTES").is_some() {
        eprintln!("{} reader: {}", job.engine, engine.note());
    }
    while commands.recv().is_ok() {}
    std::process::exit(0)
}
