//! What is said about rules that cannot work.

use std::net::SocketAddr;

use rostrans_core::rule::{
    CodecOptions,
    Direction::{
        BytesRoute, MemToRostopic, RosToSerial, RosserviceToUdp, RostopicToUdp, SerialToRos, UdpToRostopic,
    },
    LinkConfig, PortName, RateLimit, RosSelector, Source, UdpBind,
};

use super::{super::*, fixture::*};

#[test]
fn every_problem_of_a_link_is_named_with_place_and_remedy() {
    let receive = |line, link| rule(line, UdpToRostopic, udp("0.0.0.0:9000"), vec![link]);
    let send = |line, link| rule(line, RostopicToUdp, Source::None, vec![link]);
    let options = |line, text| LinkConfig {
        options: CodecOptions(serde_json::from_str(text).unwrap()),
        ..imu(line, "/imu")
    };
    let with_port = |line, port: &str, msg_type| {
        let mut link = imu(line, "/imu");
        link.ports.insert(PortName::from(port), topic("/raw", msg_type));
        link
    };
    let rules = vec![
        receive(
            1,
            LinkConfig { topic: Some(topic("/a", "std_msgs/UInt8MultiArray")), ..link(1, "raw_byte") },
        ),
        receive(2, LinkConfig { codec: None, ..raw(2, "/a") }),
        receive(3, link(3, "raw_bytes")),
        receive(4, LinkConfig { topic: Some(topic("/c", "std_msgs/String")), ..link(4, "raw_bytes") }),
        receive(5, LinkConfig { topic: Some(topic("/d", "std_msgs/Strin")), ..link(5, "json") }),
        receive(6, service(6, "json", "/s", "std_srvs/SetBool")),
        receive(7, service(7, "mavlink.arming", "/s", "std_srvs/SetBol")),
        send(8, LinkConfig { target: to("127.0.0.1:1"), ..imu(8, "/imu") }),
        send(9, raw(9, "/a")),
        send(10, LinkConfig { target: to_tty("/dev/x:9600"), ..raw(10, "/a") }),
        rule(11, RosserviceToUdp, udp("0.0.0.0:1"), vec![raw(11, "/a")]),
        rule(
            12,
            RosserviceToUdp,
            udp("0.0.0.0:2"),
            vec![service(12, "mavlink.arming", "/s2", "std_srvs/SetBool")],
        ),
        rule(13, UdpToRostopic, udp("0.0.0.0:3"), vec![options(13, r#"{"sysd": 1, "color": 2}"#)]),
        rule(14, UdpToRostopic, udp("0.0.0.0:3"), vec![options(14, r#"{"sysid": "one"}"#)]),
        rule(15, UdpToRostopic, udp("0.0.0.0:3"), vec![with_port(15, "data_rw", "sensor_msgs/Imu")]),
        rule(
            16,
            UdpToRostopic,
            udp("0.0.0.0:3"),
            vec![with_port(16, "data_raw", "std_msgs/UInt8MultiArray")],
        ),
        rule(17, UdpToRostopic, udp("0.0.0.0:3"), vec![with_port(17, "data", "sensor_msgs/Imu")]),
        rule(
            18,
            UdpToRostopic,
            udp("0.0.0.0:3"),
            vec![LinkConfig { topic: Some(topic("/imu", "std_msgs/Bool")), ..link(18, "json") }],
        ),
    ];
    insta::assert_snapshot!(problems(rules), @r#"
    error: r.yaml:1: unknown codec 'raw_byte'; did you mean 'raw_bytes'? see --list-codecs
    error: r.yaml:2: rule 'r2', link 'l': has no codec; add 'codec: ...'; see --list-codecs
    error: r.yaml:3: rule 'r3', link 'l': publishes nothing; add 'topic' and 'msg_type'
    error: r.yaml:4: rule 'r4', link 'l': topic '/c' is std_msgs/msg/String, but port 'data' of codec 'raw_bytes' carries std_msgs/msg/UInt8MultiArray; write 'msg_type: std_msgs/msg/UInt8MultiArray', or choose another codec
    error: r.yaml:5: rule 'r5', link 'l': topic '/d': type 'std_msgs/msg/Strin' is unknown; did you mean 'std_msgs/msg/String'?
    error: r.yaml:6: rule 'r6', link 'l': names a service, but udp_to_rostopic uses topics; write 'direction: udp_to_rosservice' or 'rosservice_to_udp', or name a topic
    error: r.yaml:7: rule 'r7', link 'l': names a service, but udp_to_rostopic uses topics; write 'direction: udp_to_rosservice' or 'rosservice_to_udp', or name a topic
    error: r.yaml:7: rule 'r7', link 'l': service '/s': type 'std_srvs/srv/SetBol' is unknown; did you mean 'std_srvs/srv/SetBool'?
    error: r.yaml:7: rule 'r7', link 'l': codec 'mavlink.arming' cannot decode frames to topics, which udp_to_rostopic needs; it can answer services over frames; see --list-codecs
    error: r.yaml:8: rule 'r8', link 'l': codec 'mavlink.imu' cannot encode topics to frames, which rostopic_to_udp needs; it can decode frames to topics; see --list-codecs
    error: r.yaml:9: rule 'r9', link 'l': does not say where to send; add 'udp_dst_ip' and 'udp_dst_port'
    error: r.yaml:10: rule 'r10', link 'l': sends to a serial port; write 'direction: ros_to_serial'
    error: r.yaml:11: rule 'r11', link 'l': names a topic, but rosservice_to_udp uses a service; write 'service' instead
    error: r.yaml:11: rule 'r11', link 'l': has no service; add 'service' and 'srv_type'
    error: r.yaml:11: rule 'r11', link 'l': codec 'raw_bytes' cannot answer services over frames, which rosservice_to_udp needs; it can decode frames to topics and encode topics to frames; see --list-codecs
    error: r.yaml:12: rule 'r12', link 'l': codec 'mavlink.arming': the service must be mavros_msgs/srv/CommandBool
    error: r.yaml:13: rule 'r13', link 'l': unknown option 'sysd'; did you mean 'sysid'?
    error: r.yaml:13: rule 'r13', link 'l': unknown option 'color'; codec 'mavlink.imu' knows sysid, frame_id
    error: r.yaml:14: rule 'r14', link 'l': codec 'mavlink.imu': option 'sysid': must be 1 to 255, not "one"
    error: r.yaml:15: rule 'r15', link 'l': codec 'mavlink.imu' has no port 'data_rw'; did you mean 'data_raw'?
    error: r.yaml:16: rule 'r16', link 'l': topic '/raw' is std_msgs/msg/UInt8MultiArray, but port 'data_raw' of codec 'mavlink.imu' carries sensor_msgs/msg/Imu; write 'msg_type: sensor_msgs/msg/Imu', or choose another codec
    error: r.yaml:17: rule 'r17', link 'l': port 'data' is bound by 'topic' already; delete it from 'ports', or delete 'topic'
    error: r.yaml:16: topic '/raw' is std_msgs/msg/UInt8MultiArray here, but sensor_msgs/msg/Imu at r.yaml:15; a topic has one type; rename one of the topics
    error: r.yaml:18: topic '/imu' is std_msgs/msg/Bool here, but sensor_msgs/msg/Imu at r.yaml:8; a topic has one type; rename one of the topics
    error: r.yaml:18: rule 'r18', link 'l' reads udp 0.0.0.0:3 as plain datagrams, but rule 'r13' reads it as MAVLink; give one of them another port
    "#);
}

#[test]
fn every_problem_of_a_source_is_named_with_place_and_remedy() {
    let rules = vec![
        rule(1, UdpToRostopic, tty("/dev/x:9600"), vec![raw(1, "/a")]),
        rule(2, SerialToRos, udp("0.0.0.0:9000"), vec![raw(2, "/a")]),
        rule(
            3,
            RostopicToUdp,
            tty("/dev/x:9600"),
            vec![LinkConfig { target: to("127.0.0.1:1"), ..raw(3, "/a") }],
        ),
        rule(
            4,
            RosToSerial,
            udp("0.0.0.0:9000"),
            vec![LinkConfig { target: to_tty("/dev/x:9600"), ..raw(4, "/a") }],
        ),
        rule(5, UdpToRostopic, Source::None, vec![raw(5, "/a")]),
        rule(6, SerialToRos, Source::None, vec![raw(6, "/a")]),
        rule(7, BytesRoute, Source::None, vec![endpoint(7, "127.0.0.1:1")]),
        rule(8, MemToRostopic, Source::Mem("seg".into()), vec![raw(8, "/a")]),
        rule(9, UdpToRostopic, Source::Mem("seg".into()), vec![raw(9, "/a")]),
        rule(10, UdpToRostopic, udp("0.0.0.0:9000"), vec![]),
        rule(11, RosToSerial, Source::None, vec![raw(11, "/a")]),
        rule(12, RosToSerial, Source::None, vec![LinkConfig { target: to("127.0.0.1:1"), ..raw(12, "/a") }]),
        ForwardRule {
            ros_version: RosSelector::Ros1,
            ..rule(13, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(13, "/a")])
        },
        ForwardRule {
            rule_id: "r1".into(),
            ..rule(14, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(14, "/a")])
        },
        rule(
            15,
            RostopicToUdp,
            udp("0.0.0.0:9000"),
            vec![LinkConfig { target: to("127.0.0.1:9000"), ..raw(15, "/a") }],
        ),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:14: rule_id 'r1' is taken by the rule at r.yaml:1; give each rule its own rule_id
    error: r.yaml:1: rule 'r1' (udp_to_rostopic) reads UDP but names a serial port; write 'direction: serial_to_ros', or 'udp_listen_port'
    error: r.yaml:2: rule 'r2' (serial_to_ros) reads a serial port but names UDP; write 'direction: udp_to_rostopic', or 'serial_port'
    error: r.yaml:3: rule 'r3' (rostopic_to_udp) writes UDP but names a serial port; write 'direction: ros_to_serial'
    error: r.yaml:4: rule 'r4' (ros_to_serial) writes a serial port but listens on UDP; write 'direction: rostopic_to_udp'
    error: r.yaml:5: rule 'r5' (udp_to_rostopic) does not say where to listen; add 'udp_listen_port', e.g. 'udp_listen_port: 9000'
    error: r.yaml:6: rule 'r6' (serial_to_ros) names no serial port; add 'serial_port', e.g. 'serial_port: /dev/ttyUSB0:921600'
    error: r.yaml:7: rule 'r7' (bytes_route) does not say where bytes come from; add 'udp_listen_port' or 'serial_port'
    error: r.yaml:8: rule 'r8': this version has no shared memory source; it arrives with the vision module in a later version; set 'enable: false' until then
    error: r.yaml:9: rule 'r9' (udp_to_rostopic) cannot read shared memory; delete 'mem_name' and name a UDP or serial source
    error: r.yaml:10: rule 'r10' has no links; add what to do with the data
    error: r.yaml:11: rule 'r11', link 'l': names no serial port; add 'serial_port', e.g. 'serial_port: /dev/ttyUSB0:921600'
    error: r.yaml:12: rule 'r12', link 'l': sends to UDP; write 'direction: rostopic_to_udp'
    error: r.yaml:13: rule 'r13' (udp_to_rostopic) asks for ROS 1, but no ROS 1 adapter runs; write 'ros_version: ros2' here, or set the parameter ros_version to all
    error: r.yaml:15: rule 'r15', link 'l': sends to 127.0.0.1:9000, where the rule itself listens; use the port the other program listens on
    ");
}

#[test]
fn limits_that_would_do_nothing_are_refused() {
    let limited = |link| LinkConfig { rate_limit: Some(RateLimit(5.0)), ..link };
    let arm = service(2, "mavlink.arming", "/s", "mavros_msgs/CommandBool");
    let rules = vec![
        rule(1, BytesRoute, udp("0.0.0.0:4"), vec![limited(endpoint(1, "127.0.0.1:5"))]),
        rule(2, RosserviceToUdp, udp("0.0.0.0:6"), vec![limited(arm)]),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:1: rule 'r1', link 'l': has 'rate_limit' or 'options', but bytes_route passes every byte; delete them
    error: r.yaml:2: rule 'r2', link 'l': has 'rate_limit', but each call of a service is answered; delete it
    ");
}

#[test]
fn claims_that_exclude_each_other_are_named_with_both_places() {
    let group = |line, interface: &str| {
        let bind =
            UdpBind { multicast_if: interface.into(), ..UdpBind::new("239.0.0.1:6000".parse().unwrap()) };
        rule(line, UdpToRostopic, Source::Udp(bind), vec![raw(line, "/a")])
    };
    let route = |line, source, target: &str| rule(line, BytesRoute, source, vec![endpoint(line, target)]);
    let upstream: Option<SocketAddr> = Some("0.0.0.0:14561".parse().unwrap());
    let rules = vec![
        rule(1, UdpToRostopic, udp("0.0.0.0:9000"), vec![raw(1, "/a")]),
        rule(2, UdpToRostopic, udp("127.0.0.1:9000"), vec![raw(2, "/a")]),
        rule(3, UdpToRostopic, udp("0.0.0.0:9000"), vec![imu(3, "/imu")]),
        rule(4, SerialToRos, tty("/dev/x:9600"), vec![imu(4, "/imu")]),
        rule(5, SerialToRos, tty("/dev/x:57600"), vec![imu(5, "/imu")]),
        route(6, udp("0.0.0.0:14560"), "127.0.0.1:14550"),
        route(7, udp("0.0.0.0:14560"), "127.0.0.1:14551"),
        route(8, udp("0.0.0.0:14562"), "127.0.0.1:14562"),
        ForwardRule { upstream, ..route(9, tty("/dev/y:9600"), "127.0.0.1:14550") },
        route(10, udp("0.0.0.0:14561"), "127.0.0.1:14550"),
        ForwardRule { upstream, ..route(11, tty("/dev/z:9600"), "127.0.0.1:14561") },
        group(12, "eth0"),
        group(13, "eth1"),
        rule(
            14,
            RosserviceToUdp,
            udp("0.0.0.0:1"),
            vec![LinkConfig {
                target: to("127.0.0.1:2"),
                ..service(14, "mavlink.arming", "/s", "mavros_msgs/CommandBool")
            }],
        ),
        rule(
            15,
            RosserviceToUdp,
            udp("0.0.0.0:1"),
            vec![LinkConfig {
                target: to("127.0.0.1:2"),
                ..service(15, "mavlink.arming", "/s", "mavros_msgs/CommandBool")
            }],
        ),
        ForwardRule {
            links: vec![endpoint(16, "127.0.0.1:5"), endpoint(17, "127.0.0.1:5")],
            ..route(16, udp("0.0.0.0:4"), "127.0.0.1:5")
        },
        ForwardRule {
            links: vec![
                raw(18, "/a"),
                LinkConfig { target: to_tty("/dev/q:1"), ..LinkConfig::new("m", None, at(19)) },
            ],
            ..route(18, udp("0.0.0.0:6"), "127.0.0.1:5")
        },
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:8: rule 'r8', link 'l': sends to 127.0.0.1:14562, where the rule itself listens; every packet would come back; use the port the other program listens on
    error: r.yaml:11: rule 'r11', link 'l': sends to 127.0.0.1:14561, where the rule itself listens; every packet would come back; use the port the other program listens on
    error: r.yaml:18: rule 'r18', link 'l': names codec 'raw_bytes', but bytes_route moves bytes undecoded; delete 'codec', or choose another direction
    error: r.yaml:18: rule 'r18', link 'l': names a topic or service, but bytes_route has none; delete it, or choose another direction
    error: r.yaml:18: rule 'r18', link 'l': has no endpoint; add 'udp_dst_ip' and 'udp_dst_port'
    error: r.yaml:19: rule 'r18', link 'm': sends to a serial port; make the serial port the rule's source ('serial_port' beside 'direction') and the UDP addresses its links, or write 'url: serial:///dev/ttyUSB0:57600' in the link
    error: r.yaml:15: service '/s' is offered already, at r.yaml:14; a service has one server; rename one of the services
    error: r.yaml:3: rule 'r3', link 'l' reads udp 0.0.0.0:9000 as MAVLink, but rule 'r1' reads it as plain datagrams; give one of them another port
    error: r.yaml:5: rule 'r5' opens /dev/x at 57600 baud, but rule 'r4' (r.yaml:4) at 9600; one port has one speed; write the same baud rate
    error: r.yaml:7: rule 'r7' routes udp 0.0.0.0:14560, which rule 'r6' routes already; put the endpoints of both into one rule's links
    error: r.yaml:13: rules 'r13' and 'r12' (r.yaml:12) listen on 239.0.0.1:6000 with different 'udp_multicast_if'; they share one socket; write the same interface
    warning: r.yaml:17: rule 'r16', link 'l': endpoint 127.0.0.1:5 is named twice; it gets each packet once
    error: r.yaml:2: rule 'r2' listens on 127.0.0.1:9000, but rule 'r1' (r.yaml:1) has 0.0.0.0:9000; write the same 'udp_listen_ip' in both to share the socket, or use another port
    error: r.yaml:9: rule 'r9' listens on 0.0.0.0:14561, but rule 'r10' (r.yaml:10) has 0.0.0.0:14561; give one of them another port
    error: r.yaml:11: rule 'r11' listens on 0.0.0.0:14561, but rule 'r10' (r.yaml:10) has 0.0.0.0:14561; give one of them another port
    ");
}

#[test]
fn built_in_type_that_the_distribution_defines_otherwise_is_refused() {
    let range = |codec| LinkConfig { topic: Some(topic("/r", "sensor_msgs/Range")), ..link(1, codec) };
    let plan = |codec, types: TypeRegistry| {
        let mut links = vec![range(codec)];
        // The same in all distributions.
        links.push(LinkConfig { link_name: "m".into(), ..raw(1, "/a") });
        let rules = vec![rule(1, UdpToRostopic, udp("0.0.0.0:9000"), links)];
        run_with(rules, "", types).err().unwrap_or_default()
    };
    let humble = || TypeRegistry::builder().with_humble().with_bundled().build();
    assert_eq!(plan("range", TypeRegistry::bundled()), []);
    assert_eq!(plan("json", humble()), []);
    let problems = plan("range", humble());
    assert_eq!(problems.len(), 1, "{problems:?}");
    let text = problems[0].to_string();
    assert!(text.contains("topic '/r': sensor_msgs/msg/Range is RIHS01_"), "{text}");
    assert!(text.contains("codec 'range' writes and reads RIHS01_"), "{text}");
}
