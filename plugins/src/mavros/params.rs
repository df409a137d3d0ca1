//! Parameters of the `mavros` plugin.

use std::sync::LazyLock;

use rostrans_core::param::{ParamDef, ParamKind};

use super::surface;

const PORT: ParamKind = ParamKind::Int { min: 1, max: 65535 };
const PORT_OR_NONE: ParamKind = ParamKind::Int { min: 0, max: 65535 };

/// Of the module itself and of all its codecs.
pub(super) static ALL: LazyLock<Vec<ParamDef>> =
    LazyLock::new(|| PARAMS.iter().chain(surface::params()).copied().collect());

/// Of the module itself.
pub(super) const PARAMS: &[ParamDef] = &[
    ParamDef {
        key: "enable_mavros",
        kind: ParamKind::Bool,
        default: "false",
        unit: None,
        doc: "Publish the topics of MAVROS for MAVLink vehicles.",
    },
    ParamDef {
        key: "fcu_url",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Vehicles' connection as MAVROS writes it, e.g. 'udp://:14540@127.0.0.1:14580', 'tcp://host:5760', '/dev/ttyACM0:57600'; '{id}' is the vehicle's number. Switches the module on and wins over mavros_transport_mode.",
    },
    ParamDef {
        key: "gcs_url",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "Ground stations that get the vehicles' MAVLink and may answer, e.g. 'udp://@127.0.0.1:14550', 'tcp-l://:5770'; several separated by commas, '{id}' as in fcu_url.",
    },
    ParamDef {
        key: "mavros_config",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "MAVROS's own files of parameters, e.g. 'px4_config.yaml, px4_pluginlists.yaml'; keys given here win over them.",
    },
    ParamDef {
        key: "tgt_system",
        kind: ParamKind::Int { min: 0, max: 255 },
        default: "0",
        unit: None,
        doc: "MAVLink system id of the (first) vehicle; 0 takes mavros_start_copter_id.",
    },
    ParamDef {
        key: "tgt_component",
        kind: ParamKind::Int { min: 0, max: 255 },
        default: "1",
        unit: None,
        doc: "MAVLink component id of the autopilot; 0 takes any.",
    },
    ParamDef {
        key: "system_id",
        kind: ParamKind::Int { min: 0, max: 255 },
        default: "0",
        unit: None,
        doc: "Own MAVLink system id; 0 is the vehicle's.",
    },
    ParamDef {
        key: "component_id",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "191",
        unit: None,
        doc: "Own MAVLink component id; 191 is an onboard computer.",
    },
    ParamDef {
        key: "plugin_allowlist",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "MAVROS plugins to keep although plugin_denylist matches; shell patterns separated by commas, e.g. 'sys_*, imu'. Alone it leaves out all others.",
    },
    ParamDef {
        key: "plugin_denylist",
        kind: ParamKind::Text,
        default: "",
        unit: None,
        doc: "MAVROS plugins whose topics and services are left out; shell patterns separated by commas.",
    },
    ParamDef {
        key: "mavros_transport_mode",
        kind: ParamKind::Choice(&["udp", "serial"]),
        default: "udp",
        unit: None,
        doc: "How the vehicles are connected.",
    },
    ParamDef {
        key: "mavros_start_copter_id",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Number of the first vehicle; a vehicle's number is its MAVLink system id.",
    },
    ParamDef {
        key: "mavros_copter_count",
        kind: ParamKind::Int { min: 1, max: 255 },
        default: "1",
        unit: None,
        doc: "Number of vehicles.",
    },
    ParamDef {
        key: "mavros_target_ip",
        kind: ParamKind::Text,
        default: "127.0.0.1",
        unit: None,
        doc: "Address of the vehicles (of CopterSim).",
    },
    ParamDef {
        key: "mavros_base_port",
        kind: PORT,
        default: "20100",
        unit: None,
        doc: "UDP port vehicle 1 is sent to; it is heard on the next one, and each further vehicle two higher.",
    },
    ParamDef {
        key: "mavros_listen_port",
        kind: PORT_OR_NONE,
        default: "0",
        unit: None,
        doc: "UDP port vehicles send to, e.g. 14540 for PX4 SITL; they are answered where they send from. 0 uses mavros_base_port.",
    },
    ParamDef {
        key: "mavros_listen_step",
        kind: PORT_OR_NONE,
        default: "0",
        unit: None,
        doc: "Added to mavros_listen_port, or to the ports of fcu_url, for each further vehicle; 0 tells them apart by system id only, PX4 SITL needs 1.",
    },
    ParamDef {
        key: "mavros_linux_serial",
        kind: ParamKind::Text,
        default: "/dev/ttyTHS0",
        unit: None,
        doc: "Serial port, on Linux and macOS.",
    },
    ParamDef {
        key: "mavros_win_serial",
        kind: ParamKind::Text,
        default: "COM3",
        unit: None,
        doc: "Serial port, on Windows.",
    },
    ParamDef {
        key: "mavros_baudrate",
        kind: ParamKind::Int { min: 1, max: 20_000_000 },
        default: "921600",
        unit: Some("bit/s"),
        doc: "Speed of the serial port.",
    },
    ParamDef {
        key: "mavros_imu_stream_rate",
        kind: ParamKind::Int { min: 0, max: 1000 },
        default: "200",
        unit: Some("Hz"),
        doc: "Rate of attitude and inertial sensors to ask the vehicle for; 0 does not ask.",
    },
    ParamDef {
        key: "mavros_stream_rate",
        kind: ParamKind::Int { min: 0, max: 1000 },
        default: "10",
        unit: Some("Hz"),
        doc: "Rate of all other data streams to ask an ArduPilot vehicle for; 0 does not ask.",
    },
    ParamDef {
        key: "mavros_prefix",
        kind: ParamKind::Text,
        default: "/mavros",
        unit: None,
        doc: "Start of all names; '{id}' is the vehicle's number, otherwise it is appended from vehicle 2 on.",
    },
    ParamDef {
        key: "mavros_compat",
        kind: ParamKind::Choice(&["corrected", "exact"]),
        default: "corrected",
        unit: None,
        doc: "'exact' repeats the known mistakes of MAVROS, such as wrong units of the magnetic field.",
    },
];
