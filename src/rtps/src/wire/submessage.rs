use super::cursor::{Cursor, Malformed};
use super::entity::{Entity, Prefix};
use super::param::{Params, pid};
use super::set::{FragmentSet, SequenceSet};
use crate::guid::{Guid, SampleIdentity};

/// One parsed submessage. Kinds the engine has no use for are `Other`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Submessage<'a> {
    Data(Data<'a>),
    DataFrag(DataFrag<'a>),
    Heartbeat(Heartbeat),
    HeartbeatFrag(HeartbeatFrag),
    AckNack(AckNack),
    NackFrag(NackFrag),
    Gap(Gap),
    /// Source time of what follows, nanoseconds since 1970; `None` invalidates an earlier one.
    InfoTimestamp(Option<i64>),
    /// Only this participant is meant by what follows; all zero means everybody.
    InfoDestination(Prefix),
    /// What follows comes from another participant.
    InfoSource(Prefix),
    Other,
}

/// A whole sample, or a dispose/unregister notice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data<'a> {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    pub(crate) inline: InlineQos,
    pub(crate) payload: &'a [u8],
    /// `payload` is a key only.
    pub(crate) is_key: bool,
    /// There is a payload at all.
    pub(crate) has_payload: bool,
}

/// Part of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataFrag<'a> {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    /// First fragment in this submessage, from 1.
    pub(crate) first: u32,
    /// Number of fragments in this submessage.
    pub(crate) count: u16,
    pub(crate) fragment_size: u16,
    pub(crate) sample_size: u32,
    pub(crate) inline: InlineQos,
    pub(crate) payload: &'a [u8],
    pub(crate) is_key: bool,
}

/// The inline QoS parameters the engine understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct InlineQos {
    pub(crate) related: Option<SampleIdentity>,
    pub(crate) key_hash: Option<[u8; 16]>,
    /// Bit 0 disposed, bit 1 unregistered.
    pub(crate) status: u8,
}

/// What a writer has: samples `first..=last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heartbeat {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) count: i32,
    /// No answer needed when nothing is missing.
    pub(crate) is_final: bool,
    /// The application says that the writer is alive.
    pub(crate) liveliness: bool,
}

/// Fragments of one sample a writer has sent so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeartbeatFrag {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    pub(crate) last: u32,
    pub(crate) count: i32,
}

/// A reader has everything below the base and lacks the members of the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AckNack {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) missing: SequenceSet,
    pub(crate) count: i32,
    /// No heartbeat wanted in answer.
    pub(crate) is_final: bool,
}

/// A reader lacks these fragments of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NackFrag {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) seq: i64,
    pub(crate) missing: FragmentSet,
    pub(crate) count: i32,
}

/// Samples `start..list.base` and the members of the list will never come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    pub(crate) reader: Entity,
    pub(crate) writer: Entity,
    pub(crate) start: i64,
    pub(crate) list: SequenceSet,
}

impl<'a> Submessage<'a> {
    pub(super) fn parse(id: u8, flags: u8, body: &'a [u8]) -> Result<Self, Malformed> {
        let mut c = Cursor::new(body, flags & 1 != 0);
        Ok(match id {
            0x06 => Self::AckNack(AckNack {
                reader: c.entity()?,
                writer: c.entity()?,
                missing: SequenceSet::read(&mut c)?,
                count: c.i32()?,
                is_final: flags & 2 != 0,
            }),
            0x07 => Self::Heartbeat(heartbeat(&mut c, flags)?),
            0x08 => Self::Gap(Gap {
                reader: c.entity()?,
                writer: c.entity()?,
                start: seq_from_1(&mut c)?,
                list: SequenceSet::read(&mut c)?,
            }),
            0x09 if flags & 2 != 0 => Self::InfoTimestamp(None),
            0x09 => Self::InfoTimestamp(timestamp(&mut c)?),
            0x0c => {
                c.bytes(8)?;
                Self::InfoSource(c.prefix()?)
            }
            0x0e => Self::InfoDestination(c.prefix()?),
            0x12 => Self::NackFrag(NackFrag {
                reader: c.entity()?,
                writer: c.entity()?,
                seq: seq_from_1(&mut c)?,
                missing: FragmentSet::read(&mut c)?,
                count: c.i32()?,
            }),
            0x13 => Self::HeartbeatFrag(HeartbeatFrag {
                reader: c.entity()?,
                writer: c.entity()?,
                seq: seq_from_1(&mut c)?,
                last: c.u32()?,
                count: c.i32()?,
            }),
            0x15 => Self::Data(data(&mut c, flags)?),
            0x16 => Self::DataFrag(data_frag(&mut c, flags)?),
            // Padding, reply locators (answers go to announced locators only) and everything newer.
            _ => Self::Other,
        })
    }
}

