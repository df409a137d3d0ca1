//! The rostrans daemon: command line, files, composition, exit code.
//!
//! ```text
//! words --cli--> Request --load--> settings, filter, rules --plan--> Topology --run--> exit code
//! ```
//!
//! Two commands look at the network instead: `rostrans graph` and `rostrans doctor`.
//!
//! This crate is the only one that names concrete codecs, plugins, adapters and transports. Everything up to the
//! plan is pure but for reading files, and reports all problems at once; nothing is opened before the plan stands.

mod cli;
mod demo;
mod dry_run;
mod exit;
#[doc(hidden)]
pub mod fuzzing;
mod help;
mod interfaces;
mod join;
mod limits;
pub mod load;
mod logging;
mod network;
mod params;
mod print_rules;
mod qos;
mod run;
mod signals;
mod summary;
mod table;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    plugin::Plugin,
    text::file_name,
};
use rostrans_engine::{
    plan::{self, PlanContext, Planned},
    topology::Topology,
};
use rostrans_schema::TypeRegistry;

pub use crate::{
    cli::{Action, Request},
    exit::Exit,
};

/// The whole program: `words` are the arguments behind its name.
pub fn main(words: impl IntoIterator<Item = OsString>) -> Exit {
    let mut words = words.into_iter().peekable();
    if let Some(tool) = words.peek().and_then(network::Tool::named) {
        return network::main(tool, words.skip(1));
    }
    if words.peek().is_some_and(|word| word == "demo") {
        return demo::main(words.skip(1));
    }
    if words.peek().is_some_and(|word| word == "interfaces") {
        return interfaces::main(words.skip(1));
    }
    let plugins = rostrans_plugins::all();
    let request = match cli::parse(words, &params::all(&plugins)) {
        Ok(request) => request,
        Err(problems) => {
            report(&problems);
            return Exit::Usage;
        }
    };
    match request.action {
        Action::Help => print(&help::help(&plugins)),
        Action::Version => print(&help::version()),
        Action::ListParams => print(&help::list_params(&plugins)),
        Action::ListCodecs => print(&help::list_codecs(&rostrans_codecs::builtin())),
        Action::Check | Action::PrintRules | Action::Run | Action::DryRun => work(&request, &plugins),
    }
}

/// Loads, plans, and does with the plan what was asked for.
fn work(request: &Request, plugins: &[Box<dyn Plugin>]) -> Exit {
    let codecs = Arc::new(rostrans_codecs::builtin());
    let types = Arc::new(TypeRegistry::from_env());
    let mut problems = Vec::new();
    let loaded = load::load(request, plugins, &codecs, &variable, &mut problems);
    let choice = join::choose(&loaded.settings, &variable, join::BUILT_IN, &mut problems);
    load::clocks::check_graphs(&loaded.clocks, &choice.fabrics, &mut problems);
    // Without them, loops by way of an interface's address are not found; that is no reason not to run.
    let own: Vec<_> = rostrans_net::interfaces().unwrap_or_default().into_iter().map(|i| i.addr).collect();
    let cx = PlanContext {
        filter: &loaded.filter,
        codecs: &codecs,
        types: &types,
        adapters: &choice.fabrics,
        own_addresses: &own,
    };
    let planned = plan::plan(loaded.rules, &cx).unwrap_or_else(|mut found| {
        problems.append(&mut found);
        Planned { topology: Default::default(), warnings: Vec::new() }
    });
    problems.extend(planned.warnings);
    let topology = planned.topology;
    if request.action != Action::PrintRules && !problems.iter().any(Diagnostic::is_error) {
        problems.extend(nothing_to_run(&loaded.files, &topology));
    }
    if problems.iter().any(Diagnostic::is_error) {
        report(&problems);
        let only_words = problems.iter().filter(|p| p.is_error()).all(|p| p.origin == Origin::CommandLine);
        return if only_words { Exit::Usage } else { Exit::Config };
    }
    match request.action {
        Action::Check => {
            report(&problems);
            let routes = topology.transports.iter().filter(|t| t.route.is_some()).count();
            let rules = topology.pipelines.len() + routes;
            let files: Vec<_> = loaded.files.iter().map(|path| file_name(path)).collect();
            let files = if files.is_empty() { "no files".to_owned() } else { files.join(", ") };
            let noun = if rules == 1 { "rule" } else { "rules" };
            print(&format!("ok: {rules} {noun} to run, {} disabled; read {files}\n", topology.disabled.len()))
        }
        Action::PrintRules => {
            report(&problems);
            print(&(print_rules::clocks(&loaded.clocks) + &print_rules::print(&topology)))
        }
        _ => {
            problems.extend(logging::start(&loaded.settings, &variable));
            for problem in &problems {
                tracing::warn!("{problem}");
            }
            let files: Vec<_> = loaded.files.iter().map(|path| file_name(path)).collect();
            let (files, plugins) = (files.join(" "), loaded.plugins.join(" "));
            tracing::info!(version = env!("CARGO_PKG_VERSION"), files, plugins, "rostrans");
            limits::raise_open_files();
            run::run(&run::Job {
                settings: &loaded.settings,
                topology: &topology,
                clocks: &loaded.clocks,
                codecs,
                types,
                choice: &choice,
                dry_run: request.action == Action::DryRun,
                env: &variable,
            })
        }
    }
}

/// An environment variable that is set and not empty.
///
/// What is not UTF-8 has replacement characters, so that it is refused where it is read, not taken for unset.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
}

/// A daemon that does nothing helps nobody: says so, and what to give it.
fn nothing_to_run(files: &[PathBuf], topology: &Topology) -> Option<Diagnostic> {
    if !topology.transports.is_empty() || !topology.pipelines.is_empty() {
        return None;
    }
    let mut message = "nothing to run".to_owned();
    let count = |many: usize, one: &str| format!("{many} {one}{}", if many == 1 { "" } else { "s" });
    if !topology.disabled.is_empty() {
        message += &format!(", {} disabled", count(topology.disabled.len(), "rule"));
    }
    if !topology.trimmed.is_empty() {
        message += &format!(", {} switched off by the filter", count(topology.trimmed.len(), "name"));
    }
    let help = "give rules with '--rules FILE', parameters with '-c FILE', or switch a module on, e.g. \
                '--enable_mavros'; '--print-rules' shows what is off";
    let origin = files.first().map_or(Origin::CommandLine, |file| Origin::file(file, 0));
    Some(Diagnostic::error(origin, message, help))
}

/// Writes to standard output; a reader that has gone away (`| head`) is no failure.
fn print(text: &str) -> Exit {
    let _closed = io::stdout().write_all(text.as_bytes());
    Exit::Ok
}

/// Writes problems to standard error, with their number when there are errors.
fn report(problems: &[Diagnostic]) {
    let mut text = String::new();
    for problem in problems {
        let severity = if problem.is_error() { "error" } else { "warning" };
        text += &format!("{severity}: {problem}\n");
    }
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    if errors > 0 {
        let noun = if errors == 1 { "error" } else { "errors" };
        text += &format!("{errors} {noun}; nothing was started\n");
    }
    let _closed = io::stderr().write_all(text.as_bytes());
}
