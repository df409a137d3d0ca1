//! `mavros` (MavRosAssistant): the topics of MAVROS for each vehicle.

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, Settings},
    plugin::Plugin,
    rule::{Device, Direction, ForwardRule},
};

use self::line::{Line, Way};

mod distance;
mod gcs;
mod line;
mod links;
mod params;
mod select;
mod surface;
mod twin;

pub use self::twin::{MavrosParam, mavros_key};

/// One rule for each vehicle, `mavros_<id>`: MAVLink in, `<prefix>/...` out.
///
/// Vehicle `i` has system id `i` and the prefix `/mavros`, from the second on `/mavros<i>`. Over UDP it is heard on
/// `mavros_base_port` + 1 + 2·(i-1) and answered on `mavros_base_port` + 2·(i-1), as CopterSim does it; with
/// `mavros_listen_port` on that port, and answered where it sends from, as a PX4 SITL or a MAVLink router wants it.
/// Over a serial port several vehicles share the line. `fcu_url` says all this as MAVROS does; `gcs_url` adds a
/// `bytes_route`, `mavros_gcs_<id>`, between the vehicles and ground stations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mavros;

impl Plugin for Mavros {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> &'static [ParamDef] {
        &params::ALL
    }

    fn common_params(&self) -> &'static [ParamDef] {
        params::PARAMS
    }

    fn enabled(&self, settings: &Settings) -> bool {
        let is_default = settings.origin("enable_mavros") == Origin::Default;
        settings.flag("enable_mavros") || is_default && !settings.text("fcu_url").trim().is_empty()
    }

    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let line = Line::parse(settings, &mut problems);
        let vehicles = vehicles(settings, &mut problems);
        let Some(line) = line.filter(|_| problems.is_empty()) else { return Err(problems) };
        let mut ways = Vec::new();
        for (index, id) in (0..).zip(vehicles) {
            ways.push((id, line.way(id, index, settings).map_err(|problem| vec![problem])?));
        }
        let rules = ways.iter().map(|(id, way)| rule(*id, way, settings)).collect::<Result<Vec<_>, _>>();
        let mut rules = rules.map_err(|problem| vec![problem])?;
        rules.extend(gcs::rules(&ways, settings)?);
        Ok(rules)
    }
}

/// The vehicles' ids, which are their MAVLink system ids.
fn vehicles(settings: &Settings, problems: &mut Vec<Diagnostic>) -> std::ops::RangeInclusive<u8> {
    let (key, first) = match settings.int("tgt_system") {
        0 => ("mavros_start_copter_id", settings.int("mavros_start_copter_id")),
        id => ("tgt_system", id),
    };
    let count = settings.int("mavros_copter_count");
    let last = first + count - 1;
    match (u8::try_from(first), u8::try_from(last)) {
        (Ok(first), Ok(last)) => first..=last,
        _ => {
            let message = format!("{count} vehicles from number {first} on need system ids up to {last}");
            let help = format!("MAVLink system ids end at 255; lower 'mavros_copter_count' or '{key}'");
            problems.push(Diagnostic::error(settings.origin("mavros_copter_count"), message, help));
            1..=1
        }
    }
}

/// The rule of one vehicle.
///
/// **Errors**: the prefix makes no topic name.
fn rule(id: u8, way: &Way, settings: &Settings) -> Result<ForwardRule, Diagnostic> {
    let direction = match &way.device {
        Device::Serial(_) => Direction::SerialToRos,
        Device::Udp(_) | Device::Tcp(_) => Direction::UdpToRostopic,
    };
    let rule_id = format!("mavros_{id}");
    let rule = ForwardRule::new(rule_id.as_str(), direction, Origin::Plugin(NAME));
    let links = links::of_vehicle(id, &prefix(id, settings), way, settings)?;
    Ok(ForwardRule { source: way.device.clone().into(), links, ..rule })
}

/// `{id}` in the pattern stands for the vehicle; without it, vehicles from the second on get their number appended. A
/// single vehicle named by `tgt_system` has the prefix as it stands, as in MAVROS.
fn prefix(id: u8, settings: &Settings) -> String {
    let pattern = settings.text("mavros_prefix");
    if pattern.contains("{id}") {
        return pattern.replace("{id}", &id.to_string());
    }
    let alone = settings.int("tgt_system") > 0 && settings.int("mavros_copter_count") == 1;
    if id == 1 || alone { pattern.to_owned() } else { format!("{pattern}{id}") }
}

const NAME: &str = "mavros";

#[cfg(test)]
mod tests;
