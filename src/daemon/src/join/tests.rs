use rostrans_core::param::ParamSet;

use super::*;
use crate::params;

const ALL: &[Fabric] = &[Fabric::Ros1, Fabric::Dds, Fabric::Zenoh, Fabric::R2r];

/// The choice as text, and the problems.
fn chosen(params: &[(&str, &str)], env: &[(&str, &str)], built_in: &[Fabric]) -> String {
    let mut problems = Vec::new();
    let mut set = ParamSet::default();
    for (key, value) in params {
        set.set(key, value, Origin::CommandLine);
    }
    let settings = set.resolve(&params::all(&[]), &mut problems);
    let look_up = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let choice = choose(&settings, &look_up, built_in, &mut problems);
    let fabrics: Vec<String> = choice.fabrics.iter().map(ToString::to_string).collect();
    let why = if choice.why.is_empty() { String::new() } else { format!(" ({})", choice.why) };
    let problems: String = problems.iter().map(|problem| format!("; {problem}")).collect();
    format!("{}{why}{problems}", fabrics.join("+"))
}

#[test]
fn settings_win_over_the_environment() {
    let zenoh = [("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")];
    let ros1 = [("ROS_VERSION", "1"), ("ROS_DISTRO", "noetic")];
    let ros2 = [("ROS_VERSION", "2"), ("ROS_DISTRO", "jazzy"), ("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")];
    let (version, transport) = ("ros_version", "ros2_transport");
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str);
    let table: &[Row<'_>] = &[
        (&[], &[], "dds"),
        (&[], &ros2, "dds"),
        (&[], &zenoh, "zenoh (RMW_IMPLEMENTATION names Zenoh)"),
        (&[(transport, "dds")], &zenoh, "dds"),
        (&[(transport, "zenoh")], &[], "zenoh"),
        (&[(transport, "zenoh, dds,zenoh")], &[], "zenoh+dds"),
        (&[(transport, "all")], &[], "dds+zenoh"),
        (&[(transport, "r2r")], &ros2, "r2r"),
        (&[], &ros1, "ros1 (ROS_VERSION=1)"),
        (&[(version, "ros2")], &ros1, "dds"),
        (&[(version, "ros1")], &zenoh, "ros1"),
        (&[(version, "all")], &[], "ros1+dds"),
        (&[(version, "all"), (transport, "all")], &ros1, "ros1+dds+zenoh"),
        (&[(version, "all")], &zenoh, "ros1+zenoh (RMW_IMPLEMENTATION names Zenoh)"),
    ];
    for (params, env, want) in table {
        assert_eq!(chosen(params, env, ALL), *want, "{params:?} {env:?}");
    }
}

#[test]
fn ros1_settings_are_checked_where_ros1_is_joined() {
    let bad = [("ROS_MASTER_URI", "robot:11311"), ("ROS_IP", "a/b"), ("ROS_NAMESPACE", "x y")];
    assert_eq!(chosen(&[], &bad, ALL), "dds");
    let ros1 = |more: &[(&str, &str)], env| chosen(&[&[("ros_version", "ros1")], more].concat(), env, ALL);
    let environment = [
        "ros1; environment: invalid ROS_MASTER_URI 'robot:11311'; use http://HOST:11311",
        "ros1; environment: invalid ROS_HOSTNAME or ROS_IP 'a/b'; use a name or address without port",
        "ros1; environment: invalid node 'rostrans' in namespace '/x y'; use letters, digits and '_', and a namespace that starts with '/'",
    ];
    for (variable, want) in bad.chunks(1).zip(environment) {
        assert_eq!(ros1(&[], variable), want);
    }
    let said = ros1(&[("ros_master_uri", "http://robot")], &bad[..1]);
    assert_eq!(said, "ros1; command line: invalid ROS_MASTER_URI 'http://robot'; use http://HOST:11311");
    let good =
        [("ros_master_uri", "http://robot:11311"), ("ros_hostname", "me"), ("node_namespace", "/uav1")];
    assert_eq!(ros1(&good, &bad), "ros1");
}

#[test]
fn what_is_not_there_is_refused_with_a_remedy() {
    let dds = &[Fabric::Dds];
    insta::assert_snapshot!(chosen(&[("ros2_transport", "zenho")], &[], ALL), @"; command line: invalid value 'zenho' for 'ros2_transport'; did you mean 'zenoh'?");
    insta::assert_snapshot!(chosen(&[("ros2_transport", "dds,r2r")], &[], dds), @"dds; command line: ros2_transport=r2r is not in this rostrans; source ROS 2 and build it with '--features r2r', or write ros2_transport=dds");
    insta::assert_snapshot!(chosen(&[("ros_version", "all")], &[], dds), @"dds; command line: ROS 1 is not in this rostrans; write ros_version=ros2");
    insta::assert_snapshot!(chosen(&[], &[("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")], dds), @"dds; environment: RMW_IMPLEMENTATION=rmw_zenoh_cpp, but this rostrans has no Zenoh and joins over DDS: Zenoh nodes will not see it; build it with the feature 'zenoh', or write ros2_transport=dds");
}

#[cfg(feature = "zenoh")]
#[test]
fn what_zenoh_cannot_use_is_refused_where_it_was_said() {
    let zenoh = ("ros2_transport", "zenoh");
    let udp = [zenoh, ("zenoh_connect", "tcp/localhost:7447, udp/robot:7447")];
    insta::assert_snapshot!(chosen(&udp, &[], ALL), @"zenoh; command line: invalid Zenoh endpoint 'udp/robot:7447'; write tcp/HOST:PORT, as in tcp/192.168.1.5:7447");
    let file = [("ZENOH_SESSION_CONFIG_URI", "file:///no/such.json5")];
    let text = chosen(&[zenoh], &file, ALL);
    assert!(
        text.starts_with("zenoh; environment: cannot use Zenoh's configuration '/no/such.json5': "),
        "{text}"
    );
    let setting = [("ZENOH_CONFIG_OVERRIDE", "mode")];
    insta::assert_snapshot!(chosen(&[zenoh], &setting, ALL), @"zenoh; environment: ZENOH_CONFIG_OVERRIDE: 'mode' is no setting; write key=value;key=value");
    // Not of interest over DDS.
    assert_eq!(chosen(&[], &setting, ALL), "dds");
}
