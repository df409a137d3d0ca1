//! What the walkers over values need of a value tree; JSON and [`crate::Value`] both are one.

use std::borrow::Cow;

use crate::{shape::Shape, value_error::Excerpt};

/// A tree that can be written as CDR.
pub(crate) trait Input: Sized {
    /// A `bool`.
    fn as_bool(&self) -> Option<bool>;
    /// An integer, exactly.
    fn as_integer(&self) -> Option<i128>;
    /// A float, or an integer where a float is wanted; also the spellings of NaN and infinity.
    fn as_float(&self) -> Option<f64>;
    /// Text.
    fn as_text(&self) -> Option<&str>;
    /// Octets given as a whole instead of a list of numbers.
    fn as_octets(&self) -> Option<Cow<'_, [u8]>>;
    /// The elements of a list.
    fn as_list(&self) -> Option<&[Self]>;
    /// Its fields in the order they were given, if it is a structure.
    fn fields(&self) -> Option<impl ExactSizeIterator<Item = (&str, &Self)>>;
    /// The field `name`.
    fn field(&self, name: &str) -> Option<&Self>;
    /// Its text for an error message.
    fn excerpt(&self) -> Excerpt;
}

/// A tree that can be read from CDR.
pub(crate) trait Output: Sized {
    /// A `bool`.
    fn from_bool(value: bool) -> Self;
    /// A signed integer.
    fn from_i64(value: i64) -> Self;
    /// An unsigned integer.
    fn from_u64(value: u64) -> Self;
    /// A `float32`.
    fn from_f32(value: f32) -> Self;
    /// A `float64`.
    fn from_f64(value: f64) -> Self;
    /// Text.
    fn from_text(value: &str) -> Self;
    /// The elements of an array of octets.
    fn from_octets(value: &[u8]) -> Self;
    /// A list.
    fn from_list(items: Vec<Self>) -> Self;
    /// A structure; `values` are in the order of the fields of `shape`.
    fn from_fields(shape: &Shape, values: Vec<Self>) -> Self;
}
