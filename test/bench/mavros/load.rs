//! Vehicles that send.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs, io,
    net::{Ipv4Addr, UdpSocket},
    ops::RangeInclusive,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rostrans_mavlink::Sender;
use serde_json::json;

use crate::{kind::KINDS, orders};

/// Between two rounds of greetings.
const GREETING: Duration = Duration::from_millis(200);

struct Vehicle {
    sysid: u8,
    seq: u8,
    socket: UdpSocket,
}

struct Fleet {
    vehicles: Vec<Vehicle>,
    start: Instant,
    frame: Vec<u8>,
}

/// Serves the orders of the input.
pub(crate) fn run(numbers: RangeInclusive<u8>, port: u16, step: u16) -> io::Result<()> {
    let mut vehicles = Vec::new();
    for sysid in numbers {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect((Ipv4Addr::LOCALHOST, port + step * (u16::from(sysid) - 1)))?;
        vehicles.push(Vehicle { sysid, seq: 0, socket });
    }
    let mut fleet = Fleet { vehicles, start: Instant::now(), frame: Vec::new() };
    let orders = orders();
    let mut greets = true;
    loop {
        let order = if greets {
            fleet.greet();
            match orders.recv_timeout(GREETING) {
                Ok(order) => order,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => continue,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            }
        } else {
            let Ok(order) = orders.recv() else { return Ok(()) };
            order
        };
        greets = order == "greet";
        let words: Vec<&str> = order.split_whitespace().collect();
        let number = |index: usize| words.get(index).and_then(|word| word.parse::<f64>().ok());
        let (Some(rate), Some(seconds)) = (number(1), number(2)) else {
            println!("{}", json!({"event": order}));
            continue;
        };
        let rate_of = |kind: &crate::kind::Kind| match (words[0], kind.is_heartbeat()) {
            (_, true) => 1.0,
            ("mix", false) => kind.mix_hz * rate,
            _ => rate,
        };
        let rates: Vec<f64> = KINDS.iter().map(rate_of).collect();
        fleet.stream(&rates, Duration::from_secs_f64(seconds), words.get(3).copied())?;
    }
}

impl Fleet {
    /// Every message of every vehicle, once.
    fn greet(&mut self) {
        for vehicle in 0..self.vehicles.len() {
            for kind in 0..KINDS.len() {
                // Nobody may listen yet.
                drop(self.send(vehicle, kind, 0));
            }
        }
    }

    fn send(&mut self, vehicle: usize, kind: usize, number: u32) -> io::Result<()> {
        let Vehicle { sysid, seq, socket } = &mut self.vehicles[vehicle];
        let from = Sender { seq: *seq, sysid: *sysid, compid: 1 };
        *seq = seq.wrapping_add(1);
        self.frame.clear();
        let since_boot = self.start.elapsed() + Duration::from_secs(10);
        KINDS[kind].write(&mut self.frame, from, number, micros(since_boot));
        socket.send(&self.frame)?;
        Ok(())
    }

    /// Each kind at its rate, spread evenly; then says how it went. With a file, writes there when each number of the
    /// first vehicle was sent, as nanoseconds of the system clock in little-endian.
    fn stream(&mut self, rates_hz: &[f64], length: Duration, times: Option<&str>) -> io::Result<()> {
        let mut due = BinaryHeap::new();
        for vehicle in 0..self.vehicles.len() {
            for (kind, rate) in rates_hz.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
                let period = Duration::from_secs_f64(1.0 / rate);
                // No two streams of one rate begin at once.
                let place = vehicle * KINDS.len() + kind;
                let first = period.mul_f64((place as f64 * 0.618_034).fract());
                due.push(Reverse((first, vehicle, kind, period)));
            }
        }
        let begin = Instant::now();
        let mut sent = vec![[0_u64; KINDS.len()]; self.vehicles.len()];
        let mut log: Vec<u64> = Vec::new();
        let (mut late, mut failed) = (Duration::ZERO, 0_u64);
        while let Some(Reverse((at, vehicle, kind, period))) = due.pop() {
            if at >= length {
                continue;
            }
            due.push(Reverse((at + period, vehicle, kind, period)));
            let now = begin.elapsed();
            match at.checked_sub(now) {
                #[expect(clippy::disallowed_methods, reason = "a clock of its own is all it waits for")]
                Some(wait) => std::thread::sleep(wait),
                None => late = late.max(now - at),
            }
            let number = u32::try_from(log.len()).unwrap_or(u32::MAX);
            if vehicle == 0 && times.is_some() {
                log.push(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos));
            }
            match self.send(vehicle, kind, number) {
                Ok(()) => sent[vehicle][kind] += 1,
                Err(_) => failed += 1,
            }
        }
        if let Some(path) = times {
            fs::write(path, log.iter().flat_map(|time| time.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        let topics = |counts: &[u64; KINDS.len()]| {
            let pairs =
                KINDS.iter().zip(counts).map(|(kind, count)| (kind.topic.0.to_owned(), (*count).into()));
            serde_json::Value::Object(pairs.collect())
        };
        let by_vehicle: serde_json::Map<_, _> = self
            .vehicles
            .iter()
            .zip(&sent)
            .map(|(v, counts)| (v.sysid.to_string(), topics(counts)))
            .collect();
        let total: u64 = sent.iter().flatten().sum();
        let (seconds, late_ms) = (begin.elapsed().as_secs_f64(), late.as_secs_f64() * 1e3);
        println!(
            "{}",
            json!({"event": "sent", "total": total, "failed": failed, "seconds": seconds, "late_ms": late_ms,
                   "vehicles": by_vehicle})
        );
        Ok(())
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
