//! Whole files: what they become, and what is said about wrong ones.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;
use rostrans_core::{
    codec::{Codec, CodecInfo, Cost, Interest, PortInfo, Role, ServiceInfo},
    topic::{History, Liveliness, Qos},
    transport::Framing,
};

use super::*;

struct Fake(&'static CodecInfo);

impl Codec for Fake {
    fn info(&self) -> &'static CodecInfo {
        self.0
    }
}

static IMU: CodecInfo = CodecInfo {
    name: "mavlink.imu",
    doc: "",
    roles: &[Role::Decode],
    ports: &[
        PortInfo { name: "data", msg_type: Some("sensor_msgs/msg/Imu"), qos: Qos::latched(3) },
        PortInfo { name: "data_raw", msg_type: Some("sensor_msgs/msg/Imu"), qos: Qos::reliable() },
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::All,
    cost: Cost::Queued,
    tick: None,
    options: &[],
};
static JSON: CodecInfo = CodecInfo {
    name: "json",
    ports: &[PortInfo { name: "data", msg_type: None, qos: Qos::sensor_data() }],
    ..IMU
};

static TALK: CodecInfo = CodecInfo {
    name: "talk",
    inputs: &[PortInfo { name: "cmd", msg_type: Some("sensor_msgs/msg/Range"), qos: Qos::reliable() }],
    services: &[ServiceInfo { name: "set", srv_type: "std_srvs/srv/SetBool" }],
    ..IMU
};

fn codecs() -> CodecRegistry {
    let mut registry = CodecRegistry::new();
    registry.register(Arc::new(Fake(&IMU))).unwrap();
    registry.register(Arc::new(Fake(&JSON))).unwrap();
    registry.register(Arc::new(Fake(&TALK))).unwrap();
    registry
}

fn read(text: &str) -> (Vec<ForwardRule>, String) {
    let mut problems = Vec::new();
    let rules = rules(Path::new("r.yaml"), text, &codecs(), &mut problems);
    let severity = |d: &Diagnostic| if d.is_error() { "error" } else { "warning" };
    let lines: Vec<_> = problems.iter().map(|d| format!("{}: {d}", severity(d))).collect();
    (rules, lines.join("\n"))
}

fn good(text: &str) -> Vec<ForwardRule> {
    let (rules, problems) = read(text);
    assert_eq!(problems, "", "{text}");
    rules
}

#[test]
fn every_key_of_the_manual_is_understood() {
    let rules = good(
        "
forward_rules:
  - rule_id: imu
    enable: true
    direction: udp_to_rostopic
    ros_version: 2
    udp_listen_ip: 239.0.0.1
    udp_listen_port: 20101
    udp_multicast_if: eth0
    links:
      - link_name: data
        codec: mavlink.imu
        send_ros_config: {topic: /mavros/imu/data, msg_type: sensor_msgs/Imu}
        ports:
          data_raw: {topic: mavros/imu/data_raw, qos: {reliability: best_effort, depth: 7}}
        rate_limit: 50
        udp_dst_ip: localhost
        udp_dst_port: 20100
        options: {sysid: 1, frame_id: base_link, deep: {list: [1, 2.5, 'x', ~]}}
  - rule_id: arm
    direction: rosservice_to_udp
    udp_dst_ip: 10.0.0.1
    udp_dst_port: 5
    links:
      - {codec: json, service: /a, srv_type: std_srvs/SetBool}
      - {codec: json, service_name: /b, service_type: std_srvs/srv/SetBool, udp_dst_ip: '::1', udp_dst_port: 6}
  - rule_id: out
    direction: ros_to_serial
    serial_port: COM3:921600
    links: [{codec: json, topic: /c, msg_type: std_msgs/msg/String, rate_limit: 0, serial_port: '/dev/ttyUSB0:57600'}]
  - rule_id: route
    direction: bytes_route
    serial_port: /dev/ttyACM0:57600
    udp_listen_port: 14561
    links: [{udp_dst_ip: 127.0.0.1, udp_dst_port: 14550}]
",
    );
    insta::assert_debug_snapshot!("manual_keys", rules);
}

#[test]
fn a_plain_list_and_both_topic_spellings_mean_the_same() {
    let nested = "forward_rules:\n- rule_id: a\n  direction: udp_to_rostopic\n  udp_listen_port: 1\n  links:\n  - codec: json\n    send_ros_config:\n      topic: /t\n      msg_type: std_msgs/String\n";
    let flat = "\n- rule_id: a\n  direction: udp_to_rostopic\n  udp_listen_port: 1\n  links:\n  - codec: json\n    topic: /t\n    msg_type: std_msgs/msg/String\n";
    assert_eq!(good(nested), good(flat));
}

#[test]
fn inputs_and_services_are_bound_by_name() {
    let rule = |link: &str| {
        format!(
            "- {{rule_id: a, direction: udp_to_rostopic, udp_listen_port: 1, links: [{{codec: talk, {link}}}]}}"
        )
    };
    let short = good(&rule("ports: {cmd: /cmd}, services: {set: /set}"));
    let long = "ports: {cmd: {topic: /cmd, msg_type: sensor_msgs/Range, qos: reliable}}, services: {set: {service: /set, srv_type: std_srvs/SetBool}}";
    assert_eq!(short, good(&rule(long)));
    assert_eq!(short, good(&rule("ports: {cmd: /cmd}, services: {set: {service_name: /set}}")));
    let link = &short[0].links[0];
    assert_eq!((link.ports["cmd"].name.as_str(), link.ports["cmd"].qos), ("/cmd", Qos::reliable()));
    let set = &link.services["set"];
    assert_eq!((set.name.as_str(), set.srv_type.as_str()), ("/set", "std_srvs/srv/SetBool"));
    let other = good(&rule("ports: {cmd: {topic: /cmd, qos: {depth: 3}}}"));
    assert_eq!(other[0].links[0].ports["cmd"].qos.depth, 3);
    let problems: Vec<_> = [
        "ports: {cmdd: /cmd}",
        "services: {sett: /set}",
        "services: /set",
        "services: {set: {srv_type: std_srvs/SetBool}}",
        "services: {set: {service: /set, qos: latched}}",
        "services: {set: [/set]}",
        "services: {set: '/a b'}",
    ]
    .map(|link| read(&rule(link)).1)
    .into();
    insta::assert_snapshot!(problems.join("\n"), @r"
    error: r.yaml:1: the codec has no port 'cmdd'; did you mean 'cmd'?
    error: r.yaml:1: the codec has no service 'sett'; did you mean 'set'?
    error: r.yaml:1: 'services' must be a block of service names, not '/set'; write 'services: {name: {service: /a}}'
    error: r.yaml:1: service 'set' has no 'service'; add 'service: /name'
    error: r.yaml:1: unknown key 'qos' in service 'set'; allowed here: service, service_name, srv_type, service_type
    error: r.yaml:1: service 'set' must be a block of 'key: value', not a list; put a blank behind ':' and indent the keys alike
    error: r.yaml:1: invalid topic name '/a b'; use letters, digits, '_' and '/', each part starting with a letter or '_'
    ");
    let unknown = rule("services: {set: /set}").replace("talk", "tlk");
    assert_eq!(good(&unknown)[0].links[0].services.len(), 0, "the plan tells of the unknown codec");
}

#[test]
fn type_and_qos_of_a_fixed_port_may_be_left_out() {
    let text = "- {rule_id: a, direction: udp_to_rostopic, udp_listen_port: 1, links: [{codec: mavlink.imu, topic: /t, ports: {data_raw: /u}}]}";
    let rules = good(text);
    let topic = rules[0].links[0].topic.clone().unwrap();
    assert_eq!((topic.msg_type.as_str(), topic.qos), ("sensor_msgs/msg/Imu", Qos::latched(3)));
    let raw = &rules[0].links[0].ports[&rostrans_core::rule::PortName::from("data_raw")];
    assert_eq!((raw.name.as_str(), raw.qos), ("/u", Qos::reliable()));
}

#[test]
fn subscriptions_ask_for_best_effort() {
    let text = "- {rule_id: a, direction: rostopic_to_udp, udp_dst_ip: 1.1.1.1, udp_dst_port: 1, links: [{codec: mavlink.imu, topic: /t}]}";
    assert_eq!(good(text)[0].links[0].topic.clone().unwrap().qos, Qos::sensor_data());
}

#[test]
fn qos_presets_and_parts_are_understood() {
    let qos = |text: &str| {
        let text = format!(
            "- {{rule_id: a, direction: udp_to_rostopic, udp_listen_port: 1, links: [{{codec: mavlink.imu, topic: /t, qos: {text}}}]}}"
        );
        good(&text)[0].links[0].topic.clone().unwrap().qos
    };
    assert_eq!(qos("latched"), Qos::latched(1));
    assert_eq!(qos("sensor_data"), Qos::sensor_data());
    assert_eq!(qos("{durability: volatile}"), Qos::reliable().with_depth(3));
    assert_eq!(qos("{history: keep_last, depth: 5}"), Qos::latched(5));
    let timed = Qos {
        deadline: Some(Duration::from_millis(100)),
        lifespan: Some(Duration::from_millis(2500)),
        liveliness: Liveliness::ManualByTopic,
        liveliness_lease: Some(Duration::from_secs(3)),
        ..Qos::latched(3)
    };
    let text =
        "{deadline: 100ms, lifespan: 2.5 s, liveliness: manual_by_topic, liveliness_lease_duration: 3}";
    assert_eq!(qos(text), timed);
    // What --print-rules prints reads back the same.
    assert_eq!(qos(&crate::qos::to_yaml(timed)), timed);
    let all = Qos { history: History::KeepAll, ..Qos::reliable().with_depth(3) };
    assert_eq!(qos("{durability: volatile, history: keep_all}"), all);
    assert_eq!(qos(&crate::qos::to_yaml(all)), all);
    assert_eq!(qos("{durability: volatile, history: keep_last}"), Qos { history: History::KeepLast, ..all });
}

#[test]
fn periods_of_the_qos_are_checked() {
    for bad in ["0", "-1s", "0.5ms", "forever", "inf", "1e300", "100000000", "[1]", "ms"] {
        let text = format!(
            "- {{rule_id: a, direction: udp_to_rostopic, udp_listen_port: 1, links: [{{codec: mavlink.imu, topic: /t, qos: {{deadline: {bad}}}}}]}}"
        );
        let (_, problems) = read(&text);
        assert!(problems.contains("deadline"), "{bad}: {problems}");
    }
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "
x-common: &common {direction: udp_to_rostopic, udp_listen_port: 9000}
forward_rules:
  - {<<: *common, rule_id: a, links: [&l {codec: json, topic: /t, msg_type: std_msgs/String}]}
  - {<<: *common, rule_id: b, udp_listen_port: 9001, links: [*l]}
";
    let rules = good(text);
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].links[0].topic, rules[1].links[0].topic);
}

