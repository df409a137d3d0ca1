//! `router`: bytes between a flight controller and ground stations, unchanged.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, ParamKind, Settings},
    plugin::Plugin,
    rule::{CodecOptions, Direction, ForwardRule, LinkConfig, RosSelector, Source, Target, UdpBind},
};

use crate::address;

pub mod ports;

/// One `bytes_route` rule for each vehicle: source `router_source`, targets `router_endpoints`.
///
/// Vehicle 2 uses ports two higher, and so on; see [`ports::vehicle_port`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Router;

const PARAMS: &[ParamDef] = &[
    ParamDef {
        key: "router_enable",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Route MAVLink bytes between a flight controller and ground stations.",
    },
    ParamDef {
        key: "router_source",
        kind: ParamKind::Text,
        default: "14560",
        unit: None,
        doc: "Where the flight controller is: 'port', 'ip:port' to listen on, or 'device:baud'.",
    },
    ParamDef {
        key: "router_endpoints",
        kind: ParamKind::Text,
        default: "127.0.0.1:14550",
        unit: None,
        doc: "Receivers, separated by commas: 'ip:port', or 'port' on this machine.",
    },
    ParamDef {
        key: "router_copter_count",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Vehicles; ports rise by 2 for each, except 14550, 14555 and 18570.",
    },
];

impl Plugin for Router {
    fn name(&self) -> &'static str {
        "router"
    }

    fn params(&self) -> &'static [ParamDef] {
        PARAMS
    }

    fn enabled(&self, settings: &Settings) -> bool {
        settings.flag("router_enable")
    }

    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let count = u16::try_from(settings.int("router_copter_count")).unwrap_or(1);
        let endpoints = parse_endpoints(settings, &mut problems);
        let base = parse_source(settings, count, &mut problems);
        let Some(base) = base.filter(|_| problems.is_empty()) else { return Err(problems) };

        let rules: Option<Vec<ForwardRule>> = (0..count).map(|index| rule(index, &base, &endpoints)).collect();
        rules.ok_or_else(|| vec![ports_run_out(settings, count)])
    }
}

/// Where the first vehicle's bytes come from.
enum Base {
    Udp(SocketAddr),
    Serial(rostrans_core::rule::SerialSpec),
}

fn parse_source(settings: &Settings, count: u16, problems: &mut Vec<Diagnostic>) -> Option<Base> {
    let text = settings.text("router_source");
    let mut fail = |message: String, help: String| {
        problems.push(Diagnostic::error(settings.origin("router_source"), message, help));
        None
    };
    match address::serial(text) {
        Ok(Some(_)) if count > 1 => fail(
            format!("'router_source' is the serial port '{text}', but 'router_copter_count' is {count}"),
            "a serial port carries one vehicle; set 'router_copter_count=1'".to_owned(),
        ),
        Ok(Some(serial)) => Some(Base::Serial(serial)),
        Ok(None) => match address::udp(text, Ipv4Addr::UNSPECIFIED) {
            Ok(bind) if count > 1 && ports::FIXED_PORTS.contains(&bind.port()) => fail(
                format!("'router_source' port {} is the same for all {count} vehicles", bind.port()),
                "use a source port that rises with the vehicle, e.g. 14560".to_owned(),
            ),
            Ok(bind) => Some(Base::Udp(bind)),
            Err(help) => fail(format!("invalid 'router_source' '{text}'"), help),
        },
        Err(help) => fail(format!("invalid 'router_source' '{text}'"), help),
    }
}

fn parse_endpoints(settings: &Settings, problems: &mut Vec<Diagnostic>) -> Vec<SocketAddr> {
    let origin = settings.origin("router_endpoints");
    let mut seen = BTreeSet::new();
    let mut endpoints = Vec::new();
    for text in settings.text("router_endpoints").split([',', ';']).map(str::trim).filter(|t| !t.is_empty()) {
        match address::udp(text, Ipv4Addr::LOCALHOST) {
            Ok(endpoint) if seen.insert(endpoint) => endpoints.push(endpoint),
            Ok(endpoint) => problems.push(Diagnostic::warning(
                origin.clone(),
                format!("'router_endpoints' names '{endpoint}' twice"),
                "delete one of them",
            )),
            Err(help) => problems.push(Diagnostic::error(
                origin.clone(),
                format!("invalid endpoint '{text}' in 'router_endpoints'"),
                help,
            )),
        }
    }
    if endpoints.is_empty() && problems.is_empty() {
        let help = "name at least one receiver, e.g. '127.0.0.1:14550'";
        problems.push(Diagnostic::error(origin, "'router_endpoints' is empty", help));
    }
    endpoints
}

/// The rule of one vehicle; `None` when a port would pass 65535.
fn rule(index: u16, base: &Base, endpoints: &[SocketAddr]) -> Option<ForwardRule> {
    let origin = Origin::Plugin("router");
    let source = match base {
        Base::Udp(bind) => Source::Udp(UdpBind {
            addr: ports::vehicle_address(*bind, index)?,
            multicast_if: "".into(),
        }),
        Base::Serial(serial) => Source::Serial(serial.clone()),
    };
    let link = |endpoint: &SocketAddr| {
        let endpoint = ports::vehicle_address(*endpoint, index)?;
        Some(LinkConfig {
            link_name: endpoint.to_string().as_str().into(),
            codec: None,
            topic: None,
            ports: Default::default(),
            service: None,
            target: Some(Target::Udp(endpoint)),
            rate_limit: None,
            options: CodecOptions::default(),
            origin: origin.clone(),
        })
    };
    Some(ForwardRule {
        rule_id: format!("router_{}", index + 1).as_str().into(),
        enable: true,
        direction: Direction::BytesRoute,
        ros_version: RosSelector::All,
        source,
        links: endpoints.iter().map(link).collect::<Option<_>>()?,
        origin: origin.clone(),
    })
}

fn ports_run_out(settings: &Settings, count: u16) -> Diagnostic {
    Diagnostic::error(
        settings.origin("router_copter_count"),
        format!("{count} vehicles need router ports above 65535"),
        "lower the ports in 'router_source' and 'router_endpoints' or the number of vehicles",
    )
}
