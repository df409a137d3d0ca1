//! A message with all its names resolved: what every walker over values goes by.

use std::sync::Arc;

use crate::{
    definition::{Arity, ConstantDef, Dialect, Literal, Primitive},
    error::SchemaError,
    names::TypeName,
};

/// The resolved structure of one message.
#[derive(Debug, PartialEq)]
pub struct Shape {
    name: TypeName,
    dialect: Dialect,
    fields: Box<[Field]>,
    constants: Box<[ConstantDef]>,
    depth: usize,
    min_size: usize,
    flat: Option<Flat>,
}

/// One field of a [`Shape`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub field_type: FieldType,
    /// How many values it holds.
    pub arity: Arity,
    /// Its default, if the definition gives one.
    pub default: Option<Literal>,
}

/// The type of a field without its array suffix.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// A number or `bool`.
    Primitive(Primitive),
    /// Text; the bound counts octets.
    String(Option<u32>),
    /// UTF-16 text; the bound counts units.
    WideString(Option<u32>),
    /// Another message. ROS 1 `time` and `duration` are messages here: [`Shape::ros1_time`].
    Message(Arc<Shape>),
}

/// A stretch of numbers of one size with nothing between them, on the wire as in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flat {
    /// Octets of each number, which is also the alignment.
    pub unit: usize,
    /// How many numbers.
    pub count: usize,
}

impl Shape {
    /// Deepest nesting accepted; bounds the recursion of every walker. Real messages stay below 10.
    pub const MAX_DEPTH: usize = 32;

    /// Largest fixed part of a message accepted, in octets: 64 MiB. A default value of that size is built when a
    /// field is missing from JSON.
    pub const MAX_MIN_SIZE: usize = 64 << 20;

    pub(crate) fn new(
        name: TypeName,
        dialect: Dialect,
        fields: Vec<Field>,
        constants: Vec<ConstantDef>,
    ) -> Self {
        let depth = fields.iter().map(|f| f.field_type.depth()).max().unwrap_or(0) + 1;
        // An empty ROS 2 message has one octet on the wire, an empty ROS 1 message none.
        let min_size = match (fields.is_empty(), dialect) {
            (true, Dialect::Ros2) => 1,
            _ => fields.iter().fold(0, |sum: usize, f| sum.saturating_add(f.min_size())),
        };
        let flat = flat_of(&fields);
        Self { name, dialect, fields: fields.into(), constants: constants.into(), depth, min_size, flat }
    }

    /// A shape within the limits.
    ///
    /// **Errors**: [`SchemaError::Deep`] and [`SchemaError::Large`].
    pub(crate) fn checked(
        name: TypeName,
        dialect: Dialect,
        fields: Vec<Field>,
        constants: Vec<ConstantDef>,
    ) -> Result<Arc<Self>, SchemaError> {
        let shape = Self::new(name, dialect, fields, constants);
        if shape.depth() > Self::MAX_DEPTH {
            return Err(SchemaError::Deep(shape.name.to_string()));
        }
        if shape.min_size() > Self::MAX_MIN_SIZE {
            return Err(SchemaError::Large(shape.name.to_string()));
        }
        Ok(Arc::new(shape))
    }

    /// ROS 1 `time`: two `uint32`, named as in `builtin_interfaces/msg/Time`.
    pub fn ros1_time() -> Self {
        Self::ros1_stamp("Time", Primitive::U32)
    }

    /// ROS 1 `duration`: two `int32`, named as in `builtin_interfaces/msg/Duration`.
    pub fn ros1_duration() -> Self {
        Self::ros1_stamp("Duration", Primitive::I32)
    }

    fn ros1_stamp(name: &str, primitive: Primitive) -> Self {
        let field = |name: &str| Field {
            name: name.into(),
            field_type: FieldType::Primitive(primitive),
            arity: Arity::One,
            default: None,
        };
        let name = TypeName::of_message("builtin_interfaces", name);
        Self::new(name, Dialect::Ros1, vec![field("sec"), field("nanosec")], Vec::new())
    }

    /// Its name.
    pub fn name(&self) -> &TypeName {
        &self.name
    }

    /// Which ROS it was defined for.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Its fields in order; none for an empty message.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Its constants in order.
    pub fn constants(&self) -> &[ConstantDef] {
        &self.constants
    }

    /// Levels of messages, itself included.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Fewest octets a value takes on the wire, padding not counted.
    pub fn min_size(&self) -> usize {
        self.min_size
    }

    /// Set when the whole message is a stretch of equal-sized numbers.
    pub fn flat(&self) -> Option<Flat> {
        self.flat
    }
}

impl Field {
    /// Fewest octets it takes on the wire, padding not counted.
    pub fn min_size(&self) -> usize {
        match self.arity {
            Arity::One => self.field_type.min_size(),
            Arity::Array(len) => self.field_type.min_size().saturating_mul(len as usize),
            Arity::Sequence(_) => 4,
        }
    }

    /// Set when the field is a stretch of equal-sized numbers.
    pub fn flat(&self) -> Option<Flat> {
        let element = self.field_type.flat()?;
        match self.arity {
            Arity::One => Some(element),
            Arity::Array(len) => {
                Some(Flat { count: element.count.checked_mul(len as usize)?, unit: element.unit })
            }
            Arity::Sequence(_) => None,
        }
    }
}

impl FieldType {
    /// Fewest octets one value takes on the wire, padding not counted.
    pub fn min_size(&self) -> usize {
        match self {
            Self::Primitive(primitive) => primitive.size(),
            Self::String(_) | Self::WideString(_) => 4,
            Self::Message(shape) => shape.min_size(),
        }
    }

    /// Set when one value is a stretch of equal-sized numbers. `bool` is none: its octets must be checked.
    pub fn flat(&self) -> Option<Flat> {
        match self {
            Self::Primitive(Primitive::Bool) | Self::String(_) | Self::WideString(_) => None,
            Self::Primitive(primitive) => Some(Flat { unit: primitive.size(), count: 1 }),
            Self::Message(shape) => shape.flat(),
        }
    }

    /// True for numbers and `bool`, whose collections have no byte count in PLAIN_CDR2.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Primitive(_))
    }

    /// True for types of one plain octet, whose arrays are byte strings.
    pub fn is_octet(&self) -> bool {
        matches!(self, Self::Primitive(Primitive::Byte | Primitive::Char | Primitive::U8))
    }

    fn depth(&self) -> usize {
        match self {
            Self::Message(shape) => shape.depth(),
            _ => 0,
        }
    }
}

fn flat_of(fields: &[Field]) -> Option<Flat> {
    let (first, rest) = fields.split_first()?;
    rest.iter().try_fold(first.flat()?, |sum, field| {
        let next = field.flat()?;
        (next.unit == sum.unit).then_some(Flat { unit: sum.unit, count: sum.count.checked_add(next.count)? })
    })
}
