//! `fcu_url`, `gcs_url`, ids and the lists of plugins.

use rostrans_core::rule::MavUrl;

use super::*;

/// `rule source -> stations or first topic`, one line a rule.
fn urls(text: &str) -> Vec<String> {
    let show = |device: Device| MavUrl { device, ids: None }.to_string();
    let line = |rule: &ForwardRule| {
        let source = match &rule.source {
            Source::Udp(bind) => show(Device::Udp(bind.clone())),
            Source::Serial(port) => show(Device::Serial(port.clone())),
            Source::Tcp(spec) => show(Device::Tcp(spec.clone())),
            other => format!("{other:?}"),
        };
        let stations = rule.links.iter().filter_map(|link| match &link.target {
            Some(Target::Device(device)) => Some(show(device.clone())),
            _ => None,
        });
        let topic = rule
            .links
            .iter()
            .flat_map(|link| link.ports.values())
            .find(|t| t.name.as_str().ends_with("/state"));
        let ends: Vec<_> = topic.map(|topic| topic.name.to_string()).into_iter().chain(stations).collect();
        format!("{} {source} -> {}", rule.rule_id, ends.join(" "))
    };
    rules(text).iter().map(line).collect()
}

#[test]
fn fcu_url_serves_the_vehicle_and_wins_over_the_other_keys() {
    for (text, expected) in [
        (
            "fcu_url=udp://:14540@127.0.0.1:14557",
            "mavros_1 udp://0.0.0.0:14540@127.0.0.1:14557 -> /mavros/state",
        ),
        (
            "fcu_url=/dev/ttyACM0:57600\nmavros_listen_port=1",
            "mavros_1 serial:///dev/ttyACM0:57600 -> /mavros/state",
        ),
        ("fcu_url=tcp://px4\nmavros_transport_mode=serial", "mavros_1 tcp://px4:5760 -> /mavros/state"),
        ("fcu_url=tcp-l://\ntgt_system=7", "mavros_7 tcp-l://0.0.0.0:5760 -> /mavros/state"),
        (
            "fcu_url=udp-b://@\nmavros_start_copter_id=2",
            "mavros_2 udp-b://0.0.0.0:14555@255.255.255.255:14550 -> /mavros2/state",
        ),
    ] {
        assert_eq!(urls(text), [expected], "{text}");
    }
    assert!(Mavros.enabled(&settings("fcu_url=udp://@")) && !Mavros.enabled(&settings("fcu_url=")));
    assert!(!Mavros.enabled(&settings("fcu_url=udp://@\nenable_mavros=false")));
}

#[test]
fn several_vehicles_step_ports_or_share_them_or_have_their_number_in_the_url() {
    assert_eq!(
        urls("fcu_url=udp://:14540@127.0.0.1:14580\nmavros_listen_step=1\nmavros_copter_count=2"),
        [
            "mavros_1 udp://0.0.0.0:14540@127.0.0.1:14580 -> /mavros/state",
            "mavros_2 udp://0.0.0.0:14541@127.0.0.1:14581 -> /mavros2/state",
        ]
    );
    assert_eq!(
        urls("fcu_url=udp://:14551@\nmavros_copter_count=2\ntgt_system=3\nmavros_prefix=/uav{id}/mavros"),
        [
            "mavros_3 udp://0.0.0.0:14551@ -> /uav3/mavros/state",
            "mavros_4 udp://0.0.0.0:14551@ -> /uav4/mavros/state"
        ]
    );
    assert_eq!(
        urls("fcu_url=/dev/ttyUSB{id}:57600\nmavros_copter_count=2"),
        [
            "mavros_1 serial:///dev/ttyUSB1:57600 -> /mavros/state",
            "mavros_2 serial:///dev/ttyUSB2:57600 -> /mavros2/state",
        ]
    );
    assert_eq!(
        urls("fcu_url=udp://:14600@10.0.0.1:14550\nmavros_listen_step=2\nmavros_copter_count=2")
            .last()
            .unwrap(),
        "mavros_2 udp://0.0.0.0:14602@10.0.0.1:14550 -> /mavros2/state",
        "a port that all share stays"
    );
}

