//! Converts values from line to line, so that programs in other languages can check this crate.
//!
//! Each line read is `{"type": "pkg/msg/Type", "json": {...}}`, or `"cdr"` (hexadecimal sample) or `"ros1"`
//! (hexadecimal body) instead of `json`; parts of services are `pkg/srv/Type_Request`. Each line written is
//! `{"cdr": hex, "json": {...}, "ros1": hex}`; `ros1` is null when ROS 1 has no such type. A failure gives
//! `{"error": text}`.

use std::io::{self, BufRead, Write};

use bytes::BytesMut;
use rostrans_schema::{MessageType, SchemaError, Shape, Transcoder, TypeName, TypeRegistry};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let types = TypeRegistry::bundled();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = answer(&types, &line?).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(types: &TypeRegistry, line: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let request: Value = serde_json::from_str(line)?;
    let name = request.get("type").and_then(Value::as_str).ok_or("no 'type'")?;
    let name = TypeName::message(name).or_else(|_| TypeName::service(name))?;
    let message = types.message(&name)?;
    let transcoder = transcoder(types, &name, &message)?;
    let mut pool = BytesMut::new();
    let hex_of = |key| request.get(key).and_then(Value::as_str).map(from_hex);
    let sample = if let Some(value) = request.get("json") {
        message.json_to_cdr(value, &mut pool)?.to_vec()
    } else if let Some(sample) = hex_of("cdr") {
        sample.ok_or("bad hex")?
    } else {
        let body = hex_of("ros1").flatten().ok_or("no 'json', 'cdr' or 'ros1'")?;
        transcoder.as_ref().ok_or("no ROS 1 counterpart")?.to_ros2(&body, &mut pool)?.to_vec()
    };
    message.validate(&sample)?;
    let dynamic = message.encode(&message.decode(&sample)?, &mut pool)?;
    let ros1 = transcoder.map(|t| t.to_ros1(&sample, 0, &mut pool)).transpose()?;
    Ok(json!({
        "cdr": to_hex(&sample),
        "dynamic": to_hex(&dynamic),
        "json": message.cdr_to_json(&sample)?,
        "ros1": ros1.map(|body| to_hex(&body)),
    }))
}

/// The transcoder for `name`, if ROS 1 has the type and defines it alike.
fn transcoder(
    types: &TypeRegistry,
    name: &TypeName,
    message: &MessageType,
) -> Result<Option<Transcoder>, SchemaError> {
    let paired = match name.as_str().rsplit_once('_') {
        Some((service, part @ ("Request" | "Response"))) => {
            TypeName::service(service).ok().map(|service| types.ros1_service(&service)).map(|service| {
                service.and_then(|s| {
                    let shape: &Shape = if part == "Request" { s.request() } else { s.response() };
                    Transcoder::of_shapes(message.shape(), shape)
                })
            })
        }
        _ => Some(types.ros1_message(name).and_then(|ros1| Transcoder::new(message, &ros1))),
    };
    match paired {
        None | Some(Err(SchemaError::Unknown { .. } | SchemaError::Mismatch { .. })) => Ok(None),
        Some(Ok(transcoder)) => Ok(Some(transcoder)),
        Some(Err(other)) => Err(other),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}
