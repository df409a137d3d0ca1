//! Parameter definitions; the one table behind `rostrans.param`, `--key=value`, `--help` and the README.

use crate::text::boolean;

/// What a parameter's value must look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// `true`/`false`, `1`/`0`, `yes`/`no`, `on`/`off`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A number within bounds.
    Number {
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl ParamKind {
    /// The allowed values in words, e.g. `1 to 65535`.
    pub fn allowed(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Int { min, max } => format!("{min} to {max}"),
            Self::Number { min, max } => format!("number from {min} to {max}"),
            Self::Text => "text".to_owned(),
            Self::Choice(words) => words.join(" | "),
        }
    }

    /// Brings a value to its canonical spelling: `Yes` becomes `true`, ` 007` becomes `7`, `1e2` becomes `100`, `DEBUG` becomes `debug`.
    ///
    /// **Errors**: what is allowed, as a remedy.
    pub(crate) fn canonical(self, value: &str) -> Result<String, String> {
        match self {
            Self::Bool => match boolean(value) {
                Some(yes) => Ok(yes.to_string()),
                None => Err("write true or false".to_owned()),
            },
            Self::Int { min, max } => match value.parse::<i64>() {
                Ok(n) if (min..=max).contains(&n) => Ok(n.to_string()),
                _ => Err(format!("write a whole number from {min} to {max}")),
            },
            Self::Number { min, max } => match value.parse::<f64>() {
                Ok(n) if (min..=max).contains(&n) => Ok(n.to_string()),
                _ => Err(format!("write a number from {min} to {max}")),
            },
            Self::Text => Ok(value.to_owned()),
            Self::Choice(words) => words
                .iter()
                .find(|word| word.eq_ignore_ascii_case(value))
                .map(|word| (*word).to_owned())
                .ok_or_else(|| format!("write one of {}", words.join(", "))),
        }
    }
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamDef {
    /// The key in `rostrans.param`.
    pub key: &'static str,
    /// Allowed values.
    pub kind: ParamKind,
    /// Default, as written in the file.
    pub default: &'static str,
    /// Unit of a number.
    pub unit: Option<&'static str>,
    /// One line of explanation.
    pub doc: &'static str,
}
