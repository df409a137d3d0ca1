//! A vehicle's files, against a server with and without losses.

mod log;
mod server;

use std::time::Duration;

use rostrans_codecs::mavlink::dialect::{FileTransferProtocol, Message};
use rostrans_mavlink::Packet;
use serde_json::{Value, json};

use self::server::Server;
use crate::support::{Bench, PEER, v2};

/// A client, a vehicle, and the link between them.
struct World {
    bench: Bench,
    server: Server,
    /// Of 100 frames, so many are lost, each way.
    loss: u32,
    random: u32,
    /// Requests that reached the server.
    requests: usize,
}

impl World {
    fn new() -> Self {
        let bench = Bench::with_target("mavlink.ftp", json!({}), PEER);
        Self { bench, server: Server::new(), loss: 0, random: 1, requests: 0 }
    }

    fn lossy(percent: u32) -> Self {
        Self { loss: percent, ..Self::new() }
    }

    fn is_lost(&mut self) -> bool {
        // A linear congruential generator: the same losses at each run.
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.random >> 16) % 100 < self.loss
    }

    /// Lets both talk until a call is answered.
    fn answer(&mut self) -> Value {
        for _ in 0..100_000 {
            let requests = requests(&mut self.bench);
            if requests.is_empty() {
                self.bench.pass(Duration::from_millis(100));
            }
            for request in requests {
                if self.is_lost() {
                    continue;
                }
                self.requests += 1;
                for reply in self.server.answer(&request) {
                    if !self.is_lost() {
                        self.bench.frame(&frame(&reply)).unwrap();
                    }
                }
            }
            let mut answers = self.bench.answers();
            if !answers.is_empty() {
                assert_eq!(answers.len(), 1);
                return answers.remove(0).1;
            }
        }
        panic!("no answer");
    }

    fn call(&mut self, service: &str, request: Value) -> Value {
        self.bench.call(service, &request);
        self.answer()
    }

    /// As [`World::call`], for one that must succeed.
    fn good(&mut self, service: &str, request: Value) -> Value {
        let answer = self.call(service, request);
        assert_eq!(
            (&answer["success"], &answer["r_errno"]),
            (&json!(true), &json!(0)),
            "{service}: {answer}"
        );
        answer
    }

    fn errno(&mut self, service: &str, request: Value) -> i64 {
        let answer = self.call(service, request);
        assert_eq!(answer["success"], false, "{service}: {answer}");
        answer["r_errno"].as_i64().unwrap()
    }

    fn open(&mut self, path: &str) -> Value {
        self.good("open", json!({"file_path": path, "mode": 0}))
    }

    fn read(&mut self, path: &str, offset: usize, size: usize) -> Vec<u8> {
        let answer = self.good("read", json!({"file_path": path, "offset": offset, "size": size}));
        bytes(&answer["data"])
    }
}

fn requests(bench: &mut Bench) -> Vec<[u8; 251]> {
    let payload = |(to, frame): (_, Vec<u8>)| {
        assert_eq!(to, Some(PEER));
        let packet = Packet::parse(&frame).unwrap();
        assert_eq!((packet.sysid, packet.compid, packet.msgid), (1, 191, FileTransferProtocol::ID));
        let message = FileTransferProtocol::decode(packet.payload);
        assert_eq!((message.target_network, message.target_system, message.target_component), (0, 1, 1));
        message.payload
    };
    bench.sent().into_iter().map(payload).collect()
}

fn frame(payload: &[u8; 251]) -> Vec<u8> {
    let message = FileTransferProtocol {
        target_network: 0,
        target_system: 1,
        target_component: 191,
        payload: *payload,
    };
    v2(1, 1, &message)
}

fn bytes(data: &Value) -> Vec<u8> {
    data.as_array().unwrap().iter().map(|byte| u8::try_from(byte.as_u64().unwrap()).unwrap()).collect()
}

/// Bytes in which truncation, shift and order show.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect()
}

