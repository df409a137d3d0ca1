//! `rostopic_to_rostopic`.

use rostrans_core::{
    adapter::Fabric,
    diag::Diagnostic,
    rule::{Direction, Ends, ForwardRule, LinkConfig, RosSelector},
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};

use super::fixture::{at, rule, run_in};
use crate::plan::Planned;

const BOTH: &[Fabric] = &[Fabric::Ros1, Fabric::Dds];

fn carries(line: u32, topic: &str, msg_type: &str) -> ForwardRule {
    let name = TopicName::parse(topic).unwrap();
    let msg_type = TypeName::message(msg_type).unwrap();
    let topic = TopicSpec { name, msg_type, qos: Qos::reliable() };
    let link =
        LinkConfig { topic: Some(topic), qos_as_offered: true, ..LinkConfig::new("l", None, at(line)) };
    rule(line, Direction::RostopicToRostopic, rostrans_core::rule::Source::None, vec![link])
}

fn imu(line: u32) -> ForwardRule {
    carries(line, "/imu", "sensor_msgs/msg/Imu")
}

fn told(outcome: Result<Planned, Vec<Diagnostic>>) -> String {
    let found = outcome.map_or_else(|problems| problems, |planned| planned.warnings);
    found.iter().map(|d| format!("{d}\n")).collect()
}

fn planned(rules: Vec<ForwardRule>, graphs: &[Fabric]) -> String {
    told(run_in(rules, "", TypeRegistry::bundled(), graphs))
}

#[test]
fn each_mistake_has_its_remedy() {
    let ends = |from, to| Ends { from, to };
    let (ros1, zenoh, all) = (RosSelector::Ros1, RosSelector::Only(Fabric::Zenoh), RosSelector::All);
    let mut renamed = imu(4);
    renamed.links[0].to_topic = Some(TopicName::parse("/far/imu").unwrap());
    let mut with_codec = imu(5);
    with_codec.links[0].codec = Some("raw".into());
    with_codec.ros_version = ros1;
    let rules = vec![
        ForwardRule { ends: ends(ros1, ros1), ..imu(1) },
        ForwardRule { ends: ends(all, zenoh), ..imu(2) },
        carries(3, "/odd", "sensor_msgs/msg/Imo"),
        renamed,
        with_codec,
    ];
    insta::assert_snapshot!(planned(rules, BOTH), @"
    r.yaml:1: rule 'r1' (rostopic_to_rostopic) carries from ros1 to ros1, but rostrans has joined ros1 and dds; join both graphs: ros_version=all for ROS 1 and ROS 2, ros2_transport=dds,zenoh for both of those
    r.yaml:2: rule 'r2' (rostopic_to_rostopic) carries from all to zenoh, but rostrans has joined ros1 and dds; join both graphs: ros_version=all for ROS 1 and ROS 2, ros2_transport=dds,zenoh for both of those
    r.yaml:3: rule 'r3', link 'l': topic '/odd': type 'sensor_msgs/msg/Imo' is unknown; did you mean 'sensor_msgs/msg/Imu'?
    r.yaml:4: rule 'r4', link 'l': has 'to_topic', but the rule carries both ways; write 'from' and 'to' in the rule, and a second rule for the way back
    r.yaml:5: rule 'r5' (rostopic_to_rostopic) names 'ros_version'; write 'from' and 'to' for the two graphs, or neither for all of them
    r.yaml:5: rule 'r5', link 'l': has 'codec' or 'options', but messages pass as they are; delete them
    ");
    insta::assert_snapshot!(planned(vec![imu(1)], &[Fabric::Dds]), @"r.yaml:1: rule 'r1' (rostopic_to_rostopic) carries from all to all, but rostrans has joined dds; join both graphs: ros_version=all for ROS 1 and ROS 2, ros2_transport=dds,zenoh for both of those");
}

#[test]
fn two_graphs_are_enough_and_either_name_is_switched_off() {
    let planned = run_in(vec![imu(1)], "", TypeRegistry::bundled(), &[Fabric::Dds, Fabric::Zenoh]).unwrap();
    assert_eq!((planned.topology.pipelines.len(), planned.topology.transports.len()), (1, 0));
    let mut renamed = imu(1);
    renamed.ends.from = RosSelector::Ros1;
    renamed.links[0].to_topic = Some(TopicName::parse("/far/imu").unwrap());
    let planned = run_in(vec![renamed], "/far/imu", TypeRegistry::bundled(), BOTH).unwrap();
    assert_eq!((planned.topology.pipelines.len(), planned.topology.trimmed.len()), (0, 1));
}

#[test]
fn own_topic_is_not_carried_and_that_is_said() {
    let mut own = imu(2);
    own.direction = Direction::UdpToRostopic;
    own.ros_version = RosSelector::Ros1;
    own.source =
        rostrans_core::rule::Source::Udp(rostrans_core::rule::UdpBind::new("0.0.0.0:9000".parse().unwrap()));
    own.links[0].codec = Some("mavlink.imu".into());
    insta::assert_snapshot!(planned(vec![imu(1), own], BOTH), @"r.yaml:1: rule 'r1', link 'l': topic '/imu' is published by rule 'r2' of this rostrans, whose messages are not carried; let rule 'r2' publish to every graph: ros_version: all");
}
