//! The typed result.

use std::collections::BTreeMap;

use super::ParamDef;
use crate::{diag::Origin, text::boolean};

/// Typed values of all parameters: defaults, then the file, then the command line.
///
/// Values were checked against their [`ParamDef`]; asking for a key nobody defined gives an empty value.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Settings {
    /// The defaults of a table, with nothing given.
    pub fn defaults(defs: &[ParamDef]) -> Self {
        let mut settings = Self::default();
        for def in defs {
            settings.insert(def.key, def.default.to_owned(), Origin::Default);
        }
        settings
    }

    pub(super) fn insert(&mut self, key: &'static str, value: String, origin: Origin) {
        self.values.insert(key, (value, origin));
    }

    /// The value as text; empty for a key nobody defined.
    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).map_or("", |(v, _)| v)
    }

    /// The value of a [`ParamKind::Bool`](super::ParamKind::Bool) key.
    pub fn flag(&self, key: &str) -> bool {
        boolean(self.text(key)) == Some(true)
    }

    /// The value of a [`ParamKind::Int`](super::ParamKind::Int) key.
    pub fn int(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap_or_default()
    }

    /// The value of a [`ParamKind::Number`](super::ParamKind::Number) key.
    pub fn number(&self, key: &str) -> f64 {
        self.text(key).parse().unwrap_or_default()
    }

    /// Where the value was given.
    pub fn origin(&self, key: &str) -> Origin {
        self.values.get(key).map_or(Origin::Default, |(_, o)| o.clone())
    }
}
