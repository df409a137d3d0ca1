//! Which codec feeds which topics.

use rostrans_core::{
    codec::CodecInfo,
    diag::{Diagnostic, Origin},
    param::Settings,
    registry::CodecRegistry,
    rule::{LinkConfig, Target},
    topic::{TopicName, TopicSpec},
};
use rostrans_schema::TypeName;
use serde_json::{Value, json};

use super::NAME;

/// Codecs in the order of their links, each with the topic of each port, relative to the prefix.
const TOPICS: &[(&str, &[(&str, &str)])] = &[
    ("mavlink.state", &[("state", "state"), ("extended_state", "extended_state")]),
    (
        "mavlink.imu",
        &[
            ("data", "imu/data"),
            ("data_raw", "imu/data_raw"),
            ("mag", "imu/mag"),
            ("static_pressure", "imu/static_pressure"),
            ("diff_pressure", "imu/diff_pressure"),
            ("temperature_imu", "imu/temperature_imu"),
            ("temperature_baro", "imu/temperature_baro"),
        ],
    ),
    (
        "mavlink.local_position",
        &[
            ("pose", "local_position/pose"),
            ("velocity_local", "local_position/velocity_local"),
            ("velocity_body", "local_position/velocity_body"),
            ("odom", "local_position/odom"),
            ("pose_cov", "local_position/pose_cov"),
            ("velocity_body_cov", "local_position/velocity_body_cov"),
            ("accel", "local_position/accel"),
        ],
    ),
    (
        "mavlink.global_position",
        &[
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
    ),
    ("mavlink.battery", &[("battery", "battery")]),
    ("mavlink.sys_status", &[("sys_status", "sys_status")]),
    ("mavlink.statustext", &[("recv", "statustext/recv")]),
    ("mavlink.rc", &[("in", "rc/in"), ("out", "rc/out")]),
    ("mavlink.altitude", &[("altitude", "altitude")]),
    ("mavlink.vfr_hud", &[("vfr_hud", "vfr_hud")]),
    ("mavlink.home_position", &[("home", "home_position/home")]),
    ("mavlink.estimator_status", &[("estimator_status", "estimator_status")]),
];

/// All links of one vehicle.
///
/// **Errors**: the prefix makes no topic name.
pub(super) fn of_vehicle(
    id: u8,
    prefix: &str,
    target: Option<Target>,
    settings: &Settings,
) -> Result<Vec<LinkConfig>, Diagnostic> {
    let codecs = rostrans_codecs::builtin();
    let exact = settings.text("mavros_compat") == "exact";
    let mut talk = link("link", "mavlink.link", id);
    talk.target = target;
    option(&mut talk, "imu_rate", settings.int("mavros_imu_stream_rate").into());
    option(&mut talk, "stream_rate", settings.int("mavros_stream_rate").into());
    let mut links = vec![talk];
    for (codec, topics) in TOPICS {
        let Some(info) = codecs.get(codec).map(|codec| codec.info()) else { continue };
        let mut link = link(codec.trim_start_matches("mavlink."), codec, id);
        if exact && info.options.iter().any(|(name, _)| *name == "exact") {
            option(&mut link, "exact", json!(true));
        }
        for (port, topic) in *topics {
            let spec = topic_spec(info, port, &format!("{prefix}/{topic}"), settings)?;
            link.ports.insert((*port).into(), spec);
        }
        links.push(link);
    }
    links.push(raw(id, &codecs, settings)?);
    Ok(links)
}

/// Whole frames, where MAVROS has them: outside the prefix.
fn raw(id: u8, codecs: &CodecRegistry, settings: &Settings) -> Result<LinkConfig, Diagnostic> {
    let mut raw = link("mavlink_source", "mavlink", id);
    if let Some(info) = codecs.get("mavlink").map(|codec| codec.info()) {
        raw.topic = Some(topic_spec(info, "mavlink", &format!("/uas{id}/mavlink_source"), settings)?);
    }
    Ok(raw)
}

fn link(name: &str, codec: &str, id: u8) -> LinkConfig {
    let mut link = LinkConfig::new(name, Some(codec.into()), Origin::Plugin(NAME));
    option(&mut link, "sysid", id.into());
    link
}

fn option(link: &mut LinkConfig, name: &str, value: Value) {
    link.options.0.insert(name.to_owned(), value);
}

/// The topic of a port, with the type and QoS the codec declares.
fn topic_spec(
    info: &CodecInfo,
    port: &str,
    name: &str,
    settings: &Settings,
) -> Result<TopicSpec, Diagnostic> {
    let fail =
        |message: String, help: &str| Diagnostic::error(settings.origin("mavros_prefix"), message, help);
    let declared = info.ports.iter().find(|p| p.name == port);
    let typed = declared.and_then(|p| Some((TypeName::message(p.msg_type?).ok()?, p.qos)));
    let Some((msg_type, qos)) = typed else {
        return Err(fail(
            format!("codec '{}' has no typed port '{port}'", info.name),
            "this is a bug in rostrans",
        ));
    };
    match TopicName::parse(name) {
        Ok(name) => Ok(TopicSpec { name, msg_type, qos }),
        Err(error) => Err(fail(format!("'mavros_prefix' makes no topic: {error}"), "")),
    }
}