#[test]
fn requests_are_those_of_pymavlink() {
    // pymavlink 2.4, mavftp.FTP_OP(..).pack()
    let hex = crate::support::hex;
    let mut world = World::new();
    world.bench.call("list", &json!({"dir_path": "/log"}));
    assert!(requests(&mut world.bench)[0].starts_with(&hex("0000000304000000000000002f6c6f67")));
    let mut world = World::new();
    world.server.file("/f", &pattern(100_000));
    (world.server.session, world.server.first_seq) = (2, 6);
    world.open("/f");
    world.bench.call("read", &json!({"file_path": "/f", "offset": 1000, "size": 5000}));
    assert_eq!(requests(&mut world.bench)[0][2..12], hex("020fef000000e8030000"));
}

#[test]
fn directory_of_many_packets_is_listed_with_hidden_entries_skipped() {
    for loss in [0, 20] {
        let mut world = World::lossy(loss);
        for number in 0..100 {
            world.server.file(&format!("/log/session-{number:03}.ulg"), &pattern(number));
        }
        world.server.directory("/log/old");
        world.server.hidden = 3;
        let list = world.good("list", json!({"dir_path": "/log"}))["list"].clone();
        assert_eq!(list.as_array().unwrap().len(), 101);
        assert_eq!(list[0], json!({"name": "old", "type": 1, "size": 0}));
        assert_eq!(list[100], json!({"name": "session-099.ulg", "type": 0, "size": 99}));
    }
    assert_eq!(World::new().errno("list", json!({"dir_path": "/nowhere"})), 2);
}

#[test]
fn megabyte_is_read_in_few_requests_whole_or_in_part() {
    let mut world = World::new();
    let file = pattern(1 << 20);
    world.server.file("/big", &file);
    assert_eq!(world.open("/big")["size"], 1 << 20);
    world.requests = 0;
    assert!(world.read("/big", 0, 1 << 20) == file);
    assert!(world.requests <= (1 << 20) / 239 / server::BURST + 2, "{} requests", world.requests);
    assert_eq!(world.read("/big", 1000, 500), file[1000..1500]);
    assert_eq!(world.read("/big", (1 << 20) - 10, 100), file[(1 << 20) - 10..]);
    assert!(world.read("/big", 5 << 20, 100).is_empty());
}

#[test]
fn losses_spoil_no_file_with_or_without_bursts() {
    for (loss, bursts) in [(10, true), (30, true), (10, false)] {
        let mut world = World::lossy(loss);
        let file = pattern(50_000);
        world.server.file("/f", &file);
        world.server.knows_bursts = bursts;
        world.open("/f");
        assert!(world.read("/f", 0, 50_000) == file, "{loss} {bursts}");
        world.good("close", json!({"file_path": "/f"}));
        world.good("open", json!({"file_path": "/new", "mode": 2}));
        world.good("write", json!({"file_path": "/new", "offset": 0, "data": file}));
        world.good("close", json!({"file_path": "/new"}));
        assert!(world.server.files["/new"] == file, "{loss} {bursts}");
    }
}

#[test]
fn file_of_unknown_size_is_read_to_its_end() {
    for (loss, len) in [(0, 0), (0, 239), (0, 239 * 3), (15, 10_000)] {
        let mut world = World::lossy(loss);
        let file = pattern(len);
        world.server.file("/f", &file);
        world.server.tells_size = false;
        world.open("/f");
        assert!(world.read("/f", 0, 60_000) == file, "{len}");
    }
}

#[test]
fn files_and_directories_are_made_changed_and_removed() {
    let mut world = World::lossy(10);
    world.good("mkdir", json!({"dir_path": "/a"}));
    world.good("open", json!({"file_path": "/a/f", "mode": 2}));
    world.good("write", json!({"file_path": "/a/f", "offset": 0, "data": pattern(600)}));
    world.good("write", json!({"file_path": "/a/f", "offset": 300, "data": [7, 7, 7]}));
    let expected = [&pattern(300)[..], &[7, 7, 7], &pattern(600)[303..]].concat();
    assert_eq!(world.read("/a/f", 0, 600), expected, "what was written can be read");
    world.good("close", json!({"file_path": "/a/f"}));
    world.good("truncate", json!({"file_path": "/a/f", "length": 100}));
    world.good("rename", json!({"old_path": "/a/f", "new_path": "/a/g"}));
    assert_eq!(world.server.files["/a/g"], pattern(100));
    let checksum = world.good("checksum", json!({"file_path": "/a/g"}));
    assert_eq!(checksum["crc32"], server::CHECKSUM);
    assert_eq!(world.errno("rmdir", json!({"dir_path": "/nowhere"})), 2);
    world.good("remove", json!({"file_path": "/a/g"}));
    world.good("rmdir", json!({"dir_path": "/a"}));
    assert!(world.server.files.is_empty());
}

