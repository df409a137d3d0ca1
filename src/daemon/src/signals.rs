//! The signals that end the program.

#[cfg(unix)]
use std::future::pending;
use std::{io, time::Instant};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal's name, and when it came.
pub(crate) type Arrived = (&'static str, Instant);

/// The signals that end the program.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal is gone. None when whoever started us asked to survive that.
    hangup: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let hangup = (!ignores_hangup(&status)).then(|| signal(SignalKind::hangup()));
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: hangup.transpose()?,
        })
    }

    /// The next one.
    ///
    /// **Cancel safety**: a signal that arrives is kept for the next call.
    pub(crate) async fn next(&mut self) -> Arrived {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => pending().await,
            }
        };
        let name = tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = hangup => "SIGHUP",
        };
        (name, Instant::now())
    }
}

/// True when the process was started with SIGHUP ignored, as `nohup` does.
///
/// `status` is the text of `/proc/self/status`; its `SigIgn` is a mask in hexadecimal, SIGHUP the lowest bit.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// The signals that end the program.
#[cfg(windows)]
pub(crate) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    pub(crate) async fn next(&mut self) -> Arrived {
        self.0.recv().await;
        ("Ctrl-C", Instant::now())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn nohup_is_respected() {
        assert!(ignores_hangup("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n"));
        assert!(!ignores_hangup(""));
    }
}