#[test]
fn unicode_rule_names_are_kept() {
    let text = "- {rule_id: '传感器 ①', direction: bytes_route, udp_listen_port: 1, links: [{link_name: ü, udp_dst_ip: 1.1.1.1, udp_dst_port: 2}]}";
    let rules = good(text);
    assert_eq!((rules[0].rule_id.as_str(), rules[0].links[0].link_name.as_str()), ("传感器 ①", "ü"));
}

#[test]
fn every_problem_is_reported_at_its_line() {
    let (rules, problems) = read(
        "
forward_rule: []
forward_rules:
  - rule_id: one
    direction: udp_to_rostopics
    udp_listen_port: 70000
    udp_listen_ip: robot
    enabled: true
    links:
      - codec: json
        topic: /bad name
        msg_type: String
        rate_limt: 5
      - codec: jsonn
        topic: /x
        udp_dst_ip: 1.1.1.1
      - just text
  - direction: bytes_route
    enable: maybe
    links: []
  - rule_id: three
    direction: serial_to_ros
    serial_port: /dev/ttyUSB0
    ros_version: 3
    links:
      - link_name: a
        codec: mavlink.imu
        topic: /t
        qos: {reliability: certain, depth: 0, durabilty: volatile}
        ports: {data_rw: /u, data_raw: [1]}
      - link_name: a
        codec: json
        topic: /v
        service: /s
        options: [1]
        send_ros_config: {topic: /v, msg: std_msgs/String}
  - not a rule
  - rule_id: five
  - rule_id: six
    direction: bytes_route
    serial_port: COM1:9600
    mem_name: seg
    udp_multicast_if: eth0
    udp_dst_port: 5
    links: {a: b}
",
    );
    assert_eq!(rules.len(), 0);
    insta::assert_snapshot!(problems, @r"
    error: r.yaml:2: unknown key 'forward_rule'; did you mean 'forward_rules'?
    error: r.yaml:5: unknown direction 'udp_to_rostopics'; did you mean 'udp_to_rostopic'?
    error: r.yaml:6: 'udp_listen_port' must be a whole number from 0 to 65535, not '70000'
    error: r.yaml:7: 'udp_listen_ip' must be an IP address, not 'robot'; write e.g. 'udp_listen_ip: 192.168.1.10'
    error: r.yaml:8: unknown key 'enabled' in rule 'one'; did you mean 'enable'?
    error: r.yaml:11: invalid topic name '/bad name'; use letters, digits, '_' and '/', each part starting with a letter or '_'
    error: r.yaml:12: invalid type name 'String'; write it as 'package/msg/Type', e.g. 'std_msgs/msg/String'
    error: r.yaml:13: unknown key 'rate_limt' in link 'link1'; did you mean 'rate_limit'?
    error: r.yaml:14: unknown codec 'jsonn'; did you mean 'json'? see --list-codecs
    error: r.yaml:16: 'udp_dst_ip' without 'udp_dst_port'; add 'udp_dst_port'
    error: r.yaml:17: a link must be a block of 'key: value', not 'just text'; put a blank behind ':' and indent the keys alike
    error: r.yaml:18: rule without 'rule_id'; give it a unique name, e.g. 'rule_id: my_rule'
    error: r.yaml:19: 'enable' must be true or false, not 'maybe'; write 'enable: true' or 'enable: false'
    error: r.yaml:20: 'links' of a rule must be a list with at least one entry; begin each link with '- link_name: ...'
    error: r.yaml:23: 'serial_port': invalid serial port '/dev/ttyUSB0'; write device and baud rate, e.g. '/dev/ttyUSB0:921600' or 'COM3:921600'
    error: r.yaml:24: unknown ros_version '3'; write one of ros1, 1, ros2, 2, all, both, dds, zenoh, r2r
    error: r.yaml:29: unknown reliability 'certain'; write one of best_effort, reliable
    error: r.yaml:29: 'depth' must be a whole number from 1 to 10000, not '0'
    error: r.yaml:29: unknown key 'durabilty' in 'qos'; did you mean 'durability'?
    error: r.yaml:30: the codec has no port 'data_rw'; did you mean 'data_raw'?
    error: r.yaml:30: port 'data_raw' must be a block of 'key: value', not a list; put a blank behind ':' and indent the keys alike
    error: r.yaml:31: link_name 'a' is given twice; give each link of a rule its own name
    error: r.yaml:33: topic without 'msg_type'; add e.g. 'msg_type: std_msgs/msg/String'
    error: r.yaml:34: service without 'srv_type'; add e.g. 'srv_type: std_srvs/srv/SetBool'
    error: r.yaml:35: 'options' must be a block of 'key: value', not a list; see --list-codecs for a codec's options
    error: r.yaml:36: 'topic' is given both in the link and in 'send_ros_config'; delete one of them
    error: r.yaml:36: unknown key 'msg' in 'send_ros_config'; allowed here: topic, msg_type, qos, service, service_name, srv_type, service_type
    error: r.yaml:37: a rule must be a block of 'key: value', not 'not a rule'; put a blank behind ':' and indent the keys alike
    error: r.yaml:38: rule without 'direction'; write one of udp_to_rostopic, rostopic_to_udp, udp_to_rosservice, rosservice_to_udp, mem_to_rostopic, serial_to_ros, ros_to_serial, bytes_route, rostopic_to_rostopic
    error: r.yaml:38: rule 'five' has no 'links'; add 'links:' and what to do with the data
    error: r.yaml:41: more than one of 'udp_listen_port', 'serial_port', 'mem_name' and 'url'; a rule has one source; make one rule for each
    error: r.yaml:43: 'udp_multicast_if' without a UDP source; it chooses the interface of a multicast 'udp_listen_ip'; delete it
    error: r.yaml:44: 'udp_dst_port' without 'udp_dst_ip'; add 'udp_dst_ip', e.g. 127.0.0.1
    error: r.yaml:45: 'links' of rule 'six' must be a list with at least one entry; begin each link with '- link_name: ...'
    ");
}

#[test]
fn problems_of_a_disabled_rule_are_warnings() {
    let (rules, problems) = read("- {rule_id: a, enable: false, direction: nowhere, links: [{}]}");
    assert!(rules.is_empty());
    assert!(problems.starts_with("warning: ") && !problems.contains("error: "), "{problems}");
}

#[test]
fn something_else_than_rules_is_told_apart() {
    for (text, start) in [
        ("just words", "error: r.yaml:1: the file holds 'just words', not rules"),
        ("forward_rules: {a: 1}", "error: r.yaml:1: 'forward_rules' must be a list, not a block of keys"),
        ("forward_ruls: []", "error: r.yaml:1: unknown key 'forward_ruls'; did you mean 'forward_rules'?"),
        ("a: [", "error: r.yaml:1: not valid YAML: "),
    ] {
        let (rules, problems) = read(text);
        assert!(rules.is_empty() && problems.starts_with(start), "{text}: {problems}");
    }
    assert_eq!(good("").len() + good("forward_rules:").len() + good("forward_rules: []").len(), 0);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC*|([-:{}\\[\\]&*<>|!'\"#,~ \n\t]|rule_id|links|a|1)*") {
        crate::fuzzing::yaml(&text);
    }

    #[test]
    fn any_value_in_any_key_is_survived(key in "rule_id|enable|direction|ros_version|clock|stamp|udp_listen_port|serial_port|links|x", value in "[a-z0-9:/.{}\\[\\], -]{0,20}") {
        crate::fuzzing::yaml(&format!("- rule_id: a\n  direction: bytes_route\n  {key}: {value}\n"));
        crate::fuzzing::yaml(&format!("- rule_id: a\n  links:\n  - codec: json\n    topic: {value}\n    {key}: {value}\n"));
    }

    #[test]
    fn any_value_of_a_clock_is_survived(key in "name|source|fallback|lost_after|max_lead|publish", value in "[a-z0-9:/.{}\\[\\], -]{0,20}") {
        crate::fuzzing::yaml(&format!("clocks:\n- {key}: {value}\n"));
        crate::fuzzing::yaml(&format!("clocks: [{{name: a, {key}: {value}}}]\ndefault_clock: {value}"));
    }

    #[test]
    fn whatever_can_be_planned_can_be_printed_and_read_back(
        id in "[a-c]|'\\PC{1,8}'|\"[^\"\\\\\\PC]{1,8}\"",
        direction in 0..9usize,
        source in "|udp_listen_port: (0|9000|9001), |serial_port: '/dev/t[12]:9600', |udp_listen_ip: 127.0.0.1, udp_listen_port: 9000, ",
        codec in "raw_bytes|string|mavlink|mavlink.imu",
        topic in "/a|/ab|/b",
        target in "|, udp_dst_ip: (127.0.0.1|'::1'), udp_dst_port: (9000|5)|, serial_port: '/dev/t1:9600'",
        stamps in "|stamp: (source|receive|sim|none), |clock: (gz|wall), stamp: \\{max_age: [1-9]s, implausible: drop\\}, ",
        ends in "|from: (ros1|dds), to: ros2, |from: ros2, to: [12], ",
        extra in "|, rate_limit: [05]|, qos: latched|, link_name: 'x y'|, options: \\{sysid: 1\\}",
    ) {
        let (_, direction) = rostrans_core::rule::Direction::ALL[direction];
        let link = match direction {
            "bytes_route" => format!("link_name: l{target}"),
            "rostopic_to_rostopic" => {
                let there = if ends.is_empty() { "" } else { ", to_topic: /there" };
                format!("topic: {topic}, msg_type: std_msgs/msg/Empty{there}{}", extra.replace("options: {sysid: 1}", "rate_limit: 1"))
            }
            _ => format!("codec: {codec}, topic: {topic}{target}{extra}"),
        };
        let source = if direction == "rostopic_to_rostopic" { ends } else { source };
        crate::fuzzing::yaml(&format!("- {{rule_id: {id}, direction: {direction}, {source}{stamps}links: [{{{link}}}]}}"));
    }
}
