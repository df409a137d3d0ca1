//! The command line: raw words to a [`Request`], checked only as far as no file is needed.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, ParamKind},
    suggest::nearest,
    text::{boolean, excerpt, file_name},
};

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Plan and run.
    #[default]
    Run,
    /// Plan and run on the in-process bus, printing what would be published.
    DryRun,
    /// Plan, print problems.
    Check,
    /// Plan, print the effective rules.
    PrintRules,
    /// Print the codecs.
    ListCodecs,
    /// Print the parameters.
    ListParams,
    /// Print the version.
    Version,
    /// Print the help.
    Help,
}

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// What to do.
    pub action: Action,
    /// `-c`.
    pub param_file: Option<PathBuf>,
    /// `-f`.
    pub filter_file: Option<PathBuf>,
    /// Each `--rules`, in order.
    pub rules_files: Vec<PathBuf>,
    /// `--key=value`, in order; keys are known to the table.
    pub params: Vec<(&'static str, String)>,
}

/// One option that is no parameter: spelling, placeholder of its value, help.
pub(crate) struct Flag {
    pub(crate) names: &'static [&'static str],
    pub(crate) value: Option<&'static str>,
    pub(crate) doc: &'static str,
    effect: Effect,
}

#[derive(Clone, Copy)]
enum Effect {
    Action(Action),
    ParamFile,
    FilterFile,
    RulesFile,
    Ignore,
}

/// All options that are no parameters, in the order of `--help`.
pub(crate) const FLAGS: &[Flag] = &[
    Flag {
        names: &["-c", "--config"],
        value: Some("FILE"),
        doc: "parameters (default: rostrans.param, if it exists)",
        effect: Effect::ParamFile,
    },
    Flag {
        names: &["-f", "--filter"],
        value: Some("FILE"),
        doc: "topics and services to switch off",
        effect: Effect::FilterFile,
    },
    Flag {
        names: &["--rules"],
        value: Some("FILE"),
        doc: "forward rules (YAML); may be given several times",
        effect: Effect::RulesFile,
    },
    Flag {
        names: &["--check"],
        value: None,
        doc: "check all files and rules, print every problem, start nothing",
        effect: Effect::Action(Action::Check),
    },
    Flag {
        names: &["--print-rules"],
        value: None,
        doc: "print the effective rules as YAML, with what was switched off and why",
        effect: Effect::Action(Action::PrintRules),
    },
    Flag {
        names: &["--dry-run"],
        value: None,
        doc: "open ports but join no ROS graph; print what would be published",
        effect: Effect::Action(Action::DryRun),
    },
    Flag {
        names: &["--list-codecs"],
        value: None,
        doc: "codecs with their roles, topics and options",
        effect: Effect::Action(Action::ListCodecs),
    },
    Flag {
        names: &["--list-params"],
        value: None,
        doc: "every parameter with default and meaning",
        effect: Effect::Action(Action::ListParams),
    },
    Flag {
        names: &["-platform", "--platform"],
        value: Some("NAME"),
        doc: "accepted for old start scripts, without effect",
        effect: Effect::Ignore,
    },
    Flag {
        names: &["-V", "--version"],
        value: None,
        doc: "version",
        effect: Effect::Action(Action::Version),
    },
    Flag { names: &["-h", "--help"], value: None, doc: "this text", effect: Effect::Action(Action::Help) },
];

