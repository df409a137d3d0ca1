//! Topics that steer the vehicle.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        topics: &[("local", "setpoint_position/local"), ("global", "setpoint_position/global")],
        options: &[("mav_frame", "mavros_setpoint_position_mav_frame")],
        ..Surface::of("mavlink.setpoint_position")
    },
    Surface {
        topics: &[("global_to_local", "setpoint_position/global_to_local")],
        options: &[("mav_frame", "mavros_setpoint_position_mav_frame")],
        ..Surface::of("mavlink.setpoint_global_to_local")
    },
    Surface {
        topics: &[
            ("cmd_vel", "setpoint_velocity/cmd_vel"),
            ("cmd_vel_unstamped", "setpoint_velocity/cmd_vel_unstamped"),
        ],
        options: &[("mav_frame", "mavros_setpoint_velocity_mav_frame")],
        ..Surface::of("mavlink.setpoint_velocity")
    },
    Surface {
        topics: &[("accel", "setpoint_accel/accel")],
        options: &[("send_force", "mavros_setpoint_accel_send_force")],
        ..Surface::of("mavlink.setpoint_accel")
    },
    Surface {
        topics: &[
            ("thrust", "setpoint_attitude/thrust"),
            ("cmd_vel", "setpoint_attitude/cmd_vel"),
            ("attitude", "setpoint_attitude/attitude"),
        ],
        options: &[
            ("use_quaternion", "mavros_setpoint_attitude_use_quaternion"),
            ("reverse_thrust", "mavros_setpoint_attitude_reverse_thrust"),
            ("rates_flu", "mavros_setpoint_attitude_rates_flu"),
        ],
        ..Surface::of("mavlink.setpoint_attitude")
    },
    Surface {
        topics: &[
            ("local", "setpoint_raw/local"),
            ("global", "setpoint_raw/global"),
            ("attitude", "setpoint_raw/attitude"),
        ],
        options: &[("thrust_scaling", "mavros_setpoint_raw_thrust_scaling")],
        ..Surface::of("mavlink.setpoint_raw")
    },
    Surface {
        topics: &[("local", "setpoint_trajectory/local"), ("desired", "setpoint_trajectory/desired")],
        services: &[("reset", "setpoint_trajectory/reset")],
        options: &[
            ("mav_frame", "mavros_setpoint_trajectory_mav_frame"),
            ("frame_id", "mavros_setpoint_trajectory_frame_id"),
        ],
        ..Surface::of("mavlink.setpoint_trajectory")
    },
    Surface { topics: &[("override", "rc/override")], ..Surface::of("mavlink.rc_override") },
    Surface { topics: &[("send", "manual_control/send")], ..Surface::of("mavlink.manual_control_send") },
    Surface {
        topics: &[("actuator_control", "actuator_control")],
        ..Surface::of("mavlink.actuator_control")
    },
    Surface { topics: &[("send", "statustext/send")], ..Surface::of("mavlink.statustext_send") },
    Surface {
        topics: &[("set_gp_origin", "global_position/set_gp_origin")],
        ..Surface::of("mavlink.set_gp_origin")
    },
    Surface { topics: &[("set", "home_position/set")], ..Surface::of("mavlink.set_home") },
];

const MAV_FRAME: ParamKind = ParamKind::Choice(&[
    "LOCAL_NED",
    "LOCAL_OFFSET_NED",
    "BODY_NED",
    "BODY_OFFSET_NED",
    "GLOBAL",
    "MISSION",
    "GLOBAL_RELATIVE_ALT",
    "LOCAL_ENU",
    "GLOBAL_INT",
    "GLOBAL_RELATIVE_ALT_INT",
    "GLOBAL_TERRAIN_ALT",
    "GLOBAL_TERRAIN_ALT_INT",
    "BODY_FRD",
    "LOCAL_FRD",
    "LOCAL_FLU",
]);

pub(super) const PARAMS: &[ParamDef] = &[
    ParamDef {
        key: "mavros_setpoint_position_mav_frame",
        kind: MAV_FRAME,
        default: "LOCAL_NED",
        unit: None,
        doc: "Frame of setpoint_position/local; in BODY_NED and BODY_OFFSET_NED positions are forward, left, up.",
    },
    ParamDef {
        key: "mavros_setpoint_velocity_mav_frame",
        kind: MAV_FRAME,
        default: "LOCAL_NED",
        unit: None,
        doc: "Frame of setpoint_velocity; in BODY_NED and BODY_OFFSET_NED velocities are forward, left, up.",
    },
    ParamDef {
        key: "mavros_setpoint_trajectory_mav_frame",
        kind: MAV_FRAME,
        default: "LOCAL_NED",
        unit: None,
        doc: "Frame of setpoint_trajectory/local.",
    },
    ParamDef {
        key: "mavros_setpoint_trajectory_frame_id",
        kind: ParamKind::Text,
        default: "map",
        unit: None,
        doc: "frame_id of setpoint_trajectory/desired.",
    },
    ParamDef {
        key: "mavros_setpoint_accel_send_force",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "setpoint_accel/accel is a force, not an acceleration.",
    },
    ParamDef {
        key: "mavros_setpoint_attitude_use_quaternion",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "setpoint_attitude takes attitude with thrust; false takes body rates (cmd_vel) with thrust.",
    },
    ParamDef {
        key: "mavros_setpoint_attitude_reverse_thrust",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "setpoint_attitude/thrust may be negative, down to -1.",
    },
    ParamDef {
        key: "mavros_setpoint_attitude_rates_flu",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Body rates of setpoint_attitude/cmd_vel are forward, left, up; false swaps x and y, as MAVROS does.",
    },
    ParamDef {
        key: "mavros_setpoint_raw_thrust_scaling",
        kind: ParamKind::Number { min: 0.0, max: 1000.0 },
        default: "1",
        unit: None,
        doc: "Factor for the thrust of setpoint_raw/attitude.",
    },
];
