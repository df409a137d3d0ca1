//! JSON as a value tree.
//!
//! A message is an object, an array or sequence a list, a number a number. JSON has no NaN and no infinity: they are
//! written as the strings `"NaN"`, `"Infinity"`, `"-Infinity"`, and read from those or, for NaN, from `null`. Arrays
//! of `uint8`, `byte` and `char` are lists of numbers; base64 text is accepted for them too.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::{
    base64,
    shape::Shape,
    tree::{Input, Output},
    value_error::Excerpt,
};

/// Integers up to 2^53 are exact as `f64`; larger floats are not taken for integers.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

impl Input for Value {
    fn as_bool(&self) -> Option<bool> {
        Self::as_bool(self)
    }

    fn as_integer(&self) -> Option<i128> {
        let Self::Number(number) = self else { return None };
        if let Some(value) = number.as_i64() {
            return Some(value.into());
        }
        if let Some(value) = number.as_u64() {
            return Some(value.into());
        }
        // `1.0`, as programs without integers write 1.
        let value = number.as_f64().filter(|v| v.fract() == 0.0 && v.abs() <= EXACT_FLOAT)?;
        #[expect(clippy::cast_possible_truncation, reason = "integral and within 2^53")]
        Some(value as i128)
    }

    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            Self::Null => Some(f64::NAN),
            Self::String(text) => match text.as_str() {
                "NaN" | "nan" => Some(f64::NAN),
                "Infinity" | "+Infinity" | "inf" | "+inf" => Some(f64::INFINITY),
                "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            Self::Bool(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        self.as_str()
    }

    fn as_octets(&self) -> Option<Cow<'_, [u8]>> {
        self.as_str().and_then(base64::decode).map(Cow::Owned)
    }

    fn as_list(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }

    fn fields(&self) -> Option<impl ExactSizeIterator<Item = (&str, &Self)>> {
        Some(self.as_object()?.iter().map(|(name, value)| (name.as_str(), value)))
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    fn excerpt(&self) -> Excerpt {
        Excerpt::of(self)
    }
}

impl Output for Value {
    fn from_bool(value: bool) -> Self {
        Self::Bool(value)
    }

    fn from_i64(value: i64) -> Self {
        value.into()
    }

    fn from_u64(value: u64) -> Self {
        value.into()
    }

    fn from_f32(value: f32) -> Self {
        Self::from_f64(value.into())
    }

    fn from_f64(value: f64) -> Self {
        match Number::from_f64(value) {
            Some(number) => Self::Number(number),
            None if value.is_nan() => "NaN".into(),
            None if value > 0.0 => "Infinity".into(),
            None => "-Infinity".into(),
        }
    }

    fn from_text(value: &str) -> Self {
        value.into()
    }

    fn from_octets(value: &[u8]) -> Self {
        value.iter().map(|v| Self::from(*v)).collect()
    }

    fn from_list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn from_fields(shape: &Shape, values: Vec<Self>) -> Self {
        let names = shape.fields().iter().map(|f| f.name.to_string());
        Self::Object(names.zip(values).collect())
    }
}
