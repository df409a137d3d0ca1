//! A long run of our engine with a reader that is killed again and again.
//!
//! One process writes four image topics at 30 Hz and twenty Imu topics at 100 Hz, reliable; one reads all of them to the
//! end; a third one reads as well and is killed (SIGKILL) and started anew every few seconds. The reader that stays must
//! get every message once and in order, and memory must not grow.

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::child::commands;
use crate::engine::{self, Failure, Topic};
use crate::options::Options;
use crate::payload::{self, Kind};
use crate::process::Process;
use crate::usage;

const IMAGES: usize = 4;
const IMAGE_HZ: u64 = 30;
const IMUS: usize = 20;
const IMU_HZ: u64 = 100;
/// One second of messages: what a keep-last history may lose, a machine that stalls loses.
const DEPTHS: [u32; 2] = [IMAGE_HZ as u32, IMU_HZ as u32];
const ANSWER: Duration = Duration::from_secs(20);
/// Growth that is not counted as such: the allocator's own.
const SLACK_KIB: u64 = 16 << 10;

fn topics() -> Vec<(Kind, Topic)> {
    let topic = |kind: Kind, n: usize, depth| {
        let name = format!("soak_{}{n}", kind.name());
        (kind, Topic { name, type_name: kind.type_name(), reliable: true, keep_all: false, depth })
    };
    let [image, imu] = DEPTHS;
    let images = (0..IMAGES).map(|n| topic(Kind::Image, n, image));
    images.chain((0..IMUS).map(|n| topic(Kind::Imu, n, imu))).collect()
}

