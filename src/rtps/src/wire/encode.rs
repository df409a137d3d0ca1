use super::entity::{Entity, Prefix};
use super::param::{ParamWriter, pid};
use super::set::{FragmentSet, SequenceSet};
#[cfg(test)]
use super::submessage::HeartbeatFrag;
use super::submessage::{AckNack, DataFrag, Gap, Heartbeat, InlineQos, NackFrag};
use crate::guid::{SampleIdentity, VENDOR_ID};

/// Appends one RTPS message to a buffer, little endian.
pub(crate) struct Encoder<'a> {
    buf: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// Starts a message from `prefix`.
    pub(crate) fn new(buf: &'a mut Vec<u8>, prefix: Prefix) -> Self {
        buf.extend(b"RTPS\x02\x03");
        buf.extend(VENDOR_ID);
        buf.extend(prefix);
        Self { buf }
    }

    pub(crate) fn info_dst(&mut self, prefix: Prefix) {
        self.submessage(0x0e, 0, |e| e.buf.extend(prefix));
    }

    /// Source time of what follows, nanoseconds since 1970; times RTPS cannot express are left out.
    pub(crate) fn info_ts(&mut self, nanos: i64) {
        let (seconds, rest) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
        let (Ok(seconds), Ok(rest)) = (u32::try_from(seconds), u64::try_from(rest)) else { return };
        // Rounded up: readers that cut off what is less than a nanosecond get it back as it was.
        let fraction = u32::try_from((rest << 32).div_ceil(1_000_000_000)).unwrap_or(u32::MAX);
        self.submessage(0x09, 0, |e| {
            e.u32(seconds);
            e.u32(fraction);
        });
    }

    /// A DATA submessage with its payload, padded to four bytes.
    ///
    /// The payload is at most 65,000 bytes: the length field of a submessage has 16 bits.
    pub(crate) fn data(
        &mut self,
        reader: Entity,
        writer: Entity,
        seq: i64,
        related: Option<SampleIdentity>,
        payload: &[u8],
    ) {
        let flags = 0x04 | if related.is_some() { 0x02 } else { 0 };
        self.submessage(0x15, flags, |e| {
            e.data_head(reader, writer, seq, 16);
            e.inline_qos(&InlineQos { related, ..InlineQos::default() });
            e.buf.extend_from_slice(payload);
        });
    }

    /// A dispose and unregister notice for the instance with this key.
    pub(crate) fn dispose(
        &mut self,
        reader: Entity,
        writer: Entity,
        seq: i64,
        key: [u8; 16],
        payload: &[u8],
    ) {
        self.submessage(0x15, 0x08 | 0x02, |e| {
            e.data_head(reader, writer, seq, 16);
            e.inline_qos(&InlineQos { related: None, key_hash: Some(key), status: 3 });
            e.buf.extend_from_slice(payload);
        });
    }

    /// The head of a DATA_FRAG submessage whose `len` payload bytes the caller appends behind this message.
    pub(crate) fn data_frag_head(&mut self, frag: &DataFrag<'_>, len: usize) {
        let flags = if frag.inline.related.is_some() { 0x02 } else { 0 };
        let at = self.begin(0x16, flags);
        self.data_head(frag.reader, frag.writer, frag.seq, 28);
        self.u32(frag.first);
        self.u16(frag.count);
        self.u16(frag.fragment_size);
        self.u32(frag.sample_size);
        self.inline_qos(&frag.inline);
        self.finish(at, len);
    }

    /// A whole DATA_FRAG submessage, padded to four bytes.
    pub(crate) fn data_frag(&mut self, frag: &DataFrag<'_>, payload: &[u8]) {
        self.data_frag_head(frag, payload.len().next_multiple_of(4));
        self.buf.extend_from_slice(payload);
        let padding = payload.len().next_multiple_of(4) - payload.len();
        self.buf.resize(self.buf.len() + padding, 0);
    }

    pub(crate) fn heartbeat(&mut self, heartbeat: &Heartbeat) {
        let flags = u8::from(heartbeat.is_final) << 1 | u8::from(heartbeat.liveliness) << 2;
        self.submessage(0x07, flags, |e| {
            e.buf.extend(heartbeat.reader);
            e.buf.extend(heartbeat.writer);
            e.seq(heartbeat.first);
            e.seq(heartbeat.last);
            e.u32(heartbeat.count.cast_unsigned());
        });
    }

    pub(crate) fn acknack(&mut self, acknack: &AckNack) {
        self.submessage(0x06, if acknack.is_final { 2 } else { 0 }, |e| {
            e.buf.extend(acknack.reader);
            e.buf.extend(acknack.writer);
            e.sequence_set(&acknack.missing);
            e.u32(acknack.count.cast_unsigned());
        });
    }

    pub(crate) fn nack_frag(&mut self, nack: &NackFrag) {
        self.submessage(0x12, 0, |e| {
            e.buf.extend(nack.reader);
            e.buf.extend(nack.writer);
            e.seq(nack.seq);
            e.fragment_set(&nack.missing);
            e.u32(nack.count.cast_unsigned());
        });
    }

    pub(crate) fn gap(&mut self, gap: &Gap) {
        self.submessage(0x08, 0, |e| {
            e.buf.extend(gap.reader);
            e.buf.extend(gap.writer);
            e.seq(gap.start);
            e.sequence_set(&gap.list);
        });
    }

    /// The engine only reads these: its heartbeats wait until a sample has left completely.
    #[cfg(test)]
    pub(crate) fn heartbeat_frag(&mut self, heartbeat: &HeartbeatFrag) {
        self.submessage(0x13, 0, |e| {
            e.buf.extend(heartbeat.reader);
            e.buf.extend(heartbeat.writer);
            e.seq(heartbeat.seq);
            e.u32(heartbeat.last);
            e.u32(heartbeat.count.cast_unsigned());
        });
    }

    fn submessage(&mut self, id: u8, flags: u8, body: impl FnOnce(&mut Self)) {
        let at = self.begin(id, flags);
        body(self);
        let len = self.buf.len() - at;
        self.buf.resize(at + len.next_multiple_of(4), 0);
        self.finish(at, 0);
    }

    /// Opens a submessage and returns where its body starts.
    fn begin(&mut self, id: u8, flags: u8) -> usize {
        self.buf.extend([id, flags | 1, 0, 0]);
        self.buf.len()
    }

    /// Fills in the length of the submessage whose body started at `at`, with `more` bytes to follow.
    fn finish(&mut self, at: usize, more: usize) {
        let len = u16::try_from(self.buf.len() - at + more).unwrap_or(0);
        if let Some(field) = self.buf.get_mut(at - 2..at) {
            field.copy_from_slice(&len.to_le_bytes());
        }
    }

    fn data_head(&mut self, reader: Entity, writer: Entity, seq: i64, to_inline: u16) {
        self.u16(0);
        self.u16(to_inline);
        self.buf.extend(reader);
        self.buf.extend(writer);
        self.seq(seq);
    }

    fn inline_qos(&mut self, qos: &InlineQos) {
        if *qos == InlineQos::default() {
            return;
        }
        let mut params = ParamWriter::new(self.buf);
        if let Some(related) = qos.related {
            let mut value = [0; 24];
            let bytes = related.guid.as_bytes().into_iter().chain(seq_bytes(related.seq));
            value.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
            params.put(pid::RELATED_SAMPLE_IDENTITY, &value);
            params.put(pid::RELATED_SAMPLE_IDENTITY_OLD, &value);
        }
        if let Some(key) = qos.key_hash {
            params.put(pid::KEY_HASH, &key);
        }
        if qos.status != 0 {
            params.put(pid::STATUS_INFO, &[0, 0, 0, qos.status]);
        }
        params.end();
    }

    fn sequence_set(&mut self, set: &SequenceSet) {
        self.seq(set.base);
        self.u32(set.num_bits());
        set.words().for_each(|word| self.u32(word));
    }

    fn fragment_set(&mut self, set: &FragmentSet) {
        self.u32(set.base);
        self.u32(set.num_bits());
        set.words().for_each(|word| self.u32(word));
    }

    fn seq(&mut self, seq: i64) {
        self.buf.extend(seq_bytes(seq));
    }

    fn u16(&mut self, value: u16) {
        self.buf.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.buf.extend(value.to_le_bytes());
    }
}

/// High word, then low word.
fn seq_bytes(seq: i64) -> [u8; 8] {
    let [l0, l1, l2, l3, h0, h1, h2, h3] = seq.to_le_bytes();
    [h0, h1, h2, h3, l0, l1, l2, l3]
}
