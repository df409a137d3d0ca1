//! Debug values and tunnelled bytes.

use rostrans_codecs::mavlink::dialect::{
    Debug, DebugFloatArray, DebugVect, NamedValueFloat, NamedValueInt, Tunnel,
};
use rostrans_core::codec::EncodeError;
use serde_json::{Value, json};

use super::{bench, header, one, text};
use crate::support::{Bench, assert_has, zero};

#[test]
fn debug_values_go_to_the_topic_of_their_kind() {
    let mut bench = Bench::new("mavlink.debug_value", json!({}));
    bench.message(&Debug { ind: 200, value: 1.5, time_boot_ms: 1 });
    assert_has(
        &bench.only("debug"),
        &json!({"type": 0, "index": 200, "array_id": -1, "value_float": 1.5, "name": "", "data": []}),
    );
    bench.message(&DebugVect { name: text("ten chars!"), x: 1.0, y: 2.0, z: 3.0, time_usec: 1 });
    assert_has(
        &bench.only("debug_vector"),
        &json!({"type": 1, "index": -1, "array_id": -1, "name": "ten chars!", "data": [1.0, 2.0, 3.0]}),
    );
    let mut array = DebugFloatArray { name: text("a"), array_id: 65_535, ..zero() };
    array.data[57] = 4.0;
    bench.message(&array);
    let got = bench.only("debug_float_array");
    assert_has(&got, &json!({"type": 2, "index": -1, "array_id": 65_535, "name": "a"}));
    assert_eq!((got["data"].as_array().unwrap().len(), &got["data"][57]), (58, &json!(4.0)));
    let mut odd = text("bad\0rest");
    odd[0] = 0xff;
    bench.message(&NamedValueFloat { name: odd, value: f32::NAN, time_boot_ms: 1 });
    assert_has(&bench.only("named_value_float"), &json!({"type": 3, "name": "\u{fffd}ad", "value_int": 0}));
    bench.message(&NamedValueInt { name: text("i"), value: i32::MIN, time_boot_ms: 1 });
    assert_has(&bench.only("named_value_int"), &json!({"type": 4, "name": "i", "value_int": i32::MIN}));
}

#[test]
fn debug_values_become_the_message_of_their_kind() {
    let mut debug = bench("mavlink.debug_value");
    let value = |kind: u8, more: Value| {
        let mut value = json!({"header": header(), "type": kind, "index": 7, "array_id": 8, "name": "elevenchars",
            "value_float": 1.5, "value_int": -3, "data": [1.0, 2.0, 3.0]});
        value.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        value
    };
    let (time_boot_ms, time_usec, name) = (12_345, 12_345_678, text("elevenchar"));
    let none = json!({});
    let m: Debug = one(&mut debug, "send", &value(0, none.clone()));
    assert_eq!(m, Debug { time_boot_ms, value: 1.5, ind: 7 });
    let m: DebugVect = one(&mut debug, "send", &value(1, none.clone()));
    assert_eq!(m, DebugVect { time_usec, x: 1.0, y: 2.0, z: 3.0, name });
    let m: DebugFloatArray = one(&mut debug, "send", &value(2, none.clone()));
    assert_eq!(
        (m.time_usec, m.array_id, m.name, &m.data[..4]),
        (time_usec, 8, name, &[1.0, 2.0, 3.0, 0.0][..])
    );
    let m: NamedValueFloat = one(&mut debug, "send", &value(3, none.clone()));
    assert_eq!(m, NamedValueFloat { time_boot_ms, value: 1.5, name });
    let m: NamedValueInt = one(&mut debug, "send", &value(4, none.clone()));
    assert_eq!(m, NamedValueInt { time_boot_ms, value: -3, name });
    let long = json!({"data": vec![9.0; 60]});
    let m: DebugVect = one(&mut debug, "send", &value(1, long.clone()));
    assert_eq!([m.x, m.y, m.z], [9.0; 3]);
    let m: DebugFloatArray = one(&mut debug, "send", &value(2, long));
    assert_eq!(m.data, [9.0; 58]);
    let refused = [
        (5, none, "type"),
        (0, json!({"index": 256}), "index"),
        (0, json!({"index": -1}), "index"),
        (1, json!({"data": [1.0, 2.0]}), "data"),
        (1, json!({"data": []}), "data"),
        (2, json!({"array_id": 65_536}), "array_id"),
    ];
    for (kind, more, field) in refused {
        assert_eq!(debug.sample("send", &value(kind, more)), Err(EncodeError::OutOfRange(field)));
    }
    assert_eq!(debug.sent(), []);
}

#[test]
fn tunnelled_bytes_end_at_their_length() {
    let mut bench = Bench::new("mavlink.tunnel", json!({}));
    let tunnel = Tunnel {
        payload_type: 200,
        target_system: 2,
        target_component: 3,
        payload_length: 2,
        payload: [9; 128],
    };
    bench.message(&tunnel);
    let got = bench.only("out");
    assert_has(
        &got,
        &json!({"target_system": 2, "target_component": 3, "payload_type": 200, "payload_length": 2}),
    );
    assert_eq!(got["payload"].as_array().unwrap()[..3], [json!(9), json!(9), json!(0)]);
    bench.message(&Tunnel { payload_length: 128, ..tunnel });
    assert_eq!(bench.only("out")["payload"][127], 9);
    bench.message(&Tunnel { payload_length: 129, ..tunnel });
    assert_eq!(bench.take("out"), [] as [Value; 0]);
}
