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
        topics: &[("in", "odometry/in"), ("out", "odometry/out")],
        options: &[
            ("frame_id", "mavros_odometry_fcu_odom_parent_id_des"),
            ("child_frame_id", "mavros_odometry_fcu_odom_child_id_des"),
        ],
        ..Surface::of("mavlink.odometry")
    },
    Surface {
        topics: &[("gps_input", "gps_input/gps_input")],
        options: &[("gps_rate", "mavros_gps_input_gps_rate")],
        ..Surface::of("mavlink.gps_input")
    },
    Surface {
        topics: &[("vibration", "vibration/raw/vibration")],
        options: &[("frame_id", "mavros_vibration_frame_id")],
        ..Surface::of("mavlink.vibration")
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
    frame("mavros_vibration_frame_id", "base_link", "Frame of vibration/raw/vibration."),
];

const fn frame(key: &'static str, default: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind: ParamKind::Text, default, unit: None, doc }
}
