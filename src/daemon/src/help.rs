//! What `--help`, `--list-params` and `--list-codecs` print, and the README's parameter table; all from the tables
//! the program itself works with.

use std::fmt::Write as _;

use rostrans_core::{
    codec::{CodecInfo, Role},
    param::ParamDef,
    plugin::Plugin,
    registry::CodecRegistry,
    transport::Framing,
};

use crate::{cli::FLAGS, exit::Exit, params};

/// `--version`.
pub(crate) fn version() -> String {
    format!("rostrans {}\n", env!("CARGO_PKG_VERSION"))
}

/// `--help`.
pub(crate) fn help(plugins: &[Box<dyn Plugin>]) -> String {
    let mut text = String::from(
        "rostrans moves data between robots' byte streams (UDP, serial, MAVLink) and ROS; no ROS needs to be installed.

usage: rostrans [-c FILE] [-f FILE] [--rules FILE] [--key=value ...]
       rostrans graph ...                   nodes, topics and services of the running system, and what does not fit
       rostrans doctor ...                  what this machine's network will and will not do for ROS
       rostrans demo coptersim ...          simulated vehicles to try it with, in place of RflySim
       rostrans interfaces ...              the message packages that are built in, and how to have them in yours

start here:
  rostrans -c rostrans.param --check          are all files fine?
  rostrans -c rostrans.param                  run until Ctrl-C
  rostrans --enable_mavros=true --dry-run     what would arrive in ROS?

options:
",
    );
    let spellings: Vec<String> = FLAGS
        .iter()
        .map(|flag| {
            let names = flag.names.join(", ");
            flag.value.map_or_else(|| names.clone(), |value| format!("{names} {value}"))
        })
        .collect();
    let width = spellings.iter().map(String::len).max().unwrap_or(0);
    for (spelling, flag) in spellings.iter().zip(FLAGS) {
        line(&mut text, &format!("  {spelling:width$}  {}", flag.doc));
    }
    line(&mut text, "");
    line(
        &mut text,
        "parameters, here as --key=value or in the parameter file as key=value ('--list-params' explains",
    );
    line(&mut text, "each); the command line wins over the file:");
    for (title, defs, more) in params::common(plugins) {
        let mut keys: Vec<_> = defs.iter().map(|def| def.key).collect();
        if more > 0 {
            keys.push("and those of MAVROS's plugins");
        }
        wrapped(&mut text, &format!("  {title:8}"), &keys, 100);
    }
    line(&mut text, "");
    line(&mut text, "exit codes:");
    for (exit, meaning) in Exit::ALL {
        line(&mut text, &format!("  {:<4} {meaning}", exit.code()));
    }
    line(&mut text, "");
    line(
        &mut text,
        "environment: ROS_DOMAIN_ID, ROS_LOCALHOST_ONLY, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS as in",
    );
    line(
        &mut text,
        "ROS 2; AMENT_PREFIX_PATH and ROS_PACKAGE_PATH for message definitions of your own; RUST_LOG.",
    );
    text
}

/// `--list-params`.
pub(crate) fn list_params(plugins: &[Box<dyn Plugin>]) -> String {
    let mut text = String::new();
    for (title, defs) in params::groups(plugins) {
        line(&mut text, &format!("{title}:"));
        for def in defs {
            let default = if def.default.is_empty() { "empty" } else { def.default };
            line(&mut text, &format!("  {} ({}; default: {default})", def.key, allowed(def)));
            line(&mut text, &format!("      {}", def.doc));
        }
    }
    text
}

/// `--list-codecs`.
pub(crate) fn list_codecs(codecs: &CodecRegistry) -> String {
    let mut text = String::new();
    for codec in codecs.iter() {
        let info = codec.info();
        line(&mut text, &format!("{}  {}", info.name, info.doc));
        line(&mut text, &format!("    directions: {}", directions(info)));
        let framing = match info.framing {
            Framing::Datagram => "one datagram, or what one serial read gives",
            Framing::Mavlink => "MAVLink 1 and 2",
        };
        line(&mut text, &format!("    reads: {framing}"));
        for (index, port) in info.ports.iter().enumerate() {
            let kind = if index == 0 { "topic" } else { "port" };
            let msg_type = port.msg_type.unwrap_or("any type, given by 'msg_type'");
            line(&mut text, &format!("    {kind}: {} ({msg_type})", port.name));
        }
        for input in info.inputs {
            let msg_type = input.msg_type.unwrap_or("any type, given by 'msg_type'");
            line(&mut text, &format!("    port: {} ({msg_type}), read", input.name));
        }
        for service in info.services {
            line(&mut text, &format!("    service: {} ({}), answered", service.name, service.srv_type));
        }
        for (name, doc) in info.options {
            line(&mut text, &format!("    option: {name}  {doc}"));
        }
    }
    text
}

