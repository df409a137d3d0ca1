//! `router`: bytes between a flight controller and ground stations, unchanged.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, ParamKind, Settings},
    plugin::Plugin,
    rule::{Direction, ForwardRule, LinkConfig, SerialSpec, Source, Target, UdpBind},
};

use crate::address;

mod ports;

pub(crate) use self::ports::FIXED_PORTS;

/// One `bytes_route` rule for each vehicle: source `router_source`, targets `router_endpoints`.
///
/// Vehicle 2 uses ports two higher, and so on; except the ports 14550, 14555 and 18570, which all share.
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
        doc: "Where the flight controller is: 'port', 'ip:port' to listen on, or 'device:baud' (57600 bit/s without ':baud').",
    },
    ParamDef {
        key: "router_endpoints",
        kind: ParamKind::Text,
        default: "127.0.0.1:14550",
        unit: None,
        doc: "Receivers, separated by commas: 'ip:port', 'localhost:port', or 'port' on this machine.",
    },
    ParamDef {
        key: "router_copter_count",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Vehicles; ports rise by 2 for each, except 14550, 14555 and 18570.",
    },
    ParamDef {
        key: "router_upstream_port",
        kind: ParamKind::Int { min: 0, max: 65535 },
        default: "0",
        unit: None,
        doc: "With a serial source: UDP port that receivers answer to; 0 routes one way only.",
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
        let is_ipv6 = endpoints.first().is_some_and(SocketAddr::is_ipv6);
        let base = parse_source(settings, count, is_ipv6, &mut problems);
        let Some(base) = base.filter(|_| problems.is_empty()) else { return Err(problems) };

        let rules: Option<Vec<ForwardRule>> =
            (0..count).map(|index| rule(index, &base, &endpoints)).collect();
        rules.ok_or_else(|| vec![ports_run_out(settings, count)])
    }
}

/// What MAVROS takes for a serial port, and autopilots for their telemetry ports.
const DEFAULT_BAUD: u32 = 57_600;

/// Where the first vehicle's bytes come from.
enum Base {
    Udp(SocketAddr),
    Serial { port: SerialSpec, upstream: Option<SocketAddr> },
}

fn parse_source(
    settings: &Settings,
    count: u16,
    is_ipv6: bool,
    problems: &mut Vec<Diagnostic>,
) -> Option<Base> {
    let text = settings.text("router_source");
    let upstream = u16::try_from(settings.int("router_upstream_port")).unwrap_or(0);
    let mut fail = |key: &str, message: String, help: &str| {
        problems.push(Diagnostic::error(settings.origin(key), message, help));
        None
    };
    if address::is_serial(text) {
        if count > 1 {
            let message = format!("'router_copter_count' is {count}, but 'router_source' is a serial port");
            return fail("router_copter_count", message, "a serial port carries one vehicle");
        }
        return match SerialSpec::parse(text, Some(DEFAULT_BAUD)) {
            Ok(port) => {
                let any: IpAddr =
                    if is_ipv6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
                let upstream = (upstream > 0).then(|| (any, upstream).into());
                Some(Base::Serial { port, upstream })
            }
            Err(error) => fail("router_source", format!("'router_source': {error}"), ""),
        };
    }
    if upstream > 0 {
        let message = "'router_upstream_port' is set, but 'router_source' is no serial port".to_owned();
        return fail(
            "router_upstream_port",
            message,
            "endpoints answer to the UDP source itself; set it to 0",
        );
    }
    match address::udp(text, Ipv4Addr::UNSPECIFIED) {
        Ok(bind) if count > 1 && FIXED_PORTS.contains(&bind.port()) => {
            let message =
                format!("'router_source' port {} is the same for all {count} vehicles", bind.port());
            fail("router_source", message, "use a port that rises with the vehicle, e.g. 14560")
        }
        Ok(bind) => Some(Base::Udp(bind)),
        Err(help) => {
            let help = help.to_owned() + ", or a serial port, e.g. '/dev/ttyUSB0:921600'";
            fail("router_source", format!("invalid 'router_source' '{text}'"), &help)
        }
    }
}