#[test]
fn refusals_have_the_numbers_of_mavros() {
    let mut world = World::new();
    world.server.file("/f", &pattern(10));
    assert_eq!(world.errno("open", json!({"file_path": "/g", "mode": 0})), 2);
    assert_eq!(world.errno("open", json!({"file_path": "/f", "mode": 9})), 22);
    assert_eq!(world.errno("read", json!({"file_path": "/f", "offset": 0, "size": 1})), 9, "not open");
    assert_eq!(world.errno("close", json!({"file_path": "/f"})), 9);
    assert_eq!(world.errno("remove", json!({"file_path": "x".repeat(239)})), 36);
    world.open("/f");
    assert_eq!(world.errno("read", json!({"file_path": "/f", "offset": 1_u64 << 33, "size": 1})), 27);
    for (code, errno) in [(1, 14), (3, 90), (5, 24), (7, 38), (8, 17), (9, 13), (10, 2), (99, 14)] {
        world.server.refuse = Some(vec![code]);
        assert_eq!(world.errno("mkdir", json!({"dir_path": "/d"})), errno, "{code}");
    }
    world.server.refuse = Some(vec![2, 28]);
    assert_eq!(world.errno("mkdir", json!({"dir_path": "/d"})), 28, "the vehicle's own errno");
}

#[test]
fn session_that_the_vehicle_forgot_is_forgotten_here_too() {
    let mut world = World::new();
    world.server.file("/f", &pattern(10));
    world.open("/f");
    world.server.open = None;
    assert_eq!(world.errno("read", json!({"file_path": "/f", "offset": 0, "size": 5})), 77);
    assert_eq!(world.errno("read", json!({"file_path": "/f", "offset": 0, "size": 5})), 9);
    world.open("/f");
    world.open("/f");
    assert_eq!(
        world.read("/f", 0, 5),
        pattern(5),
        "opened twice, which takes the vehicle's one session once"
    );
    world.server.file("/g", &pattern(3));
    assert_eq!(world.errno("open", json!({"file_path": "/g", "mode": 0})), 24, "no second session");
    assert_eq!(world.call("reset", json!({})), json!({}));
    world.open("/g");
}

#[test]
fn one_call_at_a_time_and_reset_ends_it() {
    let mut world = World::new();
    let list = world.bench.call("list", &json!({"dir_path": "/"}));
    let busy = world.bench.call("checksum", &json!({"file_path": "/f"}));
    let answers = world.bench.answers();
    assert_eq!(answers, [(busy, json!({"crc32": 0, "success": false, "r_errno": 16}))]);
    requests(&mut world.bench);
    let reset = world.bench.call("reset", &json!({}));
    assert_eq!(world.bench.answers(), [(list, json!({"list": [], "success": false, "r_errno": 125}))]);
    let again = world.bench.call("reset", &json!({}));
    let [request] = requests(&mut world.bench)[..] else { panic!("one request") };
    for reply in world.server.answer(&request) {
        world.bench.frame(&frame(&reply)).unwrap();
    }
    assert_eq!(world.bench.answers(), [(again, json!({})), (reset, json!({}))]);
}

#[test]
fn silent_vehicle_is_asked_again_and_given_up() {
    let mut world = World::lossy(100);
    world.bench.call("list", &json!({"dir_path": "/"}));
    world.bench.pass(Duration::from_millis(5900));
    let sends = world.bench.sent();
    assert!((4..=8).contains(&sends.len()), "{} sends", sends.len());
    let answers = world.bench.answers();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].1["r_errno"], 110);
    world.bench.pass(Duration::from_secs(5));
    assert!(world.bench.sent().is_empty(), "nothing goes on");
}

