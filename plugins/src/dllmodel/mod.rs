//! `dllmodel` (DllModelAssistant): vehicles of CopterSim as MAVROS shows them, without an autopilot between.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, Settings},
    plugin::Plugin,
    rule::{Direction, ForwardRule, LinkConfig, Source, Target, UdpBind},
    topic::TopicName,
};
use rostrans_rflysim::port;
use serde_json::Value;

use crate::{address, bind};

mod params;

/// One rule for each vehicle, `dllmodel_<n>`: CopterSim's packets in, `<prefix>/...` out, setpoints and services back.
///
/// Vehicle `n` has the prefix `/mavros`, from the second on `/mavros<n>`. Its truth is heard on 30101 + 2·(n-1), or its
/// autopilot's estimate on 20101 + 2·(n-1); it is flown on 30100 + 2·(n-1), with `dllmodel_ctrl=simple` on
/// 20100 + 2·(n-1).
#[derive(Clone, Copy, Debug, Default)]
pub struct DllModel;

impl Plugin for DllModel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> &'static [ParamDef] {
        params::ALL
    }

    fn enabled(&self, settings: &Settings) -> bool {
        settings.flag("enable_dllModel")
    }

    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let text = settings.text("coptersim_targetip");
        let target = address::ip(text).unwrap_or_else(|help| {
            let message = format!("invalid 'coptersim_targetip' '{text}'");
            problems.push(Diagnostic::error(settings.origin("coptersim_targetip"), message, help));
            Ipv4Addr::LOCALHOST.into()
        });
        let (first, count) = (settings.int("coptersim_startid"), settings.int("coptersim_count"));
        let last = first + count - 1;
        let vehicles = match (u16::try_from(first), u16::try_from(last)) {
            (Ok(first), Ok(last)) if last <= MAX_VEHICLE => first..=last,
            _ => {
                let message = format!("{count} vehicles from number {first} on end with number {last}");
                let help = "vehicles have numbers up to 255; lower 'coptersim_count' or 'coptersim_startid'";
                problems.push(Diagnostic::error(settings.origin("coptersim_count"), message, help));
                1..=1
            }
        };
        let mut rules = Vec::new();
        for vehicle in vehicles {
            match rule(vehicle, target, settings) {
                Ok(rule) => rules.push(rule),
                Err(problem) => {
                    problems.push(problem);
                    break;
                }
            }
        }
        if problems.is_empty() { Ok(rules) } else { Err(problems) }
    }
}

/// The rule of one vehicle.
///
/// **Errors**: the prefix makes no topic name.
fn rule(vehicle: u16, target: IpAddr, settings: &Settings) -> Result<ForwardRule, Diagnostic> {
    let estimate = settings.text("dllmodel_source") == "estimate";
    let simple = settings.text("dllmodel_ctrl") == "simple";
    let of_vehicle = |base| port::of_vehicle(base, vehicle).unwrap_or(base);
    let from = of_vehicle(if estimate { port::ESTIMATE } else { port::TRUTH });
    let to = of_vehicle(if simple { port::CONTROL } else { port::MODEL });

    let listen = if target.is_ipv6() { IpAddr::from([0u16; 8]) } else { Ipv4Addr::UNSPECIFIED.into() };
    let mut rule = ForwardRule::new(
        format!("{NAME}_{vehicle}").as_str(),
        Direction::UdpToRostopic,
        Origin::Plugin(NAME),
    );
    rule.source = Source::Udp(UdpBind::new(SocketAddr::new(listen, from)));
    let place = Place { vehicle, prefix: prefix(vehicle, settings), settings };

    let mut state = place.link(
        "state",
        if estimate { "coptersim.estimate" } else { "coptersim.truth" },
        STATE_TOPICS,
        &[],
    )?;
    option(&mut state, "odom_twist", settings.text("dllmodel_odom_twist").into());
    rule.links.push(state);
    if !estimate {
        rule.links.push(place.link("event", "coptersim.event", EVENT_TOPICS, &[])?);
    }
    let mut flight = place.link("flight", "coptersim.flight", FLIGHT_TOPICS, FLIGHT_SERVICES)?;
    flight.target = Some(Target::Udp(SocketAddr::new(target, to)));
    option(&mut flight, "copter_id", vehicle.into());
    option(&mut flight, "wire", settings.text("dllmodel_ctrl").into());
    option(&mut flight, "yaw", settings.text("dllmodel_yaw").into());
    option(&mut flight, "velocity_yaw", settings.text("dllmodel_velocity_yaw").into());
    option(&mut flight, "timeout", settings.number("coptersim_timeout").into());
    rule.links.push(flight);
    Ok(rule)
}

