//! Several files together.

use std::fs;

use super::*;

/// A folder with files, read with parameters that name them by full path.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn load(&self, request: &Request, env: &[(&str, &str)]) -> (Loaded, String) {
        let env = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let mut problems = Vec::new();
        let (plugins, codecs) = (rostrans_plugins::all(), rostrans_codecs::builtin());
        let loaded = load(request, &plugins, &codecs, &env, &mut problems);
        let severity = |d: &Diagnostic| if d.is_error() { "error" } else { "warning" };
        let lines: String = problems.iter().map(|d| format!("{}: {d}\n", severity(d))).collect();
        (loaded, lines.replace(&format!("{}/", self.0.path().display()), ""))
    }
}

const RULES: &[u8] = b"- {rule_id: a, direction: udp_to_rostopic, udp_listen_port: 9000, links: [{codec: raw_bytes, topic: /t}]}";

#[test]
fn all_files_are_read_and_the_command_line_wins() {
    let folder = Folder::with(&[
        ("p.param", b"node_name=from_file\nrouter_enable=true\nmonitor_interval=9\n"),
        ("f.filter", b"/off\n"),
        ("r.yaml", RULES),
        ("p.ini", b"[router]\nenable=true\n"),
    ]);
    let request = Request {
        param_file: Some(folder.path("p.param")),
        filter_file: Some(folder.path("f.filter")),
        rules_files: vec![folder.path("r.yaml")],
        params: vec![
            ("node_name", "from_words".to_owned()),
            ("plugins_config", folder.path("p.ini").display().to_string()),
        ],
        ..Request::default()
    };
    let (loaded, problems) = folder.load(&request, &[]);
    assert_eq!(problems, "");
    assert_eq!(
        (loaded.settings.text("node_name"), loaded.settings.int("monitor_interval")),
        ("from_words", 9)
    );
    assert!(!loaded.filter.verdict("/off").enabled);
    let ids: Vec<_> = loaded.rules.iter().map(|rule| rule.origin.to_string()).collect();
    assert_eq!((ids.len(), ids[1].as_str(), loaded.plugins), (2, "plugin router", vec!["router"]));
    assert_eq!(loaded.files.len(), 4);
}

#[test]
fn a_plugin_switched_off_in_the_ini_file_stays_off() {
    let folder = Folder::with(&[("p.ini", b"[router]\nenable=false\n")]);
    let request = Request {
        params: vec![
            ("router_enable", "true".to_owned()),
            ("plugins_config", folder.path("p.ini").display().to_string()),
        ],
        ..Request::default()
    };
    let (loaded, problems) = folder.load(&request, &[]);
    assert_eq!((problems.as_str(), loaded.rules.len(), loaded.plugins.len()), ("", 0, 0));
}

#[test]
fn files_that_cannot_be_read_are_named_with_the_reason() {
    let folder = Folder::with(&[("zeros.param", &[0; 10]), ("wide.filter", b"\xff\xfe/\0a\0")]);
    let request = Request {
        param_file: Some(folder.path("zeros.param")),
        filter_file: Some(folder.path("wide.filter")),
        rules_files: vec![folder.path("missing.yaml")],
        params: vec![("plugins_config", folder.0.path().display().to_string() + "/")],
        ..Request::default()
    };
    let (_, problems) = folder.load(&request, &[]);
    let lines: Vec<_> = problems.lines().collect();
    assert_eq!(lines.len(), 4, "{problems}");
    assert_eq!(lines[0], "error: zeros.param: the file is not plain text; save it as UTF-8");
    assert_eq!(lines[1], "error: wide.filter: the file is not plain text; save it as UTF-8");
    assert!(lines[2].starts_with("error: missing.yaml: cannot read the file: "), "{problems}");
    assert!(
        lines[2].ends_with("; check the path; relative paths start at the working directory"),
        "{problems}"
    );
    assert!(lines[3].contains("cannot read the file: "), "{problems}");
}

#[test]
fn an_older_encoding_is_read_with_a_warning() {
    let folder = Folder::with(&[("p.param", b"node_name=x\n# \xd6\xd0\xce\xc4\nmonitor_interval=9\n")]);
    let request = Request { param_file: Some(folder.path("p.param")), ..Request::default() };
    let (loaded, problems) = folder.load(&request, &[]);
    assert_eq!(problems, "warning: p.param:2: not valid UTF-8; odd letters are replaced; save it as UTF-8\n");
    assert_eq!(loaded.settings.int("monitor_interval"), 9);
}

#[test]
fn values_and_variables_that_make_no_sense_are_reported() {
    let folder = Folder::with(&[]);
    let params = [
        ("node_name", "a/b"),
        ("node_namespace", "x y"),
        ("log_level", "loud"),
        ("monitor_interval", "0"),
        ("router_enable", "yes"),
        ("router_source", "nowhere"),
    ];
    let params = params.map(|(key, value)| (key, value.to_owned())).to_vec();
    let env = [("ROS_DOMAIN_ID", "x"), ("ROS_LOCALHOST_ONLY", "maybe")];
    let (_, problems) = folder.load(&Request { params, ..Request::default() }, &env);
    insta::assert_snapshot!(problems, @r"
    error: command line: invalid value '0' for 'monitor_interval'; write a whole number from 1 to 86400
    error: command line: invalid node_name 'a/b'; use letters, digits and '_', not starting with a digit
    error: command line: invalid node_namespace 'x y'; write e.g. '/robot_1' or '/'
    error: environment: ROS_DOMAIN_ID: invalid value 'x'; use a whole number from 0 to 232
    error: environment: ROS_LOCALHOST_ONLY: invalid value 'maybe'; use 0 or 1
    error: command line: invalid log_level 'loud'; write off, error, warn, info, debug or trace, or a filter such as 'info,rostrans_transport=debug'
    error: command line: invalid 'router_source' 'nowhere'; write 'ip:port', e.g. '127.0.0.1:14550' or 'localhost:14550', or a port, or a serial port, e.g. '/dev/ttyUSB0:921600'
    ");
}

#[test]
fn engine_that_is_not_built_in_or_cannot_do_it_is_refused() {
    let folder = Folder::with(&[]);
    let request = Request {
        params: vec![("dds_engine", "cyclone".to_owned()), ("dds_service_style", "fastdds".to_owned())],
        ..Request::default()
    };
    let (_, problems) = folder.load(&request, &[]);
    if cfg!(feature = "dds-cyclone") {
        insta::assert_snapshot!(problems, @"error: command line: dds_service_style=fastdds, but dds_engine=cyclone speaks its own style only; write dds_service_style=auto, or dds_engine=native");
    } else {
        insta::assert_snapshot!(problems, @"error: command line: dds_engine=cyclone, but this rostrans was built without Cyclone DDS; write dds_engine=native, or build it with '--features dds-cyclone'");
    }
}
