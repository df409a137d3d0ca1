//! The executable as a person or a service manager meets it.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod check;
mod harness;
mod interfaces;
mod network;

use std::{net::UdpSocket, time::Duration};

use harness::{Folder, Output};

const RAW: &str = "- {rule_id: raw, direction: udp_to_rostopic, udp_listen_ip: 127.0.0.1, udp_listen_port: 9000, links: [{codec: raw_bytes, topic: /t}]}\n";

/// [`RAW`] on another port.
fn raw_on(port: u16) -> String {
    RAW.replace("9000", &port.to_string())
}

/// A port that was free a moment ago: rules must name one.
fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn names_from_files_do_not_command_the_terminal() {
    let folder = Folder::new();
    let name = "\u{1b}[31m.yaml";
    folder.write(name, &raw_on(free_port()).replace("rule_id: raw", r#"rule_id: "\e[2Jx""#));
    let Output { code, out, err } = folder.run(&format!("--rules {name} --check"));
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "ok: 1 rule to run, 0 disabled; read \\u{1b}[31m.yaml\n");
    let mut run = folder.start(&format!("--dry-run --rules {name}"));
    let line = run.wait_err("/t ");
    assert!(line.contains("\\u{1b}[2Jx"), "{line}");
    run.signal("TERM");
    let Output { code, err, .. } = run.finish();
    assert_eq!(code, 0);
    assert!(!err.contains('\u{1b}'), "{err}");
}

#[test]
fn a_byte_route_joins_no_ros() {
    let folder = Folder::new();
    folder.write("r.yaml", &format!("- {{rule_id: route, direction: bytes_route, udp_listen_ip: 127.0.0.1, udp_listen_port: {}, links: [{{udp_dst_ip: 127.0.0.1, udp_dst_port: 9}}]}}\n", free_port()));
    let mut run = folder.start("--rules r.yaml");
    run.wait_err("ROS: not needed");
    run.signal("TERM");
    let Output { code, err, .. } = run.finish();
    assert_eq!(code, 0);
    assert!(!err.contains("participant"), "{err}");
}

#[test]
fn many_ports_that_cannot_open_do_not_flood_the_log() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let folder = Folder::new();
    let rules: String = (0..30)
        .map(|n| {
            let rule = raw_on(port).replace("rule_id: raw", &format!("rule_id: r{n}"));
            rule.replace("127.0.0.1", &format!("198.51.100.{n}"))
        })
        .collect();
    folder.write("r.yaml", &rules);
    let Output { code, err, .. } = folder.run("--dry-run --strict --rules r.yaml");
    assert_eq!(code, 69, "{err}");
    assert_eq!(err.lines().filter(|line| line.contains("trying again")).count(), 10, "{err}");
    assert_eq!(err.lines().filter(|line| line.contains("and 20 more")).count(), 2, "{err}");
}

#[test]
fn dry_run_prints_what_would_be_published() {
    let folder = Folder::new();
    let port = free_port();
    folder.write("r.yaml", &raw_on(port));
    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err(&format!("udp 127.0.0.1:{port}  open"));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"hi", ("127.0.0.1", port)).unwrap();
    let line = run.wait_out("/t std_msgs/msg/UInt8MultiArray (1): ");
    assert!(line.contains("\"data\":[104,105]"), "{line}");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn rule_of_the_extending_page_runs() {
    let page = include_str!("../../../../docs/extending.md");
    let rule = page.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let (folder, port) = (Folder::new(), free_port());
    let rule = rule.replace("0.0.0.0", "127.0.0.1").replace("port: 9000", &format!("port: {port}"));
    folder.write("r.yaml", &rule);
    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err(&format!("udp 127.0.0.1:{port}  open"));
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
    let port = free_port();
    let folder = Folder::new();
    let raw = raw_on(port);
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
fn each_signal_ends_the_program_in_order() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = Folder::new();
        folder.write("r.yaml", &raw_on(free_port()));
        let mut run = folder.start("--dry-run --rules r.yaml");
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
    folder.write("r.yaml", &raw_on(port));
    let Output { code, err, .. } = folder.run("--dry-run --strict --rules r.yaml");
    assert_eq!(code, 69, "{err}");
    assert!(err.contains(&format!("udp 127.0.0.1:{port}")), "{err}");

    let mut run = folder.start("--dry-run --rules r.yaml");
    run.wait_err(" is waiting: ");
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
    run.wait_err("serial /dev/does-not-exist:9600 is waiting: no such device");
    run.signal("INT");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn a_log_folder_that_cannot_be_written_does_not_stop_it() {
    let folder = Folder::new();
    folder.write("file", "");
    folder.write("r.yaml", &raw_on(free_port()));
    let mut run = folder.start("--dry-run --rules r.yaml --log_dir=file/log");
    run.wait_err("cannot write a log file in 'file/log'");
    run.wait_err("running; Ctrl-C ends it");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn a_log_folder_gets_the_log() {
    let folder = Folder::new();
    folder.write("r.yaml", &raw_on(free_port()));
    let mut run = folder.start("--dry-run --rules r.yaml --log_dir=log --log_format=json");
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
    run.wait_err("/my/bytes");
    run.wait_err("/mavros/...");
    run.signal("TERM");
    run.wait_err("stopped");
    assert_eq!(run.wait(), Some(0));
}
