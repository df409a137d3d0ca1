//! Batches over real loopback sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::{io, net::UdpSocket, time::Duration};

use rostrans_net::{BindOptions, Datagram, RecvBatch, bind, readable, send_batch, wait_readable};

/// Where a slot of a [`RecvBatch`] goes on in a second block.
const HEAD: usize = 25 * 64;

fn pair(addr: &str) -> (UdpSocket, UdpSocket) {
    let open = || bind(addr.parse().unwrap(), &BindOptions::default()).unwrap().0;
    (open(), open())
}

fn exchange(addr: &str) {
    let (a, b) = pair(addr);
    let to = Some(b.local_addr().unwrap());
    let payload = vec![7; 60_000];
    let mut datagrams: Vec<_> = (0..70).map(|_| Datagram::gather(b"head", b"body", to)).collect();
    datagrams.push(Datagram::gather(b"big", &payload, to));
    datagrams.push(Datagram::new(b"", to));
    assert_eq!(send_batch(&a, &datagrams).unwrap(), 72);
    let mut batch = RecvBatch::new(16, 65_536);
    let mut seen = Vec::new();
    while seen.len() < 72 {
        assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap(), "datagrams missing");
        batch.recv(&b).unwrap();
        for d in batch.iter() {
            assert_eq!(d.from, a.local_addr().unwrap());
            assert!(!d.truncated);
            seen.push(d.bytes.to_vec());
        }
    }
    assert!(seen[..70].iter().all(|d| d == b"headbody"));
    assert_eq!(seen[70].len(), 60_003);
    assert!(seen[71].is_empty());
}

#[test]
fn batches_arrive_in_order_over_ipv4() {
    exchange("127.0.0.1:0");
}

#[test]
fn batches_arrive_in_order_over_ipv6() {
    if bind("[::1]:0".parse().unwrap(), &BindOptions::default()).is_ok() {
        exchange("[::1]:0");
    }
}

#[test]
fn a_datagram_longer_than_its_slot_is_marked() {
    let (a, b) = pair("127.0.0.1:0");
    send_batch(&a, &[Datagram::new(&[1; 100], b.local_addr().ok())]).unwrap();
    assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap());
    let mut batch = RecvBatch::new(2, 64);
    batch.recv(&b).unwrap();
    let got = batch.iter().next().unwrap();
    assert!(got.truncated);
    assert_eq!(got.bytes.len(), 64);
}

#[test]
fn datagrams_around_the_length_of_a_head_arrive_whole() {
    let (a, b) = pair("127.0.0.1:0");
    let to = b.local_addr().ok();
    let payload: Vec<u8> = (0..5000_u32).map(|i| (i / 3).to_le_bytes()[0]).collect();
    for slot_len in [HEAD - 1, HEAD, HEAD + 1, 4096] {
        let mut batch = RecvBatch::new(8, slot_len);
        let lengths = [HEAD + 5, HEAD - 1, 4096, HEAD, 0, HEAD + 1, 5000];
        let datagrams: Vec<_> = lengths.iter().map(|len| Datagram::new(&payload[..*len], to)).collect();
        assert_eq!(send_batch(&a, &datagrams).unwrap(), lengths.len());
        let mut left = lengths.iter();
        while left.len() > 0 {
            assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap());
            batch.recv(&b).unwrap();
            for (got, &len) in batch.iter().zip(left.by_ref()) {
                assert_eq!(got.bytes, &payload[..len.min(slot_len)], "{len} bytes in slots of {slot_len}");
                assert_eq!(got.truncated, len > slot_len);
            }
        }
    }
}

#[test]
fn an_empty_socket_would_block() {
    let (a, _) = pair("127.0.0.1:0");
    let error = RecvBatch::new(2, 64).recv(&a).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(!wait_readable(&[&a], Some(Duration::ZERO)).unwrap());
}

#[test]
fn only_sockets_with_something_to_read_are_named() {
    let (a, b) = pair("127.0.0.1:0");
    let (c, _) = pair("127.0.0.1:0");
    send_batch(&a, &[Datagram::new(b"x", b.local_addr().ok())]).unwrap();
    assert_eq!(readable(&[&c, &b, &a], Some(Duration::from_secs(5))).unwrap(), 0b010);
}

#[test]
fn a_smaller_batch_leaves_the_rest_for_the_next() {
    let (a, b) = pair("127.0.0.1:0");
    let to = b.local_addr().ok();
    let numbers: Vec<[u8; 1]> = (0..5).map(|n| [n]).collect();
    let datagrams: Vec<_> = numbers.iter().map(|n| Datagram::new(n, to)).collect();
    send_batch(&a, &datagrams).unwrap();
    let mut batch = RecvBatch::new(8, 64);
    let mut seen = Vec::new();
    while seen.len() < 5 {
        assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap());
        assert!(batch.recv_some(&b, 2).unwrap() <= 2);
        seen.extend(batch.iter().map(|d| d.bytes[0]));
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}
