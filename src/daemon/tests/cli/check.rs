//! What is found out before anything starts: questions, wrong words, wrong files.

use crate::{
    RAW,
    harness::{Folder, Output},
};

#[test]
fn what_cannot_work_on_the_network_fails_the_check() {
    let folder = Folder::new();
    folder.write("r.yaml", &RAW.replace("9000", "0"));
    let Output { code, err, .. } = folder.run("--check --rules r.yaml");
    assert!(code != 0 && err.contains("listens on port 0"), "{err}");
    let send = "- {rule_id: out, direction: rostopic_to_udp, links: [{codec: raw_bytes, topic: /t, udp_dst_ip: localhost, udp_dst_port: 9000}]}\n";
    folder.write("r.yaml", &(RAW.to_owned() + send));
    let Output { code, err, .. } = folder.run("--check --rules r.yaml");
    assert!(code != 0 && err.contains("sends topic '/t' to 127.0.0.1:9000, which leads back here"), "{err}");
    let route = "--check --router_enable=true --router_endpoints=[::1]:14550";
    let Output { code, err, .. } = folder.run(route);
    assert!(code != 0 && err.contains("listen on '[::]:14560', or send to an IPv4 address"), "{err}");
    assert_eq!(folder.run(&format!("{route} --router_source=[::]:14560")).code, 0);
}

#[test]
fn questions_are_answered_on_standard_output() {
    let folder = Folder::new();
    for (words, expected) in [
        ("--version", "rostrans "),
        ("-V", "rostrans "),
        ("--help", "usage: rostrans [-c FILE]"),
        ("-h", "exit codes:"),
        ("--list-params", "  enable_monitor (true or false; default: false)"),
        ("--list-codecs", "raw_bytes"),
    ] {
        let Output { code, out, err } = folder.run(words);
        assert_eq!((code, err.as_str()), (0, ""), "{words}");
        assert!(out.contains(expected), "{words}: {out}");
    }
}

#[test]
fn a_wrong_command_line_exits_with_64() {
    let folder = Folder::new();
    for (words, expected) in [
        (
            "--enable_moniter=true",
            "error: command line: unknown option '--enable_moniter'; did you mean '--enable_monitor'?",
        ),
        ("--chek", "did you mean '--check'?"),
        ("-c", "'-c' needs a value"),
        ("rostrans.param", "unexpected 'rostrans.param'; for a parameter file write '-c rostrans.param'"),
        (
            "--check --monitor_interval=often",
            "invalid value 'often' for 'monitor_interval'; write a whole number from 1",
        ),
        ("--check --log_level=loud", "invalid log_level 'loud'"),
    ] {
        let Output { code, out, err } = folder.run(words);
        assert_eq!((code, out.as_str()), (64, ""), "{words}: {err}");
        assert!(err.contains(expected), "{words}: {err}");
    }
}

#[test]
fn an_unknown_key_in_the_file_is_a_warning() {
    let folder = Folder::new();
    folder.write("rostrans.param", "enable_moniter=true\n");
    folder.write("r.yaml", RAW);
    let Output { code, out, err } = folder.run("--rules r.yaml --check");
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        err,
        "warning: rostrans.param:1: unknown key 'enable_moniter'; did you mean 'enable_monitor'?\n"
    );
    assert_eq!(out, "ok: 1 rule to run, 0 disabled; read rostrans.param, r.yaml\n");
}

