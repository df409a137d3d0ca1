//! Codecs that read topics and answer services besides publishing.

use rostrans_core::{
    rule::{
        Direction::{RosserviceToUdp, RostopicToUdp, SerialToRos, UdpToRosservice, UdpToRostopic},
        LinkConfig, Source,
    },
    topic::ServiceSpec,
};

use rostrans_schema::TypeName;

use super::{super::*, fixture::*};

fn listen(line: u32, link: LinkConfig) -> ForwardRule {
    rule(line, UdpToRostopic, udp(&format!("0.0.0.0:{}", 9000 + line)), vec![link])
}

#[test]
fn any_of_what_a_codec_offers_may_be_bound() {
    let rules = vec![
        listen(1, talk(1, "/out1", "/in1", "/set1")),
        listen(2, talk(2, "", "/in2", "")),
        listen(3, talk(3, "", "", "/set3")),
        rule(4, SerialToRos, tty("/dev/x:9600"), vec![talk(4, "", "/in4", "/set4")]),
        // Several links may read one topic.
        listen(5, talk(5, "", "/in1", "")),
    ];
    assert_eq!(problems(rules), "");
}

#[test]
fn what_does_not_fit_is_named_with_place_and_remedy() {
    let mut odd = talk(1, "/out", "/in1", "/set1");
    odd.ports.insert("cmdd".into(), topic("/b", "std_msgs/Bool"));
    odd.services.insert("sett".into(), odd.services["set"].clone());
    let mut types = talk(2, "", "/in2", "/set2");
    types.ports.insert("cmd".into(), topic("/in2", "std_msgs/Bool"));
    let trigger = TypeName::service("std_srvs/Trigger").unwrap();
    types.services.insert("set".into(), ServiceSpec { srv_type: trigger, ..types.services["set"].clone() });
    let mut unknown = talk(3, "", "", "/set3");
    let no_such = TypeName::service("std_srvs/SetBol").unwrap();
    unknown
        .services
        .insert("set".into(), ServiceSpec { srv_type: no_such, ..unknown.services["set"].clone() });
    let services = |line: u32, codec| LinkConfig {
        services: talk(line, "", "", &format!("/set{line}")).services,
        target: to("127.0.0.1:1"),
        ..link(line, codec)
    };
    let rules = vec![
        listen(1, odd),
        listen(2, types),
        listen(3, unknown),
        listen(4, LinkConfig { codec: Some("hasty".into()), ..talk(4, "", "/in4", "") }),
        listen(5, link(5, "mute")),
        listen(6, link(6, "talk")),
        listen(7, LinkConfig { topic: Some(topic("/t", "std_msgs/Bool")), ..link(7, "mute") }),
        listen(8, services(8, "raw_bytes")),
        rule(
            9,
            RostopicToUdp,
            Source::None,
            vec![LinkConfig { topic: raw(9, "/a").topic, ..services(9, "raw_bytes") }],
        ),
        rule(
            10,
            RosserviceToUdp,
            udp("0.0.0.0:8000"),
            vec![LinkConfig {
                services: services(10, "").services,
                ..service(10, "mavlink.arming", "/arm", "mavros_msgs/CommandBool")
            }],
        ),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:1: rule 'r1', link 'l': codec 'talk' has no port 'cmdd'; did you mean 'cmd'?
    error: r.yaml:1: rule 'r1', link 'l': codec 'talk' has no service 'sett'; did you mean 'set'?
    error: r.yaml:2: rule 'r2', link 'l': topic '/in2' is std_msgs/msg/Bool, but port 'cmd' of codec 'talk' carries sensor_msgs/msg/Range; write 'msg_type: sensor_msgs/msg/Range', or choose another codec
    error: r.yaml:2: rule 'r2', link 'l': service '/set2' is std_srvs/srv/Trigger, but service 'set' of codec 'talk' is std_srvs/srv/SetBool; write 'srv_type: std_srvs/srv/SetBool', or delete 'srv_type'
    error: r.yaml:3: rule 'r3', link 'l': service '/set3': type 'std_srvs/srv/SetBol' is unknown; did you mean 'std_srvs/srv/SetBool'?
    error: r.yaml:3: rule 'r3', link 'l': service '/set3' is std_srvs/srv/SetBol, but service 'set' of codec 'talk' is std_srvs/srv/SetBool; write 'srv_type: std_srvs/srv/SetBool', or delete 'srv_type'
    error: r.yaml:4: rule 'r4', link 'l': codec 'hasty' is inline, but has inputs or services; this is a bug in the codec
    error: r.yaml:5: rule 'r5', link 'l': reads no topic and answers no service; add 'ports' or 'services'
    error: r.yaml:6: rule 'r6', link 'l': publishes nothing; add 'topic' and 'msg_type'
    error: r.yaml:7: rule 'r7', link 'l': codec 'mute' publishes no topics; name its inputs in 'ports'
    error: r.yaml:8: rule 'r8', link 'l': codec 'raw_bytes' has no service 'set'; it has none
    error: r.yaml:9: rule 'r9', link 'l': has 'services', but rostopic_to_udp answers none of them; write 'direction: udp_to_rostopic' or 'serial_to_ros', or delete it
    error: r.yaml:10: rule 'r10', link 'l': has 'services', but rosservice_to_udp answers none of them; write 'direction: udp_to_rostopic' or 'serial_to_ros', or delete it
    error: r.yaml:1: service '/set1' is offered already, at r.yaml:1; a service has one server; rename one of the services
    ");
}

#[test]
fn service_is_offered_once_whoever_answers_it() {
    let arm = service(3, "mavlink.arming", "/same", "mavros_msgs/CommandBool");
    let rules = vec![
        listen(1, talk(1, "", "", "/same")),
        listen(2, talk(2, "", "", "/same")),
        rule(3, RosserviceToUdp, udp("0.0.0.0:8000"), vec![LinkConfig { target: to("127.0.0.1:1"), ..arm }]),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:2: service '/same' is offered already, at r.yaml:1; a service has one server; rename one of the services
    error: r.yaml:3: service '/same' is offered already, at r.yaml:2; a service has one server; rename one of the services
    ");
}

#[test]
fn two_modules_for_one_vehicle_are_one_mistake() {
    let of = |line: u32, module: &'static str, service: &str| {
        let link = talk(line, "", "", service);
        listen(line, LinkConfig { origin: Origin::Plugin(module), ..link })
    };
    let rules = vec![
        of(1, "dllmodel", "/mavros/set_mode"),
        of(2, "dllmodel", "/mavros2/set_mode"),
        of(3, "mavros", "/mavros/set_mode"),
        of(4, "mavros", "/mavros2/set_mode"),
    ];
    insta::assert_snapshot!(problems(rules), @"error: plugin mavros: service '/mavros/set_mode' is offered already, at plugin dllmodel; a vehicle has one module; switch one off, or give them other prefixes or vehicle numbers");
}

#[test]
fn filter_takes_out_inputs_and_services() {
    let rules = vec![
        listen(1, talk(1, "/out1", "/off/in1", "/off/set1")),
        listen(2, talk(2, "", "/off/in2", "/set2")),
        listen(3, talk(3, "", "/off/in3", "/off/set3")),
    ];
    let planned = run(rules, "prefix:/off").unwrap();
    insta::assert_snapshot!(sketch(&planned.topology), @r#"
    T0 udp 0.0.0.0:9001 Datagram
    T1 udp 0.0.0.0:9002 Datagram
    r1 udp_to_rostopic source Some(0) targets [None] ["l"]
    r2 udp_to_rostopic source Some(1) targets [None] ["l"]
    trimmed r1/l /off/in1 by rostrans.filter:1: prefix:/off
    trimmed r1/l /off/set1 by rostrans.filter:1: prefix:/off
    trimmed r2/l /off/in2 by rostrans.filter:1: prefix:/off
    trimmed r3/l /off/in3 by rostrans.filter:1: prefix:/off
    trimmed r3/l /off/set3 by rostrans.filter:1: prefix:/off
    disabled []
    "#);
    let link = |rule: usize| &planned.topology.pipelines[rule].rule.links[0];
    assert_eq!((link(0).ports.len(), link(0).services.len()), (1, 0));
    assert_eq!((link(1).ports.len(), link(1).services.len()), (0, 1));
}

#[test]
fn what_a_link_reads_and_answers_must_not_come_back() {
    let send = |link| LinkConfig { target: to("127.0.0.1:9009"), ..link };
    let back = |link| rule(9, UdpToRostopic, udp("0.0.0.0:9009"), vec![link]);
    let relay =
        rule(9, UdpToRosservice, udp("0.0.0.0:9009"), vec![service(9, "json", "/s", "std_srvs/SetBool")]);
    let publish = |name| LinkConfig { topic: Some(topic(name, "sensor_msgs/Range")), ..link(9, "json") };
    let talks = || listen(1, send(talk(1, "/out", "/in", "")));
    assert_eq!(problems(vec![talks(), back(publish("/other"))]), "");
    insta::assert_snapshot!(problems(vec![talks(), back(publish("/in"))]), @r"error: r.yaml:1: rule 'r1', link 'l': sends topic '/in' to 127.0.0.1:9009, which leads back here by way of rule 'r9' (r.yaml:9); each message would go round for ever; send to the port of another program, or rename one of the topics");
    insta::assert_snapshot!(problems(vec![listen(1, send(talk(1, "", "", "/s"))), relay]), @r"error: r.yaml:1: rule 'r1', link 'l': sends calls of service '/s' to 127.0.0.1:9009, which leads back here by way of rule 'r9' (r.yaml:9); each call would call itself; send to the port of another program, or rename one of the services");
}

#[test]
fn vehicle_that_reads_and_publishes_is_no_loop() {
    let send = |line, listen, target, link| {
        rule(line, UdpToRostopic, udp(listen), vec![LinkConfig { target: to(target), ..link }])
    };
    let rules = vec![
        // To its own socket: how a vehicle on the same port is reached.
        send(1, "0.0.0.0:14540", "127.0.0.1:14557", talk(1, "/a/out", "/a/in", "/a/set")),
        // To each other's sockets, under other names.
        send(2, "0.0.0.0:9002", "127.0.0.1:9003", talk(2, "/b/out", "/b/in", "/b/set")),
        send(3, "0.0.0.0:9003", "127.0.0.1:9002", talk(3, "/c/out", "/c/in", "/c/set")),
    ];
    assert_eq!(problems(rules), "");
}

#[test]
fn service_that_the_distribution_defines_otherwise_is_refused() {
    let humble = || TypeRegistry::builder().with_humble().with_bundled().build();
    let found = run_with(vec![listen(1, talk(1, "", "/in", "/set"))], "", humble()).unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_string().contains("topic '/in': sensor_msgs/msg/Range is RIHS01_"), "{found:?}");
}
