//! What vehicles tell at all times.

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[
    Surface {
        topics: &[("state", "state"), ("extended_state", "extended_state")],
        ..Surface::of("mavlink.state")
    },
    Surface {
        topics: &[
            ("data", "imu/data"),
            ("data_raw", "imu/data_raw"),
            ("mag", "imu/mag"),
            ("static_pressure", "imu/static_pressure"),
            ("diff_pressure", "imu/diff_pressure"),
            ("temperature_imu", "imu/temperature_imu"),
            ("temperature_baro", "imu/temperature_baro"),
        ],
        ..Surface::of("mavlink.imu")
    },
    Surface {
        topics: &[
            ("pose", "local_position/pose"),
            ("velocity_local", "local_position/velocity_local"),
            ("velocity_body", "local_position/velocity_body"),
            ("odom", "local_position/odom"),
            ("pose_cov", "local_position/pose_cov"),
            ("velocity_body_cov", "local_position/velocity_body_cov"),
            ("accel", "local_position/accel"),
        ],
        ..Surface::of("mavlink.local_position")
    },
    Surface {
        topics: &[
            ("global", "global_position/global"),
            ("raw_fix", "global_position/raw/fix"),
            ("raw_gps_vel", "global_position/raw/gps_vel"),
            ("raw_satellites", "global_position/raw/satellites"),
            ("local", "global_position/local"),
            ("rel_alt", "global_position/rel_alt"),
            ("compass_hdg", "global_position/compass_hdg"),
            ("gp_origin", "global_position/gp_origin"),
            ("gp_lp_offset", "global_position/gp_lp_offset"),
        ],
        ..Surface::of("mavlink.global_position")
    },
    Surface { topics: &[("battery", "battery")], ..Surface::of("mavlink.battery") },
    Surface { topics: &[("sys_status", "sys_status")], ..Surface::of("mavlink.sys_status") },
    Surface { topics: &[("recv", "statustext/recv")], ..Surface::of("mavlink.statustext") },
    Surface { topics: &[("in", "rc/in"), ("out", "rc/out")], ..Surface::of("mavlink.rc") },
    Surface { topics: &[("altitude", "altitude")], ..Surface::of("mavlink.altitude") },
    Surface { topics: &[("vfr_hud", "vfr_hud")], ..Surface::of("mavlink.vfr_hud") },
    Surface { topics: &[("home", "home_position/home")], ..Surface::of("mavlink.home_position") },
    Surface {
        topics: &[("estimator_status", "estimator_status")],
        ..Surface::of("mavlink.estimator_status")
    },
];
