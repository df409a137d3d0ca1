//! What is said about addresses: loops, families, ports.

use rostrans_core::rule::{
    Direction::{BytesRoute, RosserviceToUdp, RostopicToUdp, SerialToRos, UdpToRosservice, UdpToRostopic},
    LinkConfig, Source,
};

use super::{super::*, fixture::*};

fn publish(line: u32, listen: &str, name: &str) -> ForwardRule {
    rule(line, UdpToRostopic, udp(listen), vec![raw(line, name)])
}

fn send(line: u32, name: &str, target: &str) -> ForwardRule {
    rule(line, RostopicToUdp, Source::None, vec![LinkConfig { target: to(target), ..raw(line, name) }])
}

fn route(line: u32, listen: &str, target: &str) -> ForwardRule {
    rule(line, BytesRoute, udp(listen), vec![endpoint(line, target)])
}

#[test]
fn topic_sent_to_where_it_is_published_from_is_refused() {
    for (listen, target) in [
        ("0.0.0.0:9000", "127.0.0.1:9000"),
        ("0.0.0.0:9000", "127.0.0.7:9000"),
        ("0.0.0.0:9000", "0.0.0.0:9000"),
        ("0.0.0.0:9000", "192.168.1.5:9000"),
        ("0.0.0.0:9000", "255.255.255.255:9000"),
        ("127.0.0.1:9000", "0.0.0.0:9000"),
        ("192.168.1.5:9000", "192.168.1.5:9000"),
        ("239.1.2.3:9000", "239.1.2.3:9000"),
        ("[::]:9000", "[::1]:9000"),
        ("[::]:9000", "[fd00::5]:9000"),
        ("[::1]:9000", "[::]:9000"),
    ] {
        let found = problems(vec![publish(1, listen, "/t"), send(2, "/t", target)]);
        assert_eq!(
            found,
            format!(
                "error: r.yaml:2: rule 'r2', link 'l': sends topic '/t' to {target}, which leads back here by way \
                 of rule 'r1' (r.yaml:1); each message would go round for ever; send to the port of another program, \
                 or rename one of the topics\n"
            ),
            "{listen}"
        );
    }
}

#[test]
fn topic_that_does_not_come_back_is_fine() {
    for (listen, name, target) in [
        ("0.0.0.0:9000", "/t", "127.0.0.1:9001"),
        ("0.0.0.0:9000", "/t", "192.168.1.6:9000"),
        ("0.0.0.0:9000", "/other", "127.0.0.1:9000"),
        ("127.0.0.1:9000", "/t", "127.0.0.2:9000"),
        ("127.0.0.1:9000", "/t", "192.168.1.5:9000"),
        ("192.168.1.5:9000", "/t", "127.0.0.1:9000"),
        ("0.0.0.0:9000", "/t", "[::1]:9000"),
        ("0.0.0.0:9000", "/t", "239.1.2.3:9000"),
    ] {
        assert_eq!(problems(vec![publish(1, listen, "/t"), send(2, name, target)]), "", "{listen} {target}");
    }
    let off = ForwardRule { enable: false, ..send(2, "/t", "127.0.0.1:9000") };
    assert_eq!(problems(vec![publish(1, "0.0.0.0:9000", "/t"), off]), "");
    assert!(run(vec![publish(1, "0.0.0.0:9000", "/t"), send(2, "/t", "127.0.0.1:9000")], "/t").is_ok());
    assert_eq!(problems(vec![publish(1, "0.0.0.0:9000", "/t"), publish(2, "0.0.0.0:9001", "/t")]), "");
}

