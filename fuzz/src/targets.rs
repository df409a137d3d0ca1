//! Every parser that reads bytes or text from outside, as plain functions.
//!
//! Used twice: by the libFuzzer programs in `fuzz_targets`, and by `test/tests/fuzz_replay.rs`, which replays the
//! corpus and seeded mutations of it on a stable toolchain in every test run.

/// A parser under test.
pub(crate) type Target = fn(&[u8]);

/// Name of the target and of its folder in `corpus`, and the function.
pub(crate) const TARGETS: &[(&str, Target)] = &[
    ("cdr_reader", rostrans_cdr::fuzzing::reader),
    ("cdr_decode", rostrans_cdr::fuzzing::decode),
    ("ros1_reader", rostrans_cdr::fuzzing::ros1_reader),
    ("definition", |data| text(data, rostrans_schema::fuzzing::parse)),
    ("schema_sample", rostrans_schema::fuzzing::sample),
    ("schema_ros1", rostrans_schema::fuzzing::ros1),
    ("schema_json", rostrans_schema::fuzzing::json),
    ("rtps_parse", rostrans_rtps::fuzzing::parse),
    ("rtps_discovery", rostrans_rtps::fuzzing::discovery),
    ("rtps_liveliness", rostrans_rtps::fuzzing::liveliness),
    ("rtps_datagrams", rostrans_rtps::fuzzing::datagrams),
    ("rtps_network", rostrans_rtps::fuzzing::network),
    ("mavlink_stream", mavlink_stream),
    ("mavlink_datagram", rostrans_mavlink::fuzzing::framer),
    ("rflysim", rostrans_rflysim::fuzzing::datagram),
    ("codec_decode", rostrans_codecs::fuzzing::decode),
    ("codec_encode", rostrans_codecs::fuzzing::encode),
    ("param", |data| text(data, rostrans_core::fuzzing::param)),
    ("filter", |data| text(data, rostrans_core::fuzzing::filter)),
    ("rules_yaml", |data| text(data, rostrans_daemon::fuzzing::yaml)),
    ("zenoh_token", |data| text(data, rostrans_adapter_zenoh::fuzzing::token)),
    ("zenoh_key", |data| text(data, rostrans_adapter_zenoh::fuzzing::key)),
    ("zenoh_attachment", rostrans_adapter_zenoh::fuzzing::attachment),
    ("ros1_xmlrpc", rostrans_adapter_ros1::fuzzing::xmlrpc),
    ("ros1_http", rostrans_adapter_ros1::fuzzing::http),
    ("ros1_header", rostrans_adapter_ros1::fuzzing::header),
    ("plugins_ini", |data| text(data, rostrans_daemon::fuzzing::ini)),
];

fn text(data: &[u8], target: fn(&str)) {
    target(&String::from_utf8_lossy(data));
}

/// The first byte chooses how the rest is chopped; output must not depend on it.
fn mavlink_stream(data: &[u8]) {
    let Some((step, data)) = data.split_first() else { return };
    let whole = stream_frames(data, data.len().max(1));
    let chopped = stream_frames(data, usize::from(*step).max(1));
    assert_eq!(whole, chopped, "frames depend on how the stream was chopped");
}

fn stream_frames(data: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut stream = rostrans_mavlink::Stream::new();
    let mut found = Vec::new();
    for mut chunk in data.chunks(step) {
        while !chunk.is_empty() {
            let taken = stream.push(chunk);
            chunk = chunk.get(taken..).unwrap_or_default();
            while let Some(event) = stream.next() {
                if let rostrans_mavlink::Event::Packet(packet) = event {
                    found.push(packet.bytes.to_vec());
                }
            }
        }
    }
    found
}

/// Runs the target of that name.
///
/// **Panics**: there is none, or the target found a bug.
pub(crate) fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.expect("a target of this name");
    target(data);
}
