//! Environment variables that decide who meets whom, and the files they name.

use rostrans_adapter_dds::DiscoveryRange;

use super::super::{facts::Facts, finding::Finding};

/// Variables of ROS.
pub(super) fn ros(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    let get = |name: &str| facts.env.get(name).map(String::as_str);
    let discovery = &facts.discovery;
    let hosts = discovery.static_peers.len();
    let with = match (hosts, discovery.range) {
        (0, _) | (_, DiscoveryRange::Off) => String::new(),
        (1, _) => ", 1 static peer".to_owned(),
        (many, _) => format!(", {many} static peers"),
    };
    match discovery.range {
        DiscoveryRange::Off => found.push(Finding::problem(
            "range",
            "range OFF: nobody is looked for and nobody is let in",
            "set ROS_AUTOMATIC_DISCOVERY_RANGE to SUBNET or LOCALHOST",
        )),
        _ => found.push(Finding::ok(
            "range",
            format!("domain {}, range {}{with}", discovery.domain, discovery.range_name()),
        )),
    }
    let about_peers = |text: &&String| text.starts_with("ROS_STATIC_PEERS");
    for warning in discovery.warnings.iter().filter(about_peers) {
        let (text, remedy) = warning.split_once("; ").unwrap_or((warning, ""));
        found.push(Finding::warning("range", text, remedy));
    }
    if get("ROS_LOCALHOST_ONLY") == Some("1") {
        for name in ["ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS"] {
            if let Some(value) = get(name).filter(|value| *value != "LOCALHOST") {
                found.push(Finding::warning(
                    "range",
                    format!("ROS_LOCALHOST_ONLY=1 overrides {name}={value}"),
                    "unset ROS_LOCALHOST_ONLY; the newer variables say all it can say",
                ));
            }
        }
    }
    if let Some(server) = get("ROS_DISCOVERY_SERVER") {
        found.push(Finding::problem(
            "server",
            format!("ROS_DISCOVERY_SERVER={server}: nodes with it announce themselves to that server only"),
            "start nodes that rostrans should meet without it; rostrans asks no discovery server",
        ));
    }
    match get("RMW_IMPLEMENTATION") {
        None | Some("rmw_fastrtps_cpp" | "rmw_fastrtps_dynamic_cpp" | "rmw_cyclonedds_cpp") => {}
        Some(rmw @ "rmw_zenoh_cpp") => found.push(Finding::warning(
            "rmw",
            format!("RMW_IMPLEMENTATION={rmw}: nodes with it speak Zenoh, which DDS programs do not hear"),
            "leave ros2_transport at auto, or set all for DDS nodes too; what follows here is about DDS, docs/zenoh.md \
             about Zenoh",
        )),
        Some(rmw) => found.push(Finding::warning(
            "rmw",
            format!("RMW_IMPLEMENTATION={rmw} was not tried with rostrans"),
            "use rmw_fastrtps_cpp or rmw_cyclonedds_cpp when topics do not show",
        )),
    }
    let secure = get("ROS_SECURITY_ENABLE").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if secure {
        found.push(Finding::problem(
            "security",
            "ROS_SECURITY_ENABLE=true: secured nodes let nobody in without a key, rostrans included",
            "start nodes that rostrans should meet without security",
        ));
    }
    found
}

/// Transports and profiles of Fast DDS.
pub(super) fn fast_dds(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(value) = facts.env.get("FASTDDS_BUILTIN_TRANSPORTS") {
        let kind = value.split('?').next().unwrap_or_default();
        let trouble = match kind {
            "SHM" => "use shared memory only",
            "LARGE_DATA" | "LARGE_DATAv6" => "send samples over TCP",
            "P2P" => "talk over TCP",
            "NONE" => "have no transport but those of their profile",
            _ => "",
        };
        if !trouble.is_empty() {
            found.push(Finding::problem(
                "transports",
                format!(
                    "FASTDDS_BUILTIN_TRANSPORTS={value}: Fast DDS nodes with it {trouble}, rostrans uses UDP"
                ),
                "set it to DEFAULT or UDPv4",
            ));
        }
    }
    for variable in ["FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"] {
        let Some(path) = facts.env.get(variable) else { continue };
        let text = match facts.files.get(variable) {
            None => continue,
            Some(Err(error)) => {
                found.push(Finding::warning(
                    "profile",
                    format!("{variable}={path}: {error}; Fast DDS goes on without it"),
                    "correct the path or unset the variable",
                ));
                continue;
            }
            Some(Ok(text)) => squeezed(text),
        };
        if text.contains("<usebuiltintransports>false") && !text.contains("udpv4") {
            found.push(Finding::problem(
                "profile",
                format!("{variable}={path} leaves Fast DDS nodes without UDPv4"),
                "add a transport_descriptor of type UDPv4 to its userTransports",
            ));
        } else {
            found.push(Finding::ok("profile", format!("{variable}={path} can be read")));
        }
        if text.contains("<discoveryprotocol>client") || text.contains("<discoveryprotocol>super_client") {
            found.push(Finding::problem(
                "server",
                format!("{variable}={path} makes Fast DDS nodes clients of a discovery server"),
                "use discoveryProtocol SIMPLE for nodes that rostrans should meet",
            ));
        }
    }
    found
}

