//! Our RTPS engine beside Cyclone DDS and RustDDS: the same messages, QoS and socket buffers, one machine, one run.
//!
//! ```text
//! rtps-bench run [--quick] [--rounds N] [--seconds S] [--limit S] [--engines A,B] [--cases A,B] [--domain N]
//! rtps-bench soak [--seconds S] [--kill-every S] [--domain N]
//! rtps-bench write|read|soak-write|soak-read ...      the processes of these, started by them
//! ```
//!
//! `scripts/bench-rtps` and `scripts/soak-rtps` build and start it in a network namespace of its own; `README.md`
//! explains the figures.

mod case;
mod child;
mod engine;
mod options;
mod payload;
mod process;
mod run;
mod soak;
mod table;
mod usage;

use std::process::ExitCode;

use options::Options;

const USAGE: &str = "usage: rtps-bench run|soak [options]";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    }
    let command = arguments.remove(0);
    let options = Options::new(arguments);
    let done = match command.as_str() {
        "run" => run::run(options),
        "write" => child::write(options).map_err(|error| format!("{error:?}")),
        "read" => child::read(options).map_err(|error| format!("{error:?}")),
        "soak" => soak::run(options),
        "soak-write" => soak::write(options).map_err(|error| format!("{error:?}")),
        "soak-read" => soak::read(options).map_err(|error| format!("{error:?}")),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rtps-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