#[test]
fn gcs_url_is_a_byte_route_for_each_device_of_vehicles() {
    assert_eq!(
        urls("fcu_url=/dev/ttyACM0\ngcs_url=udp://@127.0.0.1:14550, tcp-l://:5770")[1..],
        [
            "mavros_gcs_1 serial:///dev/ttyACM0:57600 -> udp://0.0.0.0:14555@127.0.0.1:14550 tcp-l://0.0.0.0:5770"
        ]
    );
    assert_eq!(
        urls("fcu_url=udp://:14540@\ngcs_url=udp-b://:1{id}@\nmavros_copter_count=2")[2..],
        [
            "mavros_gcs_1 udp://0.0.0.0:14540@ -> udp-b://0.0.0.0:11@255.255.255.255:14550 udp-b://0.0.0.0:12@255.255.255.255:14550"
        ],
        "one device for both"
    );
    assert_eq!(
        urls("gcs_url=udp://@\nmavros_copter_count=2")[2..],
        [
            "mavros_gcs_1 udp-pb://0.0.0.0:20101@127.0.0.1:20100 -> udp://0.0.0.0:14555@",
            "mavros_gcs_2 udp-pb://0.0.0.0:20103@127.0.0.1:20102 -> udp://0.0.0.0:14555@",
        ],
        "CopterSim hears on its own port only"
    );
}

#[test]
fn ids_are_options_and_those_of_the_url_win() {
    let option = |rules: &[ForwardRule], link: &str, name: &str| {
        let link = rules[0].links.iter().find(|l| l.link_name.as_str() == link).unwrap();
        link.options.0.get(name).cloned()
    };
    let given = rules("system_id=255\ncomponent_id=240\ntgt_component=2\ntgt_system=9");
    assert_eq!(option(&given, "link", "own_sysid"), Some(255.into()));
    assert_eq!(option(&given, "link", "own_compid"), Some(240.into()));
    for link in ["link", "state", "imu"] {
        assert_eq!(option(&given, link, "compid"), Some(2.into()), "{link}");
        assert_eq!(option(&given, link, "sysid"), Some(9.into()), "{link}");
    }
    let url = rules("fcu_url=udp://:14540@?ids=3,4\nsystem_id=255");
    assert_eq!(option(&url, "link", "own_sysid"), Some(3.into()));
    assert_eq!(option(&url, "link", "own_compid"), Some(4.into()));
    assert_eq!(option(&rules(""), "link", "own_sysid"), None, "that of the vehicle");
}

#[test]
fn plugin_lists_leave_out_names_and_links_without_any() {
    let rules = rules("plugin_denylist=imu, sys_*\nplugin_allowlist=SYS_TIME");
    let links: Vec<_> = rules[0].links.iter().map(|link| link.link_name.as_str()).collect();
    assert!(!links.contains(&"imu") && !links.contains(&"battery") && !links.contains(&"state"), "{links:?}");
    assert!(links.contains(&"link") && links.contains(&"rc"), "{links:?}");
}

#[test]
fn mistakes_in_urls_are_reported_with_place_and_remedy() {
    for (text, expected) in [
        (
            "fcu_url=upd://:14540@",
            "rostrans.param:1: invalid 'fcu_url' 'upd://:14540@': scheme 'upd' is unknown; did you mean 'udp://'?",
        ),
        (
            "fcu_url=udp://:14540@,udp://:14541@",
            "rostrans.param:1: invalid 'fcu_url' 'udp://:14540@,udp://:14541@': it is not one URL; write a single URL here",
        ),
        (
            "fcu_url=udp://:@",
            "rostrans.param:1: invalid 'fcu_url' 'udp://:@': no port behind ':' in ':'; write a number from 1 to 65535; IPv6 addresses need brackets",
        ),
        (
            "\ngcs_url=14550",
            "rostrans.param:2: invalid 'gcs_url' '14550': it has no scheme; begin with udp://, tcp://, tcp-l://, serial:// or a device, e.g. 'udp://:14540@127.0.0.1:14557' or '/dev/ttyACM0:57600'",
        ),
        (
            "gcs_url=udp://@?ids=1,2",
            "rostrans.param:1: 'gcs_url' 'udp://@?ids=1,2' sets own ids, but its frames pass unchanged; write '?ids=' in 'fcu_url'",
        ),
        (
            "fcu_url=udp://:65000@\nmavros_copter_count=2\nmavros_listen_step=600",
            "rostrans.param:1: 'fcu_url' udp://:65000@ leads to ports above 65535; lower it, or the number of vehicles",
        ),
        (
            "mavros_copter_count=2\ntgt_system=255",
            "rostrans.param:1: 2 vehicles from number 255 on need system ids up to 256; MAVLink system ids end at 255; lower 'mavros_copter_count' or 'tgt_system'",
        ),
    ] {
        assert_eq!(errors(text), [expected], "{text}");
    }
}
