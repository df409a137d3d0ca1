//! Missions, geofences and rally points.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[Surface {
    topics: &[
        ("waypoints", "mission/waypoints"),
        ("reached", "mission/reached"),
        ("fences", "geofence/fences"),
        ("rallypoints", "rallypoint/rallypoints"),
    ],
    services: &[
        ("mission_pull", "mission/pull"),
        ("mission_push", "mission/push"),
        ("mission_clear", "mission/clear"),
        ("mission_set_current", "mission/set_current"),
        ("geofence_pull", "geofence/pull"),
        ("geofence_push", "geofence/push"),
        ("geofence_clear", "geofence/clear"),
        ("rallypoint_pull", "rallypoint/pull"),
        ("rallypoint_push", "rallypoint/push"),
        ("rallypoint_clear", "rallypoint/clear"),
    ],
    options: &[
        ("pull_after_gcs", "mavros_mission_pull_after_gcs"),
        ("use_mission_item_int", "mavros_mission_use_mission_item_int"),
        ("enable_partial_push", "mavros_mission_enable_partial_push"),
    ],
    ..Surface::of("mavlink.mission")
}];

pub(super) const PARAMS: &[ParamDef] = &[
    ParamDef {
        key: "mavros_mission_pull_after_gcs",
        kind: ParamKind::Bool,
        default: "true",
        unit: None,
        doc: "Read missions, fences and rally points again when a ground station has changed them.",
    },
    ParamDef {
        key: "mavros_mission_use_mission_item_int",
        kind: ParamKind::Bool,
        default: "true",
        unit: None,
        doc: "Send mission items with coordinates as whole numbers, unless the vehicle says it cannot.",
    },
    ParamDef {
        key: "mavros_mission_enable_partial_push",
        kind: ParamKind::Int { min: 0, max: 2 },
        default: "2",
        unit: None,
        doc: "Write part of a mission (mission/push with a start_index): 0 never, 1 always, 2 to ArduPilot only.",
    },
];
