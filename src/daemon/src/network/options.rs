//! Options of `rostrans graph`, `rostrans doctor` and `rostrans demo`, and how they change what the environment says.

use std::{ffi::OsString, time::Duration};

use rostrans_adapter_dds::{Discovery, EnvError, IpFamily};
use rostrans_core::{
    diag::{Diagnostic, Origin},
    suggest::nearest,
    text::excerpt,
};

/// An option: its spellings, the placeholder of its value, what it does.
pub(crate) struct Opt {
    pub(crate) names: &'static [&'static str],
    pub(crate) value: Option<&'static str>,
    pub(crate) doc: &'static str,
}

pub(crate) const DOMAIN: Opt = Opt {
    names: &["-d", "--domain"],
    value: Some("NUMBER"),
    doc: "domain to look at (default: ROS_DOMAIN_ID)",
};
pub(crate) const RANGE: Opt = Opt {
    names: &["--range"],
    value: Some("RANGE"),
    doc: "LOCALHOST or SUBNET (default: ROS_AUTOMATIC_DISCOVERY_RANGE)",
};
pub(crate) const PEER: Opt = Opt {
    names: &["--peer"],
    value: Some("HOST"),
    doc: "also ask this host; may be given several times (default: ROS_STATIC_PEERS)",
};
pub(crate) const INTERFACE: Opt = Opt {
    names: &["--interface"],
    value: Some("NAME"),
    doc: "use this one only, by name or address; may be given several times",
};
pub(crate) const IP: Opt = Opt {
    names: &["--ip"],
    value: Some("VERSION"),
    doc: "v4, v6 or both (default: as parameter dds_ip has it)",
};
pub(crate) const WAIT: Opt =
    Opt { names: &["--wait"], value: Some("SECONDS"), doc: "look for this long at most (default: 5)" };
pub(crate) const JSON: Opt = Opt { names: &["--json"], value: None, doc: "print JSON" };
pub(crate) const HELP: Opt = Opt { names: &["-h", "--help"], value: None, doc: "this text" };

/// What was given: options by their last spelling, in order, and the other words.
#[derive(Debug, Default)]
pub(crate) struct Given {
    options: Vec<(&'static str, String)>,
    pub(crate) words: Vec<String>,
}

impl Given {
    /// Sorts words by what they are.
    ///
    /// **Errors**: every unknown option, and every value that is missing or too much.
    pub(crate) fn parse(
        words: impl Iterator<Item = OsString>,
        known: &[&'static Opt],
    ) -> Result<Self, Vec<Diagnostic>> {
        let (mut given, mut problems) = (Self::default(), Vec::new());
        let mut words = words.map(|word| word.to_string_lossy().into_owned()).peekable();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                given.words.push(word);
                continue;
            }
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let Some(option) = known.iter().find(|option| option.names.contains(&name)) else {
                let spellings = known.iter().flat_map(|option| option.names).copied();
                let help = match nearest(name, spellings.filter(|name| name.len() > 2)) {
                    Some(near) => format!("did you mean '{near}'? see --help"),
                    None => "see --help".to_owned(),
                };
                problems.push(problem(format!("unknown option '{}'", excerpt(name)), help));
                continue;
            };
            let value = match (option.value, inline) {
                (None, None) => Some(String::new()),
                (Some(_), Some(value)) => Some(value),
                (Some(_), None) => words.next_if(|next| !next.starts_with('-')),
                (None, Some(_)) => {
                    problems.push(problem(format!("'{name}' takes no value"), ""));
                    continue;
                }
            };
            match (value, option.names.last()) {
                (Some(value), Some(key)) => given.options.push((key, value)),
                _ => {
                    let what = option.value.unwrap_or_default();
                    problems
                        .push(problem(format!("'{name}' needs a value"), format!("write '{name} {what}'")));
                }
            }
        }
        if problems.is_empty() { Ok(given) } else { Err(problems) }
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, option: &Opt) -> bool {
        self.all(option).next().is_some()
    }

    /// The value that was given last.
    pub(crate) fn last(&self, option: &Opt) -> Option<&str> {
        self.all(option).last()
    }

    fn all(&self, option: &Opt) -> impl Iterator<Item = &str> {
        let key = option.names.last().copied().unwrap_or_default();
        self.options.iter().filter(move |(name, _)| *name == key).map(|(_, value)| value.as_str())
    }

    /// Interfaces to use; none means all.
    pub(crate) fn interfaces(&self) -> Vec<String> {
        self.all(&INTERFACE).map(str::to_owned).collect()
    }

