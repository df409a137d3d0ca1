//! `rostrans doctor`: what the network of this machine will and will not do for ROS.
//!
//! ```text
//! options, environment --gather--> Facts --check--> Findings --> text or JSON, exit code
//! ```
//!
//! Gathering only looks and tries; what the facts mean is decided by pure functions.

mod check;
mod facts;
mod finding;
mod gather;

use std::{ffi::OsString, time::Duration};

use rostrans_adapter_dds::Discovery;
use rostrans_core::{
    diag::{Diagnostic, Origin},
    text::excerpt,
};

use self::finding::{Finding, Level};
use super::options::{DOMAIN, Given, HELP, INTERFACE, IP, JSON, Opt, PEER, RANGE, describe, problem};
use crate::{exit::Exit, print, report, variable};

const WAIT: Opt =
    Opt { names: &["--wait"], value: Some("SECONDS"), doc: "look for others for this long (default: 3)" };
const OPTIONS: &[&Opt] = &[&DOMAIN, &RANGE, &PEER, &INTERFACE, &IP, &WAIT, &JSON, &HELP];

/// How long to look for others unless `--wait` says otherwise.
const WAIT_DEFAULT: Duration = Duration::from_secs(3);

/// What to examine.
struct Request {
    discovery: Discovery,
    /// Variables with values that ROS does not define; `discovery` does without them.
    broken: Vec<Diagnostic>,
    interfaces: Vec<String>,
    wait: Duration,
    json: bool,
}

/// Runs `rostrans doctor` with the words behind it.
pub(super) fn main(words: impl Iterator<Item = OsString>) -> Exit {
    let request = match parse(words, variable) {
        Ok(Some(request)) => request,
        Ok(None) => return print(&help()),
        Err(problems) => {
            report(&problems);
            return Exit::Usage;
        }
    };
    let Some(facts) = gather::gather(&request.discovery, &request.interfaces, request.wait, &variable) else {
        return Exit::Aborted;
    };
    let broken = request.broken.iter().map(|found| Finding::problem("range", &found.message, &found.help));
    let findings: Vec<_> = broken.chain(check::all(&facts)).collect();
    let shown = if request.json {
        finding::json(&findings, &request.discovery)
    } else {
        finding::text(&findings, &request.discovery)
    };
    print(&shown);
    if findings.iter().any(|finding| finding.level == Level::Problem) { Exit::Problem } else { Exit::Ok }
}

/// `None` when help is wanted.
fn parse(
    words: impl Iterator<Item = OsString>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<Request>, Vec<Diagnostic>> {
    let given = Given::parse(words, OPTIONS)?;
    if given.has(&HELP) {
        return Ok(None);
    }
    let mut problems = Vec::new();
    if let Some(word) = given.words.first() {
        problems.push(problem(format!("unexpected '{}'", excerpt(word)), "see --help"));
    }
    let wait = given.wait(WAIT_DEFAULT).map_err(|problem| problems.push(problem));
    // Wrong words are refused, a wrong environment is a finding.
    let mut broken = given.discovery(&env).err().unwrap_or_default();
    broken.retain(|problem| problem.origin == Origin::Environment);
    broken.dedup();
    let is_broken = |name: &str| broken.iter().any(|p| p.message.starts_with(name));
    let discovery = given.discovery(|name| env(name).filter(|_| !is_broken(name)));
    let discovery = discovery.map_err(|mut found| problems.append(&mut found));
    match (discovery, wait) {
        (Ok(discovery), Ok(wait)) if problems.is_empty() => {
            let (interfaces, json) = (given.interfaces(), given.has(&JSON));
            Ok(Some(Request { discovery, broken, interfaces, wait, json }))
        }
        _ => Err(problems),
    }
}

fn help() -> String {
    format!(
        "rostrans doctor says what the network of this machine will and will not do for ROS 2, and what to do about it.

It tries what ROS does: takes ports, sends to itself, in range SUBNET also to the multicast group on each interface, and
looks for others. It changes nothing.

usage: rostrans doctor [options]

options:
{}
exit codes:
  0    no problem; there may be warnings
  1    a problem was found
  64   wrong command line
  130  ended by a signal
",
        describe(OPTIONS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_teaches_and_stray_words_are_refused() {
        let parsed = |line: &str| parse(line.split_whitespace().map(OsString::from), |_| None);
        assert!(parsed("-h").is_ok_and(|request| request.is_none()));
        assert!(parsed("--json --wait 0 -d 3").is_ok_and(|request| request.is_some_and(|r| r.json)));
        let problems = parsed("now").err().unwrap();
        assert_eq!(problems[0].to_string(), "command line: unexpected 'now'; see --help");
        assert_eq!(parsed("-d 300").err().map(|problems| problems.len()), Some(1));
        insta::assert_snapshot!("doctor_help", help());
    }

    #[test]
    fn a_wrong_environment_is_a_finding_and_the_rest_of_it_counts() {
        let env = |name: &str| match name {
            "ROS_DOMAIN_ID" => Some("many".to_owned()),
            "ROS_AUTOMATIC_DISCOVERY_RANGE" => Some("LOCALHOST".to_owned()),
            _ => None,
        };
        let request = parse(std::iter::empty(), env).ok().flatten().unwrap();
        assert_eq!((request.discovery.domain, request.discovery.range_name()), (0, "LOCALHOST"));
        let told: Vec<_> = request.broken.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(told, ["ROS_DOMAIN_ID: invalid value 'many'"]);
    }
}
