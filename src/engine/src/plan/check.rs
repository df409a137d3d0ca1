//! What can be wrong with a rule on its own, and with the names rules share.

use std::{
    collections::{HashMap, HashSet},
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use rostrans_core::{
    codec::Role,
    diag::{Diagnostic, Origin},
    rule::{Direction, ForwardRule, LinkConfig, RosSelector, Source, Target},
};

use super::{PlanContext, binding, bridge, loops, trim};

/// The codec role a direction needs; `None` where no codec takes part.
pub(super) fn role(direction: Direction) -> Option<Role> {
    match direction {
        Direction::UdpToRostopic | Direction::SerialToRos | Direction::MemToRostopic => Some(Role::Decode),
        Direction::RostopicToUdp | Direction::RosToSerial => Some(Role::Encode),
        Direction::UdpToRosservice => Some(Role::Caller),
        Direction::RosserviceToUdp => Some(Role::Exchange),
        Direction::BytesRoute | Direction::RostopicToRostopic => None,
    }
}

/// Checks one rule.
pub(super) fn rule(rule: &ForwardRule, cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    if rule.direction == Direction::MemToRostopic {
        let message = format!("rule '{}': this version has no shared memory source", rule.rule_id);
        let help = "it arrives with the vision module in a later version; set 'enable: false' until then";
        problems.push(Diagnostic::error(rule.origin.clone(), message, help));
        return;
    }
    if rule.direction != Direction::RostopicToRostopic {
        source(rule, problems);
    }
    if rule.links.is_empty() {
        let message = format!("rule '{}' has no links", rule.rule_id);
        problems.push(Diagnostic::error(rule.origin.clone(), message, "add what to do with the data"));
    }
    if rule.direction == Direction::BytesRoute {
        rule.links.iter().for_each(|link| endpoint(rule, link, cx, problems));
        return;
    }
    if rule.direction == Direction::RostopicToRostopic {
        return bridge::rule(rule, cx, problems);
    }
    adapters(rule, cx, problems);
    for link in &rule.links {
        target(rule, link, cx, problems);
        binding::link(rule, link, cx, problems);
    }
}

/// Says `problem` about a rule as a whole.
pub(super) fn complain(rule: &ForwardRule, problem: &str, help: &str, problems: &mut Vec<Diagnostic>) {
    let message = format!("rule '{}' ({}) {problem}", rule.rule_id, rule.direction);
    problems.push(Diagnostic::error(rule.origin.clone(), message, help));
}

fn source(rule: &ForwardRule, problems: &mut Vec<Diagnostic>) {
    use Direction as D;
    let answer = match (rule.direction, &rule.source) {
        (_, Source::Mem(_)) => {
            Some(("cannot read shared memory", "delete 'mem_name' and name a UDP or serial source"))
        }
        (D::UdpToRostopic, Source::Serial(_)) => Some((
            "reads UDP but names a serial port",
            "write 'direction: serial_to_ros', or 'udp_listen_port'",
        )),
        (D::SerialToRos, Source::Udp(_)) => Some((
            "reads a serial port but names UDP",
            "write 'direction: udp_to_rostopic', or 'serial_port'",
        )),
        (D::RostopicToUdp, Source::Serial(_)) => {
            Some(("writes UDP but names a serial port", "write 'direction: ros_to_serial'"))
        }
        (D::RosToSerial, Source::Udp(_)) => {
            Some(("writes a serial port but listens on UDP", "write 'direction: rostopic_to_udp'"))
        }
        (D::SerialToRos, Source::Tcp(_)) => {
            Some(("reads a serial port but names TCP", "write 'direction: udp_to_rostopic'"))
        }
        (D::RostopicToUdp | D::RosToSerial | D::UdpToRosservice | D::RosserviceToUdp, Source::Tcp(_)) => {
            Some((
                "names TCP, which only 'udp_to_rostopic' and 'bytes_route' can use",
                "use UDP or a serial port, or one of those directions",
            ))
        }
        (D::UdpToRostopic | D::UdpToRosservice, Source::None) => {
            Some(("does not say where to listen", "add 'udp_listen_port', e.g. 'udp_listen_port: 9000'"))
        }
        (D::SerialToRos, Source::None) => {
            Some(("names no serial port", "add 'serial_port', e.g. 'serial_port: /dev/ttyUSB0:921600'"))
        }
        (D::BytesRoute, Source::None) => {
            Some(("does not say where bytes come from", "add 'udp_listen_port' or 'serial_port'"))
        }
        (D::UdpToRostopic | D::UdpToRosservice | D::BytesRoute, Source::Udp(bind))
            if bind.addr.port() == 0 =>
        {
            Some((
                "listens on port 0, which is another port at each start",
                "write the port the other program sends to, e.g. 'udp_listen_port: 9000'",
            ))
        }
        _ => None,
    };
    if let Some((problem, help)) = answer {
        complain(rule, problem, help, problems);
    }
}

/// A link of a byte route is a UDP endpoint and nothing else.
fn endpoint(rule: &ForwardRule, link: &LinkConfig, cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    let mut error = |what: &str, help: &str| {
        let message = format!("{}: {what}", place(rule, link));
        problems.push(Diagnostic::error(link.origin.clone(), message, help));
    };
    if let Some(codec) = &link.codec {
        let what = format!("names codec '{codec}', but bytes_route moves bytes undecoded");
        error(&what, "delete 'codec', or choose another direction");
    }
    if trim::is_bound(link) {
        error("names a topic or service, but bytes_route has none", "delete it, or choose another direction");
    }
    if link.rate_limit.is_some() || !link.options.0.is_empty() {
        error("has 'rate_limit' or 'options', but bytes_route passes every byte", "delete them");
    }
    match &link.target {
        Some(Target::Udp(addr)) => {
            // A route's own broadcast is a new sender's packet to it.
            if listening(rule).is_some_and(|own| loops::arrives(*addr, own, cx.own_addresses)) {
                let what = format!("sends to {addr}, where the rule itself listens");
                error(&what, "every packet would come back; use the port the other program listens on");
            } else if let Some((what, help)) = other_family(rule, *addr) {
                error(&what, &help);
            }
        }
        Some(Target::Device(_)) => {}
        Some(Target::Serial(_)) => {
            let help = "make the serial port the rule's source ('serial_port' beside 'direction') and the UDP \
                        addresses its links, or write 'url: serial:///dev/ttyUSB0:57600' in the link";
            error("sends to a serial port", help);
        }
        None => error("has no endpoint", "add 'udp_dst_ip' and 'udp_dst_port'"),
    }
}

/// Where outgoing bytes go.
fn target(rule: &ForwardRule, link: &LinkConfig, cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    let mut error = |what: &str, help: &str| {
        let message = format!("{}: {what}", place(rule, link));
        problems.push(Diagnostic::error(link.origin.clone(), message, help));
    };
    if rule.direction == Direction::RosserviceToUdp && link.rate_limit.is_some() {
        error("has 'rate_limit', but each call of a service is answered", "delete it");
    }
    match (rule.direction, &link.target, &rule.source) {
        (Direction::RostopicToUdp | Direction::RosserviceToUdp, None, Source::None) => {
            error("does not say where to send", "add 'udp_dst_ip' and 'udp_dst_port'");
        }
        (Direction::RostopicToUdp, Some(Target::Serial(_)), _) => {
            error("sends to a serial port", "write 'direction: ros_to_serial'");
        }
        (_, Some(Target::Device(_)), _) => {
            error(
                "names a 'url', which only links of 'bytes_route' can have",
                "write 'udp_dst_ip' and 'udp_dst_port'",
            );
        }
        (Direction::RosToSerial, Some(Target::Udp(_)), _) => {
            error("sends to UDP", "write 'direction: rostopic_to_udp'");
        }
        (Direction::RosToSerial, None, Source::None) => {
            error("names no serial port", "add 'serial_port', e.g. 'serial_port: /dev/ttyUSB0:921600'");
        }
        (_, Some(Target::Udp(addr)), Source::Udp(bind))
            if is_same_socket(bind.addr, *addr, cx.own_addresses) =>
        {
            let what = format!("sends to {addr}, where the rule itself listens");
            error(&what, "use the port the other program listens on");
        }
        (_, Some(Target::Udp(addr)), _) => {
            if let Some((what, help)) = other_family(rule, *addr) {
                error(&what, &help);
            }
        }
        _ => {}
    }
}

/// The UDP address a rule's socket is bound to.
fn listening(rule: &ForwardRule) -> Option<SocketAddr> {
    match &rule.source {
        Source::Udp(bind) => Some(bind.addr),
        _ => rule.upstream,
    }
}

/// What is wrong with sending to `to` when the rule's socket speaks the other of IPv4 and IPv6, and the remedy.
fn other_family(rule: &ForwardRule, to: SocketAddr) -> Option<(String, String)> {
    let [here, there] = if to.is_ipv4() { ["IPv6", "IPv4"] } else { ["IPv4", "IPv6"] };
    if let Some(own) = listening(rule) {
        let any = if to.is_ipv4() { "0.0.0.0" } else { "[::]" };
        return (own.is_ipv4() != to.is_ipv4()).then(|| {
            let what =
                format!("sends to {to} ({there}), which the rule's socket on {own} ({here}) cannot reach");
            (what, format!("listen on '{any}:{}', or send to an {here} address", own.port()))
        });
    }
    // These send to all targets by one socket; the others have one for each family.
    if !matches!(rule.direction, Direction::BytesRoute | Direction::RosserviceToUdp) {
        return None;
    }
    let udp = |link: &LinkConfig| match link.target {
        Some(Target::Udp(addr)) => Some(addr),
        _ => None,
    };
    let first = rule.links.iter().find_map(udp)?;
    (first.is_ipv4() != to.is_ipv4()).then(|| {
        let what = format!("sends to {to} ({there}), but the rule's first target is {first} ({here})");
        (
            what,
            format!("one socket reaches one of them only; make a rule for each, or write an {here} address"),
        )
    })
}

/// True when a unicast packet to `to` arrives at the socket bound to `own` on the same machine.
pub(super) fn is_same_socket(own: SocketAddr, to: SocketAddr, addresses: &[IpAddr]) -> bool {
    to.ip() != IpAddr::V4(Ipv4Addr::BROADCAST) && loops::arrives(to, own, addresses)
}

fn adapters(rule: &ForwardRule, cx: &PlanContext<'_>, problems: &mut Vec<Diagnostic>) {
    let wanted = rule.ros_version;
    if cx.adapters.iter().any(|graph| wanted.means(graph.as_str(), graph.version())) {
        return;
    }
    let (name, help) = match wanted {
        RosSelector::Ros1 => {
            ("ROS 1", "write 'ros_version: ros2' here, or set the parameter ros_version to all".to_owned())
        }
        RosSelector::Ros2 => {
            ("ROS 2", "write 'ros_version: ros1' here, or set the parameter ros_version to all".to_owned())
        }
        RosSelector::Only(fabric) => {
            let help =
                format!("write 'ros_version: all' here, or add {fabric} to the parameter ros2_transport");
            (fabric.as_str(), help)
        }
        RosSelector::All => return,
    };
    complain(rule, &format!("asks for {name}, but no {name} adapter runs"), &help, problems);
}

/// `rule 'a', link 'b'`.
pub(super) fn place(rule: &ForwardRule, link: &LinkConfig) -> String {
    format!("rule '{}', link '{}'", rule.rule_id, link.link_name)
}

/// Finds topics with two types and services offered twice, over all enabled rules.
pub(super) fn names(rules: &[ForwardRule], problems: &mut Vec<Diagnostic>) {
    let mut topics: HashMap<&str, (&str, &Origin)> = HashMap::new();
    let mut servers: HashMap<&str, &Origin> = HashMap::new();
    let mut modules = HashSet::new();
    for rule in rules.iter().filter(|rule| rule.enable) {
        for link in &rule.links {
            let there = link.to_topic.iter().zip(&link.topic).map(|(name, topic)| (name, &topic.msg_type));
            let bound =
                link.topic.iter().chain(link.ports.values()).map(|topic| (&topic.name, &topic.msg_type));
            for (name, msg_type) in bound.chain(there) {
                let (known, at) = *topics.entry(name.as_str()).or_insert((msg_type.as_str(), &link.origin));
                if known != msg_type.as_str() {
                    let message = format!("topic '{name}' is {msg_type} here, but {known} at {at}");
                    let help = "a topic has one type; rename one of the topics";
                    problems.push(Diagnostic::error(link.origin.clone(), message, help));
                }
            }
            let answered = link.service.iter().filter(|_| rule.direction == Direction::RosserviceToUdp);
            for service in answered.chain(link.services.values()) {
                let Some(at) = servers.insert(service.name.as_str(), &link.origin) else { continue };
                let (help, twice) = match (at, &link.origin) {
                    // Two modules for one vehicle: it is one mistake, however many services it has.
                    (Origin::Plugin(one), Origin::Plugin(other)) if one != other => {
                        let help = "a vehicle has one module; switch one off, or give them other prefixes or vehicle numbers";
                        (help, !modules.insert((*one, *other)))
                    }
                    _ => ("a service has one server; rename one of the services", false),
                };
                if !twice {
                    let message = format!("service '{}' is offered already, at {at}", service.name);
                    problems.push(Diagnostic::error(link.origin.clone(), message, help));
                }
            }
        }
    }
}
