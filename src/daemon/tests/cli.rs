//! The executable as a person or a service manager meets it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod harness;

use std::{net::UdpSocket, time::Duration};

use harness::{Folder, Output};

const RAW: &str = "- {rule_id: raw, direction: udp_to_rostopic, udp_listen_ip: 127.0.0.1, udp_listen_port: 0, links: [{codec: raw_bytes, topic: /t}]}\n";

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
    let Output { code, out, err } = folder.run("--check");
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        err,
        "warning: rostrans.param:1: unknown key 'enable_moniter'; did you mean 'enable_monitor'?\n"
    );
    assert_eq!(out, "ok: 0 rules to run, 0 disabled; read rostrans.param\n");
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
            "this version has no ROS 1 adapter",
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
    assert_eq!(folder.run("--check").code, 0);
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
fn dry_run_prints_what_would_be_published() {
    let folder = Folder::new();
    folder.write("r.yaml", RAW);
    let mut run = folder.start("--dry-run --rules r.yaml");
    let port = run.listening_port();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"hi", ("127.0.0.1", port)).unwrap();
    let line = run.wait_out("/t std_msgs/msg/UInt8MultiArray (1): ");
    assert!(line.contains("\"data\":[104,105]"), "{line}");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn rules_of_the_documents_are_fine() {
    let pages = [include_str!("../../../docs/rules.md"), include_str!("../../../README.md")];
    let rules: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.split("```yaml\n").skip(1))
        .filter_map(|rest| Some(rest.split_once("```")?.0))
        .collect();
    assert_eq!(rules.len(), 4);
    let folder = Folder::new();
    for rule in rules {
        folder.write("r.yaml", rule);
        let Output { code, err, out } = folder.run("--rules r.yaml --check");
        assert_eq!((code, err.as_str()), (0, ""), "{rule}{out}");
    }
}

#[test]
fn rule_of_the_extending_page_runs() {
    let page = include_str!("../../../docs/extending.md");
    let rule = page.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let folder = Folder::new();
    folder.write("r.yaml", &rule.replace("0.0.0.0", "127.0.0.1").replace("port: 9000", "port: 0"));
    let mut run = folder.start("--dry-run --rules r.yaml");
    let port = run.listening_port();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"YMCK\0\0\xc0\x3f\0\0\0\xc0\0\0\x80\x3e", ("127.0.0.1", port)).unwrap();
    let line = run.wait_out("/my/topic geometry_msgs/msg/PointStamped (1): ");
    assert!(line.contains(r#""point":{"x":1.5,"y":-2.0,"z":0.25}"#), "{line}");
    assert!(line.contains(r#""frame_id":"tracker""#), "{line}");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn one_port_feeds_topics_and_a_ground_station() {
    let station = UdpSocket::bind("127.0.0.1:0").unwrap();
    station.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // A port that was free a moment ago; both rules must name the same one.
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let folder = Folder::new();
    let raw = RAW.replace("udp_listen_port: 0", &format!("udp_listen_port: {port}"));
    let end = station.local_addr().unwrap().port();
    let route = format!(
        "- {{rule_id: route, direction: bytes_route, udp_listen_ip: 127.0.0.1, udp_listen_port: {port}, links: [{{udp_dst_ip: 127.0.0.1, udp_dst_port: {end}}}]}}\n"
    );
    folder.write("r.yaml", &(raw + &route));
    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err("raw, route -> 127.0.0.1:");
    let vehicle = UdpSocket::bind("127.0.0.1:0").unwrap();
    vehicle.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut buffer = [0; 16];
    vehicle.send_to(b"hi", ("127.0.0.1", port)).unwrap();
    let (length, from) = station.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"hi");
    assert!(run.wait_out("/t std_msgs/msg/UInt8MultiArray").contains("[104,105]"));
    station.send_to(b"back", from).unwrap();
    let length = vehicle.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"back");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn either_signal_ends_the_program_in_order() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new();
        let mut run = folder.start("--dry-run");
        run.wait_err("running; Ctrl-C ends it");
        run.signal(signal);
        run.wait_err("stopped");
        assert_eq!(run.wait(), Some(0), "{signal}");
    }
}

#[test]
fn a_port_in_use_is_waited_for_unless_strict() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = Folder::new();
    folder.write("r.yaml", &RAW.replace("udp_listen_port: 0", &format!("udp_listen_port: {port}")));
    let Output { code, err, .. } = folder.run("--dry-run --strict --rules r.yaml");
    assert_eq!(code, 69, "{err}");
    assert!(err.contains(&format!("udp 127.0.0.1:{port}")), "{err}");

    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err("waiting: ");
    drop(taken);
    // It retries with a growing pause until the port is free.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    run.until_out("/t std_msgs/msg/UInt8MultiArray", Duration::from_millis(50), || {
        socket.send_to(b"hi", ("127.0.0.1", port)).unwrap();
    });
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn a_missing_serial_device_is_waited_for_unless_strict() {
    let folder = Folder::new();
    folder.write("r.yaml", "- {rule_id: s, direction: serial_to_ros, serial_port: '/dev/does-not-exist:9600', links: [{codec: raw_bytes, topic: /t}]}\n");
    let Output { code, err, .. } = folder.run("--dry-run --strict --rules r.yaml");
    assert_eq!(code, 69, "{err}");
    assert_eq!(err.lines().filter(|line| line.contains(" WARN ")).count(), 1, "{err}");
    assert!(!err.contains("running"), "it does not run: {err}");
    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err("serial /dev/does-not-exist:9600  waiting: no such device");
    run.signal("INT");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn a_log_folder_that_cannot_be_written_does_not_stop_it() {
    let folder = Folder::new();
    folder.write("file", "");
    let mut run = folder.start("--dry-run --log_dir=file/log");
    run.wait_err("cannot write a log file in 'file/log'");
    run.wait_err("running; Ctrl-C ends it");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn a_log_folder_gets_the_log() {
    let folder = Folder::new();
    let mut run = folder.start("--dry-run --log_dir=log --log_format=json");
    run.wait_err("\"joined ROS\"");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
    let log = std::fs::read_to_string(folder.path("log/rostrans.log")).unwrap();
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    assert!(log.contains("\"message\":\"stopped\""), "{log}");
}

#[test]
fn sample_files_start_clean_on_a_machine_with_nothing_connected() {
    let folder = Folder::new();
    folder.samples();
    let Output { code, err, out } = folder.run("-c rostrans.param --check");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let mut run = folder.start("-platform offscreen -c rostrans.param");
    let text = run.wait_err("/mavros/imu/data ");
    assert!(text.contains("sensor_msgs/msg/Imu"), "{text}");
    run.wait_err("/my/bytes");
    run.signal("TERM");
    run.wait_err("stopped");
    assert_eq!(run.wait(), Some(0));
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
