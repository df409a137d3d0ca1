//! `--print-rules`: what will run, as YAML that reads back to the same rules.

use std::{
    fmt::Write as _,
    net::{IpAddr, SocketAddr},
};

use rostrans_core::{
    rule::{Ends, ForwardRule, LinkConfig, RosSelector, Source, Target, UdpPeer},
    topic::{ServiceSpec, TopicSpec},
};
use rostrans_engine::topology::{Device, RouteSpec, Topology, TransportSpec};

use crate::qos;

mod clock;
mod hub;

pub(crate) use self::clock::clocks;

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
    if !topology.absent.is_empty() {
        out.line(0, "# not in ROS 1:");
        for absent in &topology.absent {
            let text = format!("#   {}  (rule {}, link {})", absent.name, absent.rule_id, absent.link_name);
            out.line(0, &format!("{text}: {}", absent.reason));
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
    let Ends { from, to } = rule.ends;
    for (key, graphs) in [("ros_version", rule.ros_version), ("from", from), ("to", to)] {
        if graphs != RosSelector::All {
            out.field(4, key, graphs.as_str());
        }
    }
    clock::stamps(out, rule);
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
        if !link.qos_as_offered {
            out.field(8, "qos", &qos::to_yaml(topic.qos));
        }
    }
    if let Some(topic) = &link.to_topic {
        out.field(8, "to_topic", topic.as_str());
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
mod tests;
