//! CDR to value trees.

use rostrans_cdr::{CdrError, CdrReader};

use crate::{
    definition::{Arity, Primitive},
    shape::{Field, FieldType, Shape},
    tree::Output,
};

/// Reads a message.
pub(crate) fn message<T: Output>(shape: &Shape, reader: &mut CdrReader<'_>) -> Result<T, CdrError> {
    if shape.fields().is_empty() {
        reader.number::<u8>()?;
    }
    let values = shape.fields().iter().map(|field| field_value(field, reader)).collect::<Result<_, _>>()?;
    Ok(T::from_fields(shape, values))
}

fn field_value<T: Output>(field: &Field, reader: &mut CdrReader<'_>) -> Result<T, CdrError> {
    if field.arity == Arity::One {
        return single(&field.field_type, reader);
    }
    let count = begin_collection(field, reader)?;
    if field.field_type.is_octet() {
        return Ok(T::from_octets(reader.bytes(count)?));
    }
    let mut items = Vec::with_capacity(count);
    for _ in 0..count {
        items.push(single(&field.field_type, reader)?);
    }
    Ok(T::from_list(items))
}

/// Reads what stands in front of the elements of an array or sequence; gives their number, which so many octets
/// can hold.
pub(crate) fn begin_collection(field: &Field, reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    if !field.field_type.is_primitive() {
        reader.collection_header()?;
    }
    let min_size = field.field_type.min_size();
    let at = reader.position();
    match field.arity {
        Arity::One => Ok(1),
        Arity::Array(len) => {
            let need = min_size.saturating_mul(len as usize);
            let have = reader.remaining();
            if need > have { Err(CdrError::Truncated { at, need, have }) } else { Ok(len as usize) }
        }
        Arity::Sequence(bound) => {
            let count = reader.sequence_len(min_size)?;
            match (bound, u32::try_from(count)) {
                (Some(bound), Ok(len)) if len > bound => Err(CdrError::Bound { at, len, bound }),
                _ => Ok(count),
            }
        }
    }
}

fn single<T: Output>(field_type: &FieldType, reader: &mut CdrReader<'_>) -> Result<T, CdrError> {
    Ok(match field_type {
        FieldType::Primitive(base) => number(*base, reader)?,
        FieldType::String(bound) => T::from_text(bounded_str(*bound, reader)?),
        FieldType::WideString(bound) => T::from_text(&bounded_wide(*bound, reader)?),
        FieldType::Message(shape) => message(shape, reader)?,
    })
}

/// Reads a string of at most `bound` octets.
pub(crate) fn bounded_str<'a>(bound: Option<u32>, reader: &mut CdrReader<'a>) -> Result<&'a str, CdrError> {
    let at = reader.position();
    let text = reader.str()?;
    check_bound(at, bound, text.len())?;
    Ok(text)
}

/// Reads a wide string of at most `bound` UTF-16 units.
pub(crate) fn bounded_wide(bound: Option<u32>, reader: &mut CdrReader<'_>) -> Result<String, CdrError> {
    let at = reader.position();
    let text = reader.wide_string()?;
    check_bound(at, bound, text.encode_utf16().count())?;
    Ok(text)
}

/// Checks a number of elements or characters.
pub(crate) fn check_bound(at: usize, bound: Option<u32>, len: usize) -> Result<(), CdrError> {
    match (bound, u32::try_from(len)) {
        (Some(bound), Ok(len)) if len > bound => Err(CdrError::Bound { at, len, bound }),
        _ => Ok(()),
    }
}

fn number<T: Output>(base: Primitive, reader: &mut CdrReader<'_>) -> Result<T, CdrError> {
    Ok(match base {
        Primitive::Bool => T::from_bool(reader.bool()?),
        Primitive::Byte | Primitive::Char | Primitive::U8 => T::from_u64(reader.number::<u8>()?.into()),
        Primitive::I8 => T::from_i64(reader.number::<i8>()?.into()),
        Primitive::I16 => T::from_i64(reader.number::<i16>()?.into()),
        Primitive::U16 => T::from_u64(reader.number::<u16>()?.into()),
        Primitive::I32 => T::from_i64(reader.number::<i32>()?.into()),
        Primitive::U32 => T::from_u64(reader.number::<u32>()?.into()),
        Primitive::I64 => T::from_i64(reader.number::<i64>()?),
        Primitive::U64 => T::from_u64(reader.number::<u64>()?),
        Primitive::F32 => T::from_f32(reader.number()?),
        Primitive::F64 => T::from_f64(reader.number()?),
    })
}
