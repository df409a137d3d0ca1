//! Types that ROS 1 does not have.

use rostrans_core::{
    adapter::Fabric,
    diag::Origin,
    rule::{Direction, ForwardRule, LinkConfig, PortName, Source},
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};

use super::fixture::{at, rule, run_in};
use crate::plan::Planned;

fn topic(name: &str, msg_type: &str) -> TopicSpec {
    let msg_type = TypeName::message(msg_type).unwrap();
    TopicSpec { name: TopicName::parse(name).unwrap(), msg_type, qos: Qos::reliable() }
}

/// Carries a topic of that type from ROS to ROS, so that no codec has a say.
fn carries(msg_type: &str) -> ForwardRule {
    let link = LinkConfig { topic: Some(topic("/t", msg_type)), ..LinkConfig::new("l", None, at(1)) };
    rule(1, Direction::RostopicToRostopic, Source::None, vec![link])
}

fn trimmed(mut rule: ForwardRule, origin: Origin, graphs: &[Fabric]) -> (Option<ForwardRule>, String) {
    rule.origin = origin;
    let types = std::sync::Arc::new(TypeRegistry::bundled());
    let filter = rostrans_core::filter::TopicFilter::default();
    let codecs = rostrans_core::registry::CodecRegistry::default();
    let cx = crate::plan::PlanContext {
        filter: &filter,
        codecs: &codecs,
        types: &types,
        adapters: graphs,
        own_addresses: &[],
    };
    let (mut absent, mut problems) = (Vec::new(), Vec::new());
    let mut known = crate::plan::ros1::Known::default();
    let kept = crate::plan::ros1::rule(rule, &cx, &mut known, &mut absent, &mut problems);
    let absent = absent.iter().map(|a| format!("{} {} {}\n", a.name, a.ros2, a.reason));
    (kept, absent.chain(problems.iter().map(|problem| format!("{problem}\n"))).collect())
}

fn module() -> ForwardRule {
    let mut first =
        LinkConfig { topic: Some(topic("/hud", "mavros_msgs/VfrHud")), ..LinkConfig::new("a", None, at(1)) };
    first.ports.insert(PortName::from("event"), topic("/event", "mavros_msgs/ParamEvent"));
    let srv_type = TypeName::service("rcl_interfaces/GetParameters").unwrap();
    let service = ServiceSpec { name: TopicName::parse("/get").unwrap(), srv_type };
    let second = LinkConfig { service: Some(service), ..LinkConfig::new("b", None, at(1)) };
    rule(1, Direction::UdpToRostopic, Source::None, vec![first, second])
}

#[test]
fn module_leaves_out_what_ros1_does_not_have() {
    let (kept, told) = trimmed(module(), Origin::Plugin("mavros"), &[Fabric::Ros1]);
    let kept = kept.unwrap();
    assert_eq!((kept.links.len(), kept.links[0].ports.len()), (1, 0));
    assert!(kept.links[0].topic.is_some());
    insta::assert_snapshot!(told, @"
    /event false type 'mavros_msgs/msg/ParamEvent' is unknown; source the workspace that has it or add its definition to config/interfaces
    /get false type 'rcl_interfaces/srv/GetParameters' is unknown; source the workspace that has it or add its definition to config/interfaces
    ");
}

#[test]
fn module_beside_ros2_keeps_everything_and_tells_of_it() {
    let (kept, told) = trimmed(module(), Origin::Plugin("mavros"), &[Fabric::Ros1, Fabric::Dds]);
    assert_eq!(kept.unwrap().links.len(), 2);
    assert_eq!(told.matches(" true ").count(), 2, "{told}");
    let (kept, told) = trimmed(module(), Origin::Plugin("mavros"), &[Fabric::Dds]);
    assert_eq!((kept.unwrap().links.len(), told.as_str()), (2, ""));
}

#[test]
fn rule_of_the_user_is_wrong_instead() {
    let (_, told) = trimmed(module(), at(1), &[Fabric::Ros1]);
    insta::assert_snapshot!(told, @"
    r.yaml:1: rule 'r1', link 'a': '/event' cannot be in ROS 1: type 'mavros_msgs/msg/ParamEvent' is unknown; source the workspace that has it or add its definition to config/interfaces
    r.yaml:1: rule 'r1', link 'b': '/get' cannot be in ROS 1: type 'rcl_interfaces/srv/GetParameters' is unknown; source the workspace that has it or add its definition to config/interfaces
    ");
}

#[test]
fn bridge_to_ros1_carries_what_both_have() {
    let run = |rule: ForwardRule, graphs: &[Fabric]| {
        let outcome = run_in(vec![rule], "", TypeRegistry::bundled(), graphs);
        let found = outcome.map_or_else(|problems| problems, |planned: Planned| planned.warnings);
        found.iter().map(|d| format!("{d}\n")).collect::<String>()
    };
    let both = [Fabric::Ros1, Fabric::Dds];
    assert_eq!(run(carries("sensor_msgs/Imu"), &both), "");
    insta::assert_snapshot!(run(carries("mavros_msgs/ParamEvent"), &both), @"r.yaml:1: rule 'r1', link 'l': topic '/t' cannot be in ROS 1: type 'mavros_msgs/msg/ParamEvent' is unknown; source the workspace that has it or add its definition to config/interfaces");
    // Between two graphs of ROS 2 there is something to do.
    assert_eq!(run(carries("mavros_msgs/ParamEvent"), &[Fabric::Ros1, Fabric::Dds, Fabric::Zenoh]), "");
}
