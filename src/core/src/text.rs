//! Small helpers for files written by hand.

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