fn seq_from_1(c: &mut Cursor<'_>) -> Result<i64, Malformed> {
    let seq = c.seq()?;
    if (1..=i64::MAX / 2).contains(&seq) { Ok(seq) } else { Err(Malformed) }
}

fn heartbeat(c: &mut Cursor<'_>, flags: u8) -> Result<Heartbeat, Malformed> {
    let (reader, writer) = (c.entity()?, c.entity()?);
    let (first, last) = (seq_from_1(c)?, c.seq()?);
    if last < first - 1 || last > i64::MAX / 2 {
        return Err(Malformed);
    }
    let (is_final, liveliness) = (flags & 2 != 0, flags & 4 != 0);
    Ok(Heartbeat { reader, writer, first, last, count: c.i32()?, is_final, liveliness })
}

/// Seconds and a 32-bit binary fraction; the two all-ones values mean "invalid" and "infinite".
fn timestamp(c: &mut Cursor<'_>) -> Result<Option<i64>, Malformed> {
    let (seconds, fraction) = (c.u32()?, c.u32()?);
    if seconds == u32::MAX {
        return Ok(None);
    }
    let nanos = (u64::from(fraction) * 1_000_000_000 + (1 << 31)) >> 32;
    Ok(Some(i64::from(seconds) * 1_000_000_000 + i64::try_from(nanos).unwrap_or(0)))
}

struct DataHead {
    reader: Entity,
    writer: Entity,
    seq: i64,
    /// Bytes between the end of the fixed part and the inline QoS.
    to_inline: usize,
}

fn data_head(c: &mut Cursor<'_>, fixed: usize) -> Result<DataHead, Malformed> {
    let _extra_flags = c.u16()?;
    let to_inline = usize::from(c.u16()?).checked_sub(fixed).ok_or(Malformed)?;
    Ok(DataHead { reader: c.entity()?, writer: c.entity()?, seq: seq_from_1(c)?, to_inline })
}

fn data<'a>(c: &mut Cursor<'a>, flags: u8) -> Result<Data<'a>, Malformed> {
    let head = data_head(c, 16)?;
    c.bytes(head.to_inline)?;
    let inline = if flags & 2 != 0 { inline_qos(c)? } else { InlineQos::default() };
    let (has_data, is_key) = (flags & 4 != 0, flags & 8 != 0);
    if has_data && is_key {
        return Err(Malformed);
    }
    Ok(Data {
        reader: head.reader,
        writer: head.writer,
        seq: head.seq,
        inline,
        payload: if has_data || is_key { c.rest() } else { &[] },
        is_key,
        has_payload: has_data || is_key,
    })
}

fn data_frag<'a>(c: &mut Cursor<'a>, flags: u8) -> Result<DataFrag<'a>, Malformed> {
    let head = data_head(c, 28)?;
    let (first, count, fragment_size, sample_size) = (c.u32()?, c.u16()?, c.u16()?, c.u32()?);
    if first == 0 || count == 0 || fragment_size == 0 || sample_size == 0 {
        return Err(Malformed);
    }
    c.bytes(head.to_inline)?;
    let inline = if flags & 2 != 0 { inline_qos(c)? } else { InlineQos::default() };
    Ok(DataFrag {
        reader: head.reader,
        writer: head.writer,
        seq: head.seq,
        first,
        count,
        fragment_size,
        sample_size,
        inline,
        payload: c.rest(),
        is_key: flags & 4 != 0,
    })
}

/// Reads the parameters up to the sentinel and leaves the cursor behind it.
fn inline_qos(c: &mut Cursor<'_>) -> Result<InlineQos, Malformed> {
    let mut qos = InlineQos::default();
    let mut params = Params::new(*c);
    for param in &mut params {
        let (id, mut value) = param?;
        match id {
            pid::RELATED_SAMPLE_IDENTITY => qos.related = Some(sample_identity(&mut value)?),
            // The number Fast DDS used before the standard one; another vendor may mean something else by it.
            pid::RELATED_SAMPLE_IDENTITY_OLD if qos.related.is_none() => {
                qos.related = sample_identity(&mut value).ok();
            }
            pid::KEY_HASH => qos.key_hash = Some(value.array()?),
            pid::STATUS_INFO => {
                let [.., status] = value.array::<4>()?;
                qos.status = status;
            }
            _ => {}
        }
    }
    *c = params.after();
    Ok(qos)
}

fn sample_identity(value: &mut Cursor<'_>) -> Result<SampleIdentity, Malformed> {
    Ok(SampleIdentity { guid: Guid { prefix: value.prefix()?, entity: value.entity()? }, seq: value.seq()? })
}
