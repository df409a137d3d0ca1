//! The rostrans executable; see the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    rostrans_daemon::main(std::env::args_os().skip(1)).into()
}