#[test]
fn without_a_vehicle_and_at_the_end_calls_are_answered() {
    let mut bench = Bench::new("mavlink.ftp", json!({}));
    bench.call("remove", &json!({"file_path": "/f"}));
    assert_eq!(bench.answers()[0].1, json!({"success": false, "r_errno": 107}));
    let mut world = World::new();
    world.bench.call("remove", &json!({"file_path": "/f"}));
    world.bench.close();
    assert_eq!(world.bench.answers()[0].1, json!({"success": false, "r_errno": 125}));
}

#[test]
fn replies_of_others_and_to_others_are_ignored() {
    let mut world = World::new();
    world.server.file("/f", &pattern(10));
    world.bench.call("open", &json!({"file_path": "/f", "mode": 0}));
    let [request] = requests(&mut world.bench)[..] else { panic!("one request") };
    let [reply] = world.server.answer(&request)[..] else { panic!("one reply") };
    let (mut stale, mut other) = (reply, reply);
    stale[0] = stale[0].wrapping_add(1);
    other[5] = 3;
    world.bench.frame(&frame(&stale)).unwrap();
    world.bench.frame(&frame(&other)).unwrap();
    let message =
        FileTransferProtocol { target_network: 0, target_system: 1, target_component: 190, payload: reply };
    world.bench.frame(&v2(1, 1, &message)).unwrap();
    let message = FileTransferProtocol { target_component: 191, ..message };
    world.bench.frame(&v2(2, 1, &message)).unwrap();
    assert!(world.bench.answers().is_empty());
    world.bench.frame(&frame(&reply)).unwrap();
    assert_eq!(world.bench.answers()[0].1["size"], 10);
}

/// A client that reads 1000 bytes of a file of a server that answers each request with what `spoil` makes of the reply.
fn read_from(knows_bursts: bool, mut spoil: impl FnMut(&mut [u8; 251])) -> (Vec<Value>, usize) {
    let mut world = World::new();
    world.server.file("/f", &pattern(10_000));
    world.server.knows_bursts = knows_bursts;
    world.open("/f");
    world.bench.call("read", &json!({"file_path": "/f", "offset": 0, "size": 1000}));
    let mut asked = 0;
    for _ in 0..100 {
        for request in requests(&mut world.bench) {
            asked += 1;
            for mut reply in world.server.answer(&request) {
                spoil(&mut reply);
                world.bench.frame(&frame(&reply)).unwrap();
            }
        }
    }
    (world.bench.answers().into_iter().map(|(_, answer)| answer).collect(), asked)
}

#[test]
fn server_that_sends_no_bytes_is_not_asked_for_ever() {
    for knows_bursts in [true, false] {
        let (answers, asked) = read_from(knows_bursts, |reply| {
            if reply[3] == 128 {
                (reply[4], reply[6]) = (0, 1);
            }
        });
        assert_eq!(answers, [json!({"data": [], "success": false, "r_errno": 74})], "bursts {knows_bursts}");
        assert!(asked <= 4, "{asked} requests");
    }
}

#[test]
fn server_that_sends_other_places_than_wanted_is_not_asked_for_ever() {
    let (answers, asked) = read_from(true, |reply| {
        reply[8..12].copy_from_slice(&9000_u32.to_le_bytes());
        reply[6] = 1;
    });
    assert_eq!(answers, [json!({"data": [], "success": false, "r_errno": 74})]);
    assert!(asked <= 4, "{asked} requests");
}

#[test]
fn end_of_file_without_its_place_keeps_what_was_read() {
    let mut world = World::new();
    world.server.file("/f", &pattern(500));
    (world.server.tells_size, world.server.knows_bursts) = (false, false);
    world.open("/f");
    world.bench.call("read", &json!({"file_path": "/f", "offset": 0, "size": 1000}));
    for _ in 0..10 {
        for request in requests(&mut world.bench) {
            for mut reply in world.server.answer(&request) {
                if reply[3] == 129 {
                    reply[8..12].fill(0);
                }
                world.bench.frame(&frame(&reply)).unwrap();
            }
        }
    }
    assert_eq!(bytes(&world.bench.answers()[0].1["data"]), pattern(500));
}
