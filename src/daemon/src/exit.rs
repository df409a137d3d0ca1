//! What the program's exit tells scripts and service managers.

use std::process::ExitCode;

/// Why the program ends; the numbers are those of BSD's `sysexits.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Asked to end, or everything asked for was printed.
    Ok,
    /// `graph` shows endpoints that cannot talk, or `doctor` found a problem.
    Problem,
    /// `graph` found nobody, or not what it was asked for.
    NotFound,
    /// The command line makes no sense, or there is neither a file nor an option that gives something to do.
    Usage,
    /// Something needed is not available: with `strict` a port, device or adapter; else every rule.
    Unavailable,
    /// A simulated clock has not come, and wall time shall not do.
    NoClock,
    /// A configuration file or rule is wrong, or every rule is off.
    Config,
    /// A second signal, half a second or more after the first, cut the shutdown short.
    Aborted,
}

impl Exit {
    /// Every exit with its meaning, for `--help`.
    pub(crate) const ALL: [(Self, &'static str); 8] = [
        (Self::Ok, "stopped by SIGINT, SIGTERM or SIGHUP, or printed what was asked for"),
        (Self::Problem, "graph: some endpoints shown cannot talk to each other; doctor: a problem was found"),
        (Self::NotFound, "graph: nobody is there, or not what was asked for"),
        (Self::Usage, "wrong command line, or nothing given to run"),
        (
            Self::Unavailable,
            "with --strict: a port, device or adapter is not available; without: nothing works",
        ),
        (Self::NoClock, "a simulated clock with 'fallback: fail' did not come in time"),
        (Self::Config, "a configuration file or rule is wrong, or no rule is enabled; nothing was started"),
        (
            Self::Aborted,
            "a second signal, at least 0.5 s after the first, cut the shutdown short; graph, doctor: the first",
        ),
    ];

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Problem => 1,
            Self::NotFound => 2,
            Self::Usage => 64,
            Self::Unavailable => 69,
            Self::NoClock => 75,
            Self::Config => 78,
            Self::Aborted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
