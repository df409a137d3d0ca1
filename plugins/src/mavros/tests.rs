use std::sync::Arc;

use rostrans_core::{
    adapter::Fabric,
    filter::TopicFilter,
    param::ParamSet,
    rule::{Source, Target},
};
use rostrans_engine::plan::{PlanContext, plan};
use rostrans_schema::TypeRegistry;

use super::*;

mod url;

fn settings(text: &str) -> Settings {
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), text, &mut problems);
    let settings = set.resolve(&params::ALL, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    settings
}

fn rules(text: &str) -> Vec<ForwardRule> {
    Mavros.rules(&settings(text)).unwrap()
}

/// `rule source -> target first-topic`, one line a rule.
fn show(rules: &[ForwardRule]) -> Vec<String> {
    let line = |rule: &ForwardRule| {
        let source = match &rule.source {
            Source::Udp(bind) => bind.addr.to_string(),
            Source::Serial(port) => port.to_string(),
            Source::Tcp(spec) => Device::Tcp(spec.clone()).to_string(),
            other => format!("{other:?}"),
        };
        let target = rule.links.iter().find_map(|link| match link.target {
            Some(Target::Udp(addr)) => Some(addr.to_string()),
            _ => None,
        });
        let state = rule.links.iter().flat_map(|link| link.ports.values()).next().unwrap();
        let target = target.unwrap_or_else(|| "peer".to_owned());
        format!("{} {} {source} -> {target} {}", rule.rule_id, rule.direction, state.name)
    };
    rules.iter().map(line).collect()
}

