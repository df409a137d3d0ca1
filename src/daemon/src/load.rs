//! Reading the configuration: command line and files to settings, filter and rules.
//!
//! Nothing here opens a socket. Every problem of every file is collected; what could be read is returned beside
//! them, so that one run of `--check` finds as much as possible.

pub(crate) mod clocks;
pub mod ini;
mod mavros;
mod text;
pub mod yaml;

use std::path::{Path, PathBuf};

use rostrans_adapter_dds::{Discovery, EnvError};
use rostrans_core::{
    clock::ClockSpec,
    diag::{Diagnostic, Origin},
    filter::TopicFilter,
    param::{ParamSet, Settings},
    plugin::Plugin,
    registry::CodecRegistry,
    rule::ForwardRule,
    topic::TopicName,
};

use self::{clocks::Said, ini::PluginOrder};
use crate::{cli::Request, logging, params};

/// An environment variable's value, if it is set and not empty.
pub type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the command line and the files say.
#[derive(Debug)]
pub struct Loaded {
    /// All parameters.
    pub settings: Settings,
    /// The blacklist.
    pub filter: TopicFilter,
    /// The rules of the YAML files, then those of each plugin.
    pub rules: Vec<ForwardRule>,
    /// The simulated clocks that they use.
    pub clocks: Vec<ClockSpec>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// Names of the plugins that are on.
    pub plugins: Vec<&'static str>,
}

/// Reads everything `request` names.
pub fn load(
    request: &Request,
    plugins: &[Box<dyn Plugin>],
    codecs: &CodecRegistry,
    env: Env<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Loaded {
    let mut files = Vec::new();
    let mut params = ParamSet::default();
    let param_file =
        request.param_file.clone().or_else(|| Some(PARAM_FILE.into()).filter(|p: &PathBuf| p.exists()));
    if let Some(path) = param_file {
        if let Some(text) = text::read(&path, problems) {
            params = ParamSet::parse(&path, &text, problems);
        }
        files.push(path);
    }
    for (key, value) in &request.params {
        params.set(key, value, Origin::CommandLine);
    }
    files.append(&mut mavros::read(&mut params, problems));
    let settings = params.resolve(&params::all(plugins), problems);
    check(&settings, env, problems);

    let mut read = |path: Option<PathBuf>, problems: &mut Vec<Diagnostic>| {
        let path = path?;
        let text = text::read(&path, problems);
        files.push(path.clone());
        Some((path, text?))
    };
    // A file given by an option of its own wins over the parameter.
    let filter_file = request.filter_file.clone().or_else(|| named_file(&settings, "filter_file"));
    let filter = match read(filter_file, problems) {
        Some((path, text)) => TopicFilter::parse(&path, &text, problems),
        None => TopicFilter::default(),
    };
    let mut rules_files = request.rules_files.clone();
    if rules_files.is_empty() {
        rules_files.extend(named_file(&settings, "ros_trans_config"));
    }
    let (mut rules, mut said) = (Vec::new(), Said::default());
    for path in rules_files {
        if let Some((path, text)) = read(Some(path), problems) {
            let mut file = yaml::read(&path, &text, codecs, problems);
            rules.append(&mut file.rules);
            said.add(file.clocks, problems);
        }
    }
    let order = match read(named_file(&settings, "plugins_config"), problems) {
        Some((path, text)) => {
            let names: Vec<_> = plugins.iter().map(|plugin| plugin.name()).collect();
            PluginOrder::parse(&path, &text, &names, problems)
        }
        None => PluginOrder::default(),
    };
    let mut on = Vec::new();
    for plugin in order.sort(plugins).filter(|plugin| plugin.enabled(&settings)) {
        on.push(plugin.name());
        match plugin.rules(&settings) {
            Ok(mut more) => rules.append(&mut more),
            Err(mut found) => problems.append(&mut found),
        }
    }
    let clocks = said.resolve(&settings, env, codecs, &mut rules, problems);
    Loaded { settings, filter, rules, clocks, files, plugins: on }
}

/// Read when `-c` is not given.
const PARAM_FILE: &str = "rostrans.param";

/// The file a parameter names; a default that does not exist names none.
fn named_file(settings: &Settings, key: &str) -> Option<PathBuf> {
    let path = Path::new(settings.text(key));
    let wanted = settings.origin(key) != Origin::Default || path.exists();
    (wanted && !path.as_os_str().is_empty()).then(|| path.to_owned())
}

/// Checks the core parameters beyond what their kind says.
fn check(settings: &Settings, env: Env<'_>, problems: &mut Vec<Diagnostic>) {
    let name = settings.text("node_name");
    if name.contains('/') || TopicName::parse(name).is_err() {
        let message = format!("invalid node_name '{}'", rostrans_core::text::excerpt(name));
        let help = "use letters, digits and '_', not starting with a digit";
        problems.push(Diagnostic::error(settings.origin("node_name"), message, help));
    }
    let namespace = settings.text("node_namespace");
    if namespace != "/" && TopicName::parse(namespace).is_err() {
        let message = format!("invalid node_namespace '{}'", rostrans_core::text::excerpt(namespace));
        problems.push(Diagnostic::error(
            settings.origin("node_namespace"),
            message,
            "write e.g. '/robot_1' or '/'",
        ));
    }
    check_engine(settings, problems);
    match Discovery::from_env(env) {
        Ok(discovery) => {
            let warning = |text| Diagnostic::warning(Origin::Environment, text, "");
            problems.extend(discovery.warnings.into_iter().map(warning));
        }
        Err(variables) => {
            let problem = |error: EnvError| {
                let message = format!(
                    "{}: invalid value '{}'",
                    error.variable,
                    rostrans_core::text::excerpt(&error.value)
                );
                Diagnostic::error(Origin::Environment, message, error.allowed)
            };
            problems.extend(variables.into_iter().map(problem));
        }
    }
    if let Err(problem) = logging::filter(settings, env) {
        problems.push(problem);
    }
}

/// Checks that the chosen DDS engine is there and can do what is asked of it.
fn check_engine(settings: &Settings, problems: &mut Vec<Diagnostic>) {
    if settings.text("dds_engine") != "cyclone" {
        return;
    }
    if !cfg!(feature = "dds-cyclone") {
        let message = "dds_engine=cyclone, but this rostrans was built without Cyclone DDS";
        let help = "write dds_engine=native, or build it with '--features dds-cyclone'";
        problems.push(Diagnostic::error(settings.origin("dds_engine"), message, help));
    } else if settings.text("dds_service_style") == "fastdds" {
        let message = "dds_service_style=fastdds, but dds_engine=cyclone speaks its own style only";
        let help = "write dds_service_style=auto, or dds_engine=native";
        problems.push(Diagnostic::error(settings.origin("dds_service_style"), message, help));
    }
}

#[cfg(test)]
mod tests;
