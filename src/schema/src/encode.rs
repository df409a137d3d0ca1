//! Value trees to CDR.

use rostrans_cdr::CdrWriter;

use crate::{
    definition::{Arity, Literal, Primitive},
    near::nearest,
    shape::{Field, FieldType, Shape},
    tree::Input,
    value_error::{ValueError, ValueProblem},
};

/// Writes a message; missing fields get their defaults.
pub(crate) fn message<T: Input>(
    shape: &Shape,
    value: &T,
    writer: &mut CdrWriter<'_>,
) -> Result<(), ValueError> {
    let Some(mut given) = value.fields() else {
        return Err(kind("a structure", value));
    };
    if shape.fields().is_empty() {
        writer.number(0_u8);
    }
    let mut unused = given.len();
    // Fields mostly come in the order of the type: only the others are searched for.
    let mut next = given.next();
    for field in shape.fields() {
        let inner = match next {
            Some((name, inner)) if *name == *field.name => {
                next = given.next();
                Some(inner)
            }
            _ => value.field(&field.name),
        };
        match inner {
            Some(inner) => {
                unused = unused.saturating_sub(1);
                field_value(field, inner, writer).map_err(|e| e.in_field(&field.name))?;
            }
            None => default(field, writer),
        }
    }
    if unused == 0 { Ok(()) } else { Err(stranger(shape, value)) }
}

/// Lengths in octets of field names that a similar one is looked for. All short ones look alike; the comparison is
/// quadratic, and no field has a longer name.
const COMPARED: std::ops::RangeInclusive<usize> = 3..=64;

/// The error for a field that `shape` lacks, or that is given twice.
fn stranger<T: Input>(shape: &Shape, value: &T) -> ValueError {
    let is_field = |name: &str| shape.fields().iter().any(|f| *f.name == *name);
    let stranger = value.fields().and_then(|mut fields| fields.find(|(name, _)| !is_field(name)));
    let name = stranger.map_or("", |(name, _)| name);
    let fields = shape.fields().iter().map(|f| &*f.name);
    let nearest = COMPARED.contains(&name.len()).then(|| nearest(name, fields)).flatten().map(str::to_owned);
    ValueError::here(ValueProblem::Unknown { in_type: shape.name().to_string(), nearest }).in_field(name)
}

fn field_value<T: Input>(field: &Field, value: &T, writer: &mut CdrWriter<'_>) -> Result<(), ValueError> {
    if field.arity == Arity::One {
        return single(&field.field_type, value, writer);
    }
    if field.field_type.is_octet()
        && let Some(octets) = value.as_octets()
    {
        length(field.arity, octets.len(), writer)?;
        writer.bytes(&octets);
        return Ok(());
    }
    let Some(items) = value.as_list() else {
        return Err(kind("a list", value));
    };
    length(field.arity, items.len(), writer)?;
    match &field.field_type {
        // The usual long lists, without a look at the type for each number.
        FieldType::Primitive(Primitive::F64) => elements(items, writer, |v, w| float(v).map(|v| w.number(v))),
        FieldType::Primitive(Primitive::F32) => {
            elements(items, writer, |v, w| single_float(v).map(|v| w.number(v)))
        }
        other => elements(items, writer, |v, w| single(other, v, w)),
    }
}

