//! Parameter definitions; the one table behind `rostrans.param`, `--key=value`, `--help` and the README.

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
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
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

/// Typed values of all parameters: defaults, then the file, then the command line.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: std::collections::BTreeMap<&'static str, (String, crate::diag::Origin)>,
}

impl Settings {
    /// The value as text; empty for a key nobody defined.
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).map_or("", |(v, _)| v)
    }

    /// The value of a [`ParamKind::Bool`] key.
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.text(key).to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
    }

    /// The value of a [`ParamKind::Int`] key.
    pub fn int(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap_or_default()
    }

    /// Where the value was given.
    pub fn origin(&self, key: &str) -> crate::diag::Origin {
        self.values.get(key).map_or(crate::diag::Origin::Default, |(_, o)| o.clone())
    }
}
