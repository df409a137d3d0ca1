//! What vehicles tell at all times.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        topics: &[("state", "state"), ("extended_state", "extended_state")],
        ..Surface::of("mavlink.state")
    },
    Surface {
        topics: &[
            ("data", "imu/data"),
            ("data_raw", "imu/data_raw"),
            ("mag", "imu/mag"),
            ("static_pressure", "imu/static_pressure"),
            ("diff_pressure", "imu/diff_pressure"),
            ("temperature_imu", "imu/temperature_imu"),
            ("temperature_baro", "imu/temperature_baro"),
        ],
        options: &[
            ("frame_id", "mavros_imu_frame_id"),
            ("orientation_stdev", "mavros_imu_orientation_stdev"),
            ("angular_velocity_stdev", "mavros_imu_angular_velocity_stdev"),
            ("linear_acceleration_stdev", "mavros_imu_linear_acceleration_stdev"),
            ("magnetic_stdev", "mavros_imu_magnetic_stdev"),
        ],
        ..Surface::of("mavlink.imu")
    },
    Surface {
        topics: &[
            ("pose", "local_position/pose"),
            ("velocity_local", "local_position/velocity_local"),
            ("velocity_body", "local_position/velocity_body"),
            ("odom", "local_position/odom"),
            ("pose_cov", "local_position/pose_cov"),
            ("velocity_body_cov", "local_position/velocity_body_cov"),
            ("accel", "local_position/accel"),
            ("tf", "/tf"),
        ],
        options: &[
            ("frame_id", "mavros_local_position_frame_id"),
            ("child_frame_id", "mavros_local_position_tf_child_frame_id"),
            ("velocity_frame_id", "mavros_local_position_velocity_frame_id"),
            ("tf_send", "mavros_local_position_tf_send"),
            ("tf_frame_id", "mavros_local_position_tf_frame_id"),
        ],
        ..Surface::of("mavlink.local_position")
    },
    Surface {
        topics: &[
            ("global", "global_position/global"),
            ("raw_fix", "global_position/raw/fix"),
            ("raw_gps_vel", "global_position/raw/gps_vel"),
            ("raw_satellites", "global_position/raw/satellites"),
            ("local", "global_position/local"),
            ("rel_alt", "global_position/rel_alt"),
            ("compass_hdg", "global_position/compass_hdg"),
            ("gp_origin", "global_position/gp_origin"),
            ("gp_lp_offset", "global_position/gp_lp_offset"),
            ("tf", "/tf"),
        ],
        options: &[
            ("frame_id", "mavros_global_position_frame_id"),
            ("child_frame_id", "mavros_global_position_child_frame_id"),
            ("gps_uere", "mavros_global_position_gps_uere"),
            ("rot_covariance", "mavros_global_position_rot_covariance"),
            ("use_relative_alt", "mavros_global_position_use_relative_alt"),
            ("tf_send", "mavros_global_position_tf_send"),
            ("tf_frame_id", "mavros_global_position_tf_frame_id"),
            ("tf_global_frame_id", "mavros_global_position_tf_global_frame_id"),
            ("tf_child_frame_id", "mavros_global_position_tf_child_frame_id"),
        ],
        ..Surface::of("mavlink.global_position")
    },
    Surface { topics: &[("battery", "battery")], ..Surface::of("mavlink.battery") },
    Surface { topics: &[("sys_status", "sys_status")], ..Surface::of("mavlink.sys_status") },
    Surface { topics: &[("recv", "statustext/recv")], ..Surface::of("mavlink.statustext") },
    Surface { topics: &[("in", "rc/in"), ("out", "rc/out")], ..Surface::of("mavlink.rc") },
    Surface {
        topics: &[("altitude", "altitude")],
        options: &[("frame_id", "mavros_altitude_frame_id")],
        ..Surface::of("mavlink.altitude")
    },
    Surface { topics: &[("vfr_hud", "vfr_hud")], ..Surface::of("mavlink.vfr_hud") },
    Surface { topics: &[("home", "home_position/home")], ..Surface::of("mavlink.home_position") },
    Surface {
        topics: &[("estimator_status", "estimator_status")],
        ..Surface::of("mavlink.estimator_status")
    },
];

const STDEV: ParamKind = ParamKind::Number { min: 0.0, max: 1e9 };

const fn param(key: &'static str, kind: ParamKind, default: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind, default, unit: None, doc }
}

const fn frame(key: &'static str, default: &'static str, doc: &'static str) -> ParamDef {
    param(key, ParamKind::Text, default, doc)
}

const fn stdev(key: &'static str, default: &'static str, unit: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { unit: Some(unit), ..param(key, STDEV, default, doc) }
}

pub(super) const PARAMS: &[ParamDef] = &[
    frame("mavros_imu_frame_id", "base_link", "Frame of imu/...."),
    stdev("mavros_imu_linear_acceleration_stdev", "0.0003", "m/s^2", "Standard deviation; 0 is unknown."),
    stdev("mavros_imu_angular_velocity_stdev", "0.0003490659", "rad/s", "Standard deviation; 0 is unknown."),
    stdev("mavros_imu_orientation_stdev", "1", "rad", "Standard deviation; 0 is unknown."),
    stdev("mavros_imu_magnetic_stdev", "0", "T", "Standard deviation; 0 is unknown."),
    frame("mavros_local_position_frame_id", "map", "Local frame of local_position/...."),
    frame("mavros_local_position_tf_child_frame_id", "base_link", "Body frame of local_position/...."),
    frame(
        "mavros_local_position_velocity_frame_id",
        "base_link",
        "Frame that velocity_local names; its values are those of the local frame.",
    ),
    param(
        "mavros_local_position_tf_send",
        ParamKind::Bool,
        "false",
        "Publish the pose of local_position as a transform on /tf.",
    ),
    frame("mavros_local_position_tf_frame_id", "map", "Parent of the transform of local_position."),
    param(
        "mavros_global_position_tf_send",
        ParamKind::Bool,
        "false",
        "Publish the pose of global_position/local as a transform on /tf; not beside that of local_position.",
    ),
    frame(
        "mavros_global_position_tf_frame_id",
        "map",
        "Frame of the map in the transforms of global_position.",
    ),
    frame("mavros_global_position_tf_global_frame_id", "earth", "Frame of the earth in them."),
    frame("mavros_global_position_tf_child_frame_id", "base_link", "Frame of the body in them."),
    frame("mavros_global_position_frame_id", "map", "Local frame of global_position/local."),
    frame(
        "mavros_global_position_child_frame_id",
        "base_link",
        "Body frame of global_position/local, and frame of the fixes.",
    ),
    param(
        "mavros_global_position_rot_covariance",
        STDEV,
        "99999",
        "Variance of the rotations of global_position/local.",
    ),
    stdev(
        "mavros_global_position_gps_uere",
        "1",
        "m",
        "Error of a fix for each unit of its dilution of precision.",
    ),
    param(
        "mavros_global_position_use_relative_alt",
        ParamKind::Bool,
        "true",
        "The height of global_position/local is that above home.",
    ),
    frame("mavros_altitude_frame_id", "map", "Frame of altitude."),
];
