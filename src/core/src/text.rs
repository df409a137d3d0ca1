//! Small helpers for what people write and read.

use std::{
    borrow::Cow,
    error::Error,
    io,
    net::{IpAddr, Ipv4Addr},
    path::Path,
};

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

/// A text with every control character escaped, so that a terminal only ever prints it: `a\u{1b}[2J`.
///
/// Directional marks count as control characters here: they reorder what stands around them.
pub fn printable(text: &str) -> Cow<'_, str> {
    let unsafe_to_print = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(unsafe_to_print) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| match unsafe_to_print(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// A file name for people: like [`printable`], and a byte that is not UTF-8 as `\xff`.
///
/// ```
/// use rostrans_core::text::file_name;
/// assert_eq!(file_name("a\x1b[2J.yaml".as_ref()), r"a\u{1b}[2J.yaml");
/// ```
pub fn file_name(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(&printable(chunk.valid()));
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

/// What to do about an error that says that there are too many open files; `None` for any other.
pub fn file_limit_remedy(error: &io::Error) -> Option<&'static str> {
    // EMFILE and ENFILE, the same on every Unix.
    match error.raw_os_error().filter(|_| cfg!(unix)) {
        Some(24) => Some("raise the limit with 'ulimit -n', or LimitNOFILE= of a service"),
        Some(23) => Some("the whole system is at its limit; raise it with 'sudo sysctl -w fs.file-max=...'"),
        _ => None,
    }
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

/// An IPv4 or IPv6 address; `localhost` is 127.0.0.1. No name is looked up.
///
/// ```
/// use rostrans_core::text::ip;
/// assert_eq!(ip("localhost"), ip("127.0.0.1"));
/// assert!(ip("::1").is_some_and(|ip| ip.is_ipv6()) && ip("robot.local").is_none());
/// ```
pub fn ip(word: &str) -> Option<IpAddr> {
    match word {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        _ => word.parse().ok(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_printed_as_escapes() {
        assert_eq!(printable("tele 1 \u{fc}"), "tele 1 \u{fc}");
        assert_eq!(printable("a\u{1b}[2J\r\nb\u{202e}c\u{9b}"), r"a\u{1b}[2J\r\nb\u{202e}c\u{9b}");
    }

    #[cfg(unix)]
    #[test]
    fn file_name_shows_bytes_that_are_no_text() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        assert_eq!(file_name(Path::new(OsStr::from_bytes(b"r\xff\x07.yaml"))), r"r\xff\u{7}.yaml");
    }

    #[cfg(unix)]
    #[test]
    fn file_limit_has_a_remedy() {
        let remedy = |number| file_limit_remedy(&io::Error::from_raw_os_error(number));
        assert!(remedy(24).unwrap().contains("ulimit -n"));
        assert_eq!(remedy(2), None);
    }
}
