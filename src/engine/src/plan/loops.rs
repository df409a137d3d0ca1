//! Data that would go round for ever: through a topic or a service, or from route to route.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use rostrans_core::{
    diag::Diagnostic,
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig, PortName, Source, Target},
};

use super::check;

/// Finds what rules send to their own sockets, directly or by way of each other.
pub(super) fn find(
    rules: &[ForwardRule],
    codecs: &CodecRegistry,
    own: &[IpAddr],
    problems: &mut Vec<Diagnostic>,
) {
    let hops = hops(rules, codecs, own);
    let mut leaving: HashMap<Node<'_>, Vec<usize>> = HashMap::new();
    for (index, hop) in hops.iter().enumerate() {
        leaving.entry(hop.from).or_default().push(index);
    }
    let mut told = HashSet::new();
    for (index, hop) in hops.iter().enumerate() {
        let Some(to) = hop.sends_to else { continue };
        if let Some(back) = way(&hops, &leaving, hop.to, hop.from) {
            if !told.contains(&index) {
                problems.push(endless(hop, to, &back.iter().map(|at| &hops[*at]).collect::<Vec<_>>()));
            }
            // One cycle is one problem, told at the first of its links.
            told.insert(index);
            told.extend(back);
        } else if let (Node::Socket(_), Some(next)) = (hop.from, route_at(rules, hop.to)) {
            problems.push(twice(hop, to, next));
        }
    }
}

/// True when what is sent to `to` arrives at the socket bound to `at` on this machine, whose addresses `own` lists.
pub(super) fn arrives(to: SocketAddr, at: SocketAddr, own: &[IpAddr]) -> bool {
    if to.port() != at.port() || at.port() == 0 || to.is_ipv4() != at.is_ipv4() {
        return false;
    }
    // The system takes "any" for itself.
    let ip = match to.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let is_local = ip.is_loopback() || own.contains(&ip) || ip == IpAddr::V4(Ipv4Addr::BROADCAST);
    at.ip() == ip || at.ip().is_unspecified() && is_local
}

/// Where data can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node<'a> {
    Socket(SocketAddr),
    Topic(&'a str),
    Service(&'a str),
}

/// One way a link moves data.
#[derive(Clone, Copy)]
struct Hop<'a> {
    from: Node<'a>,
    to: Node<'a>,
    rule: &'a ForwardRule,
    link: &'a LinkConfig,
    /// Where the link sends to, if it sends.
    sends_to: Option<SocketAddr>,
}

fn hops<'a>(rules: &'a [ForwardRule], codecs: &CodecRegistry, own: &[IpAddr]) -> Vec<Hop<'a>> {
    let sockets: HashSet<SocketAddr> = rules.iter().filter_map(read_socket).collect();
    let mut hops = Vec::new();
    for rule in rules {
        let socket = read_socket(rule).map(Node::Socket);
        for link in &rule.links {
            let codec = link.codec.as_ref().and_then(|name| codecs.get(name.as_str()));
            let is_input = |name: &PortName| codec.is_some_and(|codec| codec.info().reads(name.as_str()));
            let (read, written): (Vec<_>, Vec<_>) = link.ports.iter().partition(|(name, _)| is_input(name));
            let written = link.topic.iter().chain(written.into_iter().map(|(_, topic)| topic));
            let service = link.service.iter().map(|s| Node::Service(s.name.as_str()));
            let named = written.map(|t| Node::Topic(t.name.as_str())).chain(service);
            let hop = |from, to| Hop { from, to, rule, link, sends_to: None };
            match rule.direction {
                Direction::UdpToRostopic | Direction::UdpToRosservice => {
                    hops.extend(named.filter_map(|to| Some(hop(socket?, to))));
                    let read = read.into_iter().map(|(_, topic)| Node::Topic(topic.name.as_str()));
                    let answered = link.services.values().map(|s| Node::Service(s.name.as_str()));
                    read.chain(answered).for_each(|from| send(hop(from, from), &sockets, own, &mut hops));
                }
                Direction::RostopicToUdp | Direction::RosserviceToUdp => {
                    named.for_each(|from| send(hop(from, from), &sockets, own, &mut hops));
                }
                Direction::BytesRoute => {
                    socket.into_iter().for_each(|from| send(hop(from, from), &sockets, own, &mut hops));
                }
                // What rostrans publishes itself is not carried to other graphs.
                Direction::MemToRostopic
                | Direction::SerialToRos
                | Direction::RosToSerial
                | Direction::RostopicToRostopic => {}
            }
        }
    }
    hops
}