#[test]
fn longer_ways_round_are_found_and_told_once() {
    let call = |line, direction, source, target| {
        let codec = if direction == UdpToRosservice { "json" } else { "mavlink.arming" };
        let link = LinkConfig { target, ..service(line, codec, "/s", "mavros_msgs/CommandBool") };
        rule(line, direction, source, vec![link])
    };
    let rules = vec![
        // Through two topics.
        publish(1, "0.0.0.0:9000", "/a"),
        send(2, "/a", "127.0.0.1:9001"),
        publish(3, "0.0.0.0:9001", "/b"),
        send(4, "/b", "127.0.0.1:9000"),
        // Through a route.
        send(5, "/c", "127.0.0.1:9002"),
        route(6, "0.0.0.0:9002", "192.168.1.5:9003"),
        publish(7, "0.0.0.0:9003", "/c"),
        // Routes that point at each other.
        route(8, "0.0.0.0:9004", "127.0.0.1:9005"),
        route(9, "127.0.0.1:9005", "192.168.1.5:9004"),
        // A service that calls itself.
        call(10, RosserviceToUdp, Source::None, to("127.0.0.1:9006")),
        call(11, UdpToRosservice, udp("0.0.0.0:9006"), None),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:2: rule 'r2', link 'l': sends topic '/a' to 127.0.0.1:9001, which leads back here by way of rule 'r3' (r.yaml:3), rule 'r4' (r.yaml:4), rule 'r1' (r.yaml:1); each message would go round for ever; send to the port of another program, or rename one of the topics
    error: r.yaml:5: rule 'r5', link 'l': sends topic '/c' to 127.0.0.1:9002, which leads back here by way of rule 'r6' (r.yaml:6), rule 'r7' (r.yaml:7); each message would go round for ever; send to the port of another program, or rename one of the topics
    error: r.yaml:8: rule 'r8', link 'l': sends packets to 127.0.0.1:9005, which leads back here by way of rule 'r9' (r.yaml:9); each packet would go round for ever; send to the port of another program
    error: r.yaml:10: rule 'r10', link 'l': sends calls of service '/s' to 127.0.0.1:9006, which leads back here by way of rule 'r11' (r.yaml:11); each call would call itself; send to the port of another program, or rename one of the services
    ");
}

#[test]
fn route_that_hears_itself_is_refused_and_a_chain_is_told() {
    let rules = vec![
        route(1, "0.0.0.0:9401", "192.168.1.5:9401"),
        route(2, "0.0.0.0:9402", "255.255.255.255:9402"),
        route(3, "0.0.0.0:9403", "127.0.0.1:9404"),
        route(4, "0.0.0.0:9404", "10.0.0.2:14550"),
        // To a rule that publishes: how one socket serves both.
        route(5, "0.0.0.0:9405", "127.0.0.1:9406"),
        publish(6, "0.0.0.0:9406", "/t"),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:1: rule 'r1', link 'l': sends to 192.168.1.5:9401, where the rule itself listens; every packet would come back; use the port the other program listens on
    error: r.yaml:2: rule 'r2', link 'l': sends to 255.255.255.255:9402, where the rule itself listens; every packet would come back; use the port the other program listens on
    warning: r.yaml:3: rule 'r3', link 'l': sends to 127.0.0.1:9404, where rule 'r4' (r.yaml:4) routes the packets once more; put the endpoints of both into one rule's links
    ");
}

#[test]
fn socket_of_one_family_cannot_send_to_the_other() {
    let arm = |line, target| LinkConfig {
        target: to(target),
        link_name: format!("m{line}").as_str().into(),
        ..service(line, "mavlink.arming", &format!("/s{line}"), "mavros_msgs/CommandBool")
    };
    let bound = |line, listen, target| ForwardRule { source: udp(listen), ..send(line, "/t", target) };
    let named = |line, target| LinkConfig { link_name: "m".into(), ..endpoint(line, target) };
    let rules = vec![
        route(1, "0.0.0.0:9401", "[::1]:14550"),
        route(2, "[::]:9402", "127.0.0.1:14550"),
        bound(3, "0.0.0.0:0", "[fe80::1]:5"),
        rule(4, BytesRoute, tty("/dev/x:9600"), vec![endpoint(4, "127.0.0.1:5"), named(5, "[::1]:5")]),
        ForwardRule {
            upstream: Some("0.0.0.0:9403".parse().unwrap()),
            ..rule(6, BytesRoute, tty("/dev/y:9600"), vec![endpoint(6, "[::1]:6")])
        },
        rule(7, RosserviceToUdp, Source::None, vec![arm(7, "[::1]:7"), arm(8, "127.0.0.1:8")]),
        // These are fine.
        route(9, "[::]:9404", "[::1]:14550"),
        send(10, "/t", "[::1]:9"),
        send(11, "/t", "127.0.0.1:9"),
        rule(12, SerialToRos, tty("/dev/z:9600"), vec![raw(12, "/u")]),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:1: rule 'r1', link 'l': sends to [::1]:14550 (IPv6), which the rule's socket on 0.0.0.0:9401 (IPv4) cannot reach; listen on '[::]:9401', or send to an IPv4 address
    error: r.yaml:2: rule 'r2', link 'l': sends to 127.0.0.1:14550 (IPv4), which the rule's socket on [::]:9402 (IPv6) cannot reach; listen on '0.0.0.0:9402', or send to an IPv6 address
    error: r.yaml:3: rule 'r3', link 'l': sends to [fe80::1]:5 (IPv6), which the rule's socket on 0.0.0.0:0 (IPv4) cannot reach; listen on '[::]:0', or send to an IPv4 address
    error: r.yaml:5: rule 'r4', link 'm': sends to [::1]:5 (IPv6), but the rule's first target is 127.0.0.1:5 (IPv4); one socket reaches one of them only; make a rule for each, or write an IPv4 address
    error: r.yaml:6: rule 'r6', link 'l': sends to [::1]:6 (IPv6), which the rule's socket on 0.0.0.0:9403 (IPv4) cannot reach; listen on '[::]:9403', or send to an IPv4 address
    error: r.yaml:8: rule 'r7', link 'm8': sends to 127.0.0.1:8 (IPv4), but the rule's first target is [::1]:7 (IPv6); one socket reaches one of them only; make a rule for each, or write an IPv6 address
    ");
}

#[test]
fn port_to_listen_on_must_be_known() {
    let rules = vec![
        publish(1, "0.0.0.0:0", "/t"),
        route(2, "127.0.0.1:0", "127.0.0.1:9"),
        rule(3, UdpToRosservice, udp("0.0.0.0:0"), vec![service(3, "json", "/x", "std_srvs/SetBool")]),
    ];
    insta::assert_snapshot!(problems(rules), @r"
    error: r.yaml:1: rule 'r1' (udp_to_rostopic) listens on port 0, which is another port at each start; write the port the other program sends to, e.g. 'udp_listen_port: 9000'
    error: r.yaml:2: rule 'r2' (bytes_route) listens on port 0, which is another port at each start; write the port the other program sends to, e.g. 'udp_listen_port: 9000'
    error: r.yaml:3: rule 'r3' (udp_to_rosservice) listens on port 0, which is another port at each start; write the port the other program sends to, e.g. 'udp_listen_port: 9000'
    ");
}
