//! One transport per socket or port, whoever uses it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use rostrans_core::{
    codec::Role,
    diag::{Diagnostic, Origin},
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, Host, RuleId, SerialSpec, Source, Target, TcpSpec, UdpBind, UdpPeer},
    transport::Framing,
};

use super::check;
use crate::topology::{
    Device, HubSpec, LinkTarget, PipelineSpec, RouteSpec, Topology, TransportId, TransportSpec,
};

/// Adds the transports, pipelines and routes of `rules` to `topology`; reports claims that exclude each other.
pub(super) fn rules(
    rules: Vec<ForwardRule>,
    codecs: &CodecRegistry,
    topology: &mut Topology,
    problems: &mut Vec<Diagnostic>,
) {
    let mut merge = Merge { codecs, topology, problems, claims: Vec::new(), upstreams: Vec::new() };
    for rule in rules {
        if rule.direction == Direction::BytesRoute {
            merge.route(&rule);
        } else {
            merge.pipeline(rule);
        }
    }
    merge.udp_conflicts();
}

struct Merge<'a> {
    codecs: &'a CodecRegistry,
    topology: &'a mut Topology,
    problems: &'a mut Vec<Diagnostic>,
    /// For each transport: who asked for it first, and who decided its framing.
    claims: Vec<Claim>,
    /// UDP addresses of serial routes.
    upstreams: Vec<(SocketAddr, RuleId, Origin)>,
}

struct Claim {
    rule_id: RuleId,
    origin: Origin,
    reader: Option<RuleId>,
}

