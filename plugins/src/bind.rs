//! Binding a codec's ports and services to names, with the types and QoS that it declares.

use rostrans_core::{
    codec::CodecInfo,
    topic::{ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::TypeName;

/// The topic of a port or input; nothing where the codec has no such one with a type of its own.
pub(crate) fn topic(info: &CodecInfo, port: &str, name: TopicName) -> Option<TopicSpec> {
    let declared = info.ports.iter().chain(info.inputs).find(|declared| declared.name == port)?;
    let msg_type = TypeName::message(declared.msg_type?).ok()?;
    Some(TopicSpec { name, msg_type, qos: declared.qos })
}

/// A service; nothing where the codec has no such one.
pub(crate) fn service(info: &CodecInfo, service: &str, name: TopicName) -> Option<ServiceSpec> {
    let declared = info.services.iter().find(|declared| declared.name == service)?;
    Some(ServiceSpec { name, srv_type: TypeName::service(declared.srv_type).ok()? })
}
