//! The table of MAVROS's parameters in the docs.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::{fmt::Write as _, fs, path::Path};

use rostrans_core::{param::ParamDef, plugin::Plugin};
use rostrans_plugins::{Mavros, MavrosParam};

fn def(key: &str) -> &'static ParamDef {
    Mavros.params().iter().find(|def| def.key == key).unwrap()
}

/// With UPDATE_DOCS=1 the table is written instead of compared.
#[test]
fn table_in_the_docs_is_that_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mavros-parameters.md");
    let committed = fs::read_to_string(&path).unwrap();
    let (head, _) = committed.split_once(BEGIN).expect("the page has the begin marker");
    let text = format!("{head}{BEGIN}\n{}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, text).unwrap();
    } else {
        assert_eq!(committed.replace("\r\n", "\n"), text, "run the tests once with UPDATE_DOCS=1");
    }
}

const BEGIN: &str = "<!-- parameters:begin -->";

fn table() -> String {
    let mut text =
        String::from("| MAVROS | default there | rostrans | default here | note |\n|---|---|---|---|---|\n");
    let cell = |value: &str| match value {
        "" => String::new(),
        value => format!("`{}`", value.replace('|', "\\|")),
    };
    for param in MavrosParam::all() {
        let name = if param.plugin == "-" {
            param.name.to_owned()
        } else {
            format!("{}: {}", param.plugin, param.name)
        };
        let mut there = cell(param.default);
        if !param.apm_default.is_empty() {
            let _infallible = write!(there, ", ArduPilot {}", cell(param.apm_default));
        }
        let (ours, default) = match param.key() {
            Some(key) => (cell(key), cell(def(key).default)),
            None => ("-".to_owned(), String::new()),
        };
        let line = format!("| {} | {there} | {ours} | {default} | {} |", cell(&name), param.note());
        let _infallible = writeln!(text, "{line}");
    }
    text.push_str(
        "\nParameters of rostrans that MAVROS does not have:\n\n| key | default | meaning |\n|---|---|---|\n",
    );
    let twins: Vec<_> = MavrosParam::all().filter_map(|param| param.key()).collect();
    for def in Mavros.params().iter().filter(|def| !twins.contains(&def.key)) {
        let _infallible =
            writeln!(text, "| `{}` | {} | {} |", def.key, cell(def.default), def.doc.replace('|', "\\|"));
    }
    text
}

#[test]
fn what_has_no_twin_says_why() {
    for param in MavrosParam::all() {
        assert!(param.key().is_some() || !param.note().is_empty(), "{} {}", param.plugin, param.name);
    }
}

#[test]
fn defaults_are_those_of_mavros_unless_the_table_says_otherwise() {
    let same = |a: &str, b: &str| a == b || a.parse::<f64>().is_ok_and(|a| b.parse() == Ok(a));
    for param in MavrosParam::all().filter(|param| param.plugin != "-") {
        let Some(key) = param.key() else { continue };
        let ours = def(key).default;
        assert!(
            same(ours, param.default) || !param.note().is_empty(),
            "{key}: {ours} here, {} there",
            param.default
        );
    }
}
