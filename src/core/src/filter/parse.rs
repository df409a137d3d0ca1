//! Text to filter.

use std::path::Path;

use regex::bytes::{Regex, RegexBuilder};

use super::{FilterLine, TopicFilter, verdict::Pattern};
use crate::{
    diag::{Diagnostic, Origin},
    text::{boolean, excerpt, without_comment},
    topic::TopicName,
};

impl TopicFilter {
    /// Reads a filter file. Lines with a problem are left out and reported; the others stay in force.
    ///
    /// A byte order mark and CR before LF are ignored.
    pub fn parse(file: &Path, text: &str, problems: &mut Vec<Diagnostic>) -> Self {
        let mut filter = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1u32..).zip(text.lines()) {
            let line = without_comment(line);
            if !line.is_empty() {
                filter.add(line, Origin::file(file, number), problems);
            }
        }
        filter
    }

    fn add(&mut self, line: &str, origin: Origin, problems: &mut Vec<Diagnostic>) {
        let (what, enable) = split_switch(line);
        let index = self.lines.len();
        if let Some(source) = strip_any(what, &["regex:", "re:"]) {
            // An empty regex matches every name.
            if source.is_empty() {
                let help = "write a regular expression behind it, or '*' alone to mean everything";
                problems.push(Diagnostic::error(origin, "'regex:' without a pattern", help));
                return;
            }
            match compile(source) {
                Ok(regex) => self.patterns.push((Pattern::Regex(regex), index)),
                Err((why, help)) => {
                    let message = format!("invalid regex '{}': {why}", excerpt(source));
                    problems.push(Diagnostic::error(origin, message, help));
                    return;
                }
            }
        } else if let Some(prefix) = what.strip_prefix("prefix:") {
            let prefix = prefix.trim();
            if prefix.is_empty() {
                let help = "write a name behind it, or '*' to mean everything";
                problems.push(Diagnostic::error(origin, "'prefix:' without a name", help));
                return;
            }
            self.patterns.push((Pattern::Prefix(absolute(prefix)), index));
        } else if what.contains(['*', '?']) {
            match compile(&glob_to_regex(&absolute(what))) {
                Ok(regex) => self.patterns.push((Pattern::Regex(regex), index)),
                Err((why, help)) => {
                    problems.push(Diagnostic::error(
                        origin,
                        format!("pattern '{}': {why}", excerpt(what)),
                        help,
                    ));
                    return;
                }
            }
        } else {
            let Ok(name) = TopicName::parse(what) else {
                let message =
                    format!("'{}' can never match: it is not a topic or service name", excerpt(what));
                let help = "for a pattern use '*' and '?', or write 'regex:' or 'prefix:' in front";
                problems.push(Diagnostic::warning(origin, message, help));
                return;
            };
            if let Some(earlier) =
                self.exact.insert(name.as_str().to_owned(), index).and_then(|i| self.lines.get(i))
                && earlier.enable != enable
            {
                let message = format!("'{name}' was switched the other way before, at {}", earlier.origin);
                problems.push(Diagnostic::warning(
                    origin.clone(),
                    message,
                    "this line wins; delete one of them",
                ));
            }
        }
        self.lines.push(FilterLine { origin, text: line.to_owned(), enable });
    }
}

/// Splits a line into name or pattern, and whether it switches on.
fn split_switch(line: &str) -> (&str, bool) {
    if let Some(what) = strip_any(line, &["!", "+"]) {
        return (what, true);
    }
    if let Some(what) = line.strip_prefix('-') {
        return (what.trim(), false);
    }
    let mut words = line.splitn(2, char::is_whitespace);
    if let (Some(first), Some(rest)) = (words.next(), words.next())
        && let Some(enable) = switch(first)
    {
        return (rest.trim(), enable);
    }
    // Names hold neither '=' nor ':' nor blanks, so a switch word behind one of them is never part of a name.
    if let Some((what, last)) = line.rsplit_once(|c: char| c == '=' || c == ':' || c.is_whitespace())
        && let Some(enable) = switch(last)
    {
        let what = what.trim_end();
        let what = what.strip_suffix(['=', ':']).unwrap_or(what).trim_end();
        // 'prefix:on' names the prefix 'on'.
        if !what.is_empty() && !matches!(what, "prefix" | "regex" | "re") {
            return (what, enable);
        }
    }
    (line, false)
}

