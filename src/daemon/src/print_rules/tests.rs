use std::{path::Path, sync::Arc};

use rostrans_core::{adapter::Fabric, diag::Origin, filter::TopicFilter, rule::Direction, topic::TopicName};
use rostrans_engine::{
    plan::{PlanContext, plan},
    topology::PipelineSpec,
};
use rostrans_schema::{TypeName, TypeRegistry};

use super::*;
use crate::{load::yaml, summary::PortState};

pub(super) fn planned(text: &str, filter: &str) -> Topology {
    let codecs = rostrans_codecs::builtin();
    let mut problems = Vec::new();
    let rules = yaml::rules(Path::new("r.yaml"), text, &codecs, &mut problems);
    assert_eq!(problems, []);
    let filter = TopicFilter::parse(Path::new("rostrans.filter"), filter, &mut problems);
    let types = Arc::new(TypeRegistry::bundled());
    let cx = PlanContext {
        filter: &filter,
        codecs: &codecs,
        types: &types,
        adapters: &[Fabric::Ros1, Fabric::Dds],
        own_addresses: &[],
    };
    plan(rules, &cx).unwrap().topology
}

const RULES: &str = "
- rule_id: 'tele 1'
  direction: serial_to_ros
  serial_port: /dev/ttyACM0:57600
  ros_version: 2
  links:
    - codec: mavlink.imu
      topic: /mavros/imu/data
      ports: {data_raw: /mavros/imu/data_raw}
      options: {sysid: 1, frame_id: 'base # link'}
      rate_limit: 50
- rule_id: out
  direction: rostopic_to_udp
  udp_listen_ip: '::'
  udp_listen_port: 9001
  links: [{link_name: 'on', codec: string, topic: /s, udp_dst_ip: '::1', udp_dst_port: 9002, qos: latched}]
- rule_id: group
  direction: udp_to_rostopic
  udp_listen_ip: 239.1.2.3
  udp_listen_port: 9003
  udp_multicast_if: eth0
  links: [{codec: raw_bytes, topic: /off}, {codec: raw_bytes, topic: /on}]
- rule_id: back
  direction: bytes_route
  serial_port: /dev/ttyACM0:57600
  udp_listen_port: 14561
  links: [{udp_dst_ip: 127.0.0.1, udp_dst_port: 14550}, {udp_dst_ip: 10.0.0.2, udp_dst_port: 14550}]
- {rule_id: later, enable: false, direction: bytes_route, udp_listen_port: 1, links: [{udp_dst_ip: 1.1.1.1, udp_dst_port: 1}]}
";

