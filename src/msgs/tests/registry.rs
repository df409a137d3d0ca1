//! Every generated message against the registry, which takes its layout from the definition at run time.

use std::sync::Arc;

use bytes::BytesMut;
use rostrans_cdr::{CdrBytes, CdrDecode, CdrEncode, CdrError, from_cdr, to_cdr};
use rostrans_msgs::RosType;
use rostrans_schema::{
    Field, FieldType, MessageType, Shape, TypeName, TypeRegistry, Value,
    definition::{Arity, Primitive},
};

/// What can be done with a generated message without naming it.
struct Entry {
    name: &'static str,
    rihs01: [u8; 32],
    default: fn() -> CdrBytes,
    again: fn(&[u8]) -> Result<CdrBytes, CdrError>,
}

impl Entry {
    fn of<T: RosType + CdrEncode + CdrDecode + Default>() -> Self {
        Self {
            name: T::TYPE,
            rihs01: T::RIHS01,
            default: || to_cdr(&T::default(), &mut BytesMut::new()),
            again: |sample| from_cdr::<T>(sample).map(|message| to_cdr(&message, &mut BytesMut::new())),
        }
    }
}

fn every_message(check: impl Fn(&Entry, Arc<MessageType>)) {
    let types = TypeRegistry::bundled();
    let entries = include!(concat!(env!("OUT_DIR"), "/entries.rs"));
    assert!(entries.len() > 350, "only {} messages", entries.len());
    for entry in &entries {
        let name = TypeName::message(entry.name).or_else(|_| TypeName::service(entry.name));
        let name = name.expect("a valid name");
        check(entry, types.message(&name).expect("a bundled type"));
    }
}

#[test]
fn hashes_and_defaults_agree() {
    every_message(|entry, message| {
        assert_eq!(&entry.rihs01, message.rihs01(), "{}", entry.name);
        let default = message.encode(&Value::Struct(Vec::new()), &mut BytesMut::new()).expect("defaults");
        assert_eq!((entry.default)(), default, "{}", entry.name);
    });
}

#[test]
fn values_keep_their_bytes() {
    every_message(|entry, message| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..5 {
            let value = random.message(message.shape());
            let sample = message.encode(&value, &mut BytesMut::new()).expect("a fitting value");
            assert_eq!((entry.again)(&sample).as_ref(), Ok(&sample), "{}", entry.name);
            // Every proper prefix but missing padding is refused, and none panics.
            for len in 0..sample.len() {
                assert!((entry.again)(&sample[..len]).is_err(), "{} of {len}", entry.name);
            }
        }
    });
}

/// Values from a xorshift generator: the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn message(&mut self, shape: &Shape) -> Value {
        let fields = shape.fields().iter();
        Value::Struct(fields.map(|field| (field.name.clone(), self.field(field))).collect())
    }

    fn field(&mut self, field: &Field) -> Value {
        let count = match field.arity {
            Arity::One => return self.single(&field.field_type),
            Arity::Array(len) => u64::from(len),
            Arity::Sequence(bound) => self.next() % u64::from(bound.unwrap_or(3) + 1),
        };
        Value::List((0..count).map(|_| self.single(&field.field_type)).collect())
    }

    fn single(&mut self, field_type: &FieldType) -> Value {
        let bits = self.next();
        match field_type {
            FieldType::Message(shape) => self.message(shape),
            FieldType::String(_) | FieldType::WideString(_) => {
                let text = if bits.is_multiple_of(2) { "" } else { "ünïcode" };
                Value::Text(text.to_owned())
            }
            FieldType::Primitive(primitive) => number(*primitive, bits),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are as random as all")]
fn number(primitive: Primitive, bits: u64) -> Value {
    match primitive {
        Primitive::Bool => Value::Bool(bits & 1 == 1),
        Primitive::F32 => Value::F32(bits as u32 as f32),
        Primitive::F64 => Value::F64(bits as f64),
        Primitive::I8 => Value::Int(i64::from(bits as i8)),
        Primitive::I16 => Value::Int(i64::from(bits as i16)),
        Primitive::I32 => Value::Int(i64::from(bits as i32)),
        Primitive::I64 => Value::Int(bits as i64),
        Primitive::Byte | Primitive::Char | Primitive::U8 => Value::Uint(u64::from(bits as u8)),
        Primitive::U16 => Value::Uint(u64::from(bits as u16)),
        Primitive::U32 => Value::Uint(u64::from(bits as u32)),
        Primitive::U64 => Value::Uint(bits),
    }
}