/// Adds a hop to each socket that hears what the link of `hop` sends.
fn send<'a>(hop: Hop<'a>, sockets: &HashSet<SocketAddr>, own: &[IpAddr], hops: &mut Vec<Hop<'a>>) {
    let Some(Target::Udp(to)) = hop.link.target else { return };
    // What goes to the rule's own socket is told with the rule.
    if matches!(&hop.rule.source, Source::Udp(bind) if check::is_same_socket(bind.addr, to, own)) {
        return;
    }
    let elsewhere = sockets.iter().copied().filter(|at| hop.from != Node::Socket(*at));
    let mut heard: Vec<_> = elsewhere.filter(|at| arrives(to, *at, own)).collect();
    heard.sort_unstable();
    hops.extend(heard.into_iter().map(|at| Hop { to: Node::Socket(at), sends_to: Some(to), ..hop }));
}

/// The UDP socket whose frames a rule passes on.
fn read_socket(rule: &ForwardRule) -> Option<SocketAddr> {
    use Direction::{BytesRoute, UdpToRosservice, UdpToRostopic};
    match (&rule.source, rule.direction) {
        (Source::Udp(bind), UdpToRostopic | UdpToRosservice | BytesRoute) => Some(bind.addr),
        _ => None,
    }
}

fn route_at<'a>(rules: &'a [ForwardRule], node: Node<'_>) -> Option<&'a ForwardRule> {
    let Node::Socket(at) = node else { return None };
    rules.iter().find(|rule| rule.direction == Direction::BytesRoute && read_socket(rule) == Some(at))
}

/// The shortest way from `start` to `goal`, as indices of hops.
fn way(
    hops: &[Hop<'_>],
    leaving: &HashMap<Node<'_>, Vec<usize>>,
    start: Node<'_>,
    goal: Node<'_>,
) -> Option<Vec<usize>> {
    let mut came_by: HashMap<Node<'_>, usize> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        if node == goal {
            let mut way = Vec::new();
            let mut at = node;
            while let Some(index) = came_by.get(&at).filter(|_| at != start) {
                way.push(*index);
                at = hops[*index].from;
            }
            way.reverse();
            return Some(way);
        }
        for index in leaving.get(&node).into_iter().flatten() {
            let next = hops[*index].to;
            if next != start && !came_by.contains_key(&next) {
                came_by.insert(next, *index);
                queue.push_back(next);
            }
        }
    }
    None
}

fn endless(hop: &Hop<'_>, to: SocketAddr, back: &[&Hop<'_>]) -> Diagnostic {
    let what = match hop.from {
        Node::Socket(_) => "packets".to_owned(),
        Node::Topic(name) => format!("topic '{name}'"),
        Node::Service(name) => format!("calls of service '{name}'"),
    };
    let mut by: Vec<String> = Vec::new();
    for hop in back {
        let rule = format!("rule '{}' ({})", hop.rule.rule_id, hop.rule.origin);
        if by.last() != Some(&rule) {
            by.push(rule);
        }
    }
    let place = check::place(hop.rule, hop.link);
    let message = format!("{place}: sends {what} to {to}, which leads back here by way of {}", by.join(", "));
    let help = match hop.from {
        Node::Socket(_) => "each packet would go round for ever; send to the port of another program",
        Node::Topic(_) => {
            "each message would go round for ever; send to the port of another program, or rename one of the \
             topics"
        }
        Node::Service(_) => {
            "each call would call itself; send to the port of another program, or rename one of the services"
        }
    };
    Diagnostic::error(hop.link.origin.clone(), message, help)
}

fn twice(hop: &Hop<'_>, to: SocketAddr, next: &ForwardRule) -> Diagnostic {
    let message = format!(
        "{}: sends to {to}, where rule '{}' ({}) routes the packets once more",
        check::place(hop.rule, hop.link),
        next.rule_id,
        next.origin
    );
    Diagnostic::warning(hop.link.origin.clone(), message, "put the endpoints of both into one rule's links")
}