fn switch(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "enable" | "enabled" => Some(true),
        "disable" | "disabled" => Some(false),
        other => boolean(other),
    }
}

fn strip_any<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)).map(str::trim)
}

/// Adds the `/` that a plain name may leave out.
fn absolute(name: &str) -> String {
    if name.starts_with(['/', '*', '?']) { name.to_owned() } else { format!("/{name}") }
}

fn glob_to_regex(glob: &str) -> String {
    let mut regex = String::from("^(?s:");
    for c in glob.chars() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex + ")$"
}

/// Compiles, or says in one line what is wrong and what to do.
///
/// Names are ASCII, so the byte engine without Unicode tables does.
fn compile(source: &str) -> Result<Regex, (String, &'static str)> {
    RegexBuilder::new(source).unicode(false).size_limit(SIZE_LIMIT).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => ("too large when compiled".to_owned(), "make repetitions smaller"),
        error => {
            let text = error.to_string();
            let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("syntax error");
            let why = last.trim().trim_start_matches("error: ").to_owned();
            let help = remedy(&why);
            (why, help)
        }
    })
}

fn remedy(why: &str) -> &'static str {
    if why.contains("class") {
        "close it with ']', or escape '[' to match it literally"
    } else if why.contains("group") {
        "close it with ')', or escape '(' to match it literally"
    } else if why.contains("look-around") || why.contains("backreference") {
        "use a plain expression and an enabling line ('!name') after it"
    } else if why.contains("repetition") {
        "write '.*' for any text, or drop 'regex:' and use '*'"
    } else {
        "escape special characters with '\\', or drop 'regex:' and use '*'"
    }
}