/// The writing process.
pub(crate) fn write(mut options: Options) -> Result<(), Failure> {
    let seconds: u64 = options.number("--seconds", 600)?;
    let engine = engine::open("ours", options.number("--domain", 1)?)?;
    options.finish()?;
    usage::sharp_timers();
    let commands = commands();
    let topics = topics();
    let writers = topics.iter().map(|(_, topic)| engine.writer(topic)).collect::<Result<Vec<_>, _>>()?;
    let (images, imus) = writers.split_at(IMAGES);
    println!("ready");
    while writers.iter().any(|w| w.matched() < 2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("matched");
    if commands.recv()? != "go" {
        return Ok(());
    }
    let (mut image, mut imu) = (Kind::Image.build(), Kind::Imu.build());
    let begin = Instant::now();
    let at = |n: u64, hz: u64| begin + Duration::from_nanos(n * 1_000_000_000 / hz);
    let (mut next_image, mut next_imu, mut refused) = (0, 0, 0);
    let (image_hz, imu_hz) = (IMAGE_HZ * IMAGES as u64, IMU_HZ);
    while next_image < seconds * image_hz || next_imu < seconds * imu_hz {
        let (image_due, imu_due) = (at(next_image, image_hz), at(next_imu, imu_hz));
        std::thread::sleep(image_due.min(imu_due).saturating_duration_since(Instant::now()));
        if image_due <= imu_due {
            payload::mark(&mut image, next_image / IMAGES as u64);
            refused += u64::from(!images[(next_image % IMAGES as u64) as usize].write(&image));
            next_image += 1;
        } else {
            payload::mark(&mut imu, next_imu);
            refused += imus.iter().filter(|writer| !writer.write(&imu)).count() as u64;
            next_imu += 1;
        }
    }
    println!("sent");
    while commands.recv().is_ok_and(|line| line != "stop") {}
    println!("result images={next_image} imus={} refused={refused}", next_imu * IMUS as u64);
    eprintln!("writer: {}", engine.note());
    while commands.recv().is_ok() {}
    std::process::exit(0)
}

#[derive(Default)]
struct Seen {
    count: u64,
    next: u64,
    /// Numbers that were skipped, came twice or came late.
    wrong: u64,
}

/// A reading process.
pub(crate) fn read(mut options: Options) -> Result<(), Failure> {
    let engine = engine::open("ours", options.number("--domain", 1)?)?;
    options.finish()?;
    let commands = commands();
    let mut seen = Vec::new();
    let mut readers = Vec::new();
    for (kind, topic) in topics() {
        let count = Arc::new(Mutex::new(Seen::default()));
        seen.push((kind, count.clone()));
        let sink = move |body: &[u8]| {
            let Some((_, number)) = payload::read(body) else { return };
            let mut seen = count.lock().unwrap_or_else(PoisonError::into_inner);
            seen.wrong += number.abs_diff(seen.next);
            seen.count += 1;
            seen.next = number + 1;
        };
        readers.push(engine.reader(&topic, Box::new(sink))?);
    }
    println!("ready");
    while commands.recv().is_ok_and(|line| line != "stop") {}
    let sum = |kind: Kind, value: fn(&Seen) -> u64| -> u64 {
        let of = seen.iter().filter(|(k, _)| *k == kind);
        of.map(|(_, seen)| value(&seen.lock().unwrap_or_else(PoisonError::into_inner))).sum()
    };
    println!(
        "result images={} imus={} wrong={}",
        sum(Kind::Image, |s| s.count),
        sum(Kind::Imu, |s| s.count),
        sum(Kind::Image, |s| s.wrong) + sum(Kind::Imu, |s| s.wrong)
    );
    eprintln!("reader: {}", engine.note());
    while commands.recv().is_ok() {}
    std::process::exit(0)
}

pub(crate) fn run(mut options: Options) -> Result<(), String> {
    let seconds: u64 = options.number("--seconds", 600)?;
    let every: u64 = options.number("--kill-every", 20.min(seconds / 6).max(1))?;
    let domain: u16 = options.number("--domain", 1)?;
    options.finish()?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let start = |what: &str| {
        let mut command = Command::new(&program);
        command.args([what, "--domain", &domain.to_string()]);
        if what == "soak-write" {
            command.args(["--seconds", &seconds.to_string()]);
        }
        Process::start(&mut command)
    };
    let mut reader = start("soak-read")?;
    let mut victim = start("soak-read")?;
    reader.wait("ready", ANSWER)?;
    victim.wait("ready", ANSWER)?;
    let mut writer = start("soak-write")?;
    writer.wait("matched", ANSWER)?;
    std::thread::sleep(Duration::from_secs(1));
    writer.tell("go");

    println!(
        "{IMAGES} x Image at {IMAGE_HZ} Hz, {IMUS} x Imu at {IMU_HZ} Hz, a reader killed every {every} s"
    );
    println!("{:>6} {:>7} {:>11} {:>11} {:>11}", "s", "killed", "writer MiB", "reader MiB", "victim MiB");
    let begin = Instant::now();
    let mut kills = 0;
    let mut memory: Vec<[u64; 2]> = Vec::new();
    for tick in 1..=seconds / every {
        let until = begin + Duration::from_secs(tick * every);
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        let [w, r, v] = [&writer, &reader, &victim].map(|p| usage::memory_kib(&p.pid().to_string(), "VmRSS"));
        memory.push([w, r]);
        println!("{:>6} {kills:>7} {:>11} {:>11} {:>11}", tick * every, w >> 10, r >> 10, v >> 10);
        if tick < seconds / every {
            victim.kill();
            kills += 1;
            victim = start("soak-read")?;
        }
    }
    writer.wait("sent", Duration::from_secs(every + 60))?;
    std::thread::sleep(Duration::from_secs(2));
    writer.tell("stop");
    reader.tell("stop");
    let (wrote, read) = (writer.result(ANSWER)?, reader.result(ANSWER)?);
    for kind in ["images", "imus"] {
        println!("{kind}: {} written, {} read by the reader that stayed", wrote.get(kind), read.get(kind));
    }
    let mut faults = Vec::new();
    if ["images", "imus"].iter().any(|kind| wrote.get(kind) != read.get(kind)) || read.get("wrong") > 0.0 {
        faults.push("messages lost, doubled or out of order");
    }
    if wrote.get("refused") > 0.0 {
        faults.push("writes refused");
    }
    if grows(&memory) {
        faults.push("memory grows");
    }
    if faults.is_empty() {
        println!("every message once and in order, memory flat");
        return Ok(());
    }
    Err(faults.join(", "))
}

/// Whether the last third needed more than the one before; the first third may still fill histories.
fn grows(memory: &[[u64; 2]]) -> bool {
    let third = memory.len() / 3;
    let peak = |part: &[[u64; 2]], of: usize| part.iter().map(|sample| sample[of]).max().unwrap_or(0);
    let (middle, last) = memory.get(third..).unwrap_or_default().split_at_checked(third).unwrap_or_default();
    (0..2).any(|of| {
        let before = peak(middle, of);
        !middle.is_empty() && peak(last, of) > before + before / 10 + SLACK_KIB
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_fills_up_first_is_flat_and_memory_that_keeps_growing_is_not() {
        let mib = |values: [u64; 9]| values.map(|v| [v << 10, 10 << 10]);
        assert!(!grows(&mib([50, 200, 330, 331, 330, 333, 332, 330, 340])));
        assert!(grows(&mib([50, 100, 150, 200, 250, 300, 350, 400, 450])));
    }
}