#[test]
fn rules_are_printed_with_what_was_switched_off() {
    insta::assert_snapshot!(print(&planned(RULES, "/off")), @r#"
        forward_rules:
          - rule_id: "tele 1"  # r.yaml:2
            direction: serial_to_ros
            ros_version: ros2
            serial_port: "/dev/ttyACM0:57600"
            links:
              - link_name: link1
                codec: mavlink.imu
                topic: /mavros/imu/data
                msg_type: sensor_msgs/msg/Imu
                qos: {reliability: best_effort, durability: volatile, depth: 5}
                ports:
                  data_raw: {topic: /mavros/imu/data_raw, msg_type: sensor_msgs/msg/Imu, qos: {reliability: best_effort, durability: volatile, depth: 5}}
                rate_limit: 50
                options: {"sysid":1,"frame_id":"base # link"}
          - rule_id: out  # r.yaml:12
            direction: rostopic_to_udp
            udp_listen_ip: "::"
            udp_listen_port: 9001
            links:
              - link_name: "on"
                codec: string
                topic: /s
                msg_type: std_msgs/msg/String
                qos: {reliability: reliable, durability: transient_local, depth: 1}
                udp_dst_ip: "::1"
                udp_dst_port: 9002
          - rule_id: group  # r.yaml:17
            direction: udp_to_rostopic
            udp_listen_ip: 239.1.2.3
            udp_listen_port: 9003
            udp_multicast_if: eth0
            links:
              - link_name: link2
                codec: raw_bytes
                topic: /on
                msg_type: std_msgs/msg/UInt8MultiArray
                qos: {reliability: reliable, durability: volatile, depth: 10}
          - rule_id: back
            direction: bytes_route
            serial_port: "/dev/ttyACM0:57600"
            udp_listen_ip: 0.0.0.0
            udp_listen_port: 14561
            links:
              - link_name: link1
                udp_dst_ip: 127.0.0.1
                udp_dst_port: 14550
              - link_name: link2
                udp_dst_ip: 10.0.0.2
                udp_dst_port: 14550
        # switched off by the filter:
        #   /off  (rule group, link link1) by rostrans.filter:1: /off
        # disabled: rule later (enable: false)
        "#);
}

#[test]
fn printed_rules_read_back_to_the_same_plan() {
    let topology = planned(RULES, "/off");
    let printed = print(&topology);
    // Comments on origins and switched-off names are the difference.
    let mut again = print(&planned(&printed, ""));
    let plain = |text: &str| -> Vec<String> {
        let code = text.lines().map(|line| line.split("  # ").next().unwrap_or_default().to_owned());
        code.filter(|line| !line.starts_with('#')).collect()
    };
    assert_eq!(plain(&again), plain(&printed));
    again = print(&planned("", ""));
    assert_eq!(again, "forward_rules: []\n");
}

#[test]
fn bridges_are_printed_as_written() {
    let text = "
- {rule_id: b, direction: rostopic_to_rostopic, links: [{topic: /a, msg_type: std_msgs/String}]}
- rule_id: c
  direction: rostopic_to_rostopic
  from: 1
  to: dds
  links: [{topic: /c, to_topic: far/c, msg_type: std_msgs/String, qos: latched, rate_limit: 5}]
";
    let topology = planned(text, "");
    let printed = print(&topology);
    insta::assert_snapshot!(printed, @"
        forward_rules:
          - rule_id: b  # r.yaml:2
            direction: rostopic_to_rostopic
            links:
              - link_name: link1
                topic: /a
                msg_type: std_msgs/msg/String
          - rule_id: c  # r.yaml:3
            direction: rostopic_to_rostopic
            from: ros1
            to: dds
            links:
              - link_name: link1
                topic: /c
                msg_type: std_msgs/msg/String
                qos: {reliability: reliable, durability: transient_local, depth: 1}
                to_topic: /far/c
                rate_limit: 5
        ");
    assert_eq!(planned(&printed, "").pipelines.len(), 2);
    let codecs = rostrans_codecs::builtin();
    insta::assert_snapshot!(crate::summary::print(&topology, &codecs, &[], &[]), @"
        ROS: not needed
        topics
          TOPIC                      TYPE                 QOS                  RULE  CODEC
          /a     all -> all          std_msgs/msg/String  as offered           b
          /c     ros1 -> dds /far/c  std_msgs/msg/String  reliable, latched 1  c
        ");
}

#[test]
fn odd_letters_in_a_name_are_escaped() {
    let text = "- {rule_id: \"a\\nb: c\\ufeff\\u2028d\", direction: bytes_route, udp_listen_port: 1, links: [{udp_dst_ip: 1.1.1.1, udp_dst_port: 1}]}";
    let printed = print(&planned(text, ""));
    assert!(printed.contains(r#"- rule_id: "a\nb: c\ufeff\u2028d""#), "{printed}");
}

#[test]
fn summary_tells_ports_topics_and_services() {
    let mut topology = planned(RULES, "/off");
    let mut link = LinkConfig::new("l", Some("a.codec".into()), Origin::Default);
    link.service = Some(ServiceSpec {
        name: TopicName::parse("/arm").unwrap(),
        srv_type: TypeName::service("std_srvs/SetBool").unwrap(),
    });
    for direction in [Direction::UdpToRosservice, Direction::RosserviceToUdp] {
        let rule =
            ForwardRule { links: vec![link.clone()], ..ForwardRule::new("call", direction, Origin::Default) };
        let rule = Arc::new(rule);
        topology.pipelines.push(PipelineSpec { rule, source: None, targets: vec![None] });
    }
    let states = [
        PortState { short: "open".to_owned(), reason: None },
        PortState { short: "waiting".to_owned(), reason: Some("no such device".to_owned()) },
    ];
    let info = rostrans_core::adapter::AdapterInfo {
        name: "dds",
        version: rostrans_core::adapter::RosVersion::Ros2,
        summary: "domain 0".to_owned(),
    };
    insta::assert_snapshot!(crate::summary::print(&topology, &rostrans_codecs::builtin(), &[info], &states), @r"
        ROS: dds (domain 0)
        bytes
          PORT                         STATE    FRAMING   USED BY
          serial /dev/ttyACM0:57600    open     MAVLink   tele 1, back -> 127.0.0.1:14550 10.0.0.2:14550, answers at 0.0.0.0:14561
          udp [::]:9001                waiting  datagram  out
          udp 239.1.2.3:9003 via eth0           datagram  group
          udp [::]:9001 is waiting: no such device
        topics
          TOPIC                      TYPE                          QOS                  RULE    CODEC
          /mavros/imu/data      out  sensor_msgs/msg/Imu           best effort          tele 1  mavlink.imu
          /mavros/imu/data_raw  out  sensor_msgs/msg/Imu           best effort          tele 1  mavlink.imu
          /on                   out  std_msgs/msg/UInt8MultiArray  reliable             group   raw_bytes
          /s                    in   std_msgs/msg/String           reliable, latched 1  out     string
        services
          SERVICE           TYPE                  RULE  CODEC
          /arm     called   std_srvs/srv/SetBool  call  a.codec
          /arm     offered  std_srvs/srv/SetBool  call  a.codec
        1 name switched off by the filter (--print-rules lists them)
        disabled rules: later
        ");
    insta::assert_snapshot!(crate::summary::print(&Topology::default(), &rostrans_codecs::builtin(), &[], &[]), @r"
        ROS: not needed
        ");
}
