//! Reading `options:` of a link.

use std::ops::RangeInclusive;

use rostrans_core::codec::{CodecContext, CodecError, CodecInfo};
use serde_json::{Map, Value};

/// The options of one link, checked against what its codec understands.
pub(crate) struct Options<'a>(&'a Map<String, Value>);

impl<'a> Options<'a> {
    /// **Errors**: an option that `info` does not list.
    pub(crate) fn new(cx: &CodecContext<'a>, info: &CodecInfo) -> Result<Self, CodecError> {
        let map = &cx.link.options.0;
        let unknown = map.keys().find(|key| !info.options.iter().any(|(name, _)| name == key));
        match unknown {
            None => Ok(Self(map)),
            Some(key) => {
                let known: Vec<&str> = info.options.iter().map(|(name, _)| *name).collect();
                let problem = match known.as_slice() {
                    [] => format!("codec '{}' has no options", info.name),
                    _ => format!("unknown; codec '{}' understands {}", info.name, known.join(", ")),
                };
                Err(CodecError::Option { option: key.clone(), problem })
            }
        }
    }

    /// A whole number within `range`.
    pub(crate) fn int<T>(&self, name: &str, default: T, range: RangeInclusive<T>) -> Result<T, CodecError>
    where
        T: TryFrom<i64> + PartialOrd + std::fmt::Display,
    {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        let number = value.as_i64().and_then(|n| T::try_from(n).ok()).filter(|n| range.contains(n));
        number.ok_or_else(|| {
            wrong(name, value, &format!("a whole number from {} to {}", range.start(), range.end()))
        })
    }

    /// A finite number that is not negative.
    pub(crate) fn number(&self, name: &str, default: f64) -> Result<f64, CodecError> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        let number = value.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
        number.ok_or_else(|| wrong(name, value, "a number, 0 or more"))
    }

    /// A finite number.
    pub(crate) fn signed(&self, name: &str, default: f64) -> Result<f64, CodecError> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        value.as_f64().filter(|n| n.is_finite()).ok_or_else(|| wrong(name, value, "a number"))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, CodecError> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| wrong(name, value, "true or false"))
    }

    /// Any text.
    pub(crate) fn text(&self, name: &str, default: &'a str) -> Result<&'a str, CodecError> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        value.as_str().ok_or_else(|| wrong(name, value, "text"))
    }

    /// One of some words, given with what it stands for; the first is the default.
    pub(crate) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, CodecError> {
        let Some(value) = self.0.get(name) else { return Ok(words.first().map(|(_, t)| *t)) };
        let chosen =
            words.iter().find(|(word, _)| value.as_str().is_some_and(|v| v.eq_ignore_ascii_case(word)));
        match chosen {
            Some((_, t)) => Ok(Some(*t)),
            None => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(wrong(name, value, &format!("one of {}", words.join(", "))))
            }
        }
    }
}

fn wrong(name: &str, value: &Value, allowed: &str) -> CodecError {
    CodecError::Option { option: name.to_owned(), problem: format!("{value} is not {allowed}") }
}