fn directions(info: &CodecInfo) -> String {
    let of = |role: &Role| match role {
        Role::Decode => "udp_to_rostopic, serial_to_ros",
        Role::Encode => "rostopic_to_udp, ros_to_serial",
        Role::Exchange => "rosservice_to_udp",
        Role::Caller => "udp_to_rosservice",
    };
    info.roles.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn allowed(def: &ParamDef) -> String {
    match def.unit {
        Some(unit) => format!("{} {unit}", def.kind.allowed()),
        None => def.kind.allowed(),
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Appends `words` behind `lead`, broken into lines of at most `width` letters.
fn wrapped(text: &mut String, lead: &str, words: &[&str], width: usize) {
    let mut current = lead.to_owned();
    for word in words {
        if current.len() + 1 + word.len() > width {
            line(text, &current);
            current = " ".repeat(lead.len());
        }
        let _infallible = write!(current, " {word}");
    }
    line(text, &current);
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn help_teaches() {
        insta::assert_snapshot!("help", help(&rostrans_plugins::all()));
    }

    #[test]
    fn every_parameter_is_listed() {
        let plugins = rostrans_plugins::all();
        let text = list_params(&plugins);
        for def in params::all(&plugins) {
            let default = if def.default.is_empty() { "empty" } else { def.default };
            let entry =
                format!("\n  {} ({}; default: {default})\n      {}\n", def.key, allowed(&def), def.doc);
            assert!(text.contains(&entry), "{entry}");
        }
        assert!(text.starts_with("core:\n"));
    }

    #[test]
    fn every_codec_is_listed_with_what_a_rule_needs_to_know() {
        let text = list_codecs(&rostrans_codecs::builtin());
        for codec in rostrans_codecs::builtin().iter() {
            let info = codec.info();
            assert!(
                text.contains(&format!("\n{}  {}\n", info.name, info.doc)) || text.starts_with(info.name)
            );
            assert!(!info.roles.is_empty() && !info.doc.is_empty(), "{}", info.name);
        }
    }

    /// With UPDATE_README=1 the table is written instead of compared.
    #[test]
    fn readme_lists_what_most_users_meet() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
        let readme = fs::read_to_string(&path).unwrap();
        let (head, rest) = readme.split_once(BEGIN).expect("the README has the begin marker");
        let (old, tail) = rest.split_once(END).expect("the README has the end marker");
        let table = format!("\n{}", markdown_params(&rostrans_plugins::all()));
        if std::env::var_os("UPDATE_README").is_some() {
            fs::write(&path, format!("{head}{BEGIN}{table}{END}{tail}")).unwrap();
        } else {
            assert_eq!(old.replace("\r\n", "\n"), table, "run the tests once with UPDATE_README=1");
        }
    }

    const BEGIN: &str = "<!-- params:begin -->";
    const END: &str = "<!-- params:end -->";

    /// The parameter table of the README: those of MAVROS's plugins have one of their own, `docs/mavros-parameters.md`.
    fn markdown_params(plugins: &[Box<dyn Plugin>]) -> String {
        let mut text = String::from("| key | values | default | meaning |\n|---|---|---|---|\n");
        for def in params::common(plugins).into_iter().flat_map(|(_, defs, _)| defs) {
            let default =
                if def.default.is_empty() { "empty".to_owned() } else { format!("`{}`", def.default) };
            let values = allowed(def).replace('|', "\\|");
            line(
                &mut text,
                &format!("| `{}` | {values} | {default} | {} |", def.key, def.doc.replace('|', "\\|")),
            );
        }
        text
    }
}
