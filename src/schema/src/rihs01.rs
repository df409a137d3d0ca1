//! ROS 2 type hashes, REP-2016 version 1: SHA-256 over a canonical JSON text of the type and all it refers to.

use std::{collections::BTreeMap, fmt::Write};

use sha2::{Digest, Sha256};

use crate::{
    definition::{Arity, Primitive},
    shape::{FieldType, Shape},
};

/// The hash of `shape`.
pub(crate) fn hash(shape: &Shape) -> [u8; 32] {
    let mut referenced = BTreeMap::new();
    collect(shape, &mut referenced);
    let references: Vec<String> = referenced.into_values().map(describe).collect();
    let text = format!(
        r#"{{"type_description": {}, "referenced_type_descriptions": [{}]}}"#,
        describe(shape),
        references.join(", ")
    );
    Sha256::digest(text.as_bytes()).into()
}

/// Adds everything `shape` refers to, however deep, by name.
fn collect<'a>(shape: &'a Shape, into: &mut BTreeMap<&'a str, &'a Shape>) {
    for field in shape.fields() {
        if let FieldType::Message(inner) = &field.field_type
            && into.insert(inner.name().as_str(), inner).is_none()
        {
            collect(inner, into);
        }
    }
}

fn describe(shape: &Shape) -> String {
    let mut fields: Vec<String> = shape
        .fields()
        .iter()
        .map(|field| describe_field(&field.name, &field.field_type, field.arity))
        .collect();
    if fields.is_empty() {
        let dummy = FieldType::Primitive(Primitive::U8);
        fields.push(describe_field("structure_needs_at_least_one_member", &dummy, Arity::One));
    }
    format!(r#"{{"type_name": "{}", "fields": [{}]}}"#, shape.name(), fields.join(", "))
}

fn describe_field(name: &str, field_type: &FieldType, arity: Arity) -> String {
    let (collection, capacity) = match arity {
        Arity::One => (0, 0),
        Arity::Array(len) => (48, len),
        Arity::Sequence(Some(bound)) => (96, bound),
        Arity::Sequence(None) => (144, 0),
    };
    let (id, string_capacity, nested) = match field_type {
        FieldType::Primitive(primitive) => (primitive_id(*primitive), 0, ""),
        FieldType::String(None) => (17, 0, ""),
        FieldType::WideString(None) => (18, 0, ""),
        FieldType::String(Some(bound)) => (21, *bound, ""),
        FieldType::WideString(Some(bound)) => (22, *bound, ""),
        FieldType::Message(shape) => (1, 0, shape.name().as_str()),
    };
    let id = id + collection;
    format!(
        r#"{{"name": "{name}", "type": {{"type_id": {id}, "capacity": {capacity}, "string_capacity": {string_capacity}, "nested_type_name": "{nested}"}}}}"#
    )
}

/// Ids of `type_description_interfaces/msg/FieldType`.
fn primitive_id(primitive: Primitive) -> u32 {
    match primitive {
        Primitive::I8 => 2,
        Primitive::U8 | Primitive::Char => 3,
        Primitive::I16 => 4,
        Primitive::U16 => 5,
        Primitive::I32 => 6,
        Primitive::U32 => 7,
        Primitive::I64 => 8,
        Primitive::U64 => 9,
        Primitive::F32 => 10,
        Primitive::F64 => 11,
        Primitive::Bool => 15,
        Primitive::Byte => 16,
    }
}

/// The text peers carry: `RIHS01_` and 64 hexadecimal digits.
pub fn rihs01_text(hash: &[u8; 32]) -> String {
    let mut text = String::with_capacity(7 + 64);
    text.push_str("RIHS01_");
    for octet in hash {
        write!(text, "{octet:02x}").expect("invariant: writing to a String cannot fail");
    }
    text
}