/// Bytes one compiled expression may take.
const SIZE_LIMIT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> (TopicFilter, Vec<String>) {
        let mut problems = Vec::new();
        let filter = TopicFilter::parse(Path::new("rostrans.filter"), text, &mut problems);
        let lines = problems
            .iter()
            .map(|d| format!("{}{d}", if d.is_error() { "error: " } else { "warning: " }))
            .collect();
        (filter, lines)
    }

    fn enabled(text: &str, name: &str) -> bool {
        let (filter, problems) = parse(text);
        assert_eq!(problems, [""; 0], "{text}");
        filter.verdict(name).enabled
    }

    #[test]
    fn every_spelling_of_a_line_switches() {
        for (line, name, on) in [
            ("/a/b", "/a/b", false),
            ("a/b", "/a/b", false),
            ("/a/b", "/a/bc", true),
            ("-/a", "/a", false),
            ("/a=false", "/a", false),
            ("/a : off", "/a", false),
            ("/a: off  # why", "/a", false),
            ("/a disable", "/a", false),
            ("disable /a", "/a", false),
            ("DISABLE\t/a", "/a", false),
            ("*\n!/a", "/a", true),
            ("*\n+ /a", "/a", true),
            ("*\n/a = true", "/a", true),
            ("*\nenable /a", "/a", true),
            ("*\nprefix:/a on", "/a/x", true),
            ("*\nregex:^/a = on", "/a/x", true),
            ("*", "/any/thing", false),
            ("/rflysim/*", "/rflysim/sensor1/img_rgb", false),
            ("/rflysim/*", "/rflysim", true),
            ("/a?b", "/a/b", false),
            ("/a?b", "/ab", true),
            ("prefix:/mavros/imu", "/mavros/imu/data", false),
            ("prefix:/mavros/imu", "/mavros", true),
            ("prefix:on", "/only", false),
            ("regex:^/mavros[0-9]*/imu/.*", "/mavros12/imu/data", false),
            ("re:imu$", "/mavros/imu", false),
            ("re:imu$", "/mavros/imu/data", true),
            ("re:(?i)IMU", "/imu", false),
            ("", "/a", true),
            ("\u{feff}/a\r\n/b\r\n", "/a", false),
            ("\u{feff}/a\r\n/b\r\n", "/b", false),
        ] {
            assert_eq!(enabled(line, name), on, "{line:?} {name}");
        }
    }

    #[test]
    fn last_matching_line_wins() {
        assert!(enabled("/m/*\n!prefix:/m/imu", "/m/imu/data"));
        assert!(!enabled("!prefix:/m/imu\n/m/*", "/m/imu/data"));
        assert!(!enabled("re:imu\n!/m/*\nprefix:/m/i", "/m/imu"));
    }

    #[test]
    fn exact_line_wins_over_later_patterns() {
        assert!(enabled("!/m/imu\n/m/*", "/m/imu"));
        assert!(!enabled("/m/imu\n!/m/*", "/m/imu"));
    }

    #[test]
    fn verdict_names_its_line() {
        let (filter, _) = parse("# x\n\n/m/*   # all of it\n");
        let verdict = filter.verdict("/m/a");
        assert_eq!(verdict.by.unwrap().to_string(), "rostrans.filter:3: /m/*");
        assert!(filter.verdict("/n").by.is_none());
    }

    #[test]
    fn every_problem_is_reported_and_the_other_lines_stay() {
        let text = "regex:^/mavros[\n/a b c\nre:(x\nregex:*imu\nprefix:\nre:(?=x)\nre:(a{999}){999}\n/ok\n!/ok\nre:\\p{Greek}\n/ä\nregex:\n!re: # none";
        let (filter, problems) = parse(text);
        insta::assert_snapshot!(problems.join("\n"), @r"
        error: rostrans.filter:1: invalid regex '^/mavros[': unclosed character class; close it with ']', or escape '[' to match it literally
        warning: rostrans.filter:2: '/a b c' can never match: it is not a topic or service name; for a pattern use '*' and '?', or write 'regex:' or 'prefix:' in front
        error: rostrans.filter:3: invalid regex '(x': unclosed group; close it with ')', or escape '(' to match it literally
        error: rostrans.filter:4: invalid regex '*imu': repetition operator missing expression; write '.*' for any text, or drop 'regex:' and use '*'
        error: rostrans.filter:5: 'prefix:' without a name; write a name behind it, or '*' to mean everything
        error: rostrans.filter:6: invalid regex '(?=x)': look-around, including look-ahead and look-behind, is not supported; use a plain expression and an enabling line ('!name') after it
        error: rostrans.filter:7: invalid regex '(a{999}){999}': too large when compiled; make repetitions smaller
        warning: rostrans.filter:9: '/ok' was switched the other way before, at rostrans.filter:8; this line wins; delete one of them
        error: rostrans.filter:10: invalid regex '\p{Greek}': Unicode not allowed here; escape special characters with '\', or drop 'regex:' and use '*'
        warning: rostrans.filter:11: '/ä' can never match: it is not a topic or service name; for a pattern use '*' and '?', or write 'regex:' or 'prefix:' in front
        error: rostrans.filter:12: 'regex:' without a pattern; write a regular expression behind it, or '*' alone to mean everything
        error: rostrans.filter:13: 'regex:' without a pattern; write a regular expression behind it, or '*' alone to mean everything
        ");
        assert_eq!(filter.len(), 2);
        assert!(filter.verdict("/ok").enabled);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*|(regex:|re:|prefix:|[!+*?/a(\\[{ #=:\n-])*") {
            crate::fuzzing::filter(&text);
        }

        #[test]
        fn exact_name_switches_itself_only(name in "(/[a-z_][a-z0-9_]{0,6}){1,4}", other in "(/[a-z_][a-z0-9_]{0,6}){1,4}") {
            let (filter, _) = parse(&name);
            prop_assert!(!filter.verdict(&name).enabled);
            prop_assert_eq!(filter.verdict(&other).enabled, other != name);
        }
    }
}
