//! `--print-rules`: what will run, as YAML that reads back to the same rules.

use std::{
    fmt::Write as _,
    net::{IpAddr, SocketAddr},
};

use rostrans_core::{
    rule::{ForwardRule, LinkConfig, RosSelector, Source, Target, UdpPeer},
    topic::{ServiceSpec, TopicSpec},
};
use rostrans_engine::topology::{Device, RouteSpec, Topology, TransportSpec};

use crate::qos;

mod hub;

/// Prints a topology.
pub(crate) fn print(topology: &Topology) -> String {
    let mut out = Out(String::new());
    let routes = topology.transports.iter().filter_map(|t| Some((t, t.route.as_ref()?)));
    let routes: Vec<_> = routes.collect();
    if topology.pipelines.is_empty() && routes.is_empty() && topology.hubs.is_empty() {
        out.line(0, "forward_rules: []");
    } else {
        out.line(0, "forward_rules:");
    }
    for pipeline in &topology.pipelines {
        rule(&mut out, &pipeline.rule);
    }
    for (transport, spec) in routes {
        route(&mut out, topology, transport, spec);
    }
    hub::rules(&mut out, topology);
    if !topology.trimmed.is_empty() {
        out.line(0, "# switched off by the filter:");
        for trimmed in &topology.trimmed {
            let text =
                format!("#   {}  (rule {}, link {})", trimmed.name, trimmed.rule_id, trimmed.link_name);
            out.line(0, &format!("{text} by {}", trimmed.by));
        }
    }
    for rule_id in &topology.disabled {
        out.line(0, &format!("# disabled: rule {rule_id} (enable: false)"));
    }
    out.0
}

struct Out(String);

impl Out {
    fn line(&mut self, indent: usize, text: &str) {
        // What follows '#' may be a user's text; it must not begin a new line or upset the parser.
        let text = text.replace(is_special, "\u{fffd}");
        let _infallible = writeln!(self.0, "{:indent$}{text}", "");
    }

    fn field(&mut self, indent: usize, key: &str, value: &str) {
        self.line(indent, &format!("{key}: {value}"));
    }
}

fn rule(out: &mut Out, rule: &ForwardRule) {
    out.line(2, &format!("- rule_id: {}  # {}", scalar(rule.rule_id.as_str()), rule.origin));
    out.field(4, "direction", rule.direction.as_str());
    match rule.ros_version {
        RosSelector::Ros1 => out.field(4, "ros_version", "ros1"),
        RosSelector::Ros2 => out.field(4, "ros_version", "ros2"),
        RosSelector::All => {}
    }
    match &rule.source {
        Source::Udp(bind) => device(out, &Device::Udp(bind.clone())),
        Source::Serial(spec) => device(out, &Device::Serial(spec.clone())),
        Source::Tcp(spec) => device(out, &Device::Tcp(spec.clone())),
        Source::Mem(name) => out.field(4, "mem_name", &scalar(name)),
        Source::None => {}
    }
    out.line(4, "links:");
    rule.links.iter().for_each(|each| link(out, each));
}

fn device(out: &mut Out, device: &Device) {
    match device {
        Device::Udp(bind) if bind.peer == UdpPeer::Heard => {
            listen(out, bind.addr);
            if !bind.multicast_if.is_empty() {
                out.field(4, "udp_multicast_if", &scalar(&bind.multicast_if));
            }
        }
        Device::Serial(spec) if !spec.flow_control => {
            out.field(4, "serial_port", &scalar(&spec.to_string()));
        }
        Device::Udp(_) | Device::Serial(_) | Device::Tcp(_) => hub::url(out, 4, device),
    }
}

fn listen(out: &mut Out, addr: SocketAddr) {
    out.field(4, "udp_listen_ip", &ip(addr));
    out.field(4, "udp_listen_port", &addr.port().to_string());
}

