//! Samples and hashes that ROS 2 itself made of a type with everything rare in it: wide and bounded strings, bounded
//! sequences, arrays of messages, defaults of arrays, a `#` in quotes.
//!
//! Recorded from a package built with the rosidl generators of Jazzy: hashes from its `Wide.json`, samples from rclpy
//! 7.1.6 (`serialize_message`, Fast CDR). Octets between fields, which Fast CDR leaves as they were, are set to zero,
//! and what `serialize_message` hands out after the last field is cut off.

use std::fs;

use bytes::BytesMut;
use rostrans_schema::{TypeName, TypeRegistry, rihs01_text};
use serde_json::json;

const WIDE: &str = r#"uint8 a 7
wstring text
wstring<=8 bounded "hi"
wstring[] many
wstring[2] two
string<=5[<=3] names ["a", "b"]
float32[3] f [1.5, -2.0, 3.0]
byte b 200
char c 65
int64 last -5
string hash 'x#y'
Inner[<=2] inner
Inner[2] fixed
"#;
const INNER: &str = "bool[3] flags\nfloat64 d\n";

const HASH: &str = "RIHS01_0b8e70c6c1082c9ac1413707534c758c2ed865e73ba40add91fe777e79d9e56c";

/// All defaults.
const DEFAULT: &str = "00010000070000000000000002000000680000006900000000000000000000000000000002000000\
    020000006100000002000000620000000000c03f000000c000004040c841000000000000fbffffff\
    ffffffff030000002778000000000000000000000000000000000000000000000000000000000000\
    00000000";

/// The value that [`full`] gives.
const FULL: &str = "00010000070000000400000061000000e40000003dd8000081de000007000000fc0000006e000000\
    ef000000630000006f00000064000000650000000300000001000000780000000000000002000000e5650000\
    2c67000001000000700000000200000071000000710000000200000002000000610000000200000062000000\
    0000c03f000000c000004040c841000000000000fbffffffffffffff020000007a0000000100000001000100\
    00000000000004400000000000000000000000000000000000000000000000000000000000000000";

fn full() -> serde_json::Value {
    json!({
        "text": "aä🚁", "bounded": "ünïcode", "many": ["x", "", "日本"], "two": ["p", "qq"],
        "inner": [{"flags": [true, false, true], "d": 2.5}], "hash": "z",
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[test]
fn rare_fields_are_written_as_ros_writes_them() {
    let root = std::env::temp_dir().join(format!("rostrans-schema-recorded-{}", std::process::id()));
    let folder = root.join("share/rtx_msgs/msg");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Wide.msg"), WIDE).unwrap();
    fs::write(folder.join("Inner.msg"), INNER).unwrap();
    let types = TypeRegistry::builder().with_ament_path(root.as_os_str()).build();
    let wide = types.message(&TypeName::message("rtx_msgs/Wide").unwrap()).unwrap();
    fs::remove_dir_all(&root).unwrap();

    assert_eq!(rihs01_text(wide.rihs01()), HASH);
    let mut pool = BytesMut::new();
    assert_eq!(hex(&wide.json_to_cdr(&json!({}), &mut pool).unwrap()), DEFAULT);
    let sample = wide.json_to_cdr(&full(), &mut pool).unwrap();
    assert_eq!(hex(&sample), FULL);
    let back = wide.decode(&sample).unwrap();
    assert_eq!(wide.encode(&back, &mut pool).unwrap(), sample);
    assert_eq!(wide.validate(&sample).unwrap(), 0);
}
