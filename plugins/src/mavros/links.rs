//! Which codec feeds which topics.

use rostrans_core::{
    codec::CodecInfo,
    diag::{Diagnostic, Origin},
    param::{ParamKind, Settings},
    registry::CodecRegistry,
    rule::LinkConfig,
    topic::{ServiceSpec, TopicName, TopicSpec},
};
use serde_json::{Value, json};

use crate::bind;

use super::{
    NAME,
    distance::{self, Sensor},
    line::Way,
    params,
    select::Selection,
    surface,
};

/// All links of one vehicle.
///
/// **Errors**: the prefix makes no topic name.
pub(super) fn of_vehicle(
    id: u8,
    prefix: &str,
    way: &Way,
    settings: &Settings,
) -> Result<Vec<LinkConfig>, Diagnostic> {
    let codecs = rostrans_codecs::builtin();
    let exact = settings.text("mavros_compat") == "exact";
    let mut talk = link("link", "mavlink.link", id);
    talk.target.clone_from(&way.target);
    let (sysid, compid) = way.ids.unwrap_or_else(|| own_ids(settings));
    if sysid > 0 {
        option(&mut talk, "own_sysid", sysid.into());
    }
    option(&mut talk, "own_compid", compid.into());
    option(&mut talk, "imu_rate", settings.int("mavros_imu_stream_rate").into());
    option(&mut talk, "stream_rate", settings.int("mavros_stream_rate").into());
    let timeout = settings.number("mavros_sys_conn_timeout");
    option(&mut talk, "conn_timeout", timeout.into());
    option(&mut talk, "heartbeat_rate", settings.number("mavros_sys_heartbeat_rate").into());
    option(&mut talk, "heartbeat_mav_type", settings.text("mavros_sys_heartbeat_mav_type").into());
    option(&mut talk, "message_intervals", settings.text("mavros_message_intervals").into());
    option(&mut talk, "protocol", settings.text("fcu_protocol").into());
    option(&mut talk, "signing_key", settings.text("mavros_signing_key").into());
    option(&mut talk, "geoid_file", settings.text("mavros_geoid_file").into());
    let compid_of_vehicle = settings.int("tgt_component");
    option(&mut talk, "compid", compid_of_vehicle.into());
    let selection = Selection::new(settings);
    let mut links = vec![talk];
    for surface in surface::all() {
        let Some(info) = codecs.get(surface.codec).map(|codec| codec.info()) else { continue };
        let mut link = link(surface.codec.trim_start_matches("mavlink."), surface.codec, id);
        if surface.talks || !info.inputs.is_empty() || !info.services.is_empty() {
            link.target.clone_from(&way.target);
        }
        let knows = |option: &str| info.options.iter().any(|(name, _)| *name == option);
        if !knows("sysid") {
            // It is about no vehicle: a modem is a system of its own.
            link.options.0.remove("sysid");
        }
        if exact && knows("exact") {
            option(&mut link, "exact", json!(true));
        }
        if compid_of_vehicle > 1 && knows("compid") {
            option(&mut link, "compid", compid_of_vehicle.into());
        }
        if knows("conn_timeout") {
            option(&mut link, "conn_timeout", timeout.into());
        }
        // Transforms are for those who ask: every publisher of /tf is one more for all its readers.
        let sends_tf = surface.options.iter().any(|(option, key)| *option == "tf_send" && settings.flag(key));
        let wanted = |topic: &str| selection.wants(topic) && (topic != "/tf" || sends_tf);
        for (port, topic) in surface.topics.iter().filter(|(_, topic)| wanted(topic)) {
            let spec = topic_spec(info, port, &absolute(id, prefix, topic), settings)?;
            link.ports.insert((*port).into(), spec);
        }
        for (service, name) in surface.services.iter().filter(|(_, name)| selection.wants(name)) {
            let spec = service_spec(info, service, &absolute(id, prefix, name), settings)?;
            link.services.insert((*service).into(), spec);
        }
        for (name, key) in surface.options {
            option(&mut link, name, value(settings, key));
        }
        let had_names = !surface.topics.is_empty() || !surface.services.is_empty();
        if !had_names || !link.ports.is_empty() || !link.services.is_empty() {
            links.push(link);
        }
    }
    if selection.wants("distance_sensor") {
        for (number, sensor) in distance::sensors(settings)?.into_iter().enumerate() {
            links.push(distance_sensor(id, prefix, number, sensor, way, &codecs, settings)?);
        }
    }
    links.push(raw(id, &codecs, settings)?);
    Ok(links)
}

