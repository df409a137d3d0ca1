//! Text of fixed length.

use std::{borrow::Cow, fmt};

use crate::wire::Field;

/// A `char[N]`: UTF-8, filled up with NUL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// A text, or nothing when it does not fit with a NUL behind it or contains one.
    pub fn new(text: &str) -> Option<Self> {
        if text.len() >= N || text.contains('\0') {
            return None;
        }
        let mut bytes = [0; N];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self(bytes))
    }

    /// As much of a text as fits with a NUL behind it, cut between characters.
    pub fn cut(text: &str) -> Self {
        let text = text.split('\0').next().unwrap_or_default();
        let room = N.saturating_sub(1).min(text.len());
        let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.get(..end).and_then(Self::new).unwrap_or(Self::ZERO)
    }

    /// Up to the first NUL; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        let own = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(own)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl<const N: usize> Field for Text<N> {
    const LEN: usize = N;
    const ZERO: Self = Self([0; N]);
    fn take(bytes: &mut &[u8]) -> Self {
        Self(Field::take(bytes))
    }
    fn put(&self, bytes: &mut &mut [u8]) {
        self.0.put(bytes);
    }
}