fn elements<T: Input>(
    items: &[T],
    writer: &mut CdrWriter<'_>,
    write: impl Fn(&T, &mut CdrWriter<'_>) -> Result<(), ValueError>,
) -> Result<(), ValueError> {
    for (index, item) in items.iter().enumerate() {
        write(item, writer).map_err(|e| e.in_element(index))?;
    }
    Ok(())
}

/// Checks a number of elements and writes it where the wire has it.
fn length(arity: Arity, have: usize, writer: &mut CdrWriter<'_>) -> Result<(), ValueError> {
    let (limit, exact) = match arity {
        Arity::Array(len) => (Some(len), true),
        Arity::Sequence(bound) => (bound, false),
        Arity::One => (None, false),
    };
    if let Some(limit) = limit
        && (have > limit as usize || exact && have < limit as usize)
    {
        return Err(ValueError::here(ValueProblem::Length { have, limit, exact }));
    }
    if !exact {
        writer.length(have);
    }
    Ok(())
}

fn single<T: Input>(field_type: &FieldType, value: &T, writer: &mut CdrWriter<'_>) -> Result<(), ValueError> {
    match field_type {
        FieldType::Primitive(base) => number(*base, value, writer),
        FieldType::Message(shape) => message(shape, value, writer),
        FieldType::String(bound) => {
            let text = text(value)?;
            bounded(*bound, text.len())?;
            writer.string(text);
            Ok(())
        }
        FieldType::WideString(bound) => {
            let text = text(value)?;
            bounded(*bound, text.encode_utf16().count())?;
            writer.wide_string(text);
            Ok(())
        }
    }
}

fn text<T: Input>(value: &T) -> Result<&str, ValueError> {
    let text = value.as_text().ok_or_else(|| kind("text", value))?;
    if text.contains('\0') {
        return Err(ValueError::here(ValueProblem::Nul));
    }
    Ok(text)
}

fn bounded(bound: Option<u32>, have: usize) -> Result<(), ValueError> {
    match bound {
        Some(limit) if have > limit as usize => {
            Err(ValueError::here(ValueProblem::Length { have, limit, exact: false }))
        }
        _ => Ok(()),
    }
}

fn number<T: Input>(base: Primitive, value: &T, writer: &mut CdrWriter<'_>) -> Result<(), ValueError> {
    match base {
        Primitive::Bool => {
            writer.number(u8::from(value.as_bool().ok_or_else(|| kind("true or false", value))?))
        }
        Primitive::F32 => writer.number(single_float(value)?),
        Primitive::F64 => writer.number(float(value)?),
        Primitive::Byte | Primitive::Char | Primitive::U8 => writer.number::<u8>(integer(base, value)?),
        Primitive::I8 => writer.number::<i8>(integer(base, value)?),
        Primitive::I16 => writer.number::<i16>(integer(base, value)?),
        Primitive::U16 => writer.number::<u16>(integer(base, value)?),
        Primitive::I32 => writer.number::<i32>(integer(base, value)?),
        Primitive::U32 => writer.number::<u32>(integer(base, value)?),
        Primitive::I64 => writer.number::<i64>(integer(base, value)?),
        Primitive::U64 => writer.number::<u64>(integer(base, value)?),
    }
    Ok(())
}

fn float<T: Input>(value: &T) -> Result<f64, ValueError> {
    value.as_float().ok_or_else(|| kind("a number", value))
}

#[expect(clippy::cast_possible_truncation, reason = "a float32 field takes the nearest float32")]
fn single_float<T: Input>(value: &T) -> Result<f32, ValueError> {
    float(value).map(|value| value as f32)
}

fn integer<T: Input, N: TryFrom<i128>>(base: Primitive, value: &T) -> Result<N, ValueError> {
    let number = value.as_integer().ok_or_else(|| kind("an integer", value))?;
    N::try_from(number)
        .map_err(|_| ValueError::here(ValueProblem::Range { value: value.excerpt(), base: base.word() }))
}

fn kind<T: Input>(want: &'static str, value: &T) -> ValueError {
    ValueError::here(ValueProblem::Kind { want, have: value.excerpt() })
}

/// Writes what a field holds when nothing is given.
pub(crate) fn default(field: &Field, writer: &mut CdrWriter<'_>) {
    match (&field.default, field.arity) {
        (Some(Literal::List(items)), arity) => {
            if matches!(arity, Arity::Sequence(_)) {
                writer.length(items.len());
            }
            items.iter().for_each(|item| literal(&field.field_type, item, writer));
        }
        (Some(value), _) => literal(&field.field_type, value, writer),
        (None, Arity::One) => zero(&field.field_type, writer),
        (None, Arity::Array(len)) => (0..len).for_each(|_| zero(&field.field_type, writer)),
        (None, Arity::Sequence(_)) => writer.length(0),
    }
}

fn zero(field_type: &FieldType, writer: &mut CdrWriter<'_>) {
    match field_type {
        FieldType::Primitive(base) => integer_literal(*base, 0, writer),
        FieldType::String(_) => writer.string(""),
        FieldType::WideString(_) => writer.wide_string(""),
        FieldType::Message(shape) => {
            if shape.fields().is_empty() {
                writer.number(0_u8);
            }
            shape.fields().iter().for_each(|field| default(field, writer));
        }
    }
}

fn literal(field_type: &FieldType, value: &Literal, writer: &mut CdrWriter<'_>) {
    match (field_type, value) {
        (FieldType::Primitive(base), Literal::Bool(value)) => {
            integer_literal(*base, i128::from(*value), writer)
        }
        (FieldType::Primitive(base), Literal::Int(value)) => integer_literal(*base, *value, writer),
        #[expect(clippy::cast_possible_truncation, reason = "a float32 default is the nearest float32")]
        (FieldType::Primitive(Primitive::F32), Literal::Float(value)) => writer.number(*value as f32),
        (FieldType::Primitive(_), Literal::Float(value)) => writer.number(*value),
        (FieldType::String(_), Literal::Text(text)) => writer.string(text),
        (FieldType::WideString(_), Literal::Text(text)) => writer.wide_string(text),
        // The parser makes no other pair.
        (other, _) => zero(other, writer),
    }
}

/// Writes an integer the parser has checked against `base`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the parser")]
fn integer_literal(base: Primitive, value: i128, writer: &mut CdrWriter<'_>) {
    match base {
        Primitive::F32 => writer.number(value as f32),
        Primitive::F64 => writer.number(value as f64),
        _ => match base.size() {
            1 => writer.number(value as u8),
            2 => writer.number(value as u16),
            4 => writer.number(value as u32),
            _ => writer.number(value as u64),
        },
    }
}
