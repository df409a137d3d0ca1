//! Datagrams as one line of text, for whoever follows a run.

use crate::wire::{Message, SPDP_WRITER, Submessage};

/// What a datagram says; `None` for the announcement of a participant.
pub(super) fn line(bytes: &[u8]) -> Option<String> {
    let Ok(message) = Message::parse(bytes) else { return Some("broken".into()) };
    let mut text = String::new();
    for submessage in message.submessages() {
        let part = match submessage {
            Ok(Submessage::Data(data)) if data.writer == SPDP_WRITER => return None,
            Ok(Submessage::Data(d)) => {
                format!("DATA {:x?}>{:x?} {} of {} bytes", d.writer, d.reader, d.seq, d.payload.len())
            }
            Ok(Submessage::DataFrag(d)) => {
                format!("FRAG {:x?}>{:x?} {}/{} of {}", d.writer, d.reader, d.seq, d.first, d.sample_size)
            }
            Ok(Submessage::Heartbeat(h)) => {
                format!("HB {:x?}>{:x?} {}..={} #{}", h.writer, h.reader, h.first, h.last, h.count)
                    + if h.is_final { " final" } else { "" }
            }
            Ok(Submessage::AckNack(a)) => {
                let missing: Vec<_> = a.missing.iter().collect();
                format!("ACK {:x?}<{:x?} {} {missing:?} #{}", a.writer, a.reader, a.missing.base, a.count)
                    + if a.is_final { " final" } else { "" }
            }
            Ok(Submessage::NackFrag(n)) => {
                let missing: Vec<_> = n.missing.iter().collect();
                format!("NACK_FRAG {:x?}<{:x?} {} {missing:?} #{}", n.writer, n.reader, n.seq, n.count)
            }
            Ok(Submessage::Gap(g)) => {
                let list: Vec<_> = g.list.iter().collect();
                format!("GAP {:x?}>{:x?} {}..{} {list:?}", g.writer, g.reader, g.start, g.list.base)
            }
            Ok(Submessage::InfoDestination(_) | Submessage::InfoTimestamp(_)) => continue,
            other => format!("{other:?}"),
        };
        text = text + " | " + &part;
    }
    Some(text)
}

/// Whether a datagram carries a sample, part of one or an announcement; the rest is what keeps order.
pub(super) fn carries_data(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(20..).unwrap_or_default();
    while let [id, _, a, b, after @ ..] = rest {
        if matches!(id, 0x15 | 0x16) {
            return true;
        }
        rest = after.get(usize::from(u16::from_le_bytes([*a, *b]))..).unwrap_or_default();
    }
    false
}
