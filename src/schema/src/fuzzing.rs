//! Entry points for fuzzers: any input must return, not panic, and allocate no more than a multiple of its length.

use std::sync::{Arc, OnceLock};

use bytes::BytesMut;

use crate::{
    Dialect, MessageType, Transcoder, TypeName, TypeRegistry, parse_action, parse_message, parse_service,
};

/// Types with every kind of field: text, octets, doubles, nested sequences, bounds, `bool`s, none at all.
pub const TYPES: [&str; 10] = [
    "std_msgs/String",
    "std_msgs/Empty",
    "sensor_msgs/Image",
    "sensor_msgs/PointCloud2",
    "nav_msgs/Path",
    "diagnostic_msgs/DiagnosticArray",
    "mavros_msgs/Mavlink",
    "mavros_msgs/WaypointList",
    "visualization_msgs/MarkerArray",
    "shape_msgs/SolidPrimitive",
];

/// Parses `text` as every kind of definition.
pub fn parse(text: &str) {
    for dialect in [Dialect::Ros1, Dialect::Ros2] {
        let fields = [
            parse_message("fuzz", "my_msgs", text, dialect).map_or(0, |m| m.fields.len()),
            parse_service("fuzz", "my_msgs", text, dialect).map_or(0, |s| s.request.fields.len()),
            parse_action("fuzz", "my_msgs", text, dialect).map_or(0, |a| a.goal.fields.len()),
        ];
        assert!(fields.into_iter().all(|count| count <= text.lines().count()), "more fields than lines");
    }
}

/// Reads `data` as a sample of one of [`TYPES`], which its first octet chooses.
pub fn sample(data: &[u8]) {
    let Some((Subject { message, transcoder }, sample)) = choose(data) else { return };
    let valid = message.validate(sample).is_ok();
    let mut pool = BytesMut::new();
    let body = transcoder.to_ros1(sample, 0, &mut pool);
    let decoded = message.decode(sample);
    let json = message.cdr_to_json(sample);
    assert_eq!(decoded.is_ok(), json.is_ok(), "the walkers disagree");
    if valid {
        assert!(decoded.is_ok() && body.is_ok(), "a valid sample is refused");
    }
}

/// Reads `data` as a ROS 1 body of one of [`TYPES`]; what comes out must be valid and convert back.
pub fn ros1(data: &[u8]) {
    let Some((Subject { message, transcoder }, body)) = choose(data) else { return };
    let mut pool = BytesMut::new();
    if let Ok(sample) = transcoder.to_ros2(body, &mut pool) {
        assert!(message.validate(&sample).is_ok(), "an invalid sample came out");
        assert!(transcoder.to_ros1(&sample, 0, &mut pool).is_ok(), "the way back is refused");
    }
}

/// Reads `data` as JSON for one of [`TYPES`]; what comes out must be valid.
pub fn json(data: &[u8]) {
    let Some((Subject { message, .. }, text)) = choose(data) else { return };
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(text) else { return };
    if let Ok(sample) = message.json_to_cdr(&value, &mut BytesMut::new()) {
        assert!(message.validate(&sample).is_ok(), "an invalid sample came out");
    }
}

/// A type under test.
struct Subject {
    message: Arc<MessageType>,
    transcoder: Transcoder,
}

fn choose(data: &[u8]) -> Option<(&'static Subject, &[u8])> {
    static LOADED: OnceLock<Vec<Subject>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let types = TypeRegistry::bundled();
        TYPES.iter().filter_map(|name| load(&types, name)).collect()
    });
    let (first, rest) = data.split_first()?;
    Some((loaded.get(usize::from(*first) % loaded.len().max(1))?, rest))
}

fn load(types: &TypeRegistry, name: &str) -> Option<Subject> {
    let name = TypeName::message(name).ok()?;
    let message = types.message(&name).ok()?;
    let transcoder = Transcoder::new(&message, &types.ros1_message(&name).ok()?).ok()?;
    Some(Subject { message, transcoder })
}
