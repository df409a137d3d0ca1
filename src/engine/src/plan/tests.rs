//! Plans of whole rule sets.

mod bridge;
mod diagnostics;
mod fixture;
mod network;
mod ros1;
mod talk;

use fixture::*;
use rostrans_core::rule::{
    Direction::{
        BytesRoute, RosToSerial, RosserviceToUdp, RostopicToUdp, SerialToRos, UdpToRosservice, UdpToRostopic,
    },
    LinkConfig, PortName, Source,
};

use super::*;

#[test]
fn rules_on_one_port_share_its_transport_and_its_route() {
    let out = |line, target| LinkConfig { target, ..raw(line, "/out") };
    let rules = vec![
        rule(1, SerialToRos, tty("/dev/ttyACM0:57600"), vec![imu(1, "/mavros/imu/data")]),
        rule(2, BytesRoute, tty("/dev/ttyACM0:57600"), vec![endpoint(2, "127.0.0.1:14550")]),
        rule(3, RosToSerial, Source::None, vec![out(3, to_tty("/dev/ttyACM0:57600"))]),
        rule(4, RosToSerial, tty("/dev/ttyACM0:57600"), vec![out(4, None)]),
        rule(5, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(5, "/a")]),
        rule(6, RostopicToUdp, udp("0.0.0.0:9000"), vec![out(6, to("10.0.0.2:9000"))]),
        rule(7, RostopicToUdp, Source::None, vec![out(7, to("10.0.0.2:9001"))]),
        ForwardRule { enable: false, ..rule(8, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(8, "/b")]) },
    ];
    insta::assert_snapshot!(sketch(&run(rules, "").unwrap().topology), @r#"
    T0 serial /dev/ttyACM0:57600 Mavlink route r2 -> [127.0.0.1:14550] upstream None
    T1 udp 0.0.0.0:9000 Datagram
    r1 serial_to_ros source Some(0) targets [Some(Serial(TransportId(0)))] ["l"]
    r3 ros_to_serial source None targets [Some(Serial(TransportId(0)))] ["l"]
    r4 ros_to_serial source Some(0) targets [Some(Serial(TransportId(0)))] ["l"]
    r5 udp_to_rostopic source Some(1) targets [None] ["l"]
    r6 rostopic_to_udp source Some(1) targets [Some(Udp(10.0.0.2:9000))] ["l"]
    r7 rostopic_to_udp source None targets [Some(Udp(10.0.0.2:9001))] ["l"]
    disabled ["r8"]
    "#);
}

