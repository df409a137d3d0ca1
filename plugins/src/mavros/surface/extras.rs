//! What else MAVROS bridges.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface { topics: &[("wind_estimation", "wind_estimation")], ..Surface::of("mavlink.wind") },
    Surface {
        topics: &[("output", "nav_controller_output/output")],
        ..Surface::of("mavlink.nav_controller_output")
    },
    Surface { topics: &[("radio_status", "radio_status")], ..Surface::of("mavlink.radio") },
    Surface { topics: &[("status_event", "status_event")], ..Surface::of("mavlink.status_event") },
    Surface { topics: &[("control", "manual_control/control")], ..Surface::of("mavlink.manual_control_in") },
    Surface {
        topics: &[("target_actuator_control", "target_actuator_control")],
        ..Surface::of("mavlink.actuator_target")
    },
    Surface {
        topics: &[
            ("target_local", "setpoint_raw/target_local"),
            ("target_global", "setpoint_raw/target_global"),
            ("target_attitude", "setpoint_raw/target_attitude"),
        ],
        ..Surface::of("mavlink.setpoint_target")
    },
    Surface {
        topics: &[
            ("gps1_raw", "gpsstatus/gps1/raw"),
            ("gps2_raw", "gpsstatus/gps2/raw"),
            ("gps1_rtk", "gpsstatus/gps1/rtk"),
            ("gps2_rtk", "gpsstatus/gps2/rtk"),
        ],
        ..Surface::of("mavlink.gps_status")
    },
    Surface {
        topics: &[("rtk_baseline", "gps_rtk/rtk_baseline"), ("send_rtcm", "gps_rtk/send_rtcm")],
        ..Surface::of("mavlink.gps_rtk")
    },
    Surface {
        topics: &[
            ("orientation", "mount_control/orientation"),
            ("status", "mount_control/status"),
            ("command", "mount_control/command"),
        ],
        services: &[("configure", "mount_control/configure")],
        options: &[
            ("negate_measured_roll", "mavros_mount_negate_measured_roll"),
            ("negate_measured_pitch", "mavros_mount_negate_measured_pitch"),
            ("negate_measured_yaw", "mavros_mount_negate_measured_yaw"),
        ],
        ..Surface::of("mavlink.mount_control")
    },
    Surface {
        topics: &[
            ("device_attitude_status", "gimbal_control/device/attitude_status"),
            ("device_info", "gimbal_control/device/info"),
            ("device_set_attitude", "gimbal_control/device/set_attitude"),
            ("manager_status", "gimbal_control/manager/status"),
            ("manager_info", "gimbal_control/manager/info"),
            ("manager_set_attitude", "gimbal_control/manager/set_attitude"),
            ("manager_set_pitchyaw", "gimbal_control/manager/set_pitchyaw"),
            ("manager_set_manual_control", "gimbal_control/manager/set_manual_control"),
            ("tf", "/tf"),
        ],
        services: &[
            ("device_get_info", "gimbal_control/device/get_info"),
            ("manager_get_info", "gimbal_control/manager/get_info"),
            ("manager_configure", "gimbal_control/manager/configure"),
            ("manager_pitchyaw", "gimbal_control/manager/pitchyaw"),
            ("manager_set_roi", "gimbal_control/manager/set_roi"),
            ("manager_camera_track", "gimbal_control/manager/camera_track"),
        ],
        options: &[
            ("frame_id", "mavros_gimbal_control_frame_id"),
            ("tf_send", "mavros_gimbal_control_tf_send"),
            ("tf_frame_id", "mavros_gimbal_control_tf_frame_id"),
        ],
        ..Surface::of("mavlink.gimbal_control")
    },
    Surface {
        topics: &[("info", "esc_status/info"), ("status", "esc_status/status")],
        ..Surface::of("mavlink.esc_status")
    },
    Surface { topics: &[("telemetry", "esc_telemetry/telemetry")], ..Surface::of("mavlink.esc_telemetry") },
    Surface {
        topics: &[
            ("debug", "debug_value/debug"),
            ("debug_vector", "debug_value/debug_vector"),
            ("debug_float_array", "debug_value/debug_float_array"),
            ("named_value_float", "debug_value/named_value_float"),
            ("named_value_int", "debug_value/named_value_int"),
            ("send", "debug_value/send"),
        ],
        ..Surface::of("mavlink.debug_value")
    },
    Surface { topics: &[("vehicle", "adsb/vehicle"), ("send", "adsb/send")], ..Surface::of("mavlink.adsb") },
    Surface {
        topics: &[
            ("controls", "hil/controls"),
            ("actuator_controls", "hil/actuator_controls"),
            ("state", "hil/state"),
            ("gps", "hil/gps"),
            ("imu_ned", "hil/imu_ned"),
            ("optical_flow", "hil/optical_flow"),
            ("rc_inputs", "hil/rc_inputs"),
        ],
        ..Surface::of("mavlink.hil")
    },
    Surface {
        topics: &[
            ("desired", "trajectory/desired"),
            ("generated", "trajectory/generated"),
            ("path", "trajectory/path"),
        ],
        ..Surface::of("mavlink.trajectory")
    },
    Surface {
        topics: &[("status", "mag_calibration/status"), ("report", "mag_calibration/report")],
        ..Surface::of("mavlink.mag_calibration")
    },
    Surface {
        topics: &[
            ("basic_id", "open_drone_id/basic_id"),
            ("operator_id", "open_drone_id/operator_id"),
            ("self_id", "open_drone_id/self_id"),
            ("system", "open_drone_id/system"),
            ("system_update", "open_drone_id/system_update"),
        ],
        ..Surface::of("mavlink.open_drone_id")
    },
    Surface { topics: &[("status", "companion_process/status")], ..Surface::of("mavlink.companion_process") },
    Surface { topics: &[("status", "onboard_computer/status")], ..Surface::of("mavlink.onboard_computer") },
    Surface { topics: &[("status", "cellular_status/status")], ..Surface::of("mavlink.cellular_status") },
    Surface { topics: &[("play_tune", "play_tune")], ..Surface::of("mavlink.play_tune") },
    Surface { topics: &[("out", "tunnel/out"), ("in", "tunnel/in")], ..Surface::of("mavlink.tunnel") },
    Surface { topics: &[("mavlink", "/uas{id}/mavlink_sink")], ..Surface::of("mavlink.sink") },
];

pub(super) const PARAMS: &[ParamDef] = &[
    switch("mavros_mount_negate_measured_roll", "Turn the roll that a camera mount reports."),
    switch("mavros_mount_negate_measured_pitch", "Turn the pitch that a camera mount reports."),
    switch("mavros_mount_negate_measured_yaw", "Turn the yaw that a camera mount reports."),
    frame("mavros_gimbal_control_frame_id", "Frame of the messages of gimbal_control."),
    switch("mavros_gimbal_control_tf_send", "Publish a gimbal's attitude as a transform on /tf."),
    frame("mavros_gimbal_control_tf_frame_id", "Frame that a gimbal hangs in."),
];

const fn switch(key: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind: ParamKind::Bool, default: "false", unit: None, doc }
}

const fn frame(key: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind: ParamKind::Text, default: "base_link_frd", unit: None, doc }
}