fn link(out: &mut Out, link: &LinkConfig) {
    out.line(6, &format!("- link_name: {}", scalar(link.link_name.as_str())));
    if let Some(codec) = &link.codec {
        out.field(8, "codec", &scalar(codec.as_str()));
    }
    if let Some(topic) = &link.topic {
        out.field(8, "topic", topic.name.as_str());
        out.field(8, "msg_type", topic.msg_type.as_str());
        out.field(8, "qos", &qos::to_yaml(topic.qos));
    }
    if !link.ports.is_empty() {
        out.line(8, "ports:");
        for (name, TopicSpec { name: topic, msg_type, qos: port_qos }) in &link.ports {
            let value = format!("{{topic: {topic}, msg_type: {msg_type}, qos: {}}}", qos::to_yaml(*port_qos));
            out.field(10, &scalar(name.as_str()), &value);
        }
    }
    if !link.services.is_empty() {
        out.line(8, "services:");
        for (name, ServiceSpec { name: service, srv_type }) in &link.services {
            out.field(10, &scalar(name.as_str()), &format!("{{service: {service}, srv_type: {srv_type}}}"));
        }
    }
    if let Some(service) = &link.service {
        out.field(8, "service", service.name.as_str());
        out.field(8, "srv_type", service.srv_type.as_str());
    }
    match &link.target {
        Some(Target::Udp(addr)) => target(out, *addr),
        Some(Target::Serial(spec)) => out.field(8, "serial_port", &scalar(&spec.to_string())),
        Some(Target::Device(device)) => hub::url(out, 8, device),
        None => {}
    }
    if let Some(limit) = link.rate_limit {
        out.field(8, "rate_limit", &limit.0.to_string());
    }
    if !link.options.0.is_empty() {
        let options = serde_json::Value::Object(link.options.0.clone());
        out.field(8, "options", &escaped(&options.to_string()));
    }
}

fn target(out: &mut Out, addr: SocketAddr) {
    out.field(8, "udp_dst_ip", &ip(addr));
    out.field(8, "udp_dst_port", &addr.port().to_string());
}

fn route(out: &mut Out, topology: &Topology, transport: &TransportSpec, route: &RouteSpec) {
    out.line(2, &format!("- rule_id: {}", scalar(route.rule_id.as_str())));
    out.field(4, "direction", "bytes_route");
    device(out, &transport.device);
    if let Some(upstream) = route.upstream {
        listen(out, upstream);
    }
    out.line(4, "links:");
    for (index, endpoint) in route.endpoints.iter().enumerate() {
        out.line(6, &format!("- link_name: link{}", index + 1));
        target(out, *endpoint);
    }
    hub::links(out, topology, &route.rule_id);
}

/// An IPv6 address holds colons and is quoted.
fn ip(addr: SocketAddr) -> String {
    match addr.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => scalar(&ip.to_string()),
    }
}

/// A text as it stands where that is safe, else in double quotes.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-');
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/'));
    let reserved = ["true", "false", "yes", "no", "on", "off", "null"];
    if begins_well && text.chars().all(plain) && !reserved.iter().any(|r| r.eq_ignore_ascii_case(text)) {
        return text.to_owned();
    }
    escaped(&serde_json::Value::from(text).to_string())
}

/// JSON text with the letters escaped that JSON allows as they are and YAML does not.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_special(c) {
            let _infallible = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// Letters that end a line in YAML or that it does not take unescaped; all of them are in the basic plane.
fn is_special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use rostrans_core::{
        adapter::RosVersion, diag::Origin, filter::TopicFilter, rule::Direction, topic::TopicName,
    };
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
            adapters: &[RosVersion::Ros2],
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
            let rule = ForwardRule {
                links: vec![link.clone()],
                ..ForwardRule::new("call", direction, Origin::Default)
            };
            let rule = Arc::new(rule);
            topology.pipelines.push(PipelineSpec { rule, source: None, targets: vec![None] });
        }
        let states = [
            PortState { short: "open".to_owned(), reason: None },
            PortState { short: "waiting".to_owned(), reason: Some("no such device".to_owned()) },
        ];
        let info = rostrans_core::adapter::AdapterInfo {
            name: "dds",
            version: RosVersion::Ros2,
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
}