/// One distance sensor: a link that publishes or reads.
fn distance_sensor(
    id: u8,
    prefix: &str,
    number: usize,
    sensor: Sensor,
    way: &Way,
    codecs: &CodecRegistry,
    settings: &Settings,
) -> Result<LinkConfig, Diagnostic> {
    let mut link = link(&format!("distance_sensor_{number}"), "mavlink.distance_sensor", id);
    link.target.clone_from(&way.target);
    link.options.0.extend(sensor.options);
    if let Some(info) = codecs.get("mavlink.distance_sensor").map(|codec| codec.info()) {
        let mut bind = |port: &str, topic: &str| {
            let spec = topic_spec(info, port, &absolute(id, prefix, topic), settings)?;
            link.ports.insert(port.into(), spec);
            Ok(())
        };
        if sensor.subscriber {
            bind("send", &sensor.topic)?;
        } else {
            bind("range", &sensor.topic)?;
        }
        let sends_tf = link.options.0.get("send_tf") == Some(&Value::Bool(true));
        if sends_tf {
            let spec = topic_spec(info, "tf", "/tf", settings)?;
            link.ports.insert("tf".into(), spec);
        }
    }
    Ok(link)
}

/// Our system id, 0 for the vehicle's, and component id.
fn own_ids(settings: &Settings) -> (u8, u8) {
    let id = |key| u8::try_from(settings.int(key)).unwrap_or_default();
    (id("system_id"), id("component_id"))
}

/// Whole frames, where MAVROS has them: outside the prefix.
fn raw(id: u8, codecs: &CodecRegistry, settings: &Settings) -> Result<LinkConfig, Diagnostic> {
    let mut raw = link("mavlink_source", "mavlink", id);
    if let Some(info) = codecs.get("mavlink").map(|codec| codec.info()) {
        raw.topic = Some(topic_spec(info, "mavlink", &format!("/uas{id}/mavlink_source"), settings)?);
    }
    Ok(raw)
}

/// A parameter's value as a codec's option.
fn value(settings: &Settings, key: &str) -> Value {
    match params::ALL.iter().find(|def| def.key == key).map(|def| def.kind) {
        Some(ParamKind::Bool) => settings.flag(key).into(),
        Some(ParamKind::Int { .. }) => settings.int(key).into(),
        Some(ParamKind::Number { .. }) => settings.number(key).into(),
        Some(ParamKind::Text | ParamKind::Choice(_)) | None => settings.text(key).into(),
    }
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
    bind::topic(info, port, parse_name(name, settings)?)
        .ok_or_else(|| missing(info, "typed port", port, settings))
}

/// A service with the type the codec declares.
fn service_spec(
    info: &CodecInfo,
    service: &str,
    name: &str,
    settings: &Settings,
) -> Result<ServiceSpec, Diagnostic> {
    bind::service(info, service, parse_name(name, settings)?)
        .ok_or_else(|| missing(info, "service", service, settings))
}

/// A name under the prefix; one that starts with `/` is outside it and may have the vehicle's number in it.
fn absolute(id: u8, prefix: &str, name: &str) -> String {
    if name.starts_with('/') { name.replace("{id}", &id.to_string()) } else { format!("{prefix}/{name}") }
}

fn parse_name(name: &str, settings: &Settings) -> Result<TopicName, Diagnostic> {
    TopicName::parse(name).map_err(|error| {
        let message = format!("'mavros_prefix' makes no topic: {error}");
        Diagnostic::error(settings.origin("mavros_prefix"), message, "")
    })
}

fn missing(info: &CodecInfo, what: &str, name: &str, settings: &Settings) -> Diagnostic {
    let message = format!("codec '{}' has no {what} '{name}'", info.name);
    Diagnostic::error(settings.origin("mavros_prefix"), message, "this is a bug in rostrans")
}
