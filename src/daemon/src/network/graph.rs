//! `rostrans graph`: the running ROS system from outside.

mod json;
mod look;
mod select;
mod text;

use std::{ffi::OsString, time::Duration};

use rostrans_adapter_dds::{Discovery, graph::Graph};
use rostrans_core::{diag::Diagnostic, suggest::nearest, text::excerpt};

use self::select::{Selection, What};
use super::options::{DOMAIN, Given, HELP, INTERFACE, IP, JSON, Opt, PEER, RANGE, WAIT, describe, problem};
use crate::{exit::Exit, print, report, variable};

const VERBOSE: Opt =
    Opt { names: &["-v", "--verbose"], value: None, doc: "endpoints with GID, type hash and QoS" };
const ALL: Opt = Opt { names: &["-a", "--all"], value: None, doc: "hidden names and plain DDS topics, too" };
const WATCH: Opt = Opt {
    names: &["-w", "--watch"],
    value: None,
    doc: "go on, and print again at each change, until Ctrl-C",
};
const OPTIONS: &[&Opt] =
    &[&VERBOSE, &ALL, &DOMAIN, &RANGE, &PEER, &INTERFACE, &IP, &WAIT, &WATCH, &JSON, &HELP];

/// Longest look unless `--wait` says otherwise; discovery within a LAN takes a second or two.
const WAIT_DEFAULT: Duration = Duration::from_secs(5);

/// What to look for, and how to show it.
struct Request {
    selection: Selection,
    discovery: Discovery,
    interfaces: Vec<String>,
    wait: Duration,
    watch: bool,
    json: bool,
    /// What the picture leaves out, where this environment's nodes are among it.
    note: Option<String>,
}

/// One picture of a graph.
struct Picture {
    text: String,
    exit: Exit,
}

/// Runs `rostrans graph` with the words behind it.
pub(super) fn main(words: impl Iterator<Item = OsString>) -> Exit {
    let request = match parse(words, variable) {
        Ok(Some(request)) => request,
        Ok(None) => return print(&help()),
        Err(problems) => {
            report(&problems);
            return Exit::Usage;
        }
    };
    look::run(&request)
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
    let selection = select(&given).map_err(|problem| problems.push(problem));
    let wait = given.wait(WAIT_DEFAULT).map_err(|problem| problems.push(problem));
    let note = left_out(&env);
    let discovery = given.discovery(env).map_err(|mut found| problems.append(&mut found));
    match (selection, discovery, wait) {
        (Ok(selection), Ok(discovery), Ok(wait)) => Ok(Some(Request {
            selection,
            discovery,
            interfaces: given.interfaces(),
            wait,
            watch: given.has(&WATCH),
            json: given.has(&JSON),
            note,
        })),
        _ => Err(problems),
    }
}

fn left_out(env: impl Fn(&str) -> Option<String>) -> Option<String> {
    let rmw = env("RMW_IMPLEMENTATION").filter(|rmw| rmw.contains("zenoh"))?;
    Some(format!(
        "RMW_IMPLEMENTATION={}, but this shows DDS alone: nodes over Zenoh are not in it",
        excerpt(&rmw)
    ))
}

fn select(given: &Given) -> Result<Selection, Diagnostic> {
    let words: Vec<_> = given.words.iter().map(String::as_str).collect();
    let (what, name) = match words[..] {
        [] => (What::Everything, None),
        [name] if name.starts_with('/') => (What::Everything, Some(name)),
        // ros2cli has a verb behind the kind; names are not lost by it, they can begin with '/'.
        [what] | [what, "list"] => (kind(what)?, None),
        [what, name] | [what, "info", name] => (kind(what)?, Some(name)),
        [_, _, more, ..] => {
            return Err(problem(format!("unexpected '{}'", excerpt(more)), "give one kind and one name"));
        }
    };
    Ok(Selection::new(what, name, given.has(&VERBOSE), given.has(&ALL)))
}

