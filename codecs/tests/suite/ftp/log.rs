//! Logs in the older protocol.

use rostrans_codecs::mavlink::dialect::{
    LogData, LogEntry, LogErase, LogRequestData, LogRequestEnd, LogRequestList, Message,
};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use crate::support::{Bench, PEER, hex, zero};

fn sent<M: Message>(bench: &mut Bench) -> M {
    let mut sent = bench.sent();
    assert_eq!(sent.len(), 1);
    let (to, frame) = sent.remove(0);
    let packet = Packet::parse(&frame).unwrap();
    assert_eq!((to, packet.msgid, packet.checksum_ok()), (Some(PEER), M::ID, Some(true)));
    M::decode(packet.payload)
}

fn answer(bench: &mut Bench) -> Value {
    bench.answers().remove(0).1
}

#[test]
fn entries_and_blocks_are_published_and_requests_sent() {
    let mut bench = Bench::with_target("mavlink.log_transfer", json!({}), PEER);
    let entry = LogEntry { time_utc: 1_700_000_000, size: 70_000, id: 3, num_logs: 9, last_log_num: 12 };
    bench.message(&entry);
    let message = bench.only("log_entry");
    assert_eq!(
        (&message["id"], &message["num_logs"], &message["last_log_num"]),
        (&json!(3), &json!(9), &json!(12))
    );
    assert_eq!((&message["size"], &message["time_utc"]["sec"]), (&json!(70_000), &json!(1_700_000_000)));
    let mut data: LogData = zero();
    (data.ofs, data.id, data.count) = (900, 3, 2);
    data.data[..3].copy_from_slice(&[5, 6, 7]);
    bench.message(&data);
    let message = bench.only("log_data");
    assert_eq!(
        (&message["id"], &message["offset"], &message["data"]),
        (&json!(3), &json!(900), &json!([5, 6]))
    );

    bench.call("log_request_list", &json!({"start": 1, "end": 65_535}));
    let list: LogRequestList = sent(&mut bench);
    assert_eq!((list.start, list.end, list.target_system, list.target_component), (1, 65_535, 1, 1));
    assert_eq!(answer(&mut bench), json!({"success": true}));
    bench.call("log_request_data", &json!({"id": 3, "offset": 90, "count": 900}));
    let data: LogRequestData = sent(&mut bench);
    assert_eq!((data.id, data.ofs, data.count), (3, 90, 900));
    bench.answers();
    bench.call("log_request_end", &json!({}));
    sent::<LogRequestEnd>(&mut bench);
    bench.answers();
    bench.call("log_request_erase", &json!({}));
    sent::<LogErase>(&mut bench);
    assert_eq!(answer(&mut bench), json!({"success": true, "message": ""}));
}

#[test]
fn without_a_vehicle_no_success_is_told() {
    let mut bench = Bench::new("mavlink.log_transfer", json!({}));
    bench.call("log_request_end", &json!({}));
    assert_eq!(answer(&mut bench), json!({"success": false}));
    assert!(bench.sent().is_empty());
}

#[test]
fn count_beyond_the_block_is_cut_to_it() {
    let mut bench = Bench::with_target("mavlink.log_transfer", json!({}), PEER);
    let mut data: LogData = zero();
    data.count = 255;
    bench.message(&data);
    assert_eq!(bench.only("log_data")["data"].as_array().unwrap().len(), 90);
    assert!(bench.frame(&hex("00")).is_err());
}