#[test]
fn every_wrong_input_exits_with_78_and_names_place_and_remedy() {
    let rule = |text: &str| format!("- {{rule_id: a, udp_listen_port: 9000, {text}}}\n");
    let link = |text: &str| rule(&format!("direction: udp_to_rostopic, links: [{{{text}}}]"));
    let cases = [
        (
            "r.yaml",
            "forward_rules:\n\t- a".to_owned(),
            "r.yaml:2: not valid YAML: a tab in the indentation; indent with blanks",
        ),
        ("r.yaml", "forward_rules: [".to_owned(), "r.yaml:1: not valid YAML: "),
        (
            "r.yaml",
            rule("direction: udp_to_topic, links: [{}]"),
            "r.yaml:1: unknown direction 'udp_to_topic'; did you mean 'udp_to_rostopic'?",
        ),
        (
            "r.yaml",
            link("codec: raw_byte, topic: /t"),
            "r.yaml:1: unknown codec 'raw_byte'; did you mean 'raw_bytes'? see --list-codecs",
        ),
        (
            "r.yaml",
            link("codec: mavlink, topic: /t, msg_type: mavros_msgs/Mavlnk"),
            "type 'mavros_msgs/msg/Mavlnk' is unknown; did you mean 'mavros_msgs/msg/Mavlink'?",
        ),
        (
            "r.yaml",
            link("codec: string, topic: /t, msg_type: std_msgs/Bool"),
            "write 'msg_type: std_msgs/msg/String', or choose another codec",
        ),
        (
            "r.yaml",
            link("codec: mavlink.imu, topic: /t").replace("udp_to_rostopic", "rostopic_to_udp"),
            "codec 'mavlink.imu' cannot encode topics to frames, which rostopic_to_udp needs",
        ),
        (
            "r.yaml",
            link("codec: mavlink.imu, topic: /t, options: {sysd: 1}"),
            "unknown option 'sysd'; did you mean 'sysid'?",
        ),
        (
            "r.yaml",
            link("codec: raw_bytes, topic: /t").repeat(2),
            "r.yaml:2: rule_id 'a' is taken by the rule at r.yaml:1; give each rule its own rule_id",
        ),
        (
            "r.yaml",
            link("codec: raw_bytes, topic: /t")
                + &link("codec: mavlink.imu, topic: /u").replace("rule_id: a", "rule_id: b"),
            "r.yaml:2: rule 'b', link 'link1' reads udp 0.0.0.0:9000 as MAVLink, but rule 'a' reads it as plain datagrams",
        ),
        (
            "r.yaml",
            link("codec: raw_bytes, topic: /t")
                + &link("codec: raw_bytes, topic: /u")
                    .replace("rule_id: a", "rule_id: b, udp_listen_ip: 127.0.0.1"),
            "r.yaml:2: rule 'b' listens on 127.0.0.1:9000, but rule 'a' (r.yaml:1) has 0.0.0.0:9000",
        ),
        (
            "r.yaml",
            "- {rule_id: m, direction: mem_to_rostopic, mem_name: s, links: [{codec: raw_bytes, topic: /t}]}"
                .to_owned(),
            "it arrives with the vision module in a later version",
        ),
        (
            "r.yaml",
            link("codec: raw_bytes, topic: /t").replace("rule_id: a", "rule_id: a, ros_version: ros1"),
            "asks for ROS 1, but no ROS 1 adapter runs",
        ),
        (
            "r.filter",
            "/ok\nregex:^/mavros[\n".to_owned(),
            "r.filter:2: invalid regex '^/mavros[': unclosed character class; close it with ']', or escape '[' to match it literally",
        ),
        (
            "r.param",
            "monitor_interval=soon\n".to_owned(),
            "r.param:1: invalid value 'soon' for 'monitor_interval'; write a whole number from 1 to 86400",
        ),
        ("r.param", "ros_trans_config=gone.yaml\n".to_owned(), "gone.yaml: cannot read the file: "),
        (
            "r.param",
            "router_enable=true\nrouter_source=nowhere\n".to_owned(),
            "r.param:2: invalid 'router_source' 'nowhere'",
        ),
    ];
    for (name, text, expected) in cases {
        let folder = Folder::new();
        folder.write(name, &text);
        let option = match name {
            "r.yaml" => "--rules",
            "r.filter" => "-f",
            _ => "-c",
        };
        let Output { code, out, err } = folder.run(&format!("{option} {name} --check"));
        assert_eq!((code, out.as_str()), (78, ""), "{text}: {err}");
        assert!(err.contains(expected), "{text}: {err}");
        assert!(err.ends_with("nothing was started\n"), "{err}");
        // The same without --check: nothing runs.
        assert_eq!(folder.run(&format!("{option} {name}")).code, 78);
    }
}

#[test]
fn nothing_to_run_is_an_error_with_a_remedy() {
    let folder = Folder::new();
    for words in ["", "--check", "--dry-run"] {
        let Output { code, err, .. } = folder.run(words);
        assert_eq!(code, 64, "{words}: {err}");
        assert!(err.contains("command line: nothing to run; give rules with '--rules FILE'"), "{err}");
    }
    folder.write("r.yaml", &RAW.replace("rule_id", "enable: false, rule_id"));
    let Output { code, err, .. } = folder.run("--rules r.yaml");
    assert_eq!(code, 78, "{err}");
    assert!(err.contains("r.yaml: nothing to run, 1 rule disabled; "), "{err}");
    folder.write("r.yaml", RAW);
    folder.write("rostrans.filter", "/t");
    let err = folder.run("--rules r.yaml").err;
    assert!(err.contains("nothing to run, 1 name switched off by the filter; "), "{err}");
}