fn errors(text: &str) -> Vec<String> {
    Mavros.rules(&settings(text)).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn vehicles_of_coptersim_have_a_pair_of_ports_and_a_prefix_each() {
    assert_eq!(
        show(&rules("mavros_copter_count=3\nmavros_target_ip=192.168.1.9")),
        [
            "mavros_1 udp_to_rostopic 0.0.0.0:20101 -> 192.168.1.9:20100 /mavros/extended_state",
            "mavros_2 udp_to_rostopic 0.0.0.0:20103 -> 192.168.1.9:20102 /mavros2/extended_state",
            "mavros_3 udp_to_rostopic 0.0.0.0:20105 -> 192.168.1.9:20104 /mavros3/extended_state",
        ]
    );
}

#[test]
fn vehicles_may_start_at_another_number() {
    assert_eq!(
        show(&rules("mavros_start_copter_id=4\nmavros_target_ip=localhost")),
        ["mavros_4 udp_to_rostopic 0.0.0.0:20107 -> 127.0.0.1:20106 /mavros4/extended_state"]
    );
}

#[test]
fn vehicles_that_send_here_are_answered_where_they_send_from() {
    assert_eq!(
        show(&rules("mavros_listen_port=14540\nmavros_copter_count=2\nmavros_prefix=/uav{id}/mavros")),
        [
            "mavros_1 udp_to_rostopic 0.0.0.0:14540 -> peer /uav1/mavros/extended_state",
            "mavros_2 udp_to_rostopic 0.0.0.0:14540 -> peer /uav2/mavros/extended_state",
        ]
    );
    assert_eq!(
        show(&rules(
            "mavros_listen_port=14541\nmavros_listen_step=1\nmavros_start_copter_id=2\nmavros_copter_count=2"
        )),
        [
            "mavros_2 udp_to_rostopic 0.0.0.0:14541 -> peer /mavros2/extended_state",
            "mavros_3 udp_to_rostopic 0.0.0.0:14542 -> peer /mavros3/extended_state",
        ]
    );
}

#[test]
fn serial_port_takes_device_and_baud_rate() {
    let key = if cfg!(windows) { "mavros_win_serial" } else { "mavros_linux_serial" };
    let text = format!("mavros_transport_mode=serial\n{key}=/dev/ttyACM0\nmavros_baudrate=57600");
    assert_eq!(
        show(&rules(&text)),
        ["mavros_1 serial_to_ros /dev/ttyACM0:57600 -> peer /mavros/extended_state"]
    );
}

#[test]
fn everything_every_codec_has_is_bound() {
    let transforms = ["local_position", "global_position", "gimbal_control"];
    let rules = rules(&transforms.map(|plugin| format!("mavros_{plugin}_tf_send = true")).join("\n"));
    for codec in rostrans_codecs::builtin().iter().filter(|c| c.info().name.starts_with("mavlink.")) {
        let info = codec.info();
        if info.name == "mavlink.distance_sensor" {
            // A link of it publishes or reads.
            continue;
        }
        let link = rules[0].links.iter().find(|l| l.codec.as_ref().unwrap().as_str() == info.name);
        let link = link.unwrap_or_else(|| panic!("no link for {}", info.name));
        for port in info.ports.iter().chain(info.inputs) {
            assert!(link.ports.contains_key(port.name), "{} {}", info.name, port.name);
        }
        for service in info.services {
            assert!(link.services.contains_key(service.name), "{} {}", info.name, service.name);
        }
    }
}

#[test]
fn rules_plan_without_a_word() {
    let types = Arc::new(TypeRegistry::bundled());
    let codecs = rostrans_codecs::builtin();
    let filter = TopicFilter::default();
    let cx = PlanContext {
        filter: &filter,
        codecs: &codecs,
        types: &types,
        adapters: &[Fabric::Dds],
        own_addresses: &[],
    };
    for text in [
        "mavros_copter_count=5",
        "mavros_listen_port=14540\nmavros_copter_count=2",
        "mavros_transport_mode=serial\nmavros_compat=exact",
        "mavros_imu_stream_rate=0\nmavros_stream_rate=0",
        r#"mavros_distance_sensor_config={"laser": {"subscriber": true, "id": 3, "orientation": "PITCH_270"}}"#,
        "fcu_url=udp://:14540@px4\nmavros_copter_count=2\ngcs_url=udp://@127.0.0.1:14550,tcp-l://:5770",
        "mavros_copter_count=3\ngcs_url=udp://@",
        "fcu_url=tcp://127.0.0.1\nplugin_denylist=*",
    ] {
        let planned = plan(rules(text), &cx).unwrap();
        assert_eq!(planned.warnings, [], "{text}");
        assert!(planned.topology.trimmed.is_empty());
    }
}

#[test]
fn options_follow_the_parameters() {
    let rules = rules("mavros_imu_stream_rate=77\nmavros_compat=exact\nmavros_copter_count=2");
    let link = |rule: usize, name: &str| {
        rules[rule].links.iter().find(|l| l.link_name.as_str() == name).unwrap().options.0.clone()
    };
    assert_eq!(link(1, "link")["imu_rate"], 77);
    assert_eq!(link(1, "link")["sysid"], 2);
    assert_eq!(link(0, "imu")["exact"], true);
    assert!(!link(0, "vfr_hud").contains_key("exact"));
}

#[test]
fn every_problem_is_reported_with_place_and_remedy() {
    let serial = if cfg!(windows) { "mavros_win_serial" } else { "mavros_linux_serial" };
    let cases = [
        (
            "mavros_target_ip=host\nmavros_copter_count=255\nmavros_start_copter_id=2".to_owned(),
            vec![
                "rostrans.param:1: invalid 'mavros_target_ip' 'host'; write an IP address, e.g. '192.168.1.10'",
                "rostrans.param:2: 255 vehicles from number 2 on need system ids up to 256; MAVLink system ids end at 255; lower 'mavros_copter_count' or 'mavros_start_copter_id'",
            ],
        ),
        (
            "mavros_base_port=65535".to_owned(),
            vec![
                "rostrans.param:1: 'mavros_base_port' 65535 leads to ports above 65535; lower it, or the number of vehicles",
            ],
        ),
        (
            "mavros_listen_port=65000\nmavros_listen_step=600\nmavros_copter_count=2".to_owned(),
            vec![
                "rostrans.param:1: 'mavros_listen_port' 65000 leads to ports above 65535; lower it, or the number of vehicles",
            ],
        ),
        (
            "mavros_prefix=/mav ros".to_owned(),
            vec![
                "rostrans.param:1: 'mavros_prefix' makes no topic: invalid topic name '/mav ros/state'; use letters, digits, '_' and '/', each part starting with a letter or '_'",
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(errors(&text), expected, "{text}");
    }
    let text = format!("mavros_transport_mode=serial\n{serial}=");
    let problems = Mavros.rules(&{
        let mut set = ParamSet::default();
        for line in text.lines() {
            let (key, value) = line.split_once('=').unwrap();
            set.set(key, if value.is_empty() { ":9" } else { value }, Origin::CommandLine);
        }
        set.resolve(&params::ALL, &mut Vec::new())
    });
    assert!(problems.unwrap_err()[0].to_string().starts_with("command line: '"));
}
