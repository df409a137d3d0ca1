//! From bytes to the frames that links see.
#![warn(clippy::indexing_slicing)]

use std::time::Instant;

use rostrans_core::transport::{Frame, Framing, Ingress, Malformed, Peer};
use rostrans_mavlink::{Event, Fault, frames};

/// Hands the frames of one datagram to `ingress`.
pub(crate) fn cut_datagram(
    framing: Framing,
    bytes: &[u8],
    peer: Peer,
    received: Instant,
    ingress: &mut dyn Ingress,
) {
    match framing {
        Framing::Datagram => ingress.frame(&Frame { bytes, peer, received, tag: None, sender: None }),
        Framing::Mavlink => frames(bytes).for_each(|event| deliver(event, peer, received, ingress)),
    }
}

/// Hands one result of the MAVLink framer to `ingress`.
pub(crate) fn deliver(event: Event<'_>, peer: Peer, received: Instant, ingress: &mut dyn Ingress) {
    match event {
        Event::Packet(p) => {
            let (tag, sender) = (Some(p.msgid), Some(p.sysid));
            ingress.frame(&Frame { bytes: p.bytes, peer, received, tag, sender });
        }
        Event::Fault(Fault::Skipped(n)) => ingress.malformed(Malformed::Skipped(n)),
        Event::Fault(Fault::Checksum { msgid }) => ingress.malformed(Malformed::Checksum { msgid }),
        Event::Fault(Fault::Truncated { need, have }) => {
            ingress.malformed(Malformed::Truncated { need, have });
        }
    }
}
