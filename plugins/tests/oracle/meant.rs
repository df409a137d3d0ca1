//! Differences that are meant.

/// A stimulus, a topic (or message, or `response`) and a field, each by its beginning, and why.
///
/// Instead of a field, `missing`, `absent` and `surplus` stand for the whole message.
#[derive(Debug)]
pub(crate) struct Meant(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) &'static str,
    #[expect(dead_code, reason = "for the reader")] pub(crate) &'static str,
);

/// In both modes.
pub(crate) const ALWAYS: &[Meant] = &[
    Meant("", "/diagnostics", "surplus", "the recording left it out"),
    Meant(
        "",
        "/uas1/mavlink_source",
        "payload64[",
        "MAVROS leaves old bytes behind the payload; ours are zero",
    ),
    Meant("hb other system", "/uas1/mavlink_source", "missing", "ours carries the packets of its vehicle"),
    Meant("hb bad crc", "/uas1/mavlink_source", "missing", "damaged packets never get past the framing"),
    Meant(
        "global_position_int before gps",
        "/mavros/global_position/global",
        "altitude",
        "the undulation comes from GPS_RAW_INT, which was not seen yet; MAVROS has a grid",
    ),
    Meant("setpoint_trajectory", "SetPositionTargetLocalNed", "vz", "correction 10: what is masked out is 0"),
    Meant(
        "setpoint_position global_to_local",
        "SetPositionTargetLocalNed",
        "z",
        "the undulation is the receiver's",
    ),
    Meant(
        "vision speed_twist",
        "frame",
        "surplus",
        "correction 9: all three topics are read, not one of them",
    ),
    Meant(
        "vehicle_info_get all",
        "response",
        "vehicles",
        "each vehicle's service knows that vehicle's components",
    ),
    Meant("command_ack", "", "", "only MAVROS for ROS 1 has the service"),
    Meant(
        "param get",
        "response",
        "",
        "only MAVROS for ROS 1 has the service; parameters are those of a node in ROS 2",
    ),
    Meant("set_message_interval no ack", "response", "success", "5: the truth; MAVROS says true"),
    Meant("set_message_interval refused", "response", "success", "5: the truth; MAVROS says true"),
    Meant("", "/mavros/state", "mode", "modes and vehicle types that MAVROS does not know"),
];

/// With `mavros_compat = exact`.
pub(crate) const EXACT: &[Meant] = &[];

/// With `mavros_compat = corrected`.
pub(crate) const CORRECTED: &[Meant] = &[
    Meant("arming no ack", "frame", "surplus", "15: sent again, confirmation counted up"),
    Meant("set_message_interval no ack", "frame", "surplus", "15: sent again"),
    Meant("arming in progress then accepted", "response", "", "15: progress is not the answer"),
    Meant(
        "setpoint_trajectory",
        "SetPositionTargetLocalNed",
        "yaw_rate",
        "26: anticlockwise is negative in NED",
    ),
    Meant("setpoint_trajectory", "SetPositionTargetLocalNed", "time_boot_ms", "correction 10: the stamp"),
    Meant("set_gp_origin", "SetGpsGlobalOrigin", "time_usec", "correction 3: the stamp"),
    Meant("home set", "SetHomePosition", "time_usec", "correction 3: the stamp"),
    Meant("home set", "SetHomePosition", "altitude", "8: the undulation in millimetres"),
    Meant("raw_imu", "/mavros/imu/mag", "magnetic_field.", "1: milligauss are 1e-7 tesla"),
    Meant("scaled_imu", "/mavros/imu/mag", "magnetic_field.", "1: milligauss are 1e-7 tesla"),
    Meant("highres", "/mavros/imu/static_pressure", "fluid_pressure", "2: pascal"),
    Meant("highres", "/mavros/imu/diff_pressure", "fluid_pressure", "2: pascal"),
    Meant(
        "global_position_int",
        "/mavros/global_position/local",
        "twist.twist.linear.z",
        "3: up is positive in ENU",
    ),
    Meant(
        "local_position_ned_cov",
        "/mavros/local_position/odom",
        "pose.covariance[",
        "5: rotated to ENU, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "/mavros/local_position/odom",
        "twist.covariance[",
        "5: rotated to the body, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "/mavros/local_position/pose_cov",
        "pose.covariance[",
        "5: rotated to ENU, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "/mavros/local_position/velocity_body_cov",
        "twist.covariance[",
        "5: rotated to the body, whole",
    ),
    Meant(
        "local_position_ned_cov",
        "/mavros/local_position/accel",
        "accel.covariance[",
        "5: rotated to ENU, whole",
    ),
    Meant("", "/mavros/battery", "temperature", "measured, or NaN; MAVROS sends 0"),
    Meant("sys_status current -1", "/mavros/battery", "current", "13: NaN"),
    Meant("sys_status current -1", "/mavros/battery", "percentage", "13: NaN"),
    Meant("battery unknown current", "/mavros/battery", "percentage", "13: NaN"),
    Meant("sys_status volt 65535", "/mavros/battery", "voltage", "as 13: NaN"),
    Meant("battery no cells", "/mavros/battery", "voltage", "as 13: NaN"),
];