/// Configuration of Cyclone DDS.
pub(super) fn cyclone_dds(facts: &Facts) -> Vec<Finding> {
    let Some(value) = facts.env.get("CYCLONEDDS_URI") else { return Vec::new() };
    let text = match facts.files.get("CYCLONEDDS_URI") {
        Some(Err(error)) => {
            return vec![Finding::problem(
                "cyclone",
                format!("CYCLONEDDS_URI={value}: {error}; Cyclone DDS nodes do not start with it"),
                "correct the path or unset the variable",
            )];
        }
        Some(Ok(text)) => squeezed(text),
        None => squeezed(value),
    };
    let mut found = Vec::new();
    if text.contains("<transport>tcp") || text.contains("<tcp><enable>true") {
        found.push(Finding::problem(
            "cyclone",
            "CYCLONEDDS_URI makes Cyclone DDS nodes talk over TCP, rostrans uses UDP",
            "remove Transport from its General section",
        ));
    }
    let quiet = text.contains("<allowmulticast>false") || text.contains("<allowmulticast>none");
    if quiet && !text.contains("<peer") {
        found.push(Finding::problem(
            "cyclone",
            "CYCLONEDDS_URI forbids multicast and names no peers: Cyclone DDS nodes find nobody",
            "add <Discovery><Peers><Peer Address=\"...\"/></Peers></Discovery>",
        ));
    }
    if found.is_empty() {
        found.push(Finding::ok("cyclone", "CYCLONEDDS_URI can be read"));
    }
    found
}

/// XML without what does not matter to a search: blanks and letter case.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use rostrans_adapter_dds::Discovery;

    use super::{super::lines, *};

    fn facts(env: &[(&str, &str)]) -> Facts {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let discovery = Discovery { static_peers: vec!["robot".into()], ..Discovery::default() };
        Facts { env, discovery, ..Facts::default() }
    }

    #[test]
    fn contradictions_and_foreign_middleware_are_named() {
        let facts = facts(&[
            ("ROS_LOCALHOST_ONLY", "1"),
            ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
            ("ROS_STATIC_PEERS", "robot"),
            ("ROS_DISCOVERY_SERVER", "10.0.0.1:11811"),
            ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp"),
            ("ROS_SECURITY_ENABLE", "true"),
        ]);
        insta::assert_snapshot!(lines(&ros(&facts)));
        let quiet = ros(&self::facts(&[("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")]));
        assert_eq!(lines(&quiet), "Ok range: domain 0, range SUBNET, 1 static peer -> \n");
        let other = lines(&ros(&self::facts(&[("RMW_IMPLEMENTATION", "rmw_connextdds")])));
        assert!(other.contains("Warning rmw: RMW_IMPLEMENTATION=rmw_connextdds"), "{other}");
    }

    #[test]
    fn range_off_finds_nobody() {
        let mut facts = facts(&[]);
        facts.discovery.range = DiscoveryRange::Off;
        facts.discovery.warnings =
            vec!["ROS_STATIC_PEERS is ignored; use LOCALHOST".into(), "another".into()];
        insta::assert_snapshot!(lines(&ros(&facts)));
    }

    #[test]
    fn fast_dds_without_udp_is_a_problem() {
        for (value, fine) in [
            ("DEFAULT", true),
            ("UDPv4", true),
            ("SHM", false),
            ("LARGE_DATA?max_msg_size=1MB", false),
            ("UDPv6", true),
        ] {
            let found = fast_dds(&facts(&[("FASTDDS_BUILTIN_TRANSPORTS", value)]));
            assert_eq!(found.is_empty(), fine, "{value}: {found:?}");
        }
        let file = "FASTRTPS_DEFAULT_PROFILES_FILE";
        for (text, level) in [
            (Ok("<useBuiltinTransports> false </useBuiltinTransports><type>SHM</type>"), "Problem profile"),
            (Ok("<useBuiltinTransports>false</useBuiltinTransports><type>UDPv4</type>"), "Ok profile"),
            (Ok("<discoveryProtocol>CLIENT</discoveryProtocol>"), "Problem server"),
            (Err("no such file"), "Warning profile"),
        ] {
            let mut facts = facts(&[(file, "/p.xml")]);
            facts.files.insert(file.to_owned(), text.map(str::to_owned).map_err(str::to_owned));
            let found = lines(&fast_dds(&facts));
            assert!(found.contains(level), "{text:?}: {found}");
        }
    }

    #[test]
    fn cyclone_dds_that_finds_nobody_is_a_problem() {
        let check = |value| lines(&cyclone_dds(&facts(&[("CYCLONEDDS_URI", value)])));
        assert_eq!(lines(&cyclone_dds(&facts(&[]))), "");
        assert!(check("<AllowMulticast>false</AllowMulticast>").starts_with("Problem"));
        let peers = "<AllowMulticast>false</AllowMulticast><Peers><Peer Address='a'/></Peers>";
        assert!(check(peers).starts_with("Ok"));
        assert!(check("<General><Transport>tcp</Transport></General>").starts_with("Problem"));
        let mut missing = facts(&[("CYCLONEDDS_URI", "file:///c.xml")]);
        missing.files.insert("CYCLONEDDS_URI".to_owned(), Err("no such file".to_owned()));
        assert!(lines(&cyclone_dds(&missing)).starts_with("Problem"));
    }
}
