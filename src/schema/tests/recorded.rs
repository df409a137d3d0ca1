//! Samples and hashes that others made of types with everything rare in them: wide and bounded strings, bounded
//! sequences, arrays of messages, defaults of arrays, a `#` in quotes.
//!
//! `Wide` was recorded from a package built with the rosidl generators of Jazzy: hashes from its `Wide.json`, samples from rclpy
//! 7.1.6 (`serialize_message`, Fast CDR). Octets between fields, which Fast CDR leaves as they were, are set to zero,
//! and what `serialize_message` hands out after the last field is cut off.
//!
//! `Mixed` was recorded from Cyclone DDS 11.0.1 for Python, as a final type, in all four representations.

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

const MIXED: &str = "uint8 a
string[] names
float32[3] f
float64 d
float64[] nums
string[2] two
Inner[] inner
Inner[2] fixed
Inner one
bool[] flags
int64 last
";

const CDR_LE: &str = "000100000700000002000000020000006100000004000000626364000000c03f000000c00000404000000000\
    00000000000004400200000000000000000000000000f03f0000000000000040020000007000000003000000\
    717100000200000001000100000000000000f03f010001000000000000000000000000400100010000000000\
    0000000000000840010001000000000000000000000010400100010000000000000000000000144002000000\
    01000000fbffffffffffffff";
const CDR_BE: &str = "000000000700000000000002000000026100000000000004626364003fc00000c00000004040000000000000\
    400400000000000000000002000000003ff00000000000004000000000000000000000027000000000000003\
    7171000000000002010001003ff0000000000000010001000000000040000000000000000100010000000000\
    4008000000000000010001000000000040100000000000000100010000000000401400000000000000000002\
    01000000fffffffffffffffb";
const CDR2_LE: &str = "00070000070000001400000002000000020000006100000004000000626364000000c03f000000c000004040\
    000000000000044002000000000000000000f03f00000000000000400f000000020000007000000003000000\
    717100001c0000000200000001000100000000000000f03f0100010000000000000000401800000001000100\
    00000000000008400100010000000000000010400100010000000000000014400200000001000000fbffffff\
    ffffffff";
const CDR2_BE: &str = "00060000070000000000001400000002000000026100000000000004626364003fc00000c000000040400000\
    4004000000000000000000023ff000000000000040000000000000000000000f000000027000000000000003\
    717100000000001c00000002010001003ff00000000000000100010040000000000000000000001801000100\
    40080000000000000100010040100000000000000100010040140000000000000000000201000000ffffffff\
    fffffffb";

fn mixed() -> serde_json::Value {
    let inner = |d: f64| json!({"flags": [true, false, true], "d": d});
    json!({
        "a": 7, "names": ["a", "bcd"], "f": [1.5, -2.0, 3.0], "d": 2.5, "nums": [1.0, 2.0], "two": ["p", "qq"],
        "inner": [inner(1.0), inner(2.0)], "fixed": [inner(3.0), inner(4.0)], "one": inner(5.0),
        "flags": [true, false], "last": -5,
    })
}

/// A registry of these definitions alone.
fn types(name: &str) -> TypeRegistry {
    let root = std::env::temp_dir().join(format!("rostrans-schema-{name}-{}", std::process::id()));
    let folder = root.join("share/rtx_msgs/msg");
    fs::create_dir_all(&folder).expect("a writable temporary folder");
    for (name, text) in [("Wide", WIDE), ("Inner", INNER), ("Mixed", MIXED)] {
        fs::write(folder.join(format!("{name}.msg")), text).expect("a writable file");
    }
    let types = TypeRegistry::builder().with_ament_path(root.as_os_str()).build();
    for name in ["Wide", "Mixed"] {
        types.message(&message(name)).expect("a valid definition");
    }
    fs::remove_dir_all(&root).expect("a removable folder");
    types
}

fn message(name: &str) -> TypeName {
    TypeName::message(&format!("rtx_msgs/{name}")).expect("a valid name")
}

fn from_hex(text: &str) -> Vec<u8> {
    let octet = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok());
    text.as_bytes().chunks(2).map(|pair| octet(pair).expect("hexadecimal")).collect()
}

#[test]
fn rare_fields_are_written_as_ros_writes_them() {
    let wide = types("wide").message(&message("Wide")).unwrap();
    assert_eq!(rihs01_text(wide.rihs01()), HASH);
    let mut pool = BytesMut::new();
    assert_eq!(hex(&wide.json_to_cdr(&json!({}), &mut pool).unwrap()), DEFAULT);
    let sample = wide.json_to_cdr(&full(), &mut pool).unwrap();
    assert_eq!(hex(&sample), FULL);
    let back = wide.decode(&sample).unwrap();
    assert_eq!(wide.encode(&back, &mut pool).unwrap(), sample);
    assert_eq!(wide.validate(&sample).unwrap(), 0);
}

#[test]
fn every_representation_of_a_final_type_is_read() {
    let mixed_type = types("mixed").message(&message("Mixed")).unwrap();
    let written = mixed_type.json_to_cdr(&mixed(), &mut BytesMut::new()).unwrap();
    assert_eq!(hex(&written), CDR_LE);
    for (name, text) in [("CDR_LE", CDR_LE), ("CDR_BE", CDR_BE), ("CDR2_LE", CDR2_LE), ("CDR2_BE", CDR2_BE)] {
        let sample = from_hex(text);
        assert_eq!(mixed_type.cdr_to_json(&sample).unwrap(), mixed(), "{name}");
        assert_eq!(mixed_type.validate(&sample).unwrap(), 0, "{name}");
        let dynamic = mixed_type.decode(&sample).unwrap();
        assert_eq!(mixed_type.encode(&dynamic, &mut BytesMut::new()).unwrap(), written, "{name}");
    }
}
