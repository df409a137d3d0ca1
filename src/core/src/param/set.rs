//! Raw parameters: the file's lines and the command line on top.

use std::{collections::BTreeMap, path::Path};

use super::{ParamDef, Settings};
use crate::{
    diag::{Diagnostic, Origin},
    suggest::nearest,
    text::{excerpt, without_comment},
};

/// Parameters as they were given, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct ParamSet {
    given: BTreeMap<String, (String, Origin)>,
}

impl ParamSet {
    /// Reads `key=value` lines.
    ///
    /// `#` starts a comment at the beginning of a line or after a blank. Blanks around key and value are ignored,
    /// as are a byte order mark and CR before LF. A value in `"` or `'` is taken as it stands, `#` included. The
    /// last of several lines for one key wins, with a warning.
    pub fn parse(file: &Path, text: &str, problems: &mut Vec<Diagnostic>) -> Self {
        let mut set = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1u32..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let origin = Origin::file(file, number);
            match parse_line(line) {
                Ok((key, value)) => {
                    if let Some((_, earlier)) = set.given.get(key) {
                        let message = format!("key '{key}' was given before, at {earlier}");
                        let help = "this line wins; delete one of them";
                        problems.push(Diagnostic::warning(origin.clone(), message, help));
                    }
                    set.set(key, value, origin);
                }
                Err((message, help)) => problems.push(Diagnostic::error(origin, message, help)),
            }
        }
        set
    }

    /// Gives one parameter; later calls win over earlier ones, so the command line is set after the file.
    pub fn set(&mut self, key: &str, value: &str, origin: Origin) {
        self.given.insert(key.to_owned(), (value.to_owned(), origin));
    }

    /// What was given for a key, as it was written.
    pub fn given(&self, key: &str) -> Option<&str> {
        self.given.get(key).map(|(value, _)| value.as_str())
    }

    /// Checks everything against `defs` and fills in defaults.
    ///
    /// Every problem is added to `problems`: an unknown key (a warning in a file, an error on the command line), a
    /// value that does not fit. The default stands in for a bad value, so that checks can go on; do not start when
    /// `problems` holds an error.
    pub fn resolve(&self, defs: &[ParamDef], problems: &mut Vec<Diagnostic>) -> Settings {
        let mut settings = Settings::defaults(defs);
        let mut given: Vec<_> = self.given.iter().collect();
        // Problems are read from the top of the file down.
        given.sort_by(|(_, (_, a)), (_, (_, b))| a.cmp(b));
        for (key, (value, origin)) in given {
            let Some(def) = defs.iter().find(|def| def.key == key) else {
                problems.push(unknown_key(key, origin, defs));
                continue;
            };
            match def.kind.canonical(value) {
                Ok(value) => settings.insert(def.key, value, origin.clone()),
                Err(_) if value.is_empty() => {
                    let message = format!("key '{key}' has no value");
                    let help = format!("the default '{}' is used", def.default);
                    problems.push(Diagnostic::warning(origin.clone(), message, help));
                }
                Err(help) => {
                    let message = format!("invalid value '{}' for '{key}'", excerpt(value));
                    problems.push(Diagnostic::error(origin.clone(), message, help));
                }
            }
        }
        settings
    }
}

fn unknown_key(key: &str, origin: &Origin, defs: &[ParamDef]) -> Diagnostic {
    let message = format!("unknown key '{}'", excerpt(key));
    let near = nearest(key, defs.iter().map(|def| def.key));
    if *origin == Origin::CommandLine {
        let help = near.map_or_else(
            || "see --list-params".to_owned(),
            |near| format!("did you mean '--{near}'? see --list-params"),
        );
        Diagnostic::error(origin.clone(), message, help)
    } else {
        let help = near.map_or_else(
            || "the line is ignored; see --list-params".to_owned(),
            |near| format!("did you mean '{near}'?"),
        );
        Diagnostic::warning(origin.clone(), message, help)
    }
}