fn parse_endpoints(settings: &Settings, problems: &mut Vec<Diagnostic>) -> Vec<SocketAddr> {
    let origin = settings.origin("router_endpoints");
    let mut seen = BTreeSet::new();
    let mut endpoints = Vec::new();
    for text in settings.text("router_endpoints").split([',', ';']).map(str::trim).filter(|t| !t.is_empty()) {
        match address::udp(text, Ipv4Addr::LOCALHOST) {
            Ok(endpoint) if seen.insert(endpoint) => endpoints.push(endpoint),
            Ok(endpoint) => problems.push(Diagnostic::error(
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
    let (source, upstream) = match base {
        Base::Udp(bind) => {
            let addr = ports::vehicle_address(*bind, index)?;
            (Source::Udp(UdpBind::new(addr)), None)
        }
        Base::Serial { port, upstream } => (Source::Serial(port.clone()), *upstream),
    };
    let link = |endpoint: &SocketAddr| {
        let endpoint = ports::vehicle_address(*endpoint, index)?;
        let mut link = LinkConfig::new(endpoint.to_string().as_str(), None, origin.clone());
        link.target = Some(Target::Udp(endpoint));
        Some(link)
    };
    let links = endpoints.iter().map(link).collect::<Option<_>>()?;
    let rule_id = format!("router_{}", index + 1);
    let rule = ForwardRule::new(rule_id.as_str(), Direction::BytesRoute, origin.clone());
    Some(ForwardRule { source, upstream, links, ..rule })
}

fn ports_run_out(settings: &Settings, count: u16) -> Diagnostic {
    Diagnostic::error(
        settings.origin("router_copter_count"),
        format!("{count} vehicles need router ports above 65535"),
        "lower the ports in 'router_source' and 'router_endpoints' or the number of vehicles",
    )
}

#[cfg(test)]
mod tests {
    use rostrans_core::param::ParamSet;

    use super::*;

    fn run(text: &str) -> Result<Vec<String>, Vec<String>> {
        let mut problems = Vec::new();
        let settings =
            ParamSet::parse("rostrans.param".as_ref(), text, &mut problems).resolve(PARAMS, &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        let show = |rule: &ForwardRule| {
            let source = match &rule.source {
                Source::Udp(bind) => bind.addr.to_string(),
                Source::Serial(port) => port.to_string(),
                other => format!("{other:?}"),
            };
            let targets: Vec<&str> = rule.links.iter().map(|l| l.link_name.as_str()).collect();
            format!("{} {source} {:?} -> {}", rule.rule_id, rule.upstream, targets.join(" "))
        };
        match Router.rules(&settings) {
            Ok(rules) => Ok(rules.iter().map(show).collect()),
            Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn one_vehicle_is_routed_to_every_endpoint() {
        let rules = run("router_source=14560\nrouter_endpoints=localhost:14550, 10.0.0.2:14556").unwrap();
        assert_eq!(rules, ["router_1 0.0.0.0:14560 None -> 127.0.0.1:14550 10.0.0.2:14556"]);
    }

    #[test]
    fn ports_rise_with_the_vehicle_except_fixed_ones() {
        let rules = run("router_copter_count=2\nrouter_endpoints=14550;14600").unwrap();
        assert_eq!(
            rules,
            [
                "router_1 0.0.0.0:14560 None -> 127.0.0.1:14550 127.0.0.1:14600",
                "router_2 0.0.0.0:14562 None -> 127.0.0.1:14550 127.0.0.1:14602",
            ]
        );
    }

    #[test]
    fn serial_port_is_routed_with_and_without_a_way_back() {
        let base = "router_source=/dev/ttyUSB0:921600\nrouter_endpoints=14550";
        assert_eq!(run(base).unwrap(), ["router_1 /dev/ttyUSB0:921600 None -> 127.0.0.1:14550"]);
        assert_eq!(
            run(&format!("{base}\nrouter_upstream_port=14560")).unwrap(),
            ["router_1 /dev/ttyUSB0:921600 Some(0.0.0.0:14560) -> 127.0.0.1:14550"]
        );
        assert_eq!(
            run("router_source=/dev/ttyACM0\nrouter_endpoints=[::1]:14550\nrouter_upstream_port=14560")
                .unwrap(),
            ["router_1 /dev/ttyACM0:57600 Some([::]:14560) -> [::1]:14550"],
            "the usual speed, and answers by the endpoints' family"
        );
    }

    #[test]
    fn every_problem_is_reported_with_place_and_remedy() {
        let cases = [
            (
                "router_source=nowhere\nrouter_endpoints=14550,host:1",
                vec![
                    "rostrans.param:2: invalid endpoint 'host:1' in 'router_endpoints'; write 'ip:port', e.g. '127.0.0.1:14550' or 'localhost:14550', or a port",
                    "rostrans.param:1: invalid 'router_source' 'nowhere'; write 'ip:port', e.g. '127.0.0.1:14550' or 'localhost:14550', or a port, or a serial port, e.g. '/dev/ttyUSB0:921600'",
                ],
            ),
            (
                "router_source=/dev/ttyUSB0:fast",
                vec![
                    "rostrans.param:1: 'router_source': invalid serial port '/dev/ttyUSB0:fast'; write device and baud rate, e.g. '/dev/ttyUSB0:921600' or 'COM3:921600'",
                ],
            ),
            (
                "router_source=COM3:9600\nrouter_copter_count=2",
                vec![
                    "rostrans.param:2: 'router_copter_count' is 2, but 'router_source' is a serial port; a serial port carries one vehicle",
                ],
            ),
            (
                "router_source=14550\nrouter_copter_count=3\nrouter_endpoints=14600",
                vec![
                    "rostrans.param:1: 'router_source' port 14550 is the same for all 3 vehicles; use a port that rises with the vehicle, e.g. 14560",
                ],
            ),
            (
                "router_source=65530\nrouter_copter_count=4",
                vec![
                    "rostrans.param:2: 4 vehicles need router ports above 65535; lower the ports in 'router_source' and 'router_endpoints' or the number of vehicles",
                ],
            ),
            (
                "router_upstream_port=9",
                vec![
                    "rostrans.param:1: 'router_upstream_port' is set, but 'router_source' is no serial port; endpoints answer to the UDP source itself; set it to 0",
                ],
            ),
            (
                "router_endpoints=' , '",
                vec![
                    "rostrans.param:1: 'router_endpoints' is empty; name at least one receiver, e.g. '127.0.0.1:14550'",
                ],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(run(text).unwrap_err(), expected, "{text}");
        }
    }
}
