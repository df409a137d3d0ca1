//! Run-time types of a link.

use std::{sync::Arc, time::Duration};

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{CodecContext, CodecError},
    text::chain,
};
use rostrans_schema::{
    FieldType, MessageType, ServiceType,
    definition::{Arity, Primitive},
};
use serde_json::json;

use crate::options::Options;

/// The type of the link's topic.
pub(super) fn message(cx: &CodecContext<'_>) -> Result<Arc<MessageType>, CodecError> {
    let topic = cx.link.topic.as_ref();
    let topic = topic.ok_or_else(|| CodecError::Type("the link has no 'topic'".to_owned()))?;
    cx.types.message(&topic.msg_type).map_err(|error| CodecError::Type(chain(&error)))
}

/// The type of the link's service.
pub(super) fn service(cx: &CodecContext<'_>) -> Result<Arc<ServiceType>, CodecError> {
    let service = cx.link.service.as_ref();
    let service = service.ok_or_else(|| CodecError::Type("the link has no 'service'".to_owned()))?;
    cx.types.service(&service.srv_type).map_err(|error| CodecError::Type(chain(&error)))
}

/// The option `timeout`, in seconds.
pub(super) fn timeout(options: &Options<'_>) -> Result<Duration, CodecError> {
    let seconds = options.number("timeout", 5.0)?;
    if !(0.001..=3600.0).contains(&seconds) {
        let problem = format!("{seconds} is not a number of seconds from 0.001 to 3600");
        return Err(CodecError::Option { option: "timeout".to_owned(), problem });
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Describes `timeout` in a codec's options.
pub(super) const TIMEOUT: (&str, &str) =
    ("timeout", "seconds to wait for the answer to a service call, of the peer or the service; default 5");

/// A response that says "failed", for services whose response starts with a `bool` (`success`, `mode_sent`): that is
/// false and all else at its default; a text field `message` tells the reason. `None` for other services, whose
/// zeros would look like a result.
pub(super) fn failure(response: &MessageType, reason: &str) -> Option<CdrBytes> {
    let fields = response.shape().fields();
    let single = |arity| matches!(arity, Arity::One);
    let first = fields.first()?;
    if first.field_type != FieldType::Primitive(Primitive::Bool) || !single(first.arity) {
        return None;
    }
    let tells = |f: &rostrans_schema::Field| {
        &*f.name == "message" && matches!(f.field_type, FieldType::String(_)) && single(f.arity)
    };
    let value = if fields.iter().any(tells) { json!({ "message": reason }) } else { json!({}) };
    response.json_to_cdr(&value, &mut BytesMut::new()).ok()
}
