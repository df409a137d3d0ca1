//! External position and motion, and sensors in both directions.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        topics: &[("pose", "vision_pose/pose"), ("pose_cov", "vision_pose/pose_cov")],
        ..Surface::of("mavlink.vision_pose")
    },
    Surface {
        topics: &[
            ("speed_twist", "vision_speed/speed_twist"),
            ("speed_twist_cov", "vision_speed/speed_twist_cov"),
            ("speed_vector", "vision_speed/speed_vector"),
        ],
        ..Surface::of("mavlink.vision_speed")
    },
    Surface { topics: &[("pose", "mocap/pose"), ("tf", "mocap/tf")], ..Surface::of("mavlink.mocap") },
    Surface {
        topics: &[("in", "odometry/in")],
        options: &[
            ("frame_id", "mavros_odometry_fcu_odom_parent_id_des"),
            ("child_frame_id", "mavros_odometry_fcu_odom_child_id_des"),
        ],
        ..Surface::of("mavlink.odometry")
    },
    Surface {
        topics: &[("out", "odometry/out")],
        options: &[
            ("frame_id", "mavros_odometry_fcu_odom_parent_id_des"),
            ("child_frame_id", "mavros_odometry_fcu_odom_child_id_des"),
        ],
        ..Surface::of("mavlink.odometry_out")
    },
    Surface {
        topics: &[("gps_input", "gps_input/gps_input")],
        options: &[("gps_rate", "mavros_gps_input_gps_rate")],
        ..Surface::of("mavlink.gps_input")
    },
    Surface {
        topics: &[
            ("pose_in", "landing_target/pose_in"),
            ("lt_marker", "landing_target/lt_marker"),
            ("tf_out", "/tf"),
            ("pose", "landing_target/pose"),
            ("raw", "landing_target/raw"),
        ],
        options: &[
            ("frame_id", "mavros_landing_target_frame_id"),
            ("mav_frame", "mavros_landing_target_mav_frame"),
            ("land_target_type", "mavros_landing_target_land_target_type"),
            ("target_size_x", "mavros_landing_target_target_size_x"),
            ("target_size_y", "mavros_landing_target_target_size_y"),
            ("tf_send", "mavros_landing_target_tf_send"),
            ("tf_child_frame_id", "mavros_landing_target_tf_child_frame_id"),
        ],
        ..Surface::of("mavlink.landing_target")
    },
    Surface {
        topics: &[("send", "obstacle/send")],
        options: &[("mav_frame", "mavros_obstacle_mav_frame")],
        ..Surface::of("mavlink.obstacle")
    },
    Surface {
        topics: &[
            ("optical_flow_rad", "px4flow/raw/optical_flow_rad"),
            ("ground_distance", "px4flow/ground_distance"),
            ("temperature", "px4flow/temperature"),
            ("send", "px4flow/raw/send"),
        ],
        options: &[
            ("frame_id", "mavros_px4flow_frame_id"),
            ("ranger_fov", "mavros_px4flow_ranger_fov"),
            ("ranger_min_range", "mavros_px4flow_ranger_min_range"),
            ("ranger_max_range", "mavros_px4flow_ranger_max_range"),
        ],
        ..Surface::of("mavlink.px4flow")
    },
    Surface {
        topics: &[
            ("optical_flow", "optical_flow/raw/optical_flow"),
            ("ground_distance", "optical_flow/ground_distance"),
            ("send", "optical_flow/raw/send"),
        ],
        ..Surface::of("mavlink.optical_flow")
    },
    Surface {
        topics: &[("tf_static", "/tf_static")],
        options: &[
            ("map_frame_id", "map_frame_id"),
            ("odom_frame_id", "odom_frame_id"),
            ("base_link_frame_id", "base_link_frame_id"),
        ],
        ..Surface::of("mavlink.tf_static")
    },
    Surface {
        topics: &[("vibration", "vibration/raw/vibration")],
        options: &[("frame_id", "mavros_vibration_frame_id")],
        ..Surface::of("mavlink.vibration")
    },
    Surface {
        topics: &[("rpm", "wheel_odometry/rpm"), ("distance", "wheel_odometry/distance")],
        ..Surface::of("mavlink.wheel_odometry")
    },
    Surface { topics: &[("rangefinder", "rangefinder/rangefinder")], ..Surface::of("mavlink.rangefinder") },
    Surface { topics: &[("report", "terrain/report")], ..Surface::of("mavlink.terrain") },
    Surface {
        topics: &[("cam_imu_stamp", "cam_imu_sync/cam_imu_stamp")],
        ..Surface::of("mavlink.cam_imu_sync")
    },
    Surface { topics: &[("image_captured", "camera/image_captured")], ..Surface::of("mavlink.camera") },
];