/// Reads the words behind the program's name.
///
/// A parameter is `--key=value` or `--key value`; `-` in a key means `_`; a yes-or-no parameter alone means yes.
///
/// **Errors**: every problem found.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
    defs: &[ParamDef],
) -> Result<Request, Vec<Diagnostic>> {
    let mut request = Request::default();
    let mut problems = Vec::new();
    let mut words = words.into_iter().peekable();
    let mut action = None;
    while let Some(word) = words.next() {
        let word = match word.into_string() {
            Ok(word) => word,
            Err(word) => {
                let shown = excerpt(&file_name(Path::new(&word)));
                let help = "a file name may be anything when it is a word of its own: '--rules FILE'";
                problem(&mut problems, format!("'{shown}' is not valid UTF-8"), help);
                continue;
            }
        };
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.clone(), None),
        };
        if let Some(flag) = FLAGS.iter().find(|flag| flag.names.contains(&name.as_str())) {
            let value = match (flag.value, inline) {
                (None, None) => OsString::new(),
                (None, Some(_)) => {
                    problem(&mut problems, format!("'{name}' takes no value"), "");
                    continue;
                }
                (Some(_), Some(value)) => value.into(),
                (Some(what), None) => match words.next_if(|next| !looks_like_option(next)) {
                    Some(value) => value,
                    None => {
                        problem(
                            &mut problems,
                            format!("'{name}' needs a value"),
                            format!("write '{name} {what}'"),
                        );
                        continue;
                    }
                },
            };
            match flag.effect {
                Effect::Action(new) => {
                    if let Some((_, other)) = action.replace((new, name.clone()))
                        && other != name
                    {
                        problem(
                            &mut problems,
                            format!("'{name}' and '{other}' exclude each other"),
                            "give one",
                        );
                    }
                }
                Effect::ParamFile => set_file(&mut request.param_file, &name, value, &mut problems),
                Effect::FilterFile => set_file(&mut request.filter_file, &name, value, &mut problems),
                Effect::RulesFile => {
                    let mut file = None;
                    set_file(&mut file, &name, value, &mut problems);
                    request.rules_files.extend(file);
                }
                Effect::Ignore => {}
            }
            continue;
        }
        let Some(key) = name.strip_prefix("--").filter(|key| !key.is_empty()) else {
            let help = if word.starts_with('-') {
                suggest(&name, defs)
            } else {
                format!("for a parameter file write '-c {}'", excerpt(&word))
            };
            problem(&mut problems, format!("unexpected '{}'", excerpt(&word)), help);
            continue;
        };
        let key = key.replace('-', "_");
        let Some(def) = defs.iter().find(|def| def.key == key) else {
            problem(&mut problems, format!("unknown option '{}'", excerpt(&name)), suggest(&name, defs));
            // Its value is not another mistake.
            if inline.is_none() {
                words.next_if(|next| !looks_like_option(next));
            }
            continue;
        };
        let value = match (inline, def.kind) {
            (Some(value), _) => Some(value),
            (None, ParamKind::Bool) => {
                let given = words.next_if(|next| next.to_str().and_then(boolean).is_some());
                Some(given.map_or_else(|| "true".to_owned(), |word| word.to_string_lossy().into_owned()))
            }
            // A negative number is a value, not an option.
            (None, _) => words
                .next_if(|next| !looks_like_option(next) || next.to_str().is_some_and(is_number))
                .map(|word| word.to_string_lossy().into_owned()),
        };
        match value {
            Some(value) => request.params.push((def.key, value)),
            None => {
                problem(&mut problems, format!("'{name}' needs a value"), format!("write '{name}=...'"));
            }
        }
    }
    request.action = action.map(|(action, _)| action).unwrap_or_default();
    if problems.is_empty() { Ok(request) } else { Err(problems) }
}

fn problem(problems: &mut Vec<Diagnostic>, message: impl Into<String>, help: impl Into<String>) {
    problems.push(Diagnostic::error(Origin::CommandLine, message, help));
}

fn set_file(slot: &mut Option<PathBuf>, name: &str, value: OsString, problems: &mut Vec<Diagnostic>) {
    if value.is_empty() {
        problem(problems, format!("'{name}' needs a file name"), "");
    } else if slot.replace(value.into()).is_some() {
        problem(problems, format!("'{name}' is given twice"), "give it once");
    }
}

fn suggest(name: &str, defs: &[ParamDef]) -> String {
    let key = name.trim_start_matches('-').replace('-', "_");
    let flags = FLAGS.iter().flat_map(|flag| flag.names).map(|name| name.trim_start_matches('-'));
    // A flag is compared as it is spelt, a parameter with its underscores.
    let near_flag = nearest(&key.replace('_', "-"), flags.filter(|flag| flag.len() > 1));
    match nearest(&key, defs.iter().map(|def| def.key)).or(near_flag) {
        Some(near) => format!("did you mean '--{near}'? see --help"),
        None => "see --help and --list-params".to_owned(),
    }
}

