//! Problems found before anything starts, with their place and remedy.

use std::{fmt, path::Path, sync::Arc};

use crate::text::file_name;

/// Where a rule, a parameter or a filter line was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A line of a file, counted from 1.
    File {
        /// The file as the user named it.
        path: Arc<Path>,
        /// Line number, from 1; 0 stands for the file as a whole.
        line: u32,
    },
    /// A business module, by its name in `plugins_config.ini`.
    Plugin(&'static str),
    /// A `--key=value` on the command line.
    CommandLine,
    /// An environment variable.
    Environment,
    /// A built-in default.
    Default,
}

impl Origin {
    /// A place in a file.
    pub fn file(path: &Path, line: u32) -> Self {
        Self::File { path: path.into(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: 0 } => f.write_str(&file_name(path)),
            Self::File { path, line } => write!(f, "{}:{line}", file_name(path)),
            Self::Plugin(name) => write!(f, "plugin {name}"),
            Self::CommandLine => f.write_str("command line"),
            Self::Environment => f.write_str("environment"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth telling; rostrans starts.
    Warning,
    /// rostrans does not start.
    Error,
}

/// One problem: where, what, and what to do about it.
///
/// Prints as `rostrans.param:14: unknown key 'enable_mavors'; did you mean 'enable_mavros'?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Warning or error.
    pub severity: Severity,
    /// The place to go to.
    pub origin: Origin,
    /// What is wrong: lower case, no full stop, values in single quotes.
    pub message: String,
    /// What to do about it; empty when the message says it.
    pub help: String,
}

impl Diagnostic {
    /// An error.
    pub fn error(origin: Origin, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, origin, message: message.into(), help: help.into() }
    }

    /// A warning.
    pub fn warning(origin: Origin, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, origin, message: message.into(), help: help.into() }
    }

    /// True for errors.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}
