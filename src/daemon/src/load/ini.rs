//! `plugins_config.ini`: which plugins may run, and in which order.
//!
//! ```text
//! [mavros]
//! enable = true     ; false switches the plugin off, whatever rostrans.param says
//! order = 1         ; lower is planned first; without it the order of the sections counts
//! ```
//!
//! A plugin without a section may run and comes last.

use std::path::Path;

use rostrans_core::{
    diag::{Diagnostic, Origin},
    plugin::Plugin,
    suggest::did_you_mean,
    text::{boolean, excerpt},
};

/// The sections of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginOrder {
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    plugin: String,
    enable: bool,
    order: Option<i64>,
}

impl PluginOrder {
    /// Reads a file. `plugins` are the names there are; case and the ending `Assistant` do not matter.
    ///
    /// Comments begin with `#` or `;`. Unknown sections and keys are warnings.
    pub fn parse(file: &Path, text: &str, plugins: &[&str], problems: &mut Vec<Diagnostic>) -> Self {
        let mut order = Self::default();
        // Keys of an unknown section are not looked at.
        let mut known = false;
        let mut in_section = false;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in (1u32..).zip(text.lines()) {
            let line = line.split(['#', ';']).next().unwrap_or_default().trim();
            let origin = Origin::file(file, number);
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                in_section = true;
                let Some(name) = name.strip_suffix(']') else {
                    let message = format!("'{}' has no closing ']'", excerpt(line));
                    problems.push(Diagnostic::error(origin, message, "write '[name]'"));
                    known = false;
                    continue;
                };
                let found = plugins.iter().find(|plugin| **plugin == plain(name));
                known = found.is_some();
                let Some(plugin) = found else {
                    let all = format!("this version has {}", plugins.join(", "));
                    let help = did_you_mean(&plain(name), plugins.iter().copied(), all);
                    let message = format!("no plugin '{}'", excerpt(name.trim()));
                    problems.push(Diagnostic::warning(origin, message, help));
                    continue;
                };
                if order.sections.iter().any(|section| section.plugin == *plugin) {
                    let message = format!("section '{plugin}' is given twice");
                    problems.push(Diagnostic::error(origin, message, "delete one of them"));
                }
                order.sections.push(Section { plugin: (*plugin).to_owned(), enable: true, order: None });
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                let message = format!("'{}' is neither '[name]' nor 'key = value'", excerpt(line));
                problems.push(Diagnostic::error(origin, message, "start comments with '#' or ';'"));
                continue;
            };
            let Some(section) = order.sections.last_mut().filter(|_| known) else {
                if !in_section {
                    problems.push(Diagnostic::warning(
                        origin,
                        "a key before the first '[name]' is ignored",
                        "",
                    ));
                }
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "enable" => match boolean(value) {
                    Some(enable) => section.enable = enable,
                    None => {
                        let message = format!("invalid value '{}' for 'enable'", excerpt(value));
                        problems.push(Diagnostic::error(origin, message, "write true or false"));
                    }
                },
                "order" => match value.parse() {
                    Ok(number) => section.order = Some(number),
                    Err(_) => {
                        let message = format!("invalid value '{}' for 'order'", excerpt(value));
                        problems.push(Diagnostic::error(origin, message, "write a whole number"));
                    }
                },
                _ => {
                    let help = did_you_mean(key, ["enable", "order"], "allowed here: enable, order");
                    problems.push(Diagnostic::warning(
                        origin,
                        format!("unknown key '{}'", excerpt(key)),
                        help,
                    ));
                }
            }
        }
        order
    }

    /// The plugins that may run, in order.
    pub fn sort<'p>(&self, plugins: &'p [Box<dyn Plugin>]) -> impl Iterator<Item = &'p dyn Plugin> {
        let mut kept: Vec<(_, &dyn Plugin)> = Vec::new();
        for plugin in plugins {
            let section = self.sections.iter().position(|section| section.plugin == plugin.name());
            match section.and_then(|index| Some((index, self.sections.get(index)?))) {
                Some((_, section)) if !section.enable => {}
                // Numbered sections first, then the others as they stand, then plugins without one.
                Some((index, section)) => {
                    kept.push(((section.order.is_none(), section.order, index), &**plugin));
                }
                None => kept.push(((true, None, usize::MAX), &**plugin)),
            }
        }
        kept.sort_by_key(|(rank, _)| *rank);
        kept.into_iter().map(|(_, plugin)| plugin)
    }
}

