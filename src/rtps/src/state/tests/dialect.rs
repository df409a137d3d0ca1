//! The same messages as another implementation might put them: the other byte order, other packing, things in between
//! that we do not know.

use super::sim::Rng;

/// How a participant speaks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dialect {
    /// Big endian.
    pub(super) big: bool,
    /// Each submessage that says something in a message of its own.
    pub(super) split: bool,
    /// Unknown submessages, padding, reply locators, inline QoS nobody knows.
    pub(super) spice: bool,
}

const HEADER: usize = 20;
const INFO_TS: u8 = 0x09;
const INFO_SRC: u8 = 0x0c;
const INFO_DST: u8 = 0x0e;
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;

/// A submessage: id, flags, body.
struct Part {
    id: u8,
    flags: u8,
    body: Vec<u8>,
}

impl Dialect {
    /// What a message of ours becomes: one or more.
    pub(super) fn speak(self, message: &[u8], rng: &mut Rng) -> Vec<Vec<u8>> {
        let (header, mut rest) = message.split_at(HEADER);
        let mut messages = vec![header.to_vec()];
        let mut context: Vec<Part> = Vec::new();
        while let [id, flags, a, b, after @ ..] = rest {
            let len = usize::from(u16::from_le_bytes([*a, *b]));
            let (body, after) = after.split_at(len);
            rest = after;
            let part = Part { id: *id, flags: *flags, body: body.to_vec() };
            let is_context = matches!(part.id, INFO_TS | INFO_SRC | INFO_DST);
            if self.spice {
                // Before the time stamp, which a new source would make void.
                self.season(header, messages.last_mut().unwrap(), is_context && part.id == INFO_DST, rng);
            }
            let said = messages.last().unwrap().len() > HEADER && context.iter().all(|p| p.id != part.id);
            if self.split && !is_context && said && rng.below(2) == 0 {
                let mut next = header.to_vec();
                context.iter().for_each(|part| self.put(&mut next, part));
                messages.push(next);
            }
            let part =
                if self.spice && matches!(part.id, DATA | DATA_FRAG) { with_inline(&part) } else { part };
            self.put(messages.last_mut().unwrap(), &part);
            if is_context {
                context.retain(|p| p.id != part.id);
                context.push(part);
            }
        }
        messages
    }

    fn put(self, message: &mut Vec<u8>, part: &Part) {
        let mut body = part.body.clone();
        let mut flags = part.flags;
        let mut len = u16::try_from(body.len()).unwrap().to_le_bytes();
        if self.big {
            flags &= !1;
            len.reverse();
            turn(part, &mut body);
        }
        message.extend([part.id, flags, len[0], len[1]]);
        message.extend(body);
    }

    fn season(self, header: &[u8], message: &mut Vec<u8>, may_change_source: bool, rng: &mut Rng) {
        let one = |id, body: Vec<u8>| Part { id, flags: 1, body };
        match rng.below(8) {
            // Padding, something of a vendor, something newer, and an address for answers.
            0 => self.put(message, &one(0x01, vec![0; 4])),
            1 => self.put(message, &one(0x80, vec![9; 24])),
            2 => self.put(message, &one(0x3a, vec![0; 8])),
            3 => self.put(message, &one(0x0f, [vec![1, 0, 0, 0], vec![1; 24]].concat())),
            4 if may_change_source => {
                let source = [&[0; 4], &header[4..HEADER]].concat();
                self.put(message, &one(INFO_SRC, source));
            }
            _ => {}
        }
    }
}

/// Turns the numbers of a submessage round.
fn turn(part: &Part, body: &mut [u8]) {
    match part.id {
        DATA | DATA_FRAG => {
            body[0..2].reverse();
            body[2..4].reverse();
            words(&mut body[12..20]);
            let mut at = 20;
            if part.id == DATA_FRAG {
                words(&mut body[20..24]);
                body[24..26].reverse();
                body[26..28].reverse();
                words(&mut body[28..32]);
                at = 32;
            }
            let mut more = part.flags & 2 != 0;
            while more {
                let id = u16::from_le_bytes([body[at], body[at + 1]]);
                let len = usize::from(u16::from_le_bytes([body[at + 2], body[at + 3]]));
                body[at..at + 2].reverse();
                body[at + 2..at + 4].reverse();
                // A sample identity ends with a number; the other values are octets.
                if matches!(id, 0x0083 | 0x800f) {
                    words(&mut body[at + 20..at + 28]);
                }
                at += 4 + len;
                more = id != 1;
            }
        }
        INFO_TS => words(body),
        0x06..=0x08 | 0x12 | 0x13 => words(&mut body[8..]),
        _ => {}
    }
}

fn words(bytes: &mut [u8]) {
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
}

/// Adds inline QoS that means nothing to us.
fn with_inline(part: &Part) -> Part {
    let at = if part.id == DATA { 20 } else { 32 };
    let unknown = [[0x34, 0x92, 4, 0], [7; 4]].concat();
    let (head, tail) = part.body.split_at(at);
    let end: &[u8] = if part.flags & 2 == 0 { &[1, 0, 0, 0] } else { &[] };
    Part { id: part.id, flags: part.flags | 2, body: [head, &unknown, end, tail].concat() }
}
