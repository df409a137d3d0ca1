//! `mavlink.statustext`: messages for the operator.

use std::time::{Duration, Instant};

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::mavros_msgs::msg::StatusText;

use super::{
    DecodeOnly,
    dialect::{Message, Statustext},
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// STATUSTEXT to `statustext/recv`.
///
/// Texts longer than 50 bytes come in chunks and are joined; what is incomplete after a second is published as it
/// is, with `[...]` for a missing chunk. With `exact` each chunk is published by itself.
///
/// Source: MAVLink common, STATUSTEXT (253).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.statustext",
    doc: "texts from the vehicle",
    roles: &[Role::Decode],
    ports: &[topic::<StatusText>("recv", Qos::sensor_data())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Statustext::ID]),
    cost: Cost::Inline,
    tick: Some(Duration::from_millis(250)),
    options: &[vehicle::SYSID, vehicle::EXACT],
};

const RECV: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(StatustextDecoder {
        vehicle: Vehicle::new(&options)?,
        exact: options.flag("exact", false)?,
        parts: Vec::new(),
        message: StatusText::default(),
    }))
}

struct StatustextDecoder {
    vehicle: Vehicle,
    exact: bool,
    /// Texts that are not complete yet, oldest first.
    parts: Vec<Part>,
    message: StatusText,
}

/// A text of which chunks are missing.
struct Part {
    /// System, component and text id.
    from: (u8, u8, u16),
    severity: u8,
    next_chunk: u8,
    text: Vec<u8>,
    /// When the last chunk came.
    at: Instant,
}

impl Decoder for StatustextDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if packet.msgid != Statustext::ID {
            return Ok(());
        }
        let m = Statustext::decode(packet.payload);
        let text = m.text.split(|b| *b == 0).next().unwrap_or_default();
        if m.id == 0 || self.exact {
            self.publish(m.severity, text, out);
        } else {
            self.join(&packet, &m, text, frame.received, out);
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        while self.parts.first().is_some_and(|p| now.saturating_duration_since(p.at) >= FLUSH) {
            let part = self.parts.remove(0);
            self.publish(part.severity, &part.text, out);
        }
    }
}

impl StatustextDecoder {
    fn join(&mut self, packet: &Packet<'_>, m: &Statustext, text: &[u8], at: Instant, out: &mut Emit<'_>) {
        let from = (packet.sysid, packet.compid, m.id);
        let known = self.parts.iter().position(|p| p.from == from);
        // The same id with an earlier chunk is the next text of a sender that reuses its ids.
        let stale = known.filter(|i| self.parts.get(*i).is_some_and(|p| m.chunk_seq < p.next_chunk));
        if let Some(index) = stale {
            let part = self.parts.remove(index);
            self.publish(part.severity, &part.text, out);
        }
        let mut part = match known.filter(|_| stale.is_none()) {
            Some(index) => self.parts.remove(index),
            None => Part { from, severity: m.severity, next_chunk: 0, text: Vec::new(), at },
        };
        if m.chunk_seq > part.next_chunk {
            part.text.extend_from_slice(GAP);
        }
        part.text.extend_from_slice(text);
        part.next_chunk = m.chunk_seq.saturating_add(1);
        part.at = at;
        let last = text.len() < m.text.len() || m.chunk_seq == u8::MAX;
        if last {
            self.publish(part.severity, &part.text, out);
            return;
        }
        self.parts.push(part);
        if self.parts.len() > MAX_PARTS {
            let oldest = self.parts.remove(0);
            self.publish(oldest.severity, &oldest.text, out);
        }
    }

    fn publish(&mut self, severity: u8, text: &[u8], out: &mut Emit<'_>) {
        if out.wants(RECV) {
            let stamp = out.stamp();
            ros::stamp(&mut self.message.header, stamp);
            self.message.severity = severity;
            self.message.text.clear();
            self.message.text.push_str(&String::from_utf8_lossy(text));
            out.publish(RECV, stamp, &self.message);
        }
    }
}

/// How long to wait for the next chunk.
const FLUSH: Duration = Duration::from_secs(1);
/// Texts kept at a time; more are published incomplete, oldest first.
const MAX_PARTS: usize = 8;
/// Stands for chunks that did not come.
const GAP: &[u8] = b"[...]";
