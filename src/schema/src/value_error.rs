//! Values that do not fit their type, and where.

use std::fmt;

use thiserror::Error;

/// A value that does not fit the field it is meant for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("field '{path}': {problem}")]
pub struct ValueError {
    /// Path of the field from the message, e.g. `poses[2].position.x`; empty for the message itself.
    pub path: String,
    /// What is wrong.
    pub problem: ValueProblem,
}

impl ValueError {
    /// An error at the value itself; callers add where that is.
    pub(crate) fn here(problem: ValueProblem) -> Self {
        Self { path: String::new(), problem }
    }

    /// The same error seen from the message that has the field `name`.
    #[must_use]
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{name}{joint}{}", self.path);
        self
    }

    /// The same error seen from the array that has it at `index`.
    #[must_use]
    pub(crate) fn in_element(mut self, index: usize) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("[{index}]{joint}{}", self.path);
        self
    }
}

/// What is wrong with a value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ValueProblem {
    /// The type has no such field.
    #[error("no such field in '{in_type}'{}", hint(.nearest.as_deref()))]
    Unknown {
        /// The type.
        in_type: String,
        /// Its field that looks most like it.
        nearest: Option<String>,
    },
    /// A value of another kind.
    #[error("expected {want}, found {have}")]
    Kind {
        /// What the field takes.
        want: &'static str,
        /// What was given.
        have: Excerpt,
    },
    /// An integer outside its type.
    #[error("{value} does not fit {base}")]
    Range {
        /// The value.
        value: Excerpt,
        /// The type.
        base: &'static str,
    },
    /// Too many or too few elements or characters.
    #[error("has {have} elements, {} {limit}", if *.exact { "must have" } else { "may have at most" })]
    Length {
        /// How many were given.
        have: usize,
        /// How many are allowed.
        limit: u32,
        /// Whether it must be that many.
        exact: bool,
    },
    /// Text with a NUL inside, which CDR cannot carry.
    #[error("text contains a NUL character")]
    Nul,
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

/// The beginning of an offending value, for an error text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt(String);

impl Excerpt {
    const MAX_CHARS: usize = 40;

    /// Keeps the first characters of `value`.
    pub(crate) fn of(value: &impl fmt::Display) -> Self {
        let text = value.to_string();
        match text.char_indices().nth(Self::MAX_CHARS) {
            Some((end, _)) => Self(format!("{}...", text.get(..end).unwrap_or_default())),
            None => Self(text),
        }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}