#[test]
fn answers_to_a_service_arrive_at_the_port_it_sends_to() {
    let arm = |line: u32, target| {
        let name = format!("/arm{line}");
        LinkConfig { target, ..service(line, "mavlink.arming", &name, "mavros_msgs/CommandBool") }
    };
    let rules = vec![
        rule(1, RosserviceToUdp, Source::None, vec![arm(1, to("127.0.0.1:20100"))]),
        rule(2, RosserviceToUdp, Source::None, vec![arm(2, to("10.0.0.2:20102"))]),
        rule(3, RosserviceToUdp, Source::None, vec![arm(3, to_tty("/dev/ttyACM0:57600"))]),
        rule(4, RosserviceToUdp, udp("0.0.0.0:20101"), vec![arm(4, None)]),
        rule(5, UdpToRosservice, udp("0.0.0.0:7000"), vec![service(5, "json", "/x", "std_srvs/SetBool")]),
    ];
    insta::assert_snapshot!(sketch(&run(rules, "").unwrap().topology), @r#"
    T0 udp 127.0.0.1:0 Mavlink
    T1 udp 0.0.0.0:0 Mavlink
    T2 serial /dev/ttyACM0:57600 Mavlink
    T3 udp 0.0.0.0:20101 Mavlink
    T4 udp 0.0.0.0:7000 Datagram
    r1 rosservice_to_udp source Some(0) targets [Some(Udp(127.0.0.1:20100))] ["l"]
    r2 rosservice_to_udp source Some(1) targets [Some(Udp(10.0.0.2:20102))] ["l"]
    r3 rosservice_to_udp source Some(2) targets [Some(Serial(TransportId(2)))] ["l"]
    r4 rosservice_to_udp source Some(3) targets [None] ["l"]
    r5 udp_to_rosservice source Some(4) targets [None] ["l"]
    disabled []
    "#);
}

#[test]
fn byte_routes_to_urls_join_transports() {
    let rules = vec![
        rule(1, UdpToRostopic, url("udp://:14540@127.0.0.1:14580").into(), vec![imu(1, "/mavros/imu/data")]),
        rule(2, UdpToRostopic, url("tcp://ap:5760").into(), vec![imu(2, "/mavros2/imu/data")]),
        rule(3, BytesRoute, udp("0.0.0.0:14540"), vec![station(3, "tcp-l://:5770")]),
        rule(4, BytesRoute, url("tcp://ap:5760").into(), vec![station(4, "tcp-l://:5770")]),
        rule(5, BytesRoute, url("tcp://ap:5760").into(), vec![endpoint(5, "127.0.0.1:14550")]),
        rule(
            6,
            BytesRoute,
            tty("/dev/ttyACM0:57600"),
            vec![station(6, "udp://@"), endpoint(6, "10.0.0.2:1")],
        ),
    ];
    let topology = run(rules, "").unwrap().topology;
    insta::assert_snapshot!(sketch(&topology), @r#"
    T0 udp 0.0.0.0:14540 Mavlink
    T1 tcp ap:5760 Mavlink
    T2 tcp server 0.0.0.0:5770 Mavlink
    T3 udp 0.0.0.0:0 Mavlink
    T4 serial /dev/ttyACM0:57600 Mavlink route r6 -> [10.0.0.2:1] upstream None
    T5 udp 0.0.0.0:14555 Mavlink
    r1 udp_to_rostopic source Some(0) targets [None] ["l"]
    r2 udp_to_rostopic source Some(1) targets [None] ["l"]
    hub ["r3", "r4"] T[0, 1] <-> T2
    hub ["r5"] T[1] <-> T3
    hub ["r6"] T[4] <-> T5
    disabled []
    "#);
    assert_eq!(topology.transports[0].device, url("udp://:14540@127.0.0.1:14580"));
    let shared: Vec<_> = topology.transports.iter().map(|transport| transport.everyone).collect();
    assert_eq!(shared, [false, false, true, true, false, true]);
}

#[test]
fn byte_routes_to_urls_that_cannot_be_are_named() {
    let rules = vec![
        rule(1, BytesRoute, url("udp://:1@10.0.0.1:1").into(), vec![station(1, "udp://:1@")]),
        rule(2, BytesRoute, url("tcp-l://:5").into(), vec![station(2, "tcp-l://:6")]),
        rule(3, BytesRoute, url("tcp-l://:5").into(), vec![station(3, "tcp-l://:6")]),
        rule(4, UdpToRostopic, url("udp://:1@10.0.0.2:1").into(), vec![imu(4, "/a")]),
        rule(5, SerialToRos, url("tcp://h:1").into(), vec![imu(5, "/b")]),
        rule(6, RostopicToUdp, url("tcp://h:1").into(), vec![raw(6, "/c")]),
        rule(
            7,
            UdpToRostopic,
            udp("0.0.0.0:7"),
            vec![LinkConfig { target: station(7, "udp://@").target, ..imu(7, "/d") }],
        ),
        rule(8, UdpToRostopic, url("tcp-l://:6").into(), vec![raw(8, "/e")]),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:5: rule 'r5' (serial_to_ros) reads a serial port but names TCP; write 'direction: udp_to_rostopic'
    error: r.yaml:6: rule 'r6' (rostopic_to_udp) names TCP, which only 'udp_to_rostopic' and 'bytes_route' can use; use UDP or a serial port, or one of those directions
    error: r.yaml:7: rule 'r7', link 'l': names a 'url', which only links of 'bytes_route' can have; write 'udp_dst_ip' and 'udp_dst_port'
    error: r.yaml:1: rule 'r1' routes udp 0.0.0.0:1 to itself; name another port for ground stations
    error: r.yaml:3: rule 'r3' does what rule 'r2' does already; delete one of them
    error: r.yaml:4: rules 'r4' and 'r1' (r.yaml:1) use 0.0.0.0:1 with different remote addresses; they share one socket; write the same URL, or another port before '@'
    error: r.yaml:8: rule 'r8', link 'l' reads tcp server 0.0.0.0:6 as plain datagrams, but rule 'r2' reads it as MAVLink; give one of them another port
    ");
}

#[test]
fn filter_takes_out_topics_then_links_then_rules() {
    let mut both = imu(1, "/mavros/imu/data");
    both.ports.insert(PortName::from("data_raw"), topic("/mavros/imu/data_raw", "sensor_msgs/Imu"));
    let rules = vec![
        rule(1, UdpToRostopic, udp("0.0.0.0:20101"), vec![both]),
        rule(
            2,
            UdpToRostopic,
            udp("0.0.0.0:9000"),
            vec![raw(2, "/off/a"), LinkConfig { link_name: "m".into(), ..raw(3, "/on") }],
        ),
        rule(4, UdpToRostopic, udp("0.0.0.0:9001"), vec![raw(4, "/off/b")]),
        rule(5, UdpToRosservice, udp("0.0.0.0:7000"), vec![service(5, "json", "/off/s", "std_srvs/SetBool")]),
        rule(6, BytesRoute, udp("0.0.0.0:14560"), vec![endpoint(6, "127.0.0.1:14550")]),
    ];
    let planned = run(rules, "/mavros/imu/data\nprefix:/off").unwrap();
    insta::assert_snapshot!(sketch(&planned.topology), @r#"
    T0 udp 0.0.0.0:20101 Mavlink
    T1 udp 0.0.0.0:9000 Datagram
    T2 udp 0.0.0.0:14560 Datagram route r6 -> [127.0.0.1:14550] upstream None
    r1 udp_to_rostopic source Some(0) targets [None] ["l"]
    r2 udp_to_rostopic source Some(1) targets [None] ["m"]
    trimmed r1/l /mavros/imu/data by rostrans.filter:1: /mavros/imu/data
    trimmed r2/l /off/a by rostrans.filter:2: prefix:/off
    trimmed r4/l /off/b by rostrans.filter:2: prefix:/off
    trimmed r5/l /off/s by rostrans.filter:2: prefix:/off
    disabled []
    "#);
}

#[test]
fn problems_of_a_disabled_rule_are_warnings() {
    let off = ForwardRule {
        enable: false,
        ..rule(1, UdpToRostopic, udp("0.0.0.0:9000"), vec![link(1, "no_such")])
    };
    let twin = rule(1, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(2, "/a")]);
    let planned = run(vec![off, twin], "").unwrap();
    let lines: Vec<_> = planned.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(planned.topology.pipelines.len(), 1);
}