    /// Where to look: the environment, changed by `--domain`, `--range`, `--peer` and `--ip`.
    ///
    /// **Errors**: every bad value, under the name it was given by.
    pub(crate) fn discovery(
        &self,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Discovery, Vec<Diagnostic>> {
        let last = |option| self.all(option).last().map(str::to_owned);
        let (domain, range) = (last(&DOMAIN), last(&RANGE));
        let peers: Vec<_> = self.all(&PEER).collect();
        let peers = (!peers.is_empty()).then(|| peers.join(";"));
        let look_up = |variable: &str| match variable {
            "ROS_DOMAIN_ID" => domain.clone().or_else(|| env(variable)),
            "ROS_AUTOMATIC_DISCOVERY_RANGE" => range.clone().or_else(|| env(variable)),
            "ROS_STATIC_PEERS" => peers.clone().or_else(|| env(variable)),
            // The old variable overrides the others, but not who types something else now.
            "ROS_LOCALHOST_ONLY" if range.is_some() || peers.is_some() => None,
            _ => env(variable),
        };
        let told = |error: EnvError| {
            let option = match error.variable {
                "ROS_DOMAIN_ID" => domain.as_ref().map(|_| "--domain"),
                "ROS_AUTOMATIC_DISCOVERY_RANGE" => range.as_ref().map(|_| "--range"),
                "ROS_STATIC_PEERS" => peers.as_ref().map(|_| "--peer"),
                _ => None,
            };
            let origin = if option.is_some() { Origin::CommandLine } else { Origin::Environment };
            let message =
                format!("{}: invalid value '{}'", option.unwrap_or(error.variable), excerpt(&error.value));
            Diagnostic::error(origin, message, error.allowed)
        };
        let ip = self.all(&IP).last().map(|text| match text {
            "v4" => Ok(IpFamily::V4),
            "v6" => Ok(IpFamily::V6),
            "both" => Ok(IpFamily::Both),
            other => Err(problem(format!("--ip: invalid value '{}'", excerpt(other)), "use v4, v6 or both")),
        });
        let found = Discovery::from_env(look_up);
        match (found, ip.transpose()) {
            (Ok(found), Ok(ip)) => Ok(Discovery { ip: ip.or(found.ip), ..found }),
            (found, ip) => {
                let errors = found.err().unwrap_or_default().into_iter().map(told);
                Err(errors.chain(ip.err()).collect())
            }
        }
    }

    /// The value of `--wait`.
    ///
    /// **Errors**: not a number of seconds.
    pub(crate) fn wait(&self, default: Duration) -> Result<Duration, Diagnostic> {
        let Some(text) = self.all(&WAIT).last() else { return Ok(default) };
        let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=3600.0).contains(seconds));
        seconds.map(Duration::from_secs_f64).ok_or_else(|| {
            problem(format!("--wait: invalid value '{}'", excerpt(text)), "write seconds, 0 to 3600")
        })
    }
}

/// A mistake on the command line.
pub(crate) fn problem(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Origin::CommandLine, message, help)
}

/// The options as lines of a help text.
pub(crate) fn describe(options: &[&'static Opt]) -> String {
    let spell = |option: &Opt| {
        let names = option.names.join(", ");
        option.value.map_or_else(|| names.clone(), |value| format!("{names} {value}"))
    };
    let width = options.iter().map(|option| spell(option).len()).max().unwrap_or(0);
    options.iter().map(|option| format!("  {:width$}  {}\n", spell(option), option.doc)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KNOWN: &[&Opt] = &[&DOMAIN, &RANGE, &PEER, &INTERFACE, &IP, &WAIT, &JSON, &HELP];

    fn parse(line: &str) -> Result<Given, String> {
        let words = line.split_whitespace().map(OsString::from);
        Given::parse(words, KNOWN).map_err(|problems| text(&problems))
    }

    fn text(problems: &[Diagnostic]) -> String {
        problems.iter().map(|p| format!("{p}\n")).collect()
    }

    #[test]
    fn options_win_over_the_environment() {
        let env = |name: &str| match name {
            "ROS_DOMAIN_ID" => Some("5".to_owned()),
            "ROS_LOCALHOST_ONLY" => Some("1".to_owned()),
            _ => None,
        };
        let plain = parse("topics").unwrap().discovery(env).unwrap();
        assert_eq!((plain.domain, plain.range_name()), (5, "LOCALHOST"));
        let given = parse(
            "topics -d 7 --range=subnet --peer 10.0.0.1 --peer=robot --interface eth0 --ip both --json",
        )
        .unwrap();
        let found = given.discovery(env).unwrap();
        assert_eq!((found.domain, found.range_name()), (7, "SUBNET"));
        assert_eq!(found.static_peers, ["10.0.0.1", "robot"]);
        assert_eq!((given.interfaces(), found.ip_family()), (vec!["eth0".to_owned()], IpFamily::Both));
        assert_eq!(given.words, ["topics"]);
        assert!(given.has(&JSON) && !given.has(&HELP));
    }

    #[test]
    fn every_mistake_is_told_with_a_remedy() {
        insta::assert_snapshot!(parse("--domian 7 --json=1 --wait").unwrap_err(), @r"
        command line: unknown option '--domian'; did you mean '--domain'? see --help
        command line: '--json' takes no value
        command line: '--wait' needs a value; write '--wait SECONDS'
        ");
        let bad = parse("--domain 700 --range far --ip 6").unwrap();
        let env = |name: &str| (name == "ROS_STATIC_PEERS").then(|| "a b".to_owned());
        insta::assert_snapshot!(text(&bad.discovery(env).unwrap_err()), @r"
        command line: --domain: invalid value '700'; use a whole number from 0 to 232
        command line: --range: invalid value 'far'; use OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT
        environment: ROS_STATIC_PEERS: invalid value 'a b'; separate hosts by ';', each a name or an address, with a port if need be ('host:7410', '[::1]:7410')
        command line: --ip: invalid value '6'; use v4, v6 or both
        ");
        let wait = |line| parse(line).unwrap().wait(Duration::from_secs(5));
        assert_eq!(wait("--wait 0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(wait(""), Ok(Duration::from_secs(5)));
        assert!(wait("--wait=nan").is_err() && wait("--wait=soon").is_err());
    }

    proptest! {
        #[test]
        fn any_words_are_survived(words in proptest::collection::vec("-{0,2}[a-z=]{0,9}|--wait|-d", 0..6)) {
            if let Ok(given) = Given::parse(words.into_iter().map(OsString::from), KNOWN) {
                prop_assert!(given.wait(Duration::ZERO).is_ok_and(|w| w.as_secs() <= 3600) || given.has(&WAIT));
            }
        }
    }
}
