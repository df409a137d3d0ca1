//! Parameters of the `sim3due` plugin.

use rostrans_core::param::{ParamDef, ParamKind};

pub(super) const ALL: &[ParamDef] = &[
    ParamDef {
        key: "enable_ue3d",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Command RflySim3D from topics, and publish what it reports.",
    },
    ParamDef {
        key: "ue3d_ip",
        kind: ParamKind::Text,
        default: "127.0.0.1",
        unit: None,
        doc: "Address of the computer that runs RflySim3D; a broadcast address reaches several.",
    },
    ParamDef {
        key: "ue3d_count",
        kind: ParamKind::Int { min: 1, max: 64 },
        default: "1",
        unit: None,
        doc: "Windows of RflySim3D; window w listens on UDP 20010 + w.",
    },
    ParamDef {
        key: "ue3d_prefix",
        kind: ParamKind::Text,
        default: "/rflysim",
        unit: None,
        doc: "Topics of RflySim3D begin with this.",
    },
    ParamDef {
        key: "ue3d_multicast_if",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Interfaces for the multicast group 224.0.0.10, by name or address, separated by commas; empty lets the system choose one.",
    },
    ParamDef {
        key: "ue3d_frame",
        kind: ParamKind::Choice(&["ned", "ue"]),
        default: "ned",
        unit: None,
        doc: "How RflySim3D reports positions of cameras, vehicles and objects, which is not documented: 'ned' is metres and radians, 'ue' centimetres and degrees with z up.",
    },
];