pub(super) const PARAMS: &[ParamDef] = &[
    frame(
        "mavros_odometry_fcu_odom_parent_id_des",
        "odom",
        "Frame of the pose of odometry/in and odometry/out.",
    ),
    frame(
        "mavros_odometry_fcu_odom_child_id_des",
        "base_link",
        "Frame of the twist of odometry/in and odometry/out.",
    ),
    ParamDef {
        key: "mavros_gps_input_gps_rate",
        kind: ParamKind::Number { min: 0.0, max: 1000.0 },
        default: "5",
        unit: Some("Hz"),
        doc: "Messages of gps_input/gps_input that are sent at most; 0 sends all.",
    },
    frame(
        "mavros_landing_target_frame_id",
        "landing_target_1",
        "Frame of landing_target/pose_in; the number at its end is the target's.",
    ),
    frame(
        "mavros_landing_target_mav_frame",
        "LOCAL_NED",
        "MAV_FRAME of landing_target/pose for the vehicle.",
    ),
    ParamDef {
        key: "mavros_landing_target_land_target_type",
        kind: ParamKind::Choice(&["VISION_FIDUCIAL", "LIGHT_BEACON", "RADIO_BEACON", "VISION_OTHER"]),
        default: "VISION_FIDUCIAL",
        unit: None,
        doc: "What kind of target landing_target/pose is.",
    },
    length("mavros_landing_target_target_size_x", "0.3", "Size of the landing target."),
    length("mavros_landing_target_target_size_y", "0.3", "Size of the landing target."),
    ParamDef {
        key: "mavros_landing_target_tf_send",
        kind: ParamKind::Bool,
        default: "true",
        unit: None,
        doc: "Publish landing targets as transforms on /tf.",
    },
    frame(
        "mavros_landing_target_tf_child_frame_id",
        "camera_center",
        "Child frame of a landing target's transform.",
    ),
    ParamDef {
        key: "mavros_distance_sensor_config",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Distance sensors by topic, MAVROS's YAML as JSON, e.g. {\"sonar\": {\"id\": 0}}; empty publishes ids 0 to 3 as distance_sensor/sensor_<id>.",
    },
    frame("mavros_obstacle_mav_frame", "GLOBAL", "MAV_FRAME of the angles of obstacle/send."),
    frame("mavros_px4flow_frame_id", "px4flow", "Frame of the messages of px4flow."),
    ParamDef {
        key: "mavros_px4flow_ranger_fov",
        kind: ParamKind::Number { min: 0.0, max: 6.3 },
        default: "0.118682",
        unit: Some("rad"),
        doc: "Field of view of px4flow/ground_distance.",
    },
    length("mavros_px4flow_ranger_min_range", "0.3", "Shortest distance of px4flow/ground_distance."),
    length("mavros_px4flow_ranger_max_range", "5", "Longest distance of px4flow/ground_distance."),
    frame("map_frame_id", "map", "Name of the map frame on /tf_static."),
    frame("odom_frame_id", "odom", "Name of the odometry frame on /tf_static."),
    frame("base_link_frame_id", "base_link", "Name of the body frame on /tf_static."),
    frame("mavros_vibration_frame_id", "base_link", "Frame of vibration/raw/vibration."),
];

const fn frame(key: &'static str, default: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind: ParamKind::Text, default, unit: None, doc }
}

const fn length(key: &'static str, default: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind: ParamKind::Number { min: 0.0, max: 1e6 }, default, unit: Some("m"), doc }
}
