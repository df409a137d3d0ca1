//! Commands, modes and rates.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        services: &[
            ("command", "cmd/command"),
            ("command_int", "cmd/command_int"),
            ("arming", "cmd/arming"),
            ("set_home", "cmd/set_home"),
            ("takeoff", "cmd/takeoff"),
            ("land", "cmd/land"),
            ("takeoff_local", "cmd/takeoff_local"),
            ("land_local", "cmd/land_local"),
            ("trigger_control", "cmd/trigger_control"),
            ("trigger_interval", "cmd/trigger_interval"),
            ("vtol_transition", "cmd/vtol_transition"),
            ("set_message_interval", "set_message_interval"),
            ("home_req_update", "home_position/req_update"),
        ],
        options: &[
            ("command_ack_timeout", "mavros_cmd_command_ack_timeout"),
            ("command_retries", "mavros_cmd_command_retries"),
            ("wait_in_progress", "mavros_cmd_wait_in_progress"),
            ("use_comp_id_system_control", "mavros_cmd_use_comp_id_system_control"),
        ],
        ..Surface::of("mavlink.cmd")
    },
    Surface {
        services: &[("set_mode", "set_mode"), ("set_stream_rate", "set_stream_rate")],
        ..Surface::of("mavlink.set_mode")
    },
];

pub(super) const PARAMS: &[ParamDef] = &[
    ParamDef {
        key: "mavros_cmd_command_ack_timeout",
        kind: ParamKind::Number { min: 0.1, max: 600.0 },
        default: "5",
        unit: Some("s"),
        doc: "How long a command waits for the vehicle's answer.",
    },
    ParamDef {
        key: "mavros_cmd_command_retries",
        kind: ParamKind::Int { min: 0, max: 10 },
        default: "2",
        unit: None,
        doc: "How often arming, takeoff and other commands that may be done twice are sent again when nobody answers; cmd/command never is.",
    },
    ParamDef {
        key: "mavros_cmd_wait_in_progress",
        kind: ParamKind::Bool,
        default: "true",
        unit: None,
        doc: "A report of progress extends the wait; false takes it for the answer, as MAVROS does.",
    },
    ParamDef {
        key: "mavros_cmd_use_comp_id_system_control",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Send commands to component 250 (system control) instead of the autopilot.",
    },
];
