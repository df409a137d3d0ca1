//! The code of one message.

use std::{error::Error, fmt::Write};

use rostrans_schema::{
    Field, FieldType, Shape,
    definition::{Arity, BaseType, ConstantDef, Literal, Primitive},
};

/// Largest array the standard library has `Default` for.
const MAX_DEFAULT_ARRAY: u32 = 32;

/// Largest message, in numbers, that is `Copy` and is written with one copy.
const MAX_COPY_NUMBERS: usize = 8;

/// The struct of one message and its trait impls.
pub(crate) fn generate(shape: &Shape, rihs01: &[u8; 32]) -> Result<String, Box<dyn Error>> {
    let ident = ident(shape);
    let mut code = format!("/// `{}`.\n", shape.name());
    let copy = shape.flat().is_some_and(|flat| flat.count <= MAX_COPY_NUMBERS);
    let derived_default = shape.fields().iter().all(has_plain_default);
    writeln!(
        code,
        "#[derive({}Clone, Debug, {}PartialEq)]",
        if copy { "Copy, " } else { "" },
        if derived_default { "Default, " } else { "" }
    )?;
    writeln!(code, "pub struct {ident} {{")?;
    for field in shape.fields() {
        writeln!(
            code,
            "/// `{}`.\npub {}: {},",
            written_type(field),
            rust_name(&field.name),
            rust_type(field)?
        )?;
    }
    code.push_str("}\n");
    constants(&mut code, &ident, shape.constants())?;
    if !derived_default {
        default_impl(&mut code, &ident, shape.fields())?;
    }
    writeln!(
        code,
        "impl crate::RosType for {ident} {{\nconst TYPE: &'static str = \"{}\";\nconst RIHS01: [u8; 32] = {rihs01:?};\n}}",
        shape.name()
    )?;
    encode_impl(&mut code, &ident, shape.fields())?;
    decode_impl(&mut code, &ident, shape.fields())?;
    Ok(code)
}

/// Its Rust name: service parts lose their underscore.
pub(crate) fn ident(shape: &Shape) -> String {
    shape.name().short().replace('_', "")
}

fn constants(code: &mut String, ident: &str, constants: &[ConstantDef]) -> Result<(), Box<dyn Error>> {
    if constants.is_empty() {
        return Ok(());
    }
    writeln!(code, "impl {ident} {{")?;
    for constant in constants {
        let (rust, value) = match (&constant.value, primitive_of(constant)) {
            (Literal::Text(text), _) => ("&'static str", format!("{text:?}")),
            (value, Some(primitive)) => (primitive_type(primitive), literal(value, Some(primitive))?),
            _ => return Err(format!("constant '{}' has no Rust type", constant.name).into()),
        };
        writeln!(code, "/// `{} {}={}`.", constant.base, constant.name, constant.written)?;
        writeln!(code, "pub const {}: {rust} = {value};", constant.name.to_uppercase())?;
    }
    code.push_str("}\n");
    Ok(())
}

fn primitive_of(constant: &ConstantDef) -> Option<Primitive> {
    match constant.base {
        BaseType::Primitive(primitive) => Some(primitive),
        _ => None,
    }
}

fn default_impl(code: &mut String, ident: &str, fields: &[Field]) -> Result<(), Box<dyn Error>> {
    writeln!(code, "impl Default for {ident} {{\nfn default() -> Self {{\nSelf {{")?;
    for field in fields {
        writeln!(code, "{}: {},", rust_name(&field.name), default_value(field)?)?;
    }
    code.push_str("}\n}\n}\n");
    Ok(())
}

