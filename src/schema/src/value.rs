//! Values whose type is known only at run time.

use std::borrow::Cow;

use crate::{
    shape::Shape,
    tree::{Input, Output},
    value_error::Excerpt,
};

/// One value of any type: what [`crate::MessageType::decode`] reads and [`crate::MessageType::encode`] writes.
///
/// Unlike JSON it keeps NaN, infinities and the width of floats.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `bool`.
    Bool(bool),
    /// `int8` to `int64`.
    Int(i64),
    /// `uint8` to `uint64`, `byte`, `char`.
    Uint(u64),
    /// `float32`.
    F32(f32),
    /// `float64`.
    F64(f64),
    /// `string`, `wstring`.
    Text(String),
    /// An array or sequence of `uint8`, `byte` or `char`.
    Octets(Vec<u8>),
    /// Any other array or sequence.
    List(Vec<Self>),
    /// A message: field names and values.
    Struct(Vec<(Box<str>, Self)>),
}

impl Value {
    /// The value at a path such as `pose.position.x` or `poses[2].header`.
    ///
    /// Elements of [`Value::Octets`] have no value of their own.
    pub fn at(&self, path: &str) -> Option<&Self> {
        let mut here = self;
        for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
            here = match (here, part.strip_suffix(']')) {
                (Self::List(items), Some(index)) => items.get(index.parse::<usize>().ok()?)?,
                (Self::Struct(fields), None) => {
                    fields.iter().find(|(name, _)| **name == *part).map(|(_, v)| v)?
                }
                _ => return None,
            };
        }
        Some(here)
    }

    /// The number as a float, whatever its type.
    #[expect(clippy::cast_precision_loss, reason = "large integers are rounded, as everywhere")]
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Uint(value) => Some(*value as f64),
            Self::F32(value) => Some((*value).into()),
            Self::F64(value) => Some(*value),
            _ => None,
        }
    }
}

impl Input for Value {
    fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Int(value) => Some((*value).into()),
            Self::Uint(value) => Some((*value).into()),
            _ => None,
        }
    }

    fn as_float(&self) -> Option<f64> {
        self.to_f64()
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    fn as_octets(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Octets(octets) => Some(Cow::Borrowed(octets)),
            _ => None,
        }
    }

    fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    fn fields(&self) -> Option<impl ExactSizeIterator<Item = (&str, &Self)>> {
        let Self::Struct(fields) = self else { return None };
        Some(fields.iter().map(|(name, value)| (&**name, value)))
    }

    fn field(&self, name: &str) -> Option<&Self> {
        self.fields()?.find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    fn excerpt(&self) -> Excerpt {
        Excerpt::of(&format_args!("{self:?}"))
    }
}

impl Output for Value {
    fn from_bool(value: bool) -> Self {
        Self::Bool(value)
    }

    fn from_i64(value: i64) -> Self {
        Self::Int(value)
    }

    fn from_u64(value: u64) -> Self {
        Self::Uint(value)
    }

    fn from_f32(value: f32) -> Self {
        Self::F32(value)
    }

    fn from_f64(value: f64) -> Self {
        Self::F64(value)
    }

    fn from_text(value: &str) -> Self {
        Self::Text(value.to_owned())
    }

    fn from_octets(value: &[u8]) -> Self {
        Self::Octets(value.to_vec())
    }

    fn from_list(items: Vec<Self>) -> Self {
        Self::List(items)
    }

    fn from_fields(shape: &Shape, values: Vec<Self>) -> Self {
        Self::Struct(shape.fields().iter().map(|f| f.name.clone()).zip(values).collect())
    }
}
