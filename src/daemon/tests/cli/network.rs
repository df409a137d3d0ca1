//! The commands that look at the network, on a domain of their own on this machine.

use std::time::{Duration, Instant};

use crate::harness::{Folder, Output};

#[test]
fn the_graph_of_nobody_says_what_to_check() {
    let folder = Folder::new();
    // Beyond the domains of the tests beside this one.
    let domain = 91 + std::process::id() % 4;
    let Output { code, out, err } = folder.run(&format!("graph --wait 0 -d {domain}"));
    assert_eq!(code, 2, "{err}");
    assert!(
        out.contains(&format!("nobody found on domain {domain}, range LOCALHOST"))
            && out.contains("'rostrans doctor'"),
        "{out}"
    );
    assert!(err.starts_with("looking at domain "), "{err}");
    let Output { code, out, .. } = folder.run("graph --json --wait 0 --range OFF");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &value["range"], &value["participants"]), (2, &"OFF".into(), &serde_json::json!([])));
}

#[test]
fn a_running_rostrans_is_in_the_graph() {
    let folder = Folder::new();
    let port = crate::free_port();
    folder.write("r.yaml", &crate::raw_on(port));
    let mut run = folder.start("--rules r.yaml --node_name=seen_by_graph");
    run.wait_err("running; Ctrl-C ends it");
    let Output { code, out, err } = folder.run("graph nodes /seen_by_graph --wait 30");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("/seen_by_graph  on rostrans at "), "{out}");
    assert!(out.contains("    /t  std_msgs/msg/UInt8MultiArray"), "{out}");
    let Output { out, .. } = folder.run("graph topic t -v --wait 30");
    assert!(out.contains("type hash    RIHS01_") && out.contains("history      keep last "), "{out}");
    run.signal("TERM");
    assert_eq!(run.wait(), Some(0));
}

#[test]
fn the_doctor_reports_in_text_and_json() {
    let folder = Folder::new();
    let Output { code, out, err } = folder.run("doctor --wait 0");
    // Whether this machine has a problem is not for this test to say.
    assert!(matches!(code, 0 | 1), "{err}");
    assert!(out.contains("range LOCALHOST\n") && out.contains("\nok       range "), "{out}");
    assert!(out.contains("  firewall "), "{out}");
    let Output { out, .. } = folder.run("doctor --wait 0 --json");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    let findings = value["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["level"] == "ok" || f["remedy"].is_string()), "{out}");
    assert!(findings.iter().all(|f| f["check"] != "multicast"), "nothing may leave this machine: {out}");
}

#[test]
fn a_signal_ends_graph_and_doctor_and_they_leave_the_network_at_once() {
    let folder = Folder::new();
    // Beyond the domains of the tests beside this one.
    let domain = 95 + std::process::id() % 4;
    let mut watch = folder.start(&format!("graph participants --watch --json --wait 1 -d {domain}"));
    watch.wait_out("\"participants\":[]");
    for (words, signal) in
        [("doctor", "INT"), ("doctor", "TERM"), ("graph --watch", "INT"), ("graph", "TERM")]
    {
        let mut run = folder.start(&format!("{words} --wait 60 -d {domain}"));
        watch.wait_out("\"guid\":");
        run.signal(signal);
        let Output { code, out, .. } = run.finish();
        assert_eq!((code, out.as_str()), (130, ""), "{words} {signal}");
        // A lease would take 20 s and more.
        let left = Instant::now();
        watch.wait_out("\"participants\":[]");
        assert!(left.elapsed() < Duration::from_secs(10), "{words} {signal}: {:?}", left.elapsed());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn variables_that_are_not_utf_8_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;

    let bad = std::ffi::OsStr::from_bytes(b"7\xff");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rostrans"));
    let done = command.args(["graph", "--wait", "0"]).env("ROS_DOMAIN_ID", bad).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(64), "{err}");
    assert!(err.contains("ROS_DOMAIN_ID: invalid value '7\u{fffd}'"), "{err}");
}

#[test]
fn wrong_words_of_the_commands_exit_with_64() {
    let folder = Folder::new();
    for (words, expected) in [
        ("graph topcis", "error: command line: unexpected 'topcis'; did you mean 'topics'?"),
        ("graph --wacth", "unknown option '--wacth'; did you mean '--watch'?"),
        ("doctor -d 300", "--domain: invalid value '300'; use a whole number from 0 to 232"),
    ] {
        let Output { code, out, err } = folder.run(words);
        assert_eq!((code, out.as_str()), (64, ""), "{words}: {err}");
        assert!(err.contains(expected), "{words}: {err}");
    }
    for words in ["graph --help", "doctor -h"] {
        let Output { code, out, .. } = folder.run(words);
        assert!(code == 0 && out.contains("exit codes:"), "{words}: {out}");
    }
}
