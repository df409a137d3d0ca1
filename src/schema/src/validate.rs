//! Checking a sample against its type without reading it into anything.

use rostrans_cdr::{CdrError, CdrReader};

use crate::{
    decode::{begin_collection, bounded_str, bounded_wide},
    definition::{Arity, Primitive},
    shape::{Field, FieldType, Flat, Shape},
};

/// Walks a message.
pub(crate) fn message(shape: &Shape, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if shape.fields().is_empty() {
        reader.number::<u8>()?;
    }
    shape.fields().iter().try_for_each(|field| field_value(field, reader))
}

/// Walks a field.
pub(crate) fn field_value(field: &Field, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if field.arity == Arity::One {
        return single(&field.field_type, reader);
    }
    let count = begin_collection(field, reader)?;
    if let Some(flat) = flat_here(&field.field_type, reader) {
        return skip(flat, count, reader);
    }
    (0..count).try_for_each(|_| single(&field.field_type, reader))
}

fn single(field_type: &FieldType, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if let Some(flat) = flat_here(field_type, reader) {
        return skip(flat, 1, reader);
    }
    match field_type {
        FieldType::Primitive(Primitive::Bool) => reader.bool().map(drop),
        FieldType::Primitive(base) => skip(Flat { unit: base.size(), count: 1 }, 1, reader),
        FieldType::String(bound) => bounded_str(*bound, reader).map(drop),
        FieldType::WideString(bound) => bounded_wide(*bound, reader).map(drop),
        FieldType::Message(shape) => message(shape, reader),
    }
}

/// Numbers that may be passed over at once. PLAIN_CDR2 has counts in front of arrays of messages, so only plain
/// numbers count there.
fn flat_here(field_type: &FieldType, reader: &CdrReader<'_>) -> Option<Flat> {
    field_type.flat().filter(|_| reader.is_native_xcdr1() || field_type.is_primitive())
}

fn skip(flat: Flat, count: usize, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if count > 0 {
        reader.align(flat.unit);
        reader.bytes(flat.unit.saturating_mul(flat.count).saturating_mul(count))?;
    }
    Ok(())
}
