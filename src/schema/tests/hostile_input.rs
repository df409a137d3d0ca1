//! Bytes and text from outside never panic and never allocate out of proportion.
//!
//! One test only: the counting allocator counts for the whole process.

use std::alloc::System;

use bytes::BytesMut;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rostrans_schema::{TypeName, TypeRegistry, fuzzing};
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A JSON value is 72 octets in memory; an octet of input may become one, and sequences reserve at several levels.
const MAX_GROWTH: usize = 1000;
/// Error texts and such.
const MAX_FIXED: usize = 16 * 1024;

#[test]
fn any_input_is_read_or_refused_within_bounds() {
    for first in 0..fuzzing::TYPES.len() {
        let first = u8::try_from(first).unwrap();
        // Loads the types, which is not to be counted.
        fuzzing::sample(&[first]);
    }
    samples();
    bodies();
    texts();
    values();
}

fn run(cases: u32, input: impl Strategy<Value = Vec<u8>>, read: fn(&[u8])) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let result = runner.run(&input, |data| {
        let region = Region::new(COUNTED);
        read(&data);
        let allocated = region.change().bytes_allocated;
        prop_assert!(allocated <= MAX_GROWTH * data.len() + MAX_FIXED, "{allocated} for {}", data.len());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Small numbers make lengths that fit, so that reading gets somewhere.
fn octet() -> impl Strategy<Value = u8> {
    any::<u8>().prop_map(|octet| match octet {
        0..150 => 0,
        150..220 => octet % 8,
        220.. => octet,
    })
}

/// Good samples of every type with octets changed, and octets that never were one.
fn samples() {
    let good: Vec<Vec<u8>> =
        seeds().into_iter().map(|(first, sample)| [&[first], &sample[..]].concat()).collect();
    run(3000, damaged(good), fuzzing::sample);
    let random = (any::<u8>(), prop::collection::vec(octet(), 0..200))
        .prop_map(|(first, body)| [&[first, 0, 1, 0, 0], &body[..]].concat());
    run(3000, random, fuzzing::sample);
}

fn bodies() {
    run(3000, prop::collection::vec(octet(), 0..200), fuzzing::ros1);
    let types = TypeRegistry::bundled();
    let good = seeds().into_iter().filter_map(|(first, sample)| {
        let name = TypeName::message(fuzzing::TYPES[usize::from(first)]).ok()?;
        let ros2 = types.message(&name).ok()?;
        let transcoder = rostrans_schema::Transcoder::new(&ros2, &types.ros1_message(&name).ok()?).ok()?;
        let body = transcoder.to_ros1(&sample, 0, &mut BytesMut::new()).ok()?;
        Some([&[first], &body[..]].concat())
    });
    run(3000, damaged(good.collect()), fuzzing::ros1);
}

/// Definitions and JSON from a vocabulary that reaches every branch.
fn texts() {
    let words = prop::sample::select(vec![
        "int8",
        "string",
        "wstring",
        "string<=3",
        "[",
        "]",
        "[<=",
        "[3]",
        "=",
        " ",
        "\n",
        "#",
        "'",
        "\"",
        "\\",
        "---",
        "a",
        "B",
        "1",
        "-",
        "0x",
        ",",
        "Header",
        "std_msgs/",
        "true",
        "é",
        "\r",
        "{",
        "}",
        ":",
        "null",
    ]);
    let text = prop::collection::vec(words, 0..40).prop_map(|words| words.concat().into_bytes());
    run(3000, text, |data| fuzzing::parse(std::str::from_utf8(data).unwrap_or_default()));
    run(2000, ".*".prop_map(String::into_bytes), |data| {
        fuzzing::parse(std::str::from_utf8(data).unwrap_or_default());
        fuzzing::json(data);
    });
}

/// JSON with the names of real fields and values of every kind.
fn values() {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|v| json!(v)),
        any::<i64>().prop_map(|v| json!(v)),
        any::<f64>().prop_map(|v| json!(v)),
        prop::sample::select(vec!["", "NaN", "AQL/", "text", "\0"]).prop_map(|v| json!(v)),
    ];
    let names = prop::sample::select(vec![
        "data",
        "encoding",
        "header",
        "stamp",
        "sec",
        "poses",
        "pose",
        "position",
        "x",
        "status",
        "values",
        "key",
        "payload64",
        "waypoints",
        "is_current",
        "markers",
        "points",
        "dimensions",
        "polygon",
        "other",
    ]);
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::vec((names.clone(), inner), 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    });
    let input =
        (any::<u8>(), value).prop_map(|(first, value)| [&[first], value.to_string().as_bytes()].concat());
    run(3000, input, fuzzing::json);
}

fn damaged(good: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    (
        prop::sample::select(good),
        prop::collection::vec(change, 0..6),
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(|(mut data, changes, end, cut)| {
            for (at, octet) in changes {
                // The first octet chooses the type; an empty ROS 1 message has no other.
                if data.len() > 1 {
                    let at = at.index(data.len() - 1) + 1;
                    data[at] = octet;
                }
            }
            if cut {
                data.truncate(1 + end.index(data.len()));
            }
            data
        })
}

/// A sample of each type, with its number.
fn seeds() -> Vec<(u8, Vec<u8>)> {
    let types = TypeRegistry::bundled();
    let values = [
        json!({"data": "hello"}),
        json!({}),
        json!({"encoding": "rgb8", "data": [1, 2, 3, 4, 5]}),
        json!({"fields": [{"name": "x"}, {"name": "yy"}], "data": "AAAA"}),
        json!({"poses": [{}, {"header": {"frame_id": "map"}}]}),
        json!({"status": [{"name": "a", "values": [{"key": "k", "value": "v"}]}]}),
        json!({"payload64": [1, 2, 3]}),
        json!({"waypoints": [{"is_current": true}, {"autocontinue": true}]}),
        json!({"markers": [{"points": [{}, {}], "colors": [{"a": 1}], "text": "t"}]}),
        json!({"dimensions": [1, 2, 3]}),
    ];
    let names = fuzzing::TYPES.iter().zip(values).zip(0_u8..);
    names
        .filter_map(|((name, value), number)| {
            let message = types.message(&TypeName::message(name).ok()?).ok()?;
            Some((number, message.json_to_cdr(&value, &mut BytesMut::new()).ok()?.to_vec()))
        })
        .collect()
}