/// Splits one line that is neither empty nor a comment.
fn parse_line(line: &str) -> Result<(&str, &str), (String, &'static str)> {
    let Some((key, value)) = line.split_once('=') else {
        return Err((format!("'{}' is not 'key=value'", excerpt(line)), "start comments with '#'"));
    };
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err(("no key before '='".to_owned(), "write 'key=value'"));
    }
    if key.contains(char::is_whitespace) {
        return Err((format!("key '{}' contains a blank", excerpt(key)), "write 'key=value'"));
    }
    for quote in ['"', '\''] {
        let Some(rest) = value.strip_prefix(quote) else { continue };
        let Some((inner, after)) = rest.split_once(quote) else {
            return Err((format!("value of '{key}' has no closing {quote}"), "close the quote"));
        };
        let after = after.trim_start();
        if !after.is_empty() && !after.starts_with('#') {
            return Err((
                format!("text after the quoted value of '{key}'"),
                "put the whole value inside the quotes",
            ));
        }
        return Ok((key, inner));
    }
    Ok((key, without_comment(value)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::param::ParamKind;

    const DEFS: &[ParamDef] = &[
        ParamDef { key: "enable_mavros", kind: ParamKind::Bool, default: "false", unit: None, doc: "" },
        ParamDef {
            key: "base_port",
            kind: ParamKind::Int { min: 1, max: 65535 },
            default: "20100",
            unit: None,
            doc: "",
        },
        ParamDef { key: "ip", kind: ParamKind::Text, default: "127.0.0.1", unit: None, doc: "" },
        ParamDef {
            key: "mode",
            kind: ParamKind::Choice(&["udp", "serial"]),
            default: "udp",
            unit: None,
            doc: "",
        },
    ];

    fn run(text: &str, command_line: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut problems = Vec::new();
        let mut set = ParamSet::parse(Path::new("rostrans.param"), text, &mut problems);
        for (key, value) in command_line {
            set.set(key, value, Origin::CommandLine);
        }
        let settings = set.resolve(DEFS, &mut problems);
        let lines = problems
            .iter()
            .map(|d| format!("{}{d}", if d.is_error() { "error: " } else { "warning: " }))
            .collect();
        (settings, lines)
    }

    #[test]
    fn file_is_read_with_mark_comments_blanks_quotes_and_crlf() {
        let text = "\u{feff}# head\r\n\r\n enable_mavros = Yes # on\r\nbase_port=\t 7 \r\nip=\"a # b\"  # c\r\nmode='SERIAL'";
        let (settings, problems) = run(text, &[]);
        assert_eq!(problems, [""; 0]);
        assert!(settings.flag("enable_mavros"));
        assert_eq!(settings.int("base_port"), 7);
        assert_eq!(settings.text("ip"), "a # b");
        assert_eq!(settings.text("mode"), "serial");
        assert_eq!(settings.origin("base_port").to_string(), "rostrans.param:4");
    }

    #[test]
    fn hash_inside_a_word_belongs_to_the_value() {
        assert_eq!(run("ip=a#b #c", &[]).0.text("ip"), "a#b");
        assert_eq!(run("ip=#c", &[]).0.text("ip"), "");
    }

    #[test]
    fn command_line_wins_over_file_and_file_over_default() {
        let (settings, problems) = run("base_port=5\nip=x", &[("base_port", "6")]);
        assert_eq!(problems, [""; 0]);
        assert_eq!((settings.int("base_port"), settings.text("ip"), settings.text("mode")), (6, "x", "udp"));
        assert_eq!(settings.origin("base_port"), Origin::CommandLine);
        assert_eq!(settings.origin("mode"), Origin::Default);
    }

    #[test]
    fn every_problem_is_reported_with_place_and_remedy() {
        let text = "enable_mavors=true\nnonsense\nbase_port=70000\nip=\"open\nip=1\nip=2\n=3\nmode=carrier pigeon\na b=1\nbase_prt=1\nip='a' b\nenable_mavros=";
        let (_, problems) = run(text, &[("enabl_mavros", "1"), ("enable_mavros", "maybe"), ("zzz", "")]);
        insta::assert_snapshot!(problems.join("\n"), @r#"
        error: rostrans.param:2: 'nonsense' is not 'key=value'; start comments with '#'
        error: rostrans.param:4: value of 'ip' has no closing "; close the quote
        warning: rostrans.param:6: key 'ip' was given before, at rostrans.param:5; this line wins; delete one of them
        error: rostrans.param:7: no key before '='; write 'key=value'
        error: rostrans.param:9: key 'a b' contains a blank; write 'key=value'
        error: rostrans.param:11: text after the quoted value of 'ip'; put the whole value inside the quotes
        warning: rostrans.param:1: unknown key 'enable_mavors'; did you mean 'enable_mavros'?
        error: rostrans.param:3: invalid value '70000' for 'base_port'; write a whole number from 1 to 65535
        error: rostrans.param:8: invalid value 'carrier pigeon' for 'mode'; write one of udp, serial
        warning: rostrans.param:10: unknown key 'base_prt'; did you mean 'base_port'?
        error: command line: unknown key 'enabl_mavros'; did you mean '--enable_mavros'? see --list-params
        error: command line: invalid value 'maybe' for 'enable_mavros'; write true or false
        error: command line: unknown key 'zzz'; see --list-params
        "#);
    }

    #[test]
    fn bad_value_leaves_the_default() {
        assert_eq!(run("base_port=x", &[]).0.int("base_port"), 20100);
        let (settings, problems) = run("base_port=", &[]);
        assert_eq!(settings.int("base_port"), 20100);
        assert_eq!(problems.len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*|(.|\n|=|#|\"|')*") {
            run(&text, &[]);
        }

        #[test]
        fn quoted_values_round_trip(value in "[^\"\r\n]*") {
            let (settings, problems) = run(&format!("ip=\"{value}\""), &[]);
            prop_assert_eq!(settings.text("ip"), value);
            prop_assert!(problems.is_empty());
        }
    }
}