#[test]
fn rules_may_be_split_over_files() {
    let folder = Folder::new();
    folder.write("a.yaml", RAW);
    folder.write("b.yaml", &RAW.replace("rule_id: raw", "rule_id: more"));
    let Output { code, out, err } = folder.run("--rules a.yaml --rules=b.yaml --check");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "ok: 2 rules to run, 0 disabled; read a.yaml, b.yaml\n");
    let err = folder.run("--rules a.yaml --rules a.yaml --check").err;
    assert!(err.contains("rule_id 'raw' is taken by the rule at a.yaml:1"), "{err}");
}

#[test]
fn wrong_ros_variables_are_found_by_check() {
    let folder = Folder::new();
    folder.write("r.yaml", RAW);
    let mut run =
        folder.start_with("--rules r.yaml --check", &[("ROS_STATIC_PEERS", "foo;;1.2.3.4.5;[::1];host:0")]);
    let Output { code, err, .. } = run.finish();
    assert_eq!(code, 78);
    let entries: Vec<_> = err.lines().filter_map(|line| line.split('\'').nth(1)).collect();
    assert_eq!(entries, ["1.2.3.4.5", "host:0"], "{err}");
    let mut run = folder.start_with("--rules r.yaml --check", &[("ROS_DOMAIN_ID", "232")]);
    let Output { code, err, .. } = run.finish();
    assert_eq!(code, 0);
    assert_eq!(err.contains("warning: environment: ROS_DOMAIN_ID=232: "), cfg!(target_os = "linux"), "{err}");
}

#[test]
fn all_files_problems_come_out_at_once() {
    let folder = Folder::new();
    folder.write("p.param", "monitor_interval=x\n");
    folder.write("f.filter", "re:(\n");
    folder.write("r.yaml", "- {rule_id: a, direction: nowhere, links: [{codec: raw_bytes}]}\n");
    let err = folder.run("-c p.param -f f.filter --rules r.yaml --check").err;
    for place in ["p.param:1: ", "f.filter:1: ", "r.yaml:1: "] {
        assert!(err.contains(place), "{err}");
    }
    assert!(err.ends_with("3 errors; nothing was started\n"), "{err}");
}

#[test]
fn an_explicit_file_must_exist_and_a_default_need_not() {
    let folder = Folder::new();
    assert_eq!(folder.run("--enable_mavros --check").code, 0);
    for words in ["-c gone", "-f gone", "--rules gone", "--plugins_config=gone"] {
        let Output { err, .. } = folder.run(&format!("{words} --check"));
        assert!(err.contains("gone: cannot read the file: "), "{words}: {err}");
    }
    let err = folder.run("-c . --check").err;
    assert!(err.contains("cannot read the file: "), "{err}");
}

#[test]
fn effective_rules_are_printed_as_yaml() {
    let folder = Folder::new();
    folder.write("r.yaml", RAW);
    folder.write("rostrans.filter", "/t # not now\n");
    let Output { code, out, .. } = folder.run("--rules r.yaml --print-rules");
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "forward_rules: []\n# switched off by the filter:\n#   /t  (rule raw, link link1) by rostrans.filter:1: /t\n"
    );
}

#[test]
fn every_sample_rule_can_be_switched_on() {
    let folder = Folder::new();
    folder.samples();
    let rules = std::fs::read_to_string(folder.path("config/ros_trans_config.yaml")).unwrap();
    folder.write("config/ros_trans_config.yaml", &rules.replace("enable: false", "enable: true"));
    let Output { code, out, err } = folder.run("-c rostrans.param --router_enable --check");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains(" 0 disabled"), "{out}");
}

#[test]
fn rules_of_the_documents_are_fine() {
    let pages = [
        include_str!("../../../../docs/rules.md"),
        include_str!("../../../../docs/time.md"),
        include_str!("../../../../docs/rflysim.md"),
        include_str!("../../../../README.md"),
    ];
    let rules: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.split("```yaml\n").skip(1))
        .filter_map(|rest| Some(rest.split_once("```")?.0))
        .collect();
    assert_eq!(rules.len(), 9);
    let folder = Folder::new();
    for rule in rules {
        folder.write("r.yaml", rule);
        let Output { code, err, out } = folder.run("--rules r.yaml --ros_version=all --check");
        assert_eq!((code, err.as_str()), (0, ""), "{rule}{out}");
    }
}