fn kind(word: &str) -> Result<What, Diagnostic> {
    // People who know ros2cli write the singular.
    let found = What::KINDS.iter().find(|(name, _)| *name == word || name.strip_suffix('s') == Some(word));
    found.map(|(_, what)| *what).ok_or_else(|| {
        let near = nearest(word, What::KINDS.iter().map(|(name, _)| *name));
        let help = match near {
            Some(near) => format!("did you mean '{near}'?"),
            None => "choose one of nodes, topics, services, actions, participants; a name begins with '/'"
                .to_owned(),
        };
        problem(format!("unexpected '{}'", excerpt(word)), help)
    })
}

impl Request {
    /// The graph as asked for.
    fn picture(&self, graph: &Graph) -> Picture {
        let selected = self.selection.of(graph);
        let text = if self.json {
            json::print(&selected, &self.discovery, self.watch)
        } else if selected.is_empty() {
            text::nothing(&self.selection, graph, &self.discovery)
        } else {
            text::print(&selected, &self.discovery)
        };
        let exit = if selected.is_empty() {
            Exit::NotFound
        } else if selected.misfits.iter().any(|misfit| misfit.is_blocking()) {
            Exit::Problem
        } else {
            Exit::Ok
        };
        Picture { text, exit }
    }
}

fn help() -> String {
    format!(
        "rostrans graph shows the running ROS 2 system, with no ROS installed and without showing up in it.
It looks at DDS (Fast DDS, Cyclone DDS and others); nodes over Zenoh and of ROS 1 are not shown.

usage: rostrans graph [nodes|topics|services|actions|participants] [NAME] [options]

  rostrans graph                        everything, and which endpoints cannot talk to each other
  rostrans graph topics                 as 'ros2 topic list -t'
  rostrans graph topics /chatter -v     as 'ros2 topic info -v'
  rostrans graph nodes /talker          as 'ros2 node info'
  rostrans graph /chatter               whatever has that name

options:
{}
exit codes:
  0    found, and all endpoints shown fit
  1    found, but some endpoints shown cannot talk to each other
  2    nobody is there, or not what was asked for
  64   wrong command line
  69   the network cannot be opened
  130  ended by a signal before anything was shown
",
        describe(OPTIONS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Request>, String> {
        let words = line.split_whitespace().map(OsString::from);
        parse(words, |_| None).map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect())
    }

    #[test]
    fn kinds_and_names_are_taken_as_in_ros2cli() {
        for (line, what, name) in [
            ("", What::Everything, None),
            ("topic chatter -v", What::Topics, Some("/chatter")),
            ("nodes /a/b", What::Nodes, Some("/a/b")),
            ("/a", What::Everything, Some("/a")),
            ("action", What::Actions, None),
            ("topic list", What::Topics, None),
            ("node info talker", What::Nodes, Some("/talker")),
            ("topics /list", What::Topics, Some("/list")),
            ("participants 01.0f -a", What::Participants, Some("01.0f")),
        ] {
            let request = parsed(line).unwrap().unwrap();
            assert_eq!((request.selection.what, request.selection.name.as_deref()), (what, name), "{line}");
        }
    }

    #[test]
    fn mistakes_have_a_remedy() {
        let text = |line| parsed(line).err().unwrap();
        insta::assert_snapshot!(
            format!("{}{}{}", text("topcs"), text("topics /a /b --wait=x"), text("chatter -d x")),
            @r"
        command line: unexpected 'topcs'; did you mean 'topics'?
        command line: unexpected '/b'; give one kind and one name
        command line: --wait: invalid value 'x'; write seconds, 0 to 3600
        command line: unexpected 'chatter'; choose one of nodes, topics, services, actions, participants; a name begins with '/'
        command line: --domain: invalid value 'x'; use a whole number from 0 to 232
        "
        );
    }

    #[test]
    fn environment_of_zenoh_nodes_is_told_what_is_not_shown() {
        let note =
            |rmw: &'static str| left_out(|name| (name == "RMW_IMPLEMENTATION").then(|| rmw.to_owned()));
        assert_eq!(note("rmw_fastrtps_cpp"), None);
        assert!(note("rmw_zenoh_cpp").unwrap().contains("this shows DDS alone"));
    }

    #[test]
    fn help_teaches() {
        assert!(parsed("--help").unwrap().is_none());
        insta::assert_snapshot!("graph_help", help());
    }
}
