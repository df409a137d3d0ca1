//! `mavros` (MavRosAssistant): the topics of MAVROS for each vehicle.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, Settings},
    plugin::Plugin,
    rule::{Direction, ForwardRule, SerialSpec, Source, Target, UdpBind},
};

use crate::address;

mod links;
mod params;
mod surface;

/// One rule for each vehicle, `mavros_<id>`: MAVLink in, `<prefix>/...` out.
///
/// Vehicle `i` has system id `i` and the prefix `/mavros`, from the second on `/mavros<i>`. Over UDP it is heard on
/// `mavros_base_port` + 1 + 2·(i-1) and answered on `mavros_base_port` + 2·(i-1), as CopterSim does it; with
/// `mavros_listen_port` on that port, and answered where it sends from, as a PX4 SITL or a MAVLink router wants it.
/// Over a serial port several vehicles share the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mavros;

impl Plugin for Mavros {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> &'static [ParamDef] {
        &params::ALL
    }

    fn enabled(&self, settings: &Settings) -> bool {
        settings.flag("enable_mavros")
    }

    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let line = parse_line(settings, &mut problems);
        let vehicles = vehicles(settings, &mut problems);
        let Some(line) = line.filter(|_| problems.is_empty()) else { return Err(problems) };
        let mut rules = Vec::new();
        for id in vehicles {
            match rule(id, &line, settings) {
                Ok(rule) => rules.push(rule),
                Err(problem) => return Err(vec![problem]),
            }
        }
        Ok(rules)
    }
}

/// How vehicles are reached.
enum Line {
    /// CopterSim's pair of ports for each vehicle.
    Paired {
        target: IpAddr,
        base_port: u16,
    },
    /// Vehicles that send to us; answered where they send from.
    Listening {
        port: u16,
        step: u16,
    },
    Serial(SerialSpec),
}

fn parse_line(settings: &Settings, problems: &mut Vec<Diagnostic>) -> Option<Line> {
    if settings.text("mavros_transport_mode") == "serial" {
        let key = if cfg!(windows) { "mavros_win_serial" } else { "mavros_linux_serial" };
        let baud = u32::try_from(settings.int("mavros_baudrate")).ok();
        return match SerialSpec::parse(settings.text(key), baud) {
            Ok(port) => Some(Line::Serial(port)),
            Err(error) => {
                problems.push(Diagnostic::error(settings.origin(key), format!("'{key}': {error}"), ""));
                None
            }
        };
    }
    let listen_port = port(settings, "mavros_listen_port");
    if listen_port > 0 {
        return Some(Line::Listening { port: listen_port, step: port(settings, "mavros_listen_step") });
    }
    let text = settings.text("mavros_target_ip");
    match address::ip(text) {
        Ok(target) => Some(Line::Paired { target, base_port: port(settings, "mavros_base_port") }),
        Err(help) => {
            let message = format!("invalid 'mavros_target_ip' '{text}'");
            problems.push(Diagnostic::error(settings.origin("mavros_target_ip"), message, help));
            None
        }
    }
}

fn port(settings: &Settings, key: &str) -> u16 {
    u16::try_from(settings.int(key)).unwrap_or_default()
}

/// The vehicles' ids, which are their MAVLink system ids.
fn vehicles(settings: &Settings, problems: &mut Vec<Diagnostic>) -> std::ops::RangeInclusive<u8> {
    let (first, count) = (settings.int("mavros_start_copter_id"), settings.int("mavros_copter_count"));
    let last = first + count - 1;
    match (u8::try_from(first), u8::try_from(last)) {
        (Ok(first), Ok(last)) => first..=last,
        _ => {
            let message = format!("{count} vehicles from number {first} on need system ids up to {last}");
            let help =
                "MAVLink system ids end at 255; lower 'mavros_copter_count' or 'mavros_start_copter_id'";
            problems.push(Diagnostic::error(settings.origin("mavros_copter_count"), message, help));
            1..=1
        }
    }
}

fn rule(id: u8, line: &Line, settings: &Settings) -> Result<ForwardRule, Diagnostic> {
    let index = u16::from(id) - 1;
    let (direction, source, target) = match line {
        Line::Serial(port) => (Direction::SerialToRos, Source::Serial(port.clone()), None),
        Line::Listening { port, step } => {
            let first = u16::try_from(settings.int("mavros_start_copter_id")).unwrap_or(1) - 1;
            let port = step_port(*port, *step, index - first, "mavros_listen_port", settings)?;
            (Direction::UdpToRostopic, listen_on(port), None)
        }
        Line::Paired { target, base_port } => {
            let send = step_port(*base_port, 2, index, "mavros_base_port", settings)?;
            let receive = step_port(send, 1, 1, "mavros_base_port", settings)?;
            (Direction::UdpToRostopic, listen_on(receive), Some(Target::Udp(SocketAddr::new(*target, send))))
        }
    };
    let rule_id = format!("mavros_{id}");
    let rule = ForwardRule::new(rule_id.as_str(), direction, Origin::Plugin(NAME));
    let prefix = prefix(settings.text("mavros_prefix"), id);
    let links = links::of_vehicle(id, &prefix, target, settings)?;
    Ok(ForwardRule { source, links, ..rule })
}

fn listen_on(port: u16) -> Source {
    Source::Udp(UdpBind::new((Ipv4Addr::UNSPECIFIED, port).into()))
}

fn step_port(base: u16, step: u16, times: u16, key: &str, settings: &Settings) -> Result<u16, Diagnostic> {
    step.checked_mul(times).and_then(|offset| base.checked_add(offset)).ok_or_else(|| {
        let message = format!("'{key}' {base} leads to ports above 65535");
        Diagnostic::error(settings.origin(key), message, "lower it, or the number of vehicles")
    })
}

/// `{id}` in the pattern stands for the vehicle; without it, vehicles from the second on get their number appended.
fn prefix(pattern: &str, id: u8) -> String {
    if pattern.contains("{id}") {
        return pattern.replace("{id}", &id.to_string());
    }
    match id {
        1 => pattern.to_owned(),
        _ => format!("{pattern}{id}"),
    }
}

const NAME: &str = "mavros";

#[cfg(test)]
mod tests;
