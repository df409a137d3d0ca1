//! `raw_bytes`, `string`, `json`, `cdr`, `mavlink`: topics.

use bytes::{Bytes, BytesMut};
use rostrans_cdr::{CdrBytes, to_cdr};
use rostrans_core::{
    clock::RosTime,
    codec::{DecodeError, EncodeError, Encoder, FrameOut, Sample},
};
use rostrans_msgs::{
    geometry_msgs::msg::PointStamped,
    std_msgs::msg::{MultiArrayDimension, UInt8MultiArray},
};
use rostrans_schema::TypeName;
use serde_json::{Value, json};

use crate::support::{Bench, build, hex, rule, topic, types};

fn encoder(codec: &str, options: Value, msg_type: &str) -> Box<dyn Encoder> {
    let mut rule = rule(codec, &options);
    rule.links[0].topic = Some(topic(msg_type));
    build(&rule, |codec, cx| codec.encoder(cx)).unwrap()
}

fn encode(encoder: &mut dyn Encoder, payload: CdrBytes) -> Result<Vec<Vec<u8>>, EncodeError> {
    let mut out = FrameOut::new();
    encoder.encode(&Sample { payload, stamp: RosTime::default() }, &mut out)?;
    let mut frames = Vec::new();
    out.drain(|frame| frames.push(frame.to_vec()));
    Ok(frames)
}

fn cdr_of(msg_type: &str, value: &Value) -> CdrBytes {
    let message = types().message(&TypeName::message(msg_type).unwrap()).unwrap();
    message.json_to_cdr(value, &mut BytesMut::new()).unwrap()
}

fn junk() -> CdrBytes {
    CdrBytes::new(Bytes::from_static(&[0, 1, 0, 0, 255, 255, 255, 255, 1])).unwrap()
}

#[test]
fn raw_bytes_keep_every_byte_both_ways() {
    let mut bench = Bench::new("raw_bytes", json!({}));
    let mut way_out = encoder("raw_bytes", json!({}), "std_msgs/msg/UInt8MultiArray");
    for frame in [&b""[..], b"\x00", b"\xff\x00\x80 text", &[7; 3000]] {
        bench.frame(frame).unwrap();
        let message = bench.only("bytes");
        assert_eq!(message["layout"], json!({"dim": [], "data_offset": 0}));
        assert_eq!(message["data"], json!(frame));
        let sample = cdr_of("std_msgs/msg/UInt8MultiArray", &message);
        assert_eq!(encode(&mut *way_out, sample).unwrap(), [frame]);
    }
}

#[test]
fn raw_bytes_take_any_layout() {
    let mut array = UInt8MultiArray::default();
    array.layout.dim.push(MultiArrayDimension { label: "rows".to_owned(), size: 2, stride: 3 });
    array.layout.data_offset = 1;
    array.data = vec![1, 2, 3];
    let mut way_out = encoder("raw_bytes", json!({}), "std_msgs/msg/UInt8MultiArray");
    assert_eq!(encode(&mut *way_out, to_cdr(&array, &mut BytesMut::new())).unwrap(), [[1, 2, 3]]);
    assert!(encode(&mut *way_out, junk()).is_err());
}

#[test]
fn text_is_utf8_or_latin1() {
    let mut utf8 = Bench::new("string", json!({}));
    utf8.frame("Grüße ✓".as_bytes()).unwrap();
    assert_eq!(utf8.only("text")["data"], "Grüße ✓");
    assert_eq!(utf8.frame(b"\xff"), Err(DecodeError::Text("UTF-8")));

    let mut latin1 = Bench::new("string", json!({"encoding": "latin-1"}));
    latin1.frame(b"Gr\xfc\xdfe").unwrap();
    assert_eq!(latin1.only("text")["data"], "Grüße");

    let text = |t: &str| cdr_of("std_msgs/msg/String", &json!({ "data": t }));
    let mut out = encoder("string", json!({}), "std_msgs/msg/String");
    assert_eq!(encode(&mut *out, text("ü✓")).unwrap(), ["ü✓".as_bytes()]);
    let mut out = encoder("string", json!({"encoding": "Latin-1"}), "std_msgs/msg/String");
    assert_eq!(encode(&mut *out, text("ü")).unwrap(), [[0xfc]]);
    assert_eq!(encode(&mut *out, text("✓")), Err(EncodeError::OutOfRange("data")));
    assert!(encode(&mut *out, junk()).is_err());
}

