//! What else MAVROS bridges.

use rostrans_core::param::ParamDef;

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
        topics: &[("info", "esc_status/info"), ("status", "esc_status/status")],
        ..Surface::of("mavlink.esc_status")
    },
    Surface { topics: &[("telemetry", "esc_telemetry/telemetry")], ..Surface::of("mavlink.esc_telemetry") },
    Surface {
        topics: &[("status", "mag_calibration/status"), ("report", "mag_calibration/report")],
        ..Surface::of("mavlink.mag_calibration")
    },
];

pub(super) const PARAMS: &[ParamDef] = &[];
