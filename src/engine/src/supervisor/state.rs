//! What a task can be, and why it is not well.

use std::{error::Error, fmt, sync::Arc};

use rostrans_core::text::chain;
use thiserror::Error;

/// How a task is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Its first attempt is under way.
    Starting,
    /// Works.
    Running,
    /// Does not work, for this reason; tried again until it does.
    Waiting(Arc<str>),
    /// Down for good, for this reason.
    Failed(Arc<str>),
    /// Ended in good order.
    Stopped,
}

impl State {
    /// Why it does not work, if it does not.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Waiting(reason) | Self::Failed(reason) => Some(reason),
            Self::Starting | Self::Running | Self::Stopped => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Waiting(_) => "waiting",
            Self::Failed(_) => "failed",
            Self::Stopped => "stopped",
        })
    }
}

/// Why a task ended before it was told to.
///
/// Prints the whole error chain, then the remedy: `cannot listen on 0.0.0.0:9: Permission denied; use a port ...`.
#[derive(Debug)]
pub struct Failure {
    error: Box<dyn Error + Send + Sync>,
    remedy: String,
    retry: bool,
}

impl Failure {
    /// One that may pass.
    pub fn retry(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { error: error.into(), remedy: String::new(), retry: true }
    }

    /// One that trying again does not cure.
    pub fn permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { error: error.into(), remedy: String::new(), retry: false }
    }

    /// Adds what a person can do about it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// What it has in common with the same failure of other tasks: the innermost error, which names no port.
    pub(super) fn cause(&self) -> String {
        let mut cause: &dyn Error = &*self.error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        cause.to_string()
    }

    /// True when trying again may help.
    pub fn may_pass(&self) -> bool {
        self.retry
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(&*self.error))?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// A caught panic.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("panicked: {0}")]
pub struct Panicked(pub String);

/// A task or device that does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name, as in the log.
    pub name: Arc<str>,
    /// [`State::Waiting`] or [`State::Failed`].
    pub state: State,
}
