//! Parameters of the `dllmodel` plugin.

use rostrans_core::param::{ParamDef, ParamKind};

pub(super) const ALL: &[ParamDef] = &[
    ParamDef {
        key: "enable_dllModel",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Publish the topics of MAVROS for vehicles of CopterSim, and fly them, without MAVLink.",
    },
    ParamDef {
        key: "coptersim_startid",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Number of the first vehicle in CopterSim.",
    },
    ParamDef {
        key: "coptersim_count",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Vehicles; ports rise by 2 for each.",
    },
    ParamDef {
        key: "coptersim_targetip",
        kind: ParamKind::Text,
        default: "127.0.0.1",
        unit: None,
        doc: "Address of the computer that runs CopterSim.",
    },
    ParamDef {
        key: "coptersim_timeout",
        kind: ParamKind::Number { min: 0.1, max: 3600.0 },
        default: "2",
        unit: Some("s"),
        doc: "A vehicle that sends nothing for so long is not connected.",
    },
    ParamDef {
        key: "dllmodel_ctrl",
        kind: ParamKind::Choice(&["dll", "dll_map", "simple"]),
        default: "dll",
        unit: None,
        doc: "Packets to fly with: 'dll' and 'dll_map' are PX4SILIntFloat (positions from the spawn point, or from the map's centre) for models without PX4; 'simple' is for UDP mode 1.",
    },
    ParamDef {
        key: "dllmodel_source",
        kind: ParamKind::Choice(&["truth", "estimate"]),
        default: "truth",
        unit: None,
        doc: "What poses are made of: the simulator's truth, or the autopilot's estimate (UDP modes 0 and 1).",
    },
    ParamDef {
        key: "dllmodel_prefix",
        kind: ParamKind::Text,
        default: "/mavros",
        unit: None,
        doc: "Topics begin with this; '{id}' is the vehicle's number, without it vehicles from 2 on get theirs appended.",
    },
    ParamDef {
        key: "dllmodel_yaw",
        kind: ParamKind::Choice(&["enu", "ned"]),
        default: "enu",
        unit: None,
        doc: "What yaw of setpoints counts from: 'enu' is east and anticlockwise, as in MAVROS; 'ned' is north and clockwise.",
    },
    ParamDef {
        key: "dllmodel_velocity_yaw",
        kind: ParamKind::Choice(&["yaw", "rate"]),
        default: "yaw",
        unit: None,
        doc: "A velocity setpoint with a yaw is sent as that, or with a yaw rate towards it for models that ignore the yaw.",
    },
    ParamDef {
        key: "dllmodel_odom_twist",
        kind: ParamKind::Choice(&["world", "body"]),
        default: "world",
        unit: None,
        doc: "Axes of the linear velocity in local_position/odom: ENU, or forward-left-up.",
    },
];
