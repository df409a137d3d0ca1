//! `gcs_url`: MAVLink between vehicles and ground stations.

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::Settings,
    rule::{Device, Direction, ForwardRule, LinkConfig, Target, UdpBind, UdpPeer},
};

use super::{
    NAME,
    line::{Way, parse_url},
};

/// The byte routes: one for each socket or port that vehicles are behind, `mavros_gcs_<id>`.
///
/// All lead to the same ground stations, unless `{id}` in a URL gives each vehicle its own.
///
/// **Errors**: a URL is wrong.
pub(super) fn rules(ways: &[(u8, Way)], settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
    let patterns = split(settings.text("gcs_url"));
    let mut rules: Vec<ForwardRule> = Vec::new();
    let mut problems: Vec<Diagnostic> = Vec::new();
    for (id, way) in ways.iter().filter(|_| !patterns.is_empty()) {
        let mut links = Vec::new();
        for pattern in &patterns {
            match station(pattern, *id, settings) {
                Ok(link) => links.push(link),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let source = device(way).into();
        let known = rules.iter_mut().find(|rule| rule.source == source);
        match known {
            // Several vehicles behind one device are one source; stations of their own are added.
            Some(rule) => {
                let new =
                    links.into_iter().filter(|link| rule.links.iter().all(|old| old.target != link.target));
                let new: Vec<_> = new.collect();
                rule.links.extend(new);
            }
            None => {
                let rule_id = format!("mavros_gcs_{id}");
                let rule = ForwardRule::new(rule_id.as_str(), Direction::BytesRoute, Origin::Plugin(NAME));
                rules.push(ForwardRule { source, links, ..rule });
            }
        }
    }
    Ok(rules)
}

/// Where stations' frames go: vehicles with a fixed address are not answered where they send from.
fn device(way: &Way) -> Device {
    match (&way.device, &way.target) {
        (Device::Udp(bind), Some(Target::Udp(to))) => {
            Device::Udp(UdpBind { peer: UdpPeer::Always(*to), ..bind.clone() })
        }
        (device, _) => device.clone(),
    }
}

fn station(pattern: &str, id: u8, settings: &Settings) -> Result<LinkConfig, Diagnostic> {
    let url = parse_url("gcs_url", pattern, id, settings)?;
    if url.ids.is_some() {
        let message = format!("'gcs_url' '{pattern}' sets own ids, but its frames pass unchanged");
        return Err(Diagnostic::error(settings.origin("gcs_url"), message, "write '?ids=' in 'fcu_url'"));
    }
    let mut link = LinkConfig::new(url.to_string().as_str(), None, Origin::Plugin(NAME));
    link.target = Some(Target::Device(url.device));
    Ok(link)
}

/// Several URLs are separated by commas, semicolons or blanks; a comma may also stand within one.
fn split(text: &str) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    for part in text.split([',', ';', ' ']).map(str::trim).filter(|part| !part.is_empty()) {
        match urls.last_mut().filter(|last| last.contains("ids=") && part.parse::<u16>().is_ok()) {
            Some(last) => *last = format!("{last},{part}"),
            None => urls.push(part.to_owned()),
        }
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_urls_is_split_at_what_separates_them() {
        let urls = ["udp://@10.0.0.1:14550", "tcp-l://:5760", "/dev/ttyS0:57600", "udp://@?ids=1,240"];
        for separator in [",", ", ", ";", " "] {
            assert_eq!(split(&urls.join(separator)), urls);
        }
        assert!(split(" , ").is_empty());
    }
}
