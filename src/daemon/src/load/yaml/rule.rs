//! The keys of a rule.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
};

use rostrans_core::{
    diag::{Diagnostic, Origin, Severity},
    registry::CodecRegistry,
    rule::{Direction, Ends, ForwardRule, RosSelector, Source, Target, UdpBind},
    suggest::did_you_mean,
    text::excerpt,
};

use super::{
    File, clock,
    fields::{Cx, Fields},
    link,
    tree::{Entry, Kind, Node},
    value,
};
use crate::load::clocks::Said;

/// Reads a whole file: `forward_rules:` with a list, and `clocks:`, or the list of rules alone.
pub(super) fn file(root: &Node, path: &Path, codecs: &CodecRegistry, problems: &mut Vec<Diagnostic>) -> File {
    let mut cx = Cx { path, codecs, problems: Vec::new() };
    let mut clocks = Said::default();
    let list = match &root.kind {
        Kind::List(items) => items.as_slice(),
        Kind::Map(entries) => top_level(entries, &mut clocks, &mut cx),
        Kind::Scalar { .. } => {
            let message = format!("the file holds {}, not rules", root.describe());
            cx.error(root.line, message, "begin with 'forward_rules:' and a list of rules");
            &[]
        }
    };
    problems.append(&mut cx.problems);
    let rules = list.iter().filter_map(|node| one(node, path, codecs, problems)).collect();
    File { rules, clocks }
}

/// The keys of a file.
const KEYS: [&str; 3] = ["forward_rules", "clocks", "default_clock"];

fn top_level<'n>(entries: &'n [Entry], clocks: &mut Said, cx: &mut Cx<'_>) -> &'n [std::rc::Rc<Node>] {
    let mut list: &[_] = &[];
    for entry in entries {
        match (entry.key.as_str(), &entry.value.kind) {
            (key, _) if entry.value.is_null() && KEYS.contains(&key) => {}
            ("forward_rules", Kind::List(items)) => list = items,
            ("forward_rules", _) => {
                let message = format!("'forward_rules' must be a list, not {}", entry.value.describe());
                cx.error(entry.line, message, "begin each rule with '- rule_id: ...'");
            }
            ("clocks", _) => clocks.clocks = clock::clocks(entry, cx),
            ("default_clock", _) => {
                let name = clock::clock_name(entry, cx);
                clocks.default = name.map(|name| (name, cx.origin(entry.line)));
            }
            // A place for anchors, as in Compose files.
            (key, _) if key.starts_with("x-") => {}
            (key, _) => {
                let otherwise = format!("allowed here: {}, and 'x-...' for anchors", KEYS.join(", "));
                let help = did_you_mean(key, KEYS, otherwise);
                cx.error(entry.line, format!("unknown key '{}'", excerpt(key)), help);
            }
        }
    }
    list
}

/// Reads one rule. One with an error is left out; a disabled one's errors become warnings.
fn one(
    node: &Node,
    path: &Path,
    codecs: &CodecRegistry,
    problems: &mut Vec<Diagnostic>,
) -> Option<ForwardRule> {
    let mut cx = Cx { path, codecs, problems: Vec::new() };
    let (rule, enable) = read(node, &mut cx);
    let failed = cx.problems.iter().any(Diagnostic::is_error);
    if !enable {
        for problem in &mut cx.problems {
            problem.severity = Severity::Warning;
        }
    }
    problems.append(&mut cx.problems);
    rule.filter(|_| !failed)
}

fn read(node: &Node, cx: &mut Cx<'_>) -> (Option<ForwardRule>, bool) {
    let Some(mut fields) = Fields::open(node, "a rule", cx) else { return (None, true) };
    let id = fields.take("rule_id");
    // Rules are found by their id, so that line is the rule's place.
    let origin = cx.origin(id.map_or(fields.line, |entry| entry.line));
    let rule_id = id.and_then(|entry| value::text(entry, cx)).filter(|text| !text.is_empty());
    if rule_id.is_none() {
        cx.error(fields.line, "rule without 'rule_id'", "give it a unique name, e.g. 'rule_id: my_rule'");
    }
    let enable = fields.take("enable").and_then(|entry| value::boolean(entry, cx)).unwrap_or(true);
    let direction = direction(&mut fields, cx);
    let ros_version =
        fields.take("ros_version").and_then(|entry| value::choice(entry, &RosSelector::NAMES, cx));
    let mut ends = Ends::default();
    if direction == Some(Direction::RostopicToRostopic) {
        let mut end = |key| fields.take(key).and_then(|entry| value::choice(entry, &RosSelector::NAMES, cx));
        ends = Ends { from: end("from").unwrap_or_default(), to: end("to").unwrap_or_default() };
    }
    let (clock, stamping) = clock::stamps(&mut fields, direction, cx);
    let (source, upstream) = source(&mut fields, direction, cx);
    let default_target = udp_target(&mut fields, cx);
    let links = fields.take("links");
    let what = rule_id.map_or_else(|| "a rule".to_owned(), |id| format!("rule '{}'", excerpt(id)));
    let mut read_links = Vec::new();
    match links.map(|entry| (entry, &entry.value.kind)) {
        Some((_, Kind::List(items))) if !items.is_empty() => {
            read_links = link::links(items, direction, default_target.as_ref(), cx);
        }
        Some((entry, _)) => {
            let message = format!("'links' of {what} must be a list with at least one entry");
            cx.error(entry.line, message, "begin each link with '- link_name: ...'");
        }
        None => cx.error(
            fields.line,
            format!("{what} has no 'links'"),
            "add 'links:' and what to do with the data",
        ),
    }
    fields.finish(&what, cx);
    let rule = rule_id.zip(direction).map(|(rule_id, direction)| ForwardRule {
        enable,
        ros_version: ros_version.unwrap_or_default(),
        ends,
        source,
        upstream,
        clock,
        stamping,
        links: read_links,
        ..ForwardRule::new(rule_id, direction, origin)
    });
    (rule, enable)
}

