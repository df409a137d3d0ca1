//! The filter's decision.

use std::{collections::HashMap, fmt};

use crate::diag::Origin;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterLine {
    /// Where it stands.
    pub origin: Origin,
    /// The line without comment, as written.
    pub text: String,
    /// True when it switches names on.
    pub enable: bool,
}

impl fmt::Display for FilterLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.text)
    }
}

/// What the filter says about one name.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// False when the name is switched off.
    pub enabled: bool,
    /// The line that decided; `None` when no line matches.
    pub by: Option<&'a FilterLine>,
}

/// A parsed `rostrans.filter`; the default lets everything pass.
#[derive(Debug, Default)]
pub struct TopicFilter {
    pub(super) lines: Vec<FilterLine>,
    /// Name to index of its last exact line.
    pub(super) exact: HashMap<String, usize>,
    /// In file order.
    pub(super) patterns: Vec<(Pattern, usize)>,
}

/// A line that may match many names.
#[derive(Debug)]
pub(super) enum Pattern {
    /// Names that begin so.
    Prefix(String),
    /// Names the expression matches. Globs are compiled to one too.
    Regex(regex::bytes::Regex),
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
            Self::Regex(regex) => regex.is_match(name.as_bytes()),
        }
    }
}

impl TopicFilter {
    /// Decides about an absolute topic or service name.
    ///
    /// Asked once per topic at plan time, so patterns are simply tried from the last to the first.
    pub fn verdict(&self, name: &str) -> Verdict<'_> {
        let last_pattern =
            || self.patterns.iter().rev().find(|(p, _)| p.matches(name)).map(|(_, line)| *line);
        let by = self.exact.get(name).copied().or_else(last_pattern).and_then(|line| self.lines.get(line));
        Verdict { enabled: by.is_none_or(|line| line.enable), by }
    }

    /// Number of effective lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True when no line says anything.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