#[test]
fn json_objects_become_messages_and_back() {
    let point = "geometry_msgs/msg/PointStamped";
    let mut bench = Bench::typed("json", json!({}), point);
    bench.frame(br#" {"header": {"frame_id": "map"}, "point": {"x": 1.5, "y": "NaN"}} "#).unwrap();
    let message = bench.only("message");
    assert_eq!(message["point"], json!({"x": 1.5, "y": "NaN", "z": 0.0}));
    let mut out = encoder("json", json!({}), point);
    let frames = encode(&mut *out, cdr_of(point, &message)).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&frames[0]).unwrap(), message);
}

#[test]
fn bad_json_is_an_error_and_the_next_one_is_taken() {
    let mut bench = Bench::typed("json", json!({}), "std_msgs/msg/Bool");
    for bad in [&b"{"[..], b"", b"\xff", b"{} {}"] {
        assert_eq!(bench.frame(bad), Err(DecodeError::Text("JSON")), "{bad:?}");
    }
    for bad in [r#"{"dta": true}"#, r#"{"data": 1}"#, "[]", "7"] {
        assert!(matches!(bench.frame(bad.as_bytes()), Err(DecodeError::Schema(_))), "{bad}");
    }
    bench.frame(br#"{"data": true}"#).unwrap();
    assert_eq!(bench.only("message"), json!({"data": true}));
}

#[test]
fn cdr_passes_as_it_is_when_it_fits_the_type() {
    let point = "geometry_msgs/msg/PointStamped";
    let mut message = PointStamped::default();
    message.header.frame_id = "map".to_owned();
    message.point.x = 2.5;
    let sample = to_cdr(&message, &mut BytesMut::new());
    let mut bench = Bench::typed("cdr", json!({}), point);
    bench.frame(&sample).unwrap();
    assert_eq!(bench.only("message")["point"]["x"], 2.5);
    for cut in [0, 3, 4, sample.len() / 2, sample.len() - 1] {
        assert!(bench.frame(&sample[..cut]).is_err(), "{cut} bytes");
    }
    bench.frame(&[&sample[..], &[0; 24]].concat()).unwrap();
    assert_eq!(bench.only("message")["point"]["x"], 2.5, "a serializer's surplus is cut off");
    assert!(bench.frame(&[&sample[..], &[0; 40]].concat()).is_err(), "more than the type holds");
    let mut out = encoder("cdr", json!({}), point);
    assert_eq!(encode(&mut *out, sample.clone()).unwrap(), [sample.to_vec()]);
    assert!(encode(&mut *out, junk()).is_err());
}

#[test]
fn garbage_is_an_error_without_a_subscriber_too() {
    for codec in ["cdr", "json"] {
        let mut bench = Bench::typed(codec, json!({}), "geometry_msgs/msg/PointStamped");
        bench.listen("message", 0);
        assert!(bench.frame(b"garbage").is_err(), "{codec}");
        let good = match codec {
            "cdr" => to_cdr(&PointStamped::default(), &mut BytesMut::new()).to_vec(),
            _ => b"{}".to_vec(),
        };
        bench.frame(&good).unwrap();
        assert!(bench.take("message").is_empty(), "{codec}");
    }
}

#[test]
fn refused_json_is_explained_field_by_field() {
    let mut bench = Bench::typed("json", json!({}), "geometry_msgs/msg/Twist");
    for (bad, words) in [
        (r#"{"linear": {"x": "fast"}}"#, "field 'linear.x': expected a number, found '\"fast\"'"),
        (
            r#"{"liner": {}}"#,
            "field 'liner': no such field in 'geometry_msgs/msg/Twist'; did you mean 'linear'?",
        ),
        ("[1]", "not a JSON object"),
        ("{\"linear\": ", "not valid JSON: EOF while parsing a value at line 1 column 11"),
        ("{\"a\\nb\": 1}", "field 'a\u{fffd}b': no such field in 'geometry_msgs/msg/Twist'"),
    ] {
        assert!(bench.frame(bad.as_bytes()).is_err(), "{bad}");
        assert_eq!(bench.explain().as_deref(), Some(words), "{bad}");
    }
    assert!(bench.frame(format!("{{\"{}\": 1}}", "x".repeat(60_000)).as_bytes()).is_err());
    assert_eq!(bench.explain().unwrap().chars().count(), 200);
}

#[test]
fn other_representations_are_published_as_little_endian_xcdr1() {
    let mut bench = Bench::typed("cdr", json!({}), "std_msgs/msg/Float64");
    bench.frame(&hex("000000003ff8000000000000")).unwrap();
    bench.frame(&hex("00070000000000000000f83f")).unwrap();
    let messages = bench.take("message");
    assert_eq!(messages, [json!({"data": 1.5}), json!({"data": 1.5})]);
}

#[test]
fn unknown_type_is_refused_with_a_hint() {
    let mut rule = rule("json", &json!({}));
    rule.links[0].topic = Some(topic("std_msgs/msg/Sting"));
    let error = build(&rule, |codec, cx| codec.decoder(cx).map(drop)).unwrap_err().to_string();
    assert!(
        error.contains("'std_msgs/msg/Sting' is unknown") && error.contains("std_msgs/msg/String"),
        "{error}"
    );
}

#[test]
fn mavlink_frames_cross_ros_unchanged() {
    let frames = [
        "fd09000020010100000000000100020c510403a5be",
        "fe09070102000000010002035104035c5d",
        // Signed, of an unknown message.
        "fd0101000701014dc3a10000000102030405060708090a0b0c0d",
    ];
    let mut bench = Bench::new("mavlink", json!({}));
    let mut out = encoder("mavlink", json!({}), "mavros_msgs/msg/Mavlink");
    for frame in frames {
        bench.frame(&hex(frame)).unwrap();
        let message = bench.only("mavlink");
        let sample = cdr_of("mavros_msgs/msg/Mavlink", &message);
        assert_eq!(encode(&mut *out, sample).unwrap(), [hex(frame)], "{message}");
    }
}

#[test]
fn mavlink_frames_are_filtered_by_sender() {
    let frame = hex("fd09000020010100000000000100020c510403a5be");
    for (options, passes) in
        [(json!({"sysid": 1, "compid": 1}), 1), (json!({"sysid": 2}), 0), (json!({"compid": 2}), 0)]
    {
        let mut all = Bench::new("mavlink", json!({}));
        all.frame(&frame).unwrap();
        let sample = cdr_of("mavros_msgs/msg/Mavlink", &all.only("mavlink"));
        let mut bench = Bench::new("mavlink", options.clone());
        bench.frame(&frame).unwrap();
        assert_eq!(bench.take("mavlink").len(), passes, "{options}");
        let mut out = encoder("mavlink", options, "mavros_msgs/msg/Mavlink");
        assert_eq!(encode(&mut *out, sample).unwrap().len(), passes);
    }
}

#[test]
fn impossible_mavlink_messages_are_refused() {
    let good = json!({"magic": 253, "len": 9, "payload64": [1, 2], "sysid": 1});
    let mut out = encoder("mavlink", json!({}), "mavros_msgs/msg/Mavlink");
    assert!(encode(&mut *out, cdr_of("mavros_msgs/msg/Mavlink", &good)).is_ok());
    for (field, value) in [
        ("magic", json!(1)),
        ("payload64", json!([1])),
        ("msgid", json!(1 << 24)),
        ("incompat_flags", json!(2)),
        ("incompat_flags", json!(1)),
        ("signature", json!([1, 2, 3])),
    ] {
        let mut bad = good.clone();
        bad[field] = value.clone();
        let sample = cdr_of("mavros_msgs/msg/Mavlink", &bad);
        assert_eq!(encode(&mut *out, sample).err().map(|_| ()), Some(()), "{field} {value}");
    }
    assert!(encode(&mut *out, junk()).is_err());
}
