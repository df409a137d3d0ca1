//! Vehicles and a listener for `scripts/bench-mavros` and `scripts/bench-coptersim`.
//!
//! ```text
//! mavros_bench load FIRST-LAST PORT STEP      vehicles that send to 127.0.0.1:PORT + STEP * (number - 1)
//! mavros_bench listen FIRST-LAST              counts what rostrans publishes of these vehicles
//! mavros_bench listen FIRST-LAST copter       the same for vehicles of CopterSim: six topics each
//! ```
//!
//! Both print JSON lines and obey lines on their input; they end with it. Of `load`: `mix SCALE SECONDS` and
//! `kinds HZ SECONDS` send a stream, `quiet` ends what goes on until then: every message five times a second, by which
//! all find each other. Of `listen`: `reset` and `count`.

#![expect(clippy::print_stdout, reason = "that is how it reports")]

mod kind;
mod listen;
mod load;

use std::{io::BufRead, ops::RangeInclusive, process::ExitCode, sync::mpsc};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["load", vehicles, port, step] => range(vehicles).and_then(|vehicles| {
            let (port, step) = (port.parse().ok()?, step.parse().ok()?);
            load::run(vehicles, port, step).ok()
        }),
        ["listen", vehicles] => range(vehicles).and_then(|v| listen::run(v, &listen::of_kinds()).ok()),
        ["listen", vehicles, "copter"] => range(vehicles).and_then(|v| listen::run(v, listen::COPTER).ok()),
        _ => None,
    };
    match done {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn range(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-')?;
    Some(first.parse().ok()?..=last.parse().ok()?)
}

/// The lines of the input, read by a thread of its own.
fn orders() -> mpsc::Receiver<String> {
    let (sender, orders) = mpsc::sync_channel(8);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    orders
}