impl Merge<'_> {
    fn error(&mut self, rule: &ForwardRule, message: String, help: &str) {
        self.problems.push(Diagnostic::error(rule.origin.clone(), message, help));
    }

    fn route(&mut self, rule: &ForwardRule) {
        let Some(id) = self.source(rule) else { return };
        let mut endpoints: Vec<SocketAddr> = Vec::new();
        let mut stations: Vec<TransportId> = Vec::new();
        for link in &rule.links {
            let addr = match &link.target {
                // A TCP source cannot send to addresses itself.
                Some(Target::Udp(addr)) if matches!(rule.source, Source::Tcp(_)) => {
                    let remote = Host { name: addr.ip().to_string().into(), port: addr.port() };
                    let any: IpAddr = if addr.is_ipv4() {
                        Ipv4Addr::UNSPECIFIED.into()
                    } else {
                        Ipv6Addr::UNSPECIFIED.into()
                    };
                    let bind = UdpBind::new(SocketAddr::new(any, 0));
                    stations.push(
                        self.open(Device::Udp(UdpBind { peer: UdpPeer::Remote(remote), ..bind }), rule),
                    );
                    continue;
                }
                Some(Target::Device(device)) => {
                    stations.extend(self.device(device, rule));
                    continue;
                }
                Some(Target::Udp(addr)) => *addr,
                Some(Target::Serial(_)) | None => continue,
            };
            if endpoints.contains(&addr) {
                let message = format!("{}: endpoint {addr} is named twice", check::place(rule, link));
                self.problems.push(Diagnostic::warning(
                    link.origin.clone(),
                    message,
                    "it gets each packet once",
                ));
            } else {
                endpoints.push(addr);
            }
        }
        stations.into_iter().for_each(|stations| self.join(id, stations, rule));
        if endpoints.is_empty() {
            return;
        }
        if let Some(upstream) = rule.upstream {
            self.upstreams.push((upstream, rule.rule_id.clone(), rule.origin.clone()));
        }
        let spec = RouteSpec { rule_id: rule.rule_id.clone(), endpoints, upstream: rule.upstream };
        let transport = &mut self.topology.transports[id.0];
        if let Some(other) = &transport.route {
            let message = format!(
                "rule '{}' routes {}, which rule '{}' routes already",
                rule.rule_id, transport.device, other.rule_id
            );
            self.error(rule, message, "put the endpoints of both into one rule's links");
        } else {
            transport.route = Some(spec);
        }
    }

    /// Lets MAVLink pass between a rule's source and its stations' transport.
    fn join(&mut self, vehicles: TransportId, stations: TransportId, rule: &ForwardRule) {
        if vehicles == stations {
            let device = &self.topology.transports[stations.0].device;
            let message = format!("rule '{}' routes {device} to itself", rule.rule_id);
            self.error(rule, message, "name another port for ground stations");
            return;
        }
        for id in [vehicles, stations] {
            self.settle_framing(
                id,
                Framing::Mavlink,
                &format!("rule '{}'", rule.rule_id),
                &rule.origin,
                rule,
            );
        }
        self.topology.transports[stations.0].everyone = true;
        let Some(index) = self.topology.hubs.iter().position(|hub| hub.stations == stations) else {
            let (rules, vehicles) = (vec![rule.rule_id.clone()], vec![vehicles]);
            return self.topology.hubs.push(HubSpec { rules, vehicles, stations });
        };
        let hub = &mut self.topology.hubs[index];
        if let Some(known) = hub.vehicles.iter().position(|known| *known == vehicles) {
            let message =
                format!("rule '{}' does what rule '{}' does already", rule.rule_id, hub.rules[known]);
            return self.error(rule, message, "delete one of them");
        }
        hub.rules.push(rule.rule_id.clone());
        hub.vehicles.push(vehicles);
    }

    fn pipeline(&mut self, rule: ForwardRule) {
        let role = check::role(rule.direction);
        let mut source = self.source(&rule);
        let mut targets = Vec::with_capacity(rule.links.len());
        for link in &rule.links {
            targets.push(match &link.target {
                Some(Target::Udp(addr)) => Some(LinkTarget::Udp(*addr)),
                Some(Target::Serial(spec)) => self.serial(spec, &rule).map(LinkTarget::Serial),
                // Reported by the rule's own check.
                Some(Target::Device(_)) => None,
                None => match (&rule.source, source) {
                    (Source::Serial(_), Some(id)) => Some(LinkTarget::Serial(id)),
                    _ => None,
                },
            });
        }
        if source.is_none() && role == Some(Role::Exchange) {
            source = self.answering(&rule, &targets);
        }
        if let (Some(id), Some(role @ (Role::Decode | Role::Exchange | Role::Caller))) = (source, role) {
            self.read(id, role, &rule);
        }
        self.topology.pipelines.push(PipelineSpec { rule: Arc::new(rule), source, targets });
    }

    /// The transport a rule reads from and answers by.
    fn source(&mut self, rule: &ForwardRule) -> Option<TransportId> {
        match &rule.source {
            Source::Udp(bind) => self.udp(bind, rule),
            Source::Serial(spec) => self.serial(spec, rule),
            Source::Tcp(spec) => Some(self.tcp(spec, rule)),
            Source::Mem(_) | Source::None => None,
        }
    }

    fn device(&mut self, device: &Device, rule: &ForwardRule) -> Option<TransportId> {
        match device {
            Device::Udp(bind) => self.udp(bind, rule),
            Device::Serial(spec) => self.serial(spec, rule),
            Device::Tcp(spec) => Some(self.tcp(spec, rule)),
        }
    }

    fn tcp(&mut self, spec: &TcpSpec, rule: &ForwardRule) -> TransportId {
        let device = Device::Tcp(spec.clone());
        let shared = self.topology.transports.iter().position(|transport| transport.device == device);
        shared.map_or_else(|| self.open(device, rule), TransportId)
    }

    /// Where the answers to a service without `udp_listen_port` arrive: the serial port it sends to, or a UDP
    /// socket of its own.
    fn answering(&mut self, rule: &ForwardRule, targets: &[Option<LinkTarget>]) -> Option<TransportId> {
        let same_port = |id: TransportId| targets.iter().all(|t| *t == Some(LinkTarget::Serial(id)));
        match targets.first()? {
            Some(LinkTarget::Serial(id)) if same_port(*id) => Some(*id),
            Some(LinkTarget::Udp(addr)) if targets.iter().all(|t| matches!(t, Some(LinkTarget::Udp(_)))) => {
                // Where all peers are on this machine, nobody outside needs to reach the socket.
                let local =
                    targets.iter().all(|t| matches!(t, Some(LinkTarget::Udp(to)) if to.ip().is_loopback()));
                let ip = match (addr.is_ipv4(), local) {
                    (true, true) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                    (true, false) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                    (false, true) => IpAddr::V6(Ipv6Addr::LOCALHOST),
                    (false, false) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
                };
                let bind = UdpBind::new(SocketAddr::new(ip, 0));
                Some(self.open(Device::Udp(bind), rule))
            }
            _ => {
                let message =
                    format!("rule '{}' sends to several ports and hears answers on none", rule.rule_id);
                self.error(rule, message, "make one rule for each serial port and one for UDP");
                None
            }
        }
    }

    fn open(&mut self, device: Device, rule: &ForwardRule) -> TransportId {
        let id = TransportId(self.topology.transports.len());
        self.topology.transports.push(TransportSpec {
            device,
            framing: Framing::Datagram,
            route: None,
            everyone: false,
        });
        let (rule_id, origin) = (rule.rule_id.clone(), rule.origin.clone());
        self.claims.push(Claim { rule_id, origin, reader: None });
        id
    }

    fn udp(&mut self, bind: &UdpBind, rule: &ForwardRule) -> Option<TransportId> {
        // Port 0 is a different port each time, so it is never shared.
        let shared = self.topology.transports.iter().position(|transport| {
            matches!(&transport.device, Device::Udp(other) if other.addr == bind.addr && bind.addr.port() != 0)
        });
        let Some(index) = shared else { return Some(self.open(Device::Udp(bind.clone()), rule)) };
        if let Device::Udp(other) = &self.topology.transports[index].device
            && other.multicast_if != bind.multicast_if
        {
            let claim = &self.claims[index];
            let message = format!(
                "rules '{}' and '{}' ({}) listen on {} with different 'udp_multicast_if'",
                rule.rule_id, claim.rule_id, claim.origin, bind.addr
            );
            self.error(rule, message, "they share one socket; write the same interface");
            return None;
        }
        if let Device::Udp(other) = &mut self.topology.transports[index].device
            && other.peer != bind.peer
            && bind.peer != UdpPeer::Heard
        {
            if other.peer != UdpPeer::Heard {
                let claim = &self.claims[index];
                let message = format!(
                    "rules '{}' and '{}' ({}) use {} with different remote addresses",
                    rule.rule_id, claim.rule_id, claim.origin, bind.addr
                );
                self.error(
                    rule,
                    message,
                    "they share one socket; write the same URL, or another port before '@'",
                );
                return None;
            }
            other.peer = bind.peer.clone();
        }
        Some(TransportId(index))
    }

    fn serial(&mut self, spec: &SerialSpec, rule: &ForwardRule) -> Option<TransportId> {
        let shared = self.topology.transports.iter().position(
            |transport| matches!(&transport.device, Device::Serial(other) if other.device == spec.device),
        );
        let Some(index) = shared else { return Some(self.open(Device::Serial(spec.clone()), rule)) };
        if let Device::Serial(other) = &self.topology.transports[index].device
            && other.baud != spec.baud
        {
            let claim = &self.claims[index];
            let message = format!(
                "rule '{}' opens {} at {} baud, but rule '{}' ({}) at {}",
                rule.rule_id, spec.device, spec.baud, claim.rule_id, claim.origin, other.baud
            );
            self.error(rule, message, "one port has one speed; write the same baud rate");
            return None;
        }
        if let Device::Serial(other) = &mut self.topology.transports[index].device {
            other.flow_control |= spec.flow_control;
        }
        Some(TransportId(index))
    }

    /// Settles how a transport's bytes are framed for the codecs of `rule`.
    fn read(&mut self, id: TransportId, role: Role, rule: &ForwardRule) {
        for link in &rule.links {
            let codec = link.codec.as_ref().and_then(|name| self.codecs.get(name.as_str()));
            // A codec without the role was reported already and decides nothing.
            let Some(info) = codec.map(|codec| codec.info()).filter(|info| info.roles.contains(&role)) else {
                continue;
            };
            let who = check::place(rule, link);
            self.settle_framing(id, info.framing, &who, &link.origin, rule);
        }
    }

    fn settle_framing(
        &mut self,
        id: TransportId,
        framing: Framing,
        who: &str,
        origin: &Origin,
        rule: &ForwardRule,
    ) {
        let claim = &mut self.claims[id.0];
        let transport = &mut self.topology.transports[id.0];
        let Some(reader) = &claim.reader else {
            claim.reader = Some(rule.rule_id.clone());
            transport.framing = framing;
            return;
        };
        if transport.framing != framing {
            let message = format!(
                "{who} reads {} as {}, but rule '{reader}' reads it as {}",
                transport.device,
                describe(framing),
                describe(transport.framing),
            );
            let help = "give one of them another port";
            self.problems.push(Diagnostic::error(origin.clone(), message, help));
        }
    }

    /// Finds UDP sockets that cannot be bound beside each other.
    fn udp_conflicts(&mut self) {
        let bound = self.topology.transports.iter().zip(&self.claims).filter_map(|(transport, claim)| {
            let Device::Udp(bind) = &transport.device else { return None };
            Some((bind.addr, claim.rule_id.clone(), claim.origin.clone()))
        });
        let all: Vec<_> = bound.chain(self.upstreams.iter().cloned()).collect();
        for (index, (addr, rule_id, origin)) in all.iter().enumerate() {
            let taken = all[..index].iter().find(|(other, ..)| excludes(*addr, *other));
            if let Some((other, other_rule, other_origin)) = taken {
                let message = format!(
                    "rule '{rule_id}' listens on {addr}, but rule '{other_rule}' ({other_origin}) has {other}"
                );
                let help = if addr == other {
                    "give one of them another port"
                } else {
                    "write the same 'udp_listen_ip' in both to share the socket, or use another port"
                };
                self.problems.push(Diagnostic::error(origin.clone(), message, help));
            }
        }
    }
}

/// True when two sockets cannot be bound at once: the same address, or a wildcard over a specific one.
fn excludes(a: SocketAddr, b: SocketAddr) -> bool {
    let same_port = a.port() == b.port() && a.port() != 0 && a.is_ipv4() == b.is_ipv4();
    same_port && (a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified())
}

fn describe(framing: Framing) -> &'static str {
    match framing {
        Framing::Datagram => "plain datagrams",
        Framing::Mavlink => "MAVLink",
    }
}
