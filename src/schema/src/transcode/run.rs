//! Running the steps.

use rostrans_cdr::{CdrError, CdrReader, CdrWriter, Number, Ros1Reader, Ros1Writer};

use super::{Elements, Step};
use crate::{decode::check_bound, encode, shape::Flat, validate};

/// CDR to ROS 1.
pub(super) fn to_ros1(
    steps: &[Step],
    reader: &mut CdrReader<'_>,
    writer: &mut Ros1Writer<'_>,
    seq: u32,
) -> Result<(), CdrError> {
    for step in steps {
        match step {
            Step::Numbers(flat) => numbers_to_ros1(*flat, 1, reader, writer)?,
            Step::Bools(count) => {
                for _ in 0..*count {
                    writer.number(u8::from(reader.bool()?));
                }
            }
            Step::String(bound) => {
                let at = reader.position();
                let text = reader.str()?;
                check_bound(at, *bound, text.len())?;
                writer.string(text);
            }
            Step::Seq => writer.number(seq),
            Step::Empty => {
                reader.number::<u8>()?;
            }
            Step::Ros2Only(field) => validate::field_value(field, reader)?,
            Step::Array(len, elements) => {
                begin(elements, reader)?;
                elements_to_ros1(*len as usize, elements, reader, writer, seq)?;
            }
            Step::Sequence(bound, elements) => {
                begin(elements, reader)?;
                let at = reader.position();
                let count = reader.sequence_len(elements.ros2_min_size)?;
                check_bound(at, *bound, count)?;
                writer.length(count);
                elements_to_ros1(count, elements, reader, writer, seq)?;
            }
        }
    }
    Ok(())
}

fn begin(elements: &Elements, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if elements.primitive { Ok(()) } else { reader.collection_header() }
}

fn elements_to_ros1(
    count: usize,
    elements: &Elements,
    reader: &mut CdrReader<'_>,
    writer: &mut Ros1Writer<'_>,
    seq: u32,
) -> Result<(), CdrError> {
    match elements.flat {
        Some(flat) => numbers_to_ros1(flat, count, reader, writer),
        None => (0..count).try_for_each(|_| to_ros1(&elements.steps, reader, writer, seq)),
    }
}

fn numbers_to_ros1(
    flat: Flat,
    times: usize,
    reader: &mut CdrReader<'_>,
    writer: &mut Ros1Writer<'_>,
) -> Result<(), CdrError> {
    let count = flat.count.saturating_mul(times);
    if count == 0 {
        return Ok(());
    }
    if reader.is_little_endian() || flat.unit == 1 {
        reader.align(flat.unit);
        writer.bytes(reader.bytes(flat.unit.saturating_mul(count))?);
        return Ok(());
    }
    fn each<T: Number>(
        count: usize,
        reader: &mut CdrReader<'_>,
        writer: &mut Ros1Writer<'_>,
    ) -> Result<(), CdrError> {
        (0..count).try_for_each(|_| reader.number::<T>().map(|value| writer.number(value)))
    }
    match flat.unit {
        2 => each::<u16>(count, reader, writer),
        4 => each::<u32>(count, reader, writer),
        _ => each::<u64>(count, reader, writer),
    }
}

/// ROS 1 to little-endian XCDR1.
pub(super) fn to_ros2(
    steps: &[Step],
    reader: &mut Ros1Reader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    for step in steps {
        match step {
            Step::Numbers(flat) => numbers_to_ros2(*flat, 1, reader, writer)?,
            Step::Bools(count) => {
                // ROS 1 programs write any octet; everything but 0 is true.
                reader.bytes(*count)?.iter().for_each(|octet| writer.number(u8::from(*octet != 0)));
            }
            Step::String(bound) => {
                let at = reader.position();
                let text = reader.str()?;
                check_bound(at, *bound, text.len())?;
                writer.string(text);
            }
            Step::Seq => {
                reader.number::<u32>()?;
            }
            Step::Empty => writer.number(0_u8),
            Step::Ros2Only(field) => encode::default(field, writer),
            Step::Array(len, elements) => elements_to_ros2(*len as usize, elements, reader, writer)?,
            Step::Sequence(bound, elements) => {
                let at = reader.position();
                let count = reader.length(elements.ros1_min_size)?;
                check_bound(at, *bound, count)?;
                writer.length(count);
                elements_to_ros2(count, elements, reader, writer)?;
            }
        }
    }
    Ok(())
}

fn elements_to_ros2(
    count: usize,
    elements: &Elements,
    reader: &mut Ros1Reader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    match elements.flat {
        Some(flat) => numbers_to_ros2(flat, count, reader, writer),
        None => (0..count).try_for_each(|_| to_ros2(&elements.steps, reader, writer)),
    }
}

fn numbers_to_ros2(
    flat: Flat,
    times: usize,
    reader: &mut Ros1Reader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    let count = flat.count.saturating_mul(times);
    if count > 0 {
        writer.align(flat.unit);
        writer.bytes(reader.bytes(flat.unit.saturating_mul(count))?);
    }
    Ok(())
}