fn looks_like_option(word: &OsString) -> bool {
    word.to_string_lossy().starts_with('-')
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::params::CORE;

    fn run(line: &str) -> Result<Request, String> {
        let words = line.split_whitespace().map(OsString::from);
        parse(words, CORE).map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect())
    }

    #[test]
    fn files_actions_and_parameters_are_read_in_any_order() {
        let request =
            run("--node-name=x -f a.filter --strict -c r.param --monitor_interval 7 --rules=y.yaml --rules z.yaml --check")
                .unwrap();
        assert_eq!(request.action, Action::Check);
        assert_eq!(request.param_file, Some("r.param".into()));
        assert_eq!(request.filter_file, Some("a.filter".into()));
        assert_eq!(request.rules_files, [PathBuf::from("y.yaml"), "z.yaml".into()]);
        let params: Vec<_> = request.params.iter().map(|(k, v)| (*k, v.as_str())).collect();
        assert_eq!(params, [("node_name", "x"), ("strict", "true"), ("monitor_interval", "7")]);
    }

    #[test]
    fn start_scripts_of_the_qt_era_still_work() {
        assert_eq!(run("-platform offscreen -c r.param").unwrap().param_file, Some("r.param".into()));
        assert_eq!(run("--platform=offscreen").unwrap(), Request::default());
    }

    #[test]
    fn yes_or_no_parameters_take_a_value_or_none() {
        for (line, value) in [
            ("--strict", "true"),
            ("--strict false", "false"),
            ("--strict=off", "off"),
            ("--strict --check", "true"),
        ] {
            assert_eq!(run(line).unwrap().params, [("strict", value.to_owned())], "{line}");
        }
    }

    #[test]
    fn a_value_may_hold_an_equals_sign_or_be_negative() {
        assert_eq!(run("--log_level=info,a=debug").unwrap().params[0].1, "info,a=debug");
        assert_eq!(run("--monitor_interval -5").unwrap().params[0].1, "-5");
        assert_eq!(run("--node_name=").unwrap().params[0].1, "");
    }

    #[test]
    fn every_problem_is_reported_with_a_remedy() {
        let problems = run(
            "--enable_moniter=true --chek file.param -x --node_name -c a -c b --check --version --help=1 --zzz 5 --log_dir",
        )
        .unwrap_err();
        insta::assert_snapshot!(problems, @r"
        command line: unknown option '--enable_moniter'; did you mean '--enable_monitor'? see --help
        command line: unknown option '--chek'; did you mean '--check'? see --help
        command line: unexpected '-x'; see --help and --list-params
        command line: '--node_name' needs a value; write '--node_name=...'
        command line: '-c' is given twice; give it once
        command line: '--version' and '--check' exclude each other; give one
        command line: '--help' takes no value
        command line: unknown option '--zzz'; see --help and --list-params
        command line: '--log_dir' needs a value; write '--log_dir=...'
        ");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_name_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let request = parse(["-c".into(), odd(b"a\xff"), "--rules".into(), odd(b"\xfe")], CORE).unwrap();
        assert_eq!(request.param_file, Some(odd(b"a\xff").into()));
        assert_eq!(request.rules_files, [PathBuf::from(odd(b"\xfe"))]);
        let problems = parse([odd(b"--rules=\xfe")], CORE).unwrap_err();
        assert!(problems[0].to_string().contains(r"'--rules=\xfe' is not valid UTF-8; "), "{}", problems[0]);
    }

    proptest! {
        #[test]
        fn any_words_are_survived(words in proptest::collection::vec("-{0,3}[a-z_=]{0,12}|--strict|-c", 0..6)) {
            let _outcome = parse(words.into_iter().map(OsString::from), CORE);
        }
    }
}
