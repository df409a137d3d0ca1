//! Small helpers for what people write and read.

use std::error::Error;

/// Cuts a line at a `#` that stands first or follows a blank; trims what is left.
pub(crate) fn without_comment(line: &str) -> &str {
    let mut blank_before = true;
    for (at, c) in line.char_indices() {
        if c == '#' && blank_before {
            return line.get(..at).unwrap_or_default().trim();
        }
        blank_before = c.is_whitespace();
    }
    line.trim()
}

/// A user's text short enough to quote in a message.
pub fn excerpt(text: &str) -> String {
    const MAX: usize = 60;
    let mut short: String =
        text.chars().take(MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MAX).is_some() {
        short.push_str("...");
    }
    short
}

/// Yes or no, in any spelling that people use in configuration files.
///
/// ```
/// use rostrans_core::text::boolean;
/// assert_eq!(["Yes", "1", "OFF", "maybe"].map(boolean), [Some(true), Some(true), Some(false), None]);
/// ```
pub fn boolean(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// An error with its causes on one line: `cannot listen on 0.0.0.0:9: permission denied`.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