/// `MavRosAssistant` and `mavros` are one name.
fn plain(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    lower.strip_suffix("assistant").unwrap_or(&lower).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rostrans_core::{
        param::{ParamDef, Settings},
        rule::ForwardRule,
    };

    use super::*;

    struct Named(&'static str);

    impl Plugin for Named {
        fn name(&self) -> &'static str {
            self.0
        }

        fn params(&self) -> &'static [ParamDef] {
            &[]
        }

        fn enabled(&self, _settings: &Settings) -> bool {
            true
        }

        fn rules(&self, _settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
            Ok(Vec::new())
        }
    }

    fn read(text: &str) -> (Vec<&'static str>, String) {
        let plugins: Vec<Box<dyn Plugin>> =
            vec![Box::new(Named("router")), Box::new(Named("mavros")), Box::new(Named("vision"))];
        let names: Vec<_> = plugins.iter().map(|plugin| plugin.name()).collect();
        let mut problems = Vec::new();
        let order = PluginOrder::parse(Path::new("p.ini"), text, &names, &mut problems);
        let severity = |d: &Diagnostic| if d.is_error() { "error" } else { "warning" };
        let lines = problems.iter().map(|d| format!("{}: {d}\n", severity(d))).collect();
        (order.sort(&plugins).map(Plugin::name).collect(), lines)
    }

    #[test]
    fn order_is_by_number_then_by_section_then_built_in() {
        for (text, names) in [
            ("", ["router", "mavros", "vision"].as_slice()),
            ("[vision]\r\n[mavros]\r\n", &["vision", "mavros", "router"]),
            ("[vision]\n[mavros]\norder=1 ; first\n", &["mavros", "vision", "router"]),
            ("[vision]\norder = 2\n[router]\norder=1", &["router", "vision", "mavros"]),
            ("[MavRosAssistant]\nenable = False # off", &["router", "vision"]),
        ] {
            assert_eq!(read(text), (names.to_vec(), String::new()), "{text}");
        }
    }

    #[test]
    fn modules_are_known_by_the_names_of_the_manual() {
        let plugins = rostrans_plugins::all();
        let names: Vec<_> = plugins.iter().map(|plugin| plugin.name()).collect();
        let text = "[DllModelAssistant]\n[MavRosAssistant]\n[Sim3DUEAssistant]\n[router]\n";
        let mut problems = Vec::new();
        PluginOrder::parse(Path::new("p.ini"), text, &names, &mut problems);
        assert_eq!(problems, []);
    }

    #[test]
    fn every_problem_is_reported_with_its_line() {
        let text = "a=1\n[mavors]\nenable=maybe\n[router\n[router]\nenable=maybe\norder=first\nenabled=1\nwords\n[router]";
        insta::assert_snapshot!(read(text).1, @r"
        warning: p.ini:1: a key before the first '[name]' is ignored
        warning: p.ini:2: no plugin 'mavors'; did you mean 'mavros'?
        error: p.ini:4: '[router' has no closing ']'; write '[name]'
        error: p.ini:6: invalid value 'maybe' for 'enable'; write true or false
        error: p.ini:7: invalid value 'first' for 'order'; write a whole number
        warning: p.ini:8: unknown key 'enabled'; did you mean 'enable'?
        error: p.ini:9: 'words' is neither '[name]' nor 'key = value'; start comments with '#' or ';'
        error: p.ini:10: section 'router' is given twice; delete one of them
        ");
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*|(\\[|\\]|=|router|enable|order|\n|;|true|1)*") {
            crate::fuzzing::ini(&text);
        }
    }
}