fn default_value(field: &Field) -> Result<String, Box<dyn Error>> {
    let primitive = match field.field_type {
        FieldType::Primitive(primitive) => Some(primitive),
        _ => None,
    };
    Ok(match (&field.default, field.arity, primitive) {
        (Some(Literal::List(items)), arity, _) => {
            let items = items.iter().map(|v| literal(v, primitive)).collect::<Result<Vec<_>, _>>()?;
            let vec = if matches!(arity, Arity::Sequence(_)) { "vec!" } else { "" };
            format!("{vec}[{}]", items.join(", "))
        }
        (Some(value), _, _) => literal(value, primitive)?,
        (None, Arity::Array(len), Some(primitive)) => format!("[{}; {len}]", zero(primitive)),
        (None, Arity::Array(_), None) => "std::array::from_fn(|_| Default::default())".to_owned(),
        (None, _, _) => "Default::default()".to_owned(),
    })
}

fn has_plain_default(field: &Field) -> bool {
    let zero = match &field.default {
        None | Some(Literal::Bool(false) | Literal::Int(0)) => true,
        Some(Literal::Float(value)) => value.to_bits() == 0,
        Some(Literal::Text(text)) => text.is_empty(),
        Some(Literal::Bool(_) | Literal::Int(_) | Literal::List(_)) => false,
    };
    zero && !matches!(field.arity, Arity::Array(len) if len > MAX_DEFAULT_ARRAY)
}

/// The places of all numbers of a small message that holds numbers of one type and nothing else, with that type.
fn leaves(fields: &[Field], prefix: &str) -> Option<(Primitive, Vec<String>)> {
    let mut of: Option<Primitive> = None;
    let mut places = Vec::new();
    for field in fields {
        let place = format!("{prefix}.{}", rust_name(&field.name));
        let primitive = match (&field.field_type, field.arity) {
            (FieldType::Primitive(primitive), Arity::One) if *primitive != Primitive::Bool => {
                places.push(place);
                *primitive
            }
            (FieldType::Message(inner), Arity::One) => {
                let (primitive, inner) = leaves(inner.fields(), &place)?;
                places.extend(inner);
                primitive
            }
            _ => return None,
        };
        if of.is_some_and(|of| of != primitive) || places.len() > MAX_COPY_NUMBERS {
            return None;
        }
        of = Some(primitive);
    }
    of.filter(|_| places.len() > 1).map(|primitive| (primitive, places))
}

/// Writes a message of a few equal numbers with one copy, and counts many of them at once.
fn flat_encode_impl(
    code: &mut String,
    ident: &str,
    primitive: Primitive,
    places: &[String],
) -> std::fmt::Result {
    let (count, size) = (places.len(), primitive.size());
    writeln!(
        code,
        "impl CdrEncode for {ident} {{\n\
         fn size(&self, sizer: &mut CdrSizer) {{\nsizer.primitives({count}, {size});\n}}\n\
         fn size_all(items: &[Self], sizer: &mut CdrSizer) {{\nsizer.primitives({count} * items.len(), {size});\n}}\n\
         fn encode(&self, writer: &mut CdrWriter<'_>) {{\nwriter.numbers(&[{}]);\n}}\n}}",
        places.join(", ")
    )
}

fn encode_impl(code: &mut String, ident: &str, fields: &[Field]) -> Result<(), Box<dyn Error>> {
    if let Some((primitive, places)) = leaves(fields, "self") {
        return Ok(flat_encode_impl(code, ident, primitive, &places)?);
    }
    writeln!(code, "impl CdrEncode for {ident} {{\nfn size(&self, sizer: &mut CdrSizer) {{")?;
    for field in fields {
        writeln!(code, "self.{}.size(sizer);", rust_name(&field.name))?;
    }
    if fields.is_empty() {
        // DDS structures cannot be empty: rosidl adds one octet.
        code.push_str("0_u8.size(sizer);\n");
    }
    code.push_str("}\nfn encode(&self, writer: &mut CdrWriter<'_>) {\n");
    for field in fields {
        writeln!(code, "self.{}.encode(writer);", rust_name(&field.name))?;
    }
    if fields.is_empty() {
        code.push_str("0_u8.encode(writer);\n");
    }
    code.push_str("}\n}\n");
    Ok(())
}

