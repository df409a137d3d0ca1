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
fn what_is_not_there_is_refused_with_a_remedy() {
    let dds = &[Fabric::Dds];
    insta::assert_snapshot!(chosen(&[("ros2_transport", "zenho")], &[], ALL), @"; command line: invalid value 'zenho' for 'ros2_transport'; did you mean 'zenoh'?");
    insta::assert_snapshot!(chosen(&[("ros2_transport", "dds,r2r")], &[], dds), @"dds; command line: ros2_transport=r2r is not in this rostrans; r2r arrives in a later version; write ros2_transport=dds");
    insta::assert_snapshot!(chosen(&[("ros_version", "all")], &[], dds), @"dds; command line: ROS 1 is not in this rostrans; ROS 1 arrives in a later version; write ros_version=ros2");
    insta::assert_snapshot!(chosen(&[], &[("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")], dds), @"dds; environment: RMW_IMPLEMENTATION=rmw_zenoh_cpp, but this rostrans has no Zenoh and joins over DDS: Zenoh nodes will not see it; Zenoh arrives in a later version; write ros2_transport=dds");
}
