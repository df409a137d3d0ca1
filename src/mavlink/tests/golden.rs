//! Frames made by pymavlink, read and written again.

use rostrans_mavlink::{Event, Packet, Sender, Stream, Version, frames, message, write_v1, write_v2};

struct Golden {
    kind: String,
    from: Sender,
    msgid: u32,
    payload: Vec<u8>,
    frame: Vec<u8>,
}

fn goldens() -> Vec<Golden> {
    let rows = include_str!("data/frames.tsv").lines().skip(1);
    let goldens: Vec<Golden> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            let byte = |i: usize| cells[i].parse().expect("golden data");
            Golden {
                kind: cells[0].to_owned(),
                from: Sender { seq: byte(1), sysid: byte(2), compid: byte(3) },
                msgid: cells[4].parse().expect("golden data"),
                payload: unhex(cells[5]),
                frame: unhex(cells[6]),
            }
        })
        .collect();
    assert!(goldens.len() > 600, "{} rows", goldens.len());
    goldens
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            u8::from_str_radix(std::str::from_utf8(pair).expect("golden data"), 16).expect("golden data")
        })
        .collect()
}

#[test]
fn every_frame_of_pymavlink_is_read() {
    for g in goldens() {
        let events: Vec<_> = frames(&g.frame).collect();
        let [Event::Packet(p)] = events[..] else { panic!("{} {}: {events:?}", g.kind, g.msgid) };
        assert_eq!(p.bytes, g.frame);
        assert_eq!((p.seq, p.sysid, p.compid, p.msgid), (g.from.seq, g.from.sysid, g.from.compid, g.msgid));
        assert_eq!(p.version, if g.kind == "v1" { Version::V1 } else { Version::V2 });
        assert_eq!(p.signature.is_some(), g.kind == "signed");
        let mut padded = p.payload.to_vec();
        padded.resize(g.payload.len(), 0);
        assert_eq!(padded, g.payload, "{} {}", g.kind, g.msgid);
        assert_eq!(p.checksum_ok(), Some(true));
        assert_eq!(Packet::parse(&g.frame), Some(p));
    }
}

#[test]
fn every_unsigned_frame_is_written_as_pymavlink_writes_it() {
    for g in goldens() {
        let crc_extra = message(g.msgid).unwrap().crc_extra;
        let mut out = Vec::new();
        match g.kind.as_str() {
            "v1" => write_v1(&mut out, g.from, g.msgid, &g.payload, crc_extra).unwrap(),
            "v2" => write_v2(&mut out, g.from, g.msgid, &g.payload, crc_extra).unwrap(),
            _ => continue,
        };
        assert_eq!(out, g.frame, "{} {}", g.kind, g.msgid);
    }
}

#[test]
fn all_frames_in_a_row_come_out_of_a_stream() {
    let goldens = goldens();
    let mut stream = Stream::new();
    let mut seen = Vec::new();
    let bytes: Vec<u8> = goldens.iter().flat_map(|g| g.frame.clone()).collect();
    for chunk in bytes.chunks(997) {
        assert_eq!(stream.push(chunk), chunk.len());
        while let Some(event) = stream.next() {
            let Event::Packet(p) = event else { panic!("{event:?}") };
            seen.push(p.msgid);
        }
    }
    assert_eq!(seen, goldens.iter().map(|g| g.msgid).collect::<Vec<_>>());
}