fn decode_impl(code: &mut String, ident: &str, fields: &[Field]) -> Result<(), Box<dyn Error>> {
    let mut sizes = Vec::new();
    for field in fields {
        sizes.push(format!("<{} as CdrDecode>::MIN_SIZE", rust_type(field)?));
    }
    if sizes.is_empty() {
        sizes.push("1".to_owned());
    }
    writeln!(
        code,
        "impl CdrDecode for {ident} {{\nconst MIN_SIZE: usize = {};\n\
         fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {{",
        sizes.join(" + ")
    )?;
    if fields.is_empty() {
        code.push_str("reader.number::<u8>()?;\n");
    }
    code.push_str("Ok(Self {\n");
    for field in fields {
        let read = match field.arity {
            Arity::Sequence(Some(bound)) => format!("crate::decode_bounded(reader, {bound})?"),
            _ => "CdrDecode::decode(reader)?".to_owned(),
        };
        writeln!(code, "{}: {read},", rust_name(&field.name))?;
    }
    code.push_str("})\n}\n}\n");
    Ok(())
}

fn rust_type(field: &Field) -> Result<String, Box<dyn Error>> {
    let base = match &field.field_type {
        FieldType::Primitive(primitive) => primitive_type(*primitive).to_owned(),
        // `std_msgs/msg/String` is in scope of its own package.
        FieldType::String(_) => "std::string::String".to_owned(),
        FieldType::Message(shape) => {
            format!("crate::{}::msg::{}", shape.name().package(), shape.name().short())
        }
        FieldType::WideString(_) => {
            return Err(format!("field '{}' has a type without a Rust counterpart", field.name).into());
        }
    };
    Ok(match field.arity {
        Arity::One => base,
        Arity::Array(len) => format!("[{base}; {len}]"),
        Arity::Sequence(_) => format!("Vec<{base}>"),
    })
}

fn written_type(field: &Field) -> String {
    let base = match &field.field_type {
        FieldType::Primitive(primitive) => primitive.word().to_owned(),
        FieldType::Message(shape) => shape.name().ros1(),
        FieldType::String(Some(bound)) => format!("string<={bound}"),
        _ => "string".to_owned(),
    };
    match field.arity {
        Arity::One => base,
        Arity::Array(len) => format!("{base}[{len}]"),
        Arity::Sequence(None) => format!("{base}[]"),
        Arity::Sequence(Some(bound)) => format!("{base}[<={bound}]"),
    }
}

fn primitive_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte | Primitive::Char | Primitive::U8 => "u8",
        Primitive::I8 => "i8",
        Primitive::I16 => "i16",
        Primitive::U16 => "u16",
        Primitive::I32 => "i32",
        Primitive::U32 => "u32",
        Primitive::I64 => "i64",
        Primitive::U64 => "u64",
        Primitive::F32 => "f32",
        Primitive::F64 => "f64",
    }
}

fn zero(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "false",
        Primitive::F32 | Primitive::F64 => "0.0",
        _ => "0",
    }
}

fn literal(value: &Literal, primitive: Option<Primitive>) -> Result<String, Box<dyn Error>> {
    Ok(match (value, primitive) {
        (Literal::Text(text), None) => format!("std::string::String::from({text:?})"),
        (Literal::Bool(value), _) => value.to_string(),
        (Literal::Int(value), _) => value.to_string(),
        (Literal::Float(value), Some(primitive)) => {
            let rust = primitive_type(primitive);
            match value {
                v if v.is_nan() => format!("{rust}::NAN"),
                v if v.is_infinite() && *v > 0.0 => format!("{rust}::INFINITY"),
                v if v.is_infinite() => format!("{rust}::NEG_INFINITY"),
                v => format!("{v:?}"),
            }
        }
        other => return Err(format!("no Rust literal for {other:?}").into()),
    })
}

fn rust_name(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

/// Rust keywords that are valid field names in definitions.
const KEYWORDS: [&str; 14] = [
    "type", "match", "move", "ref", "box", "loop", "in", "fn", "mod", "use", "where", "yield", "impl",
    "trait",
];