fn direction(fields: &mut Fields<'_>, cx: &mut Cx<'_>) -> Option<Direction> {
    let names = || Direction::ALL.iter().map(|(_, name)| *name);
    let Some(entry) = fields.take("direction") else {
        let help = format!("write one of {}", names().collect::<Vec<_>>().join(", "));
        cx.error(fields.line, "rule without 'direction'", help);
        return None;
    };
    let text = value::text(entry, cx)?;
    let found = Direction::parse(text);
    if found.is_none() {
        let otherwise = format!("write one of {}", names().collect::<Vec<_>>().join(", "));
        let help = did_you_mean(text, names(), otherwise);
        cx.error(entry.line, format!("unknown direction '{}'", excerpt(text)), help);
    }
    found
}

/// The keys that say where bytes come from; for a serial route also where its endpoints answer to.
fn source(
    fields: &mut Fields<'_>,
    direction: Option<Direction>,
    cx: &mut Cx<'_>,
) -> (Source, Option<SocketAddr>) {
    let ip = fields.take("udp_listen_ip");
    let port = fields.take("udp_listen_port");
    let interface = fields.take("udp_multicast_if");
    let serial = fields.take("serial_port");
    let mem = fields.take("mem_name");
    let url = fields.take("url");
    if let (Some(ip), None) = (ip, port) {
        cx.error(ip.line, "'udp_listen_ip' without 'udp_listen_port'", "add 'udp_listen_port'");
    }
    if let (Some(interface), true) = (interface, port.is_none() || serial.is_some()) {
        let help = "it chooses the interface of a multicast 'udp_listen_ip'; delete it";
        cx.error(interface.line, "'udp_multicast_if' without a UDP source", help);
    }
    let multicast_if = interface.and_then(|entry| value::text(entry, cx));
    let listen_ip = ip.and_then(|entry| value::ip(entry, cx)).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let listen_port = port.and_then(|entry| value::port(entry, 0, cx));
    let listen = listen_port.map(|port| SocketAddr::new(listen_ip, port));
    let serial_spec = serial.and_then(|entry| value::serial(entry, cx));
    let route = direction == Some(Direction::BytesRoute);
    let given = usize::from(port.is_some() && !(route && serial.is_some()))
        + usize::from(serial.is_some())
        + usize::from(mem.is_some())
        + usize::from(url.is_some());
    if given > 1 {
        let message = "more than one of 'udp_listen_port', 'serial_port', 'mem_name' and 'url'";
        let help = "a rule has one source; make one rule for each";
        cx.error(serial.or(mem).or(url).map_or(fields.line, |entry| entry.line), message, help);
    }
    if let Some(spec) = serial_spec {
        // The manual writes port 0 for a one-way serial route.
        return (Source::Serial(spec), listen.filter(|addr| route && addr.port() != 0));
    }
    if let Some(name) = mem.and_then(|entry| value::text(entry, cx)) {
        return (Source::Mem(name.into()), None);
    }
    if let Some(device) = url.and_then(|entry| value::url(entry, cx)) {
        return (device.into(), None);
    }
    let source = listen.map_or(Source::None, |addr| {
        Source::Udp(UdpBind { multicast_if: multicast_if.unwrap_or_default().into(), ..UdpBind::new(addr) })
    });
    (source, None)
}

/// `udp_dst_ip` and `udp_dst_port`, in a link or as default for all links of a rule.
pub(super) fn udp_target(fields: &mut Fields<'_>, cx: &mut Cx<'_>) -> Option<Target> {
    let ip = fields.take("udp_dst_ip");
    let port = fields.take("udp_dst_port");
    match (ip, port) {
        (Some(ip), Some(port)) => {
            let (ip, port) = (value::ip(ip, cx), value::port(port, 1, cx));
            Some(Target::Udp(SocketAddr::new(ip?, port?)))
        }
        (Some(only), None) => {
            cx.error(only.line, "'udp_dst_ip' without 'udp_dst_port'", "add 'udp_dst_port'");
            None
        }
        (None, Some(only)) => {
            cx.error(only.line, "'udp_dst_port' without 'udp_dst_ip'", "add 'udp_dst_ip', e.g. 127.0.0.1");
            None
        }
        (None, None) => None,
    }
}

/// Where a link stands: its name's line, else its first line.
pub(super) fn place(name: Option<&Entry>, fields: &Fields<'_>, cx: &Cx<'_>) -> Origin {
    cx.origin(name.map_or(fields.line, |entry| entry.line))
}
