//! The vehicle's clock, and how it is doing.

use rostrans_core::param::{ParamDef, ParamKind};

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        topics: &[("diagnostics", "/diagnostics")],
        options: &[
            ("disable_diag", "mavros_sys_disable_diag"),
            ("min_voltage", "mavros_sys_min_voltage"),
            ("low_rssi", "mavros_tdr_radio_low_rssi"),
        ],
        ..Surface::of("mavlink.diagnostics")
    },
    Surface { services: &[("vehicle_info_get", "vehicle_info_get")], ..Surface::of("mavlink.vehicle_info") },
    Surface {
        topics: &[("timesync_status", "timesync_status"), ("time_reference", "time_reference")],
        options: &[
            ("timesync_mode", "mavros_time_timesync_mode"),
            ("timesync_rate", "mavros_time_timesync_rate"),
            ("system_time_rate", "mavros_time_system_time_rate"),
            ("timesync_alpha_initial", "mavros_time_timesync_alpha_initial"),
            ("timesync_beta_initial", "mavros_time_timesync_beta_initial"),
            ("timesync_alpha_final", "mavros_time_timesync_alpha_final"),
            ("timesync_beta_final", "mavros_time_timesync_beta_final"),
            ("convergence_window", "mavros_time_convergence_window"),
            ("max_rtt_sample", "mavros_time_max_rtt_sample"),
            ("max_deviation_sample", "mavros_time_max_deviation_sample"),
            ("max_consecutive_high_rtt", "mavros_time_max_consecutive_high_rtt"),
            ("max_consecutive_high_deviation", "mavros_time_max_consecutive_high_deviation"),
            ("time_ref_source", "mavros_time_time_ref_source"),
        ],
        talks: true,
        ..Surface::of("mavlink.time")
    },
];

const WEIGHT: ParamKind = ParamKind::Number { min: 0.0, max: 1.0 };
const RATE: ParamKind = ParamKind::Number { min: 0.0, max: 100.0 };
const MILLISECONDS: ParamKind = ParamKind::Number { min: 0.0, max: 60_000.0 };
const COUNT: ParamKind = ParamKind::Int { min: 0, max: 1_000_000 };

const fn param(key: &'static str, kind: ParamKind, default: &'static str, doc: &'static str) -> ParamDef {
    ParamDef { key, kind, default, unit: None, doc }
}

const fn in_unit(def: ParamDef, unit: &'static str) -> ParamDef {
    ParamDef { unit: Some(unit), ..def }
}

pub(super) const PARAMS: &[ParamDef] = &[
    param(
        "fcu_protocol",
        ParamKind::Choice(&["v2.0", "v1.0"]),
        "v2.0",
        "MAVLink version of what is sent; both are understood.",
    ),
    param(
        "mavros_message_intervals",
        ParamKind::Text,
        "",
        "Messages to ask the vehicle for, by id or name, each with its rate in Hz: 31:100, HIGHRES_IMU:50; 0 stops one.",
    ),
    param(
        "mavros_signing_key",
        ParamKind::Text,
        "",
        "File with the key of a signed link: 32 bytes, 64 hexadecimal digits, or a passphrase. Unsigned frames are refused then.",
    ),
    in_unit(
        param(
            "mavros_sys_conn_timeout",
            ParamKind::Number { min: 0.1, max: 3600.0 },
            "10",
            "Silence of the autopilot after which it counts as lost.",
        ),
        "s",
    ),
    in_unit(
        param(
            "mavros_sys_heartbeat_rate",
            ParamKind::Number { min: 0.0, max: 10.0 },
            "1",
            "HEARTBEAT sent to the vehicle; 0 sends none.",
        ),
        "Hz",
    ),
    param(
        "mavros_sys_heartbeat_mav_type",
        ParamKind::Choice(&["ONBOARD_CONTROLLER", "GCS", "GENERIC"]),
        "ONBOARD_CONTROLLER",
        "What our HEARTBEAT says we are.",
    ),
    param(
        "mavros_sys_disable_diag",
        ParamKind::Bool,
        "false",
        "/diagnostics tells only of connection and heartbeat.",
    ),
    param(
        "mavros_sys_min_voltage",
        ParamKind::Number { min: 0.0, max: 1000.0 },
        "10",
        "Volts under which /diagnostics says that the battery is low.",
    ),
    param(
        "mavros_tdr_radio_low_rssi",
        ParamKind::Int { min: 0, max: 255 },
        "40",
        "Strength under which /diagnostics says that a radio's signal is low.",
    ),
    param(
        "mavros_time_timesync_mode",
        ParamKind::Choice(&["MAVLINK", "ONBOARD", "PASSTHROUGH", "NONE"]),
        "MAVLINK",
        "Stamps: MAVLINK times of measurement by TIMESYNC, ONBOARD by this computer's own clocks, PASSTHROUGH the vehicle's time as it is, NONE times of receipt.",
    ),
    in_unit(param("mavros_time_timesync_rate", RATE, "10", "TIMESYNC requests; 0 sends none."), "Hz"),
    in_unit(param("mavros_time_system_time_rate", RATE, "1", "SYSTEM_TIME sent; 0 sends none."), "Hz"),
    param("mavros_time_timesync_alpha_initial", WEIGHT, "0.05", "Weight of a TIMESYNC reply at first."),
    param("mavros_time_timesync_beta_initial", WEIGHT, "0.05", "Weight of a change in the skew at first."),
    param("mavros_time_timesync_alpha_final", WEIGHT, "0.003", "Weight of a TIMESYNC reply in the long run."),
    param(
        "mavros_time_timesync_beta_final",
        WEIGHT,
        "0.003",
        "Weight of a change in the skew in the long run.",
    ),
    param(
        "mavros_time_convergence_window",
        COUNT,
        "500",
        "TIMESYNC replies until stamps are times of measurement.",
    ),
    in_unit(
        param(
            "mavros_time_max_rtt_sample",
            MILLISECONDS,
            "10",
            "Round trip from which on a TIMESYNC reply is not used, unless the link is always as slow.",
        ),
        "ms",
    ),
    in_unit(
        param(
            "mavros_time_max_deviation_sample",
            MILLISECONDS,
            "10",
            "Distance from the estimate from which on a TIMESYNC reply is not used.",
        ),
        "ms",
    ),
    param(
        "mavros_time_max_consecutive_high_rtt",
        COUNT,
        "10",
        "Long round trips in a row that are worth a log line.",
    ),
    param(
        "mavros_time_max_consecutive_high_deviation",
        COUNT,
        "10",
        "Replies off the estimate in a row after which the clocks are synchronised anew.",
    ),
    param("mavros_time_time_ref_source", ParamKind::Text, "fcu", "Source named in time_reference."),
    param(
        "mavros_geoid_file",
        ParamKind::Text,
        "",
        "Grid of geoid heights, e.g. /usr/share/GeographicLib/geoids/egm96-5.pgm; without one the GPS tells the height above the ellipsoid.",
    ),
];