/// `{id}` in the pattern stands for the vehicle; without it, vehicles from the second on get their number appended.
fn prefix(vehicle: u16, settings: &Settings) -> String {
    let pattern = settings.text("dllmodel_prefix");
    match (pattern.contains("{id}"), vehicle) {
        (true, _) => pattern.replace("{id}", &vehicle.to_string()),
        (false, 1) => pattern.to_owned(),
        (false, _) => format!("{pattern}{vehicle}"),
    }
}

/// Where the topics of a vehicle are.
struct Place<'a> {
    vehicle: u16,
    prefix: String,
    settings: &'a Settings,
}

impl Place<'_> {
    /// A link with its topics and services, of the types that the codec declares.
    fn link(
        &self,
        name: &str,
        codec: &str,
        topics: &[Named],
        services: &[Named],
    ) -> Result<LinkConfig, Diagnostic> {
        let mut link = LinkConfig::new(name, Some(codec.into()), Origin::Plugin(NAME));
        let codecs = rostrans_codecs::builtin();
        let info = codecs.get(codec).map(|codec| codec.info()).ok_or_else(|| self.bug(codec))?;
        for (port, topic) in topics {
            let spec = bind::topic(info, port, self.name(topic)?).ok_or_else(|| self.bug(port))?;
            link.ports.insert((*port).into(), spec);
        }
        for (service, name) in services {
            let spec = bind::service(info, service, self.name(name)?).ok_or_else(|| self.bug(service))?;
            link.services.insert((*service).into(), spec);
        }
        Ok(link)
    }

    /// A name under the prefix; one that starts with `/` is outside it and may have the vehicle's number in it.
    fn name(&self, name: &str) -> Result<TopicName, Diagnostic> {
        let absolute = if name.starts_with('/') {
            name.replace("{id}", &self.vehicle.to_string())
        } else {
            format!("{}/{name}", self.prefix)
        };
        TopicName::parse(&absolute).map_err(|error| {
            let message = format!("'dllmodel_prefix' makes no topic: {error}");
            Diagnostic::error(
                self.settings.origin("dllmodel_prefix"),
                message,
                "write e.g. '/mavros' or '/uav{id}/mavros'",
            )
        })
    }

    fn bug(&self, what: &str) -> Diagnostic {
        let message = format!("no codec or port '{what}'");
        Diagnostic::error(self.settings.origin("enable_dllModel"), message, "this is a bug in rostrans")
    }
}

fn option(link: &mut LinkConfig, name: &str, value: Value) {
    link.options.0.insert(name.to_owned(), value);
}

/// A port, input or service of a codec, and its name.
type Named = (&'static str, &'static str);

const STATE_TOPICS: &[Named] = &[
    ("pose", "local_position/pose"),
    ("velocity_local", "local_position/velocity_local"),
    ("velocity_body", "local_position/velocity_body"),
    ("odom", "local_position/odom"),
    ("global", "global_position/global"),
    ("imu", "imu/data"),
    ("out2sim", "out2sim"),
];

const EVENT_TOPICS: &[Named] = &[
    ("collision", "/rflysim/uav{id}/collision"),
    ("gp_origin", "global_position/gp_origin"),
    ("model_outputs", "model_outputs"),
];

const FLIGHT_TOPICS: &[Named] = &[
    ("state", "state"),
    ("setpoint_raw_local", "setpoint_raw/local"),
    ("setpoint_raw_attitude", "setpoint_raw/attitude"),
    ("setpoint_position", "setpoint_position/local"),
    ("setpoint_velocity", "setpoint_velocity/cmd_vel"),
    ("setpoint_velocity_unstamped", "setpoint_velocity/cmd_vel_unstamped"),
    ("setpoint_rates", "setpoint_attitude/cmd_vel"),
];

const FLIGHT_SERVICES: &[Named] =
    &[("arming", "cmd/arming"), ("set_mode", "set_mode"), ("takeoff", "cmd/takeoff"), ("land", "cmd/land")];

const MAX_VEHICLE: u16 = 255;
const NAME: &str = "dllmodel";

#[cfg(test)]
mod tests;
