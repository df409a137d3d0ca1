//! JSON and dynamic values against CDR.

use std::sync::Arc;

use bytes::BytesMut;
use rostrans_cdr::CdrBytes;
use rostrans_schema::{MessageType, TypeName, TypeRegistry, Value};
use serde_json::json;

fn message(name: &str) -> Arc<MessageType> {
    let name = TypeName::message(name).expect("a valid name");
    TypeRegistry::bundled().message(&name).expect("a bundled type")
}

fn encode(name: &str, value: &serde_json::Value) -> Result<CdrBytes, String> {
    message(name).json_to_cdr(value, &mut BytesMut::new()).map_err(|e| e.to_string())
}

#[test]
fn missing_fields_take_defaults() {
    let bytes = encode("geometry_msgs/Pose", &json!({"position": {"y": 2}})).unwrap();
    let numbers: Vec<f64> =
        bytes.body().chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!(numbers, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn octets_are_numbers_or_base64() {
    let list = encode("sensor_msgs/Image", &json!({"data": [1, 2, 255]})).unwrap();
    let text = encode("sensor_msgs/Image", &json!({"data": "AQL/"})).unwrap();
    assert_eq!(list, text);
    assert_eq!(message("sensor_msgs/Image").cdr_to_json(&list).unwrap()["data"], json!([1, 2, 255]));
}

#[test]
fn numbers_json_lacks_are_text() {
    let ty = message("std_msgs/Float64MultiArray");
    let data = json!(["NaN", null, "Infinity", "-Infinity", 1e308, -0.0]);
    let bytes = ty.json_to_cdr(&json!({ "data": data }), &mut BytesMut::new()).unwrap();
    let back = ty.cdr_to_json(&bytes).unwrap();
    assert_eq!(back["data"], json!(["NaN", "NaN", "Infinity", "-Infinity", 1e308, -0.0]));
}

#[test]
fn wrong_values_name_their_field() {
    let table = [
        (
            "geometry_msgs/PoseStamped",
            json!({"pose": {"position": {"q": 1}}}),
            "field 'pose.position.q': no such field in 'geometry_msgs/msg/Point'",
        ),
        (
            "geometry_msgs/Twist",
            json!({"liner": {"x": 1}}),
            "field 'liner': no such field in 'geometry_msgs/msg/Twist'; did you mean 'linear'?",
        ),
        (
            "geometry_msgs/Twist",
            json!({"linear": {"x": "fast"}}),
            "field 'linear.x': expected a number, found '\"fast\"'",
        ),
        (
            "nav_msgs/Path",
            json!({"poses": [{}, {"header": {"stamp": {"sec": 1.5}}}]}),
            "field 'poses[1].header.stamp.sec': expected an integer, found '1.5'",
        ),
        ("std_msgs/UInt8", json!({"data": 256}), "field 'data': '256' does not fit uint8"),
        ("std_msgs/UInt8", json!({"data": -1}), "field 'data': '-1' does not fit uint8"),
        ("std_msgs/Bool", json!({"data": 1}), "field 'data': expected true or false, found '1'"),
        ("std_msgs/String", json!({"data": 1}), "field 'data': expected text, found '1'"),
        ("std_msgs/String", json!({"data": "a\u{0}b"}), "field 'data': text contains a NUL character"),
        (
            "sensor_msgs/Imu",
            json!({"orientation_covariance": [1, 2]}),
            "field 'orientation_covariance': has 2 elements, must have 9",
        ),
        (
            "shape_msgs/SolidPrimitive",
            json!({"dimensions": [1, 2, 3, 4]}),
            "field 'dimensions': has 4 elements, may have at most 3",
        ),
        ("sensor_msgs/Image", json!({"data": "%"}), "field 'data': expected a list, found '\"%\"'"),
        ("std_msgs/String", json!([1]), "field '': expected a structure, found '[1]'"),
    ];
    for (name, value, text) in table {
        assert_eq!(encode(name, &value).unwrap_err(), text);
    }
}

#[test]
fn whole_floats_are_integers_and_large_ones_are_exact() {
    assert_eq!(encode("std_msgs/Int8", &json!({"data": -3.0})).unwrap().body(), [0xfd]);
    let ty = message("std_msgs/UInt64");
    let bytes = ty.json_to_cdr(&json!({"data": u64::MAX}), &mut BytesMut::new()).unwrap();
    assert_eq!(ty.cdr_to_json(&bytes).unwrap()["data"], json!(u64::MAX));
}

#[test]
fn failed_encode_leaves_the_pool_usable() {
    let ty = message("std_msgs/String");
    let mut pool = BytesMut::new();
    assert!(ty.json_to_cdr(&json!({"data": 1}), &mut pool).is_err());
    let bytes = ty.json_to_cdr(&json!({"data": "a"}), &mut pool).unwrap();
    assert_eq!(&bytes[..], b"\0\x01\0\0\x02\0\0\0a\0");
}

#[test]
fn dynamic_value_round_trips() {
    let ty = message("nav_msgs/Path");
    let bytes = ty
        .json_to_cdr(&json!({"poses": [{"header": {"frame_id": "map"}}, {}]}), &mut BytesMut::new())
        .unwrap();
    let value = ty.decode(&bytes).unwrap();
    assert_eq!(value.at("poses[0].header.frame_id"), Some(&Value::Text("map".into())));
    assert_eq!(value.at("poses[1].pose.orientation.w").and_then(Value::to_f64), Some(1.0));
    assert_eq!(value.at("poses[2]"), None);
    assert_eq!(ty.encode(&value, &mut BytesMut::new()).unwrap(), bytes);
}

#[test]
fn sample_of_another_type_is_refused_or_leaves_a_rest() {
    let string = encode("std_msgs/String", &json!({"data": "hello, world"})).unwrap();
    assert_eq!(message("std_msgs/String").validate(&string).unwrap(), 0);
    for name in ["std_msgs/Bool", "sensor_msgs/Imu", "nav_msgs/Path"] {
        assert!(message(name).validate(&string).is_err(), "{name}");
    }
    assert_eq!(message("std_msgs/Float64").validate(&string).unwrap(), 9);
}

#[test]
fn both_byte_orders_and_xcdr2_are_read() {
    let ty = message("std_msgs/MultiArrayLayout");
    let want = json!({"dim": [{"label": "x", "size": 3, "stride": 4}], "data_offset": 5});
    // Length, then label (length, text), size, stride; then the offset.
    let big = b"\0\0\0\0\0\0\0\x01\0\0\0\x02x\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\x05";
    assert_eq!(ty.cdr_to_json(big).unwrap(), want);
    // PLAIN_CDR2 puts the sequence's size in octets first.
    let xcdr2 = b"\0\x07\0\0\x14\0\0\0\x01\0\0\0\x02\0\0\0x\0\0\0\x03\0\0\0\x04\0\0\0\x05\0\0\0";
    assert_eq!(ty.cdr_to_json(xcdr2).unwrap(), want);
    assert!(ty.validate(big).is_ok() && ty.validate(xcdr2).is_ok());

    let double = message("geometry_msgs/PointStamped");
    // `frame_id` ends at 17; XCDR1 would pad the first double to 24, PLAIN_CDR2 pads it to 20.
    let mut bytes = b"\0\x07\0\0\x01\0\0\0\0\0\0\0\x05\0\0\0abcd\0\0\0\0".to_vec();
    bytes.extend([1.0_f64, 2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()));
    assert_eq!(double.cdr_to_json(&bytes).unwrap()["point"], json!({"x": 1.0, "y": 2.0, "z": 3.0}));
}
