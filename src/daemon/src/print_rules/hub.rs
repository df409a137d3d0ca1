//! Rules with `url`.

use rostrans_core::rule::{MavUrl, RuleId};
use rostrans_engine::topology::{Device, Topology};

use super::{Out, device, scalar};

/// A socket or port that the other keys cannot spell.
pub(super) fn url(out: &mut Out, indent: usize, device: &Device) {
    let url = MavUrl { device: device.clone(), ids: None };
    out.field(indent, "url", &scalar(&url.to_string()));
}

/// The rules that have no other links than those with `url`.
pub(super) fn rules(out: &mut Out, topology: &Topology) {
    let mut printed: Vec<&RuleId> =
        topology.transports.iter().filter_map(|t| Some(&t.route.as_ref()?.rule_id)).collect();
    for (rule_id, vehicles) in topology.hubs.iter().flat_map(|hub| hub.rules.iter().zip(&hub.vehicles)) {
        let Some(vehicles) = topology.transports.get(vehicles.0).filter(|_| !printed.contains(&rule_id))
        else {
            continue;
        };
        printed.push(rule_id);
        out.line(2, &format!("- rule_id: {}", scalar(rule_id.as_str())));
        out.field(4, "direction", "bytes_route");
        device(out, &vehicles.device);
        out.line(4, "links:");
        links(out, topology, rule_id);
    }
}

/// The links with `url` of a rule.
pub(super) fn links(out: &mut Out, topology: &Topology, rule_id: &RuleId) {
    let hubs = topology.hubs.iter().filter(|hub| hub.rules.contains(rule_id));
    for (number, stations) in (1u32..).zip(hubs.filter_map(|hub| topology.transports.get(hub.stations.0))) {
        out.line(6, &format!("- link_name: url{number}"));
        url(out, 8, &stations.device);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{print, tests::planned};

    const RULES: &str = "
- rule_id: fcu
  direction: udp_to_rostopic
  url: udp://:14540@px4:14580
  links: [{codec: mavlink.imu, topic: /imu}]
- rule_id: gcs_1
  direction: bytes_route
  url: udp://:14540@px4:14580
  links: [{url: 'tcp-l://:5770'}, {url: 'udp-b://@'}]
- rule_id: gcs_2
  direction: bytes_route
  url: serial-hwfc:///dev/ttyACM0:57600
  links: [{url: 'tcp-l://0.0.0.0:5770'}, {udp_dst_ip: 10.0.0.2, udp_dst_port: 14550}]
";

    #[test]
    fn urls_are_printed_and_read_back_to_the_same_plan() {
        let topology = planned(RULES, "");
        let printed = print(&topology);
        insta::assert_snapshot!(printed, @r#"
        forward_rules:
          - rule_id: fcu  # r.yaml:2
            direction: udp_to_rostopic
            url: "udp://0.0.0.0:14540@px4:14580"
            links:
              - link_name: link1
                codec: mavlink.imu
                topic: /imu
                msg_type: sensor_msgs/msg/Imu
                qos: {reliability: best_effort, durability: volatile, depth: 5}
          - rule_id: gcs_2
            direction: bytes_route
            url: "serial-hwfc:///dev/ttyACM0:57600"
            links:
              - link_name: link1
                udp_dst_ip: 10.0.0.2
                udp_dst_port: 14550
              - link_name: url1
                url: "tcp-l://0.0.0.0:5770"
          - rule_id: gcs_1
            direction: bytes_route
            url: "udp://0.0.0.0:14540@px4:14580"
            links:
              - link_name: url1
                url: "tcp-l://0.0.0.0:5770"
              - link_name: url2
                url: "udp-b://0.0.0.0:14555@255.255.255.255:14550"
        "#);
        let again = print(&planned(&printed, ""));
        let code = |text: &str| {
            text.lines().map(|l| l.split("  # ").next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(code(&again), code(&printed));
    }

    #[test]
    fn summary_names_both_sides() {
        let text = crate::summary::print(&planned(RULES, ""), &rostrans_codecs::builtin(), &[], &[]);
        insta::assert_snapshot!(text, @r"
        ROS: not needed
        bytes
          PORT                       STATE  FRAMING  USED BY
          udp 0.0.0.0:14540                 MAVLink  fcu, gcs_1
          tcp server 0.0.0.0:5770           MAVLink  gcs_1 (ground stations), gcs_2 (ground stations)
          udp 0.0.0.0:14555                 MAVLink  gcs_1 (ground stations)
          serial /dev/ttyACM0:57600         MAVLink  gcs_2, gcs_2 -> 10.0.0.2:14550
        topics
          TOPIC       TYPE                 QOS          RULE  CODEC
          /imu   out  sensor_msgs/msg/Imu  best effort  fcu   mavlink.imu
        ");
    }
}
