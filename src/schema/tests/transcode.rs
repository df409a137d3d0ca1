//! ROS 2 samples to ROS 1 and back.

use bytes::BytesMut;
use rostrans_schema::{Dialect, SchemaError, Transcoder, TypeKind, TypeName, TypeRegistry};
use serde_json::{Value, json};

fn transcoder(types: &TypeRegistry, name: &str) -> Result<Transcoder, SchemaError> {
    let name = TypeName::message(name).expect("a valid name");
    let ros2 = types.message(&name)?;
    Transcoder::new(&ros2, &types.ros1_message(&name)?)
}

fn encode(types: &TypeRegistry, name: &str, value: &Value) -> Vec<u8> {
    let name = TypeName::message(name).expect("a valid name");
    let message = types.message(&name).expect("a bundled type");
    message.json_to_cdr(value, &mut BytesMut::new()).expect("a fitting value").to_vec()
}

#[test]
fn only_types_that_really_differ_do_not_pair() {
    let types = TypeRegistry::bundled();
    let mut differ = Vec::new();
    let mut paired = 0;
    for name in types.names(Dialect::Ros1, TypeKind::Message) {
        match transcoder(&types, &name) {
            Ok(_) => paired += 1,
            Err(SchemaError::Mismatch { .. }) => differ.push(name),
            Err(SchemaError::Unknown { .. }) => {}
            Err(other) => panic!("{name}: {other}"),
        }
    }
    assert!(paired > 200, "{paired}");
    // Redesigned for ROS 2: text ids, and a pose in another type.
    let redesigned = [
        "vision_msgs/msg/BoundingBox2D",
        "vision_msgs/msg/BoundingBox2DArray",
        "vision_msgs/msg/Detection2D",
        "vision_msgs/msg/Detection2DArray",
        "vision_msgs/msg/Detection3D",
        "vision_msgs/msg/Detection3DArray",
        "vision_msgs/msg/ObjectHypothesis",
        "vision_msgs/msg/ObjectHypothesisWithPose",
    ];
    assert_eq!(differ, redesigned);
}

#[test]
fn header_gains_and_loses_seq() {
    let types = TypeRegistry::bundled();
    let header = json!({"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "map"});
    let sample = encode(&types, "std_msgs/Header", &header);
    let transcoder = transcoder(&types, "std_msgs/Header").unwrap();
    let body = transcoder.to_ros1(&sample, 7, &mut BytesMut::new()).unwrap();
    assert_eq!(&body[..], b"\x07\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0map");
    assert_eq!(&transcoder.to_ros2(&body, &mut BytesMut::new()).unwrap()[..], sample);
}

#[test]
fn both_byte_orders_give_the_same_body() {
    let types = TypeRegistry::bundled();
    let transcoder = transcoder(&types, "geometry_msgs/PointStamped").unwrap();
    let mut big = b"\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\x02a\0\0\0".to_vec();
    let mut little = b"\0\x01\0\0\x01\0\0\0\x02\0\0\0\x02\0\0\0a\0\0\0".to_vec();
    for v in [1.0_f64, -2.5, 3e300] {
        big.extend(v.to_be_bytes());
        little.extend(v.to_le_bytes());
    }
    let from_big = transcoder.to_ros1(&big, 0, &mut BytesMut::new()).unwrap();
    let from_little = transcoder.to_ros1(&little, 0, &mut BytesMut::new()).unwrap();
    assert_eq!(from_big, from_little);
    assert_eq!(from_little.len(), 12 + 4 + 1 + 24);
}

#[test]
fn fields_of_ros2_alone_get_their_defaults() {
    let types = TypeRegistry::bundled();
    let full = json!({"range": 5.0, "variance": 0.25});
    let plain = json!({"range": 5.0});
    let transcoder = transcoder(&types, "sensor_msgs/Range").unwrap();
    let body =
        transcoder.to_ros1(&encode(&types, "sensor_msgs/Range", &full), 0, &mut BytesMut::new()).unwrap();
    let back = transcoder.to_ros2(&body, &mut BytesMut::new()).unwrap();
    assert_eq!(&back[..], encode(&types, "sensor_msgs/Range", &plain));
}

#[test]
fn damaged_bodies_are_refused() {
    let types = TypeRegistry::bundled();
    let transcoder = transcoder(&types, "nav_msgs/Path").unwrap();
    let sample = encode(&types, "nav_msgs/Path", &json!({"poses": [{}, {}]}));
    let body = transcoder.to_ros1(&sample, 0, &mut BytesMut::new()).unwrap();
    for len in 0..body.len() {
        assert!(transcoder.to_ros2(&body[..len], &mut BytesMut::new()).is_err(), "{len}");
    }
    for len in 0..sample.len() {
        assert!(transcoder.to_ros1(&sample[..len], 0, &mut BytesMut::new()).is_err(), "{len}");
    }
    let longer = [&body[..], &[0]].concat();
    assert!(transcoder.to_ros2(&longer, &mut BytesMut::new()).is_err());
}
