//! What a definition file says, before names are resolved.

use std::fmt;

/// Which ROS a definition is written for; a few words mean different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// ROS 1: `time`, `duration`, `Header`, string constants that run to the end of the line.
    Ros1,
    /// ROS 2: defaults, bounds, wide strings, quoted strings.
    Ros2,
}

/// A number or `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// One octet, 0 or 1.
    Bool,
    /// An opaque octet: unsigned in ROS 2, signed in ROS 1.
    Byte,
    /// An unsigned octet in both.
    Char,
    /// `int8`.
    I8,
    /// `uint8`.
    U8,
    /// `int16`.
    I16,
    /// `uint16`.
    U16,
    /// `int32`.
    I32,
    /// `uint32`.
    U32,
    /// `int64`.
    I64,
    /// `uint64`.
    U64,
    /// `float32`.
    F32,
    /// `float64`.
    F64,
}

impl Primitive {
    const WORDS: [(&'static str, Self); 13] = [
        ("bool", Self::Bool),
        ("byte", Self::Byte),
        ("char", Self::Char),
        ("int8", Self::I8),
        ("uint8", Self::U8),
        ("int16", Self::I16),
        ("uint16", Self::U16),
        ("int32", Self::I32),
        ("uint32", Self::U32),
        ("int64", Self::I64),
        ("uint64", Self::U64),
        ("float32", Self::F32),
        ("float64", Self::F64),
    ];

    /// The primitive a definition calls `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(w, _)| *w == word).map(|(_, p)| *p)
    }

    /// Its name in a definition.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, p)| *p == self).map_or("", |(w, _)| w)
    }

    /// Octets on the wire, which is also its alignment in XCDR1.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::Byte | Self::Char | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The values an integer may take, `None` for `bool` and floats.
    pub fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::Byte | Self::Char | Self::U8 => (0, u8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::I64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::Bool | Self::F32 | Self::F64 => return None,
        })
    }
}

/// The type of a field without its array suffix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// A number or `bool`.
    Primitive(Primitive),
    /// `string` or `string<=N`; the bound counts octets.
    String(Option<u32>),
    /// `wstring` or `wstring<=N`; the bound counts UTF-16 units.
    WideString(Option<u32>),
    /// ROS 1 `time`.
    Time,
    /// ROS 1 `duration`.
    Duration,
    /// Another message.
    Message {
        /// Its package.
        package: String,
        /// Its bare name.
        name: String,
    },
}

/// How many values a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arity {
    /// One.
    One,
    /// Exactly so many: `[N]`.
    Array(u32),
    /// Any number: `[]`, with at most so many for `[<=N]`.
    Sequence(Option<u32>),
}

/// The value of a constant or default.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A `bool`.
    Bool(bool),
    /// An integer, within the range of its type.
    Int(i128),
    /// A float.
    Float(f64),
    /// Text.
    Text(String),
    /// The elements of an array default.
    List(Vec<Self>),
}

/// One field of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDef {
    /// Its name.
    pub name: String,
    /// Its type.
    pub base: BaseType,
    /// Its array suffix.
    pub arity: Arity,
    /// Its default, if the definition gives one.
    pub default: Option<Literal>,
    /// The type as written; ROS 1 hashes that.
    pub written: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// One constant of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantDef {
    /// Its name.
    pub name: String,
    /// A primitive or a string.
    pub base: BaseType,
    /// Its value.
    pub value: Literal,
    /// The value as written; ROS 1 hashes that.
    pub written: String,
    /// Line in the file, from 1.
    pub line: u32,
}

/// A message, or one part of a service or action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageDef {
    /// Fields in order.
    pub fields: Vec<FieldDef>,
    /// Constants in order.
    pub constants: Vec<ConstantDef>,
}

/// A service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceDef {
    /// What a client sends.
    pub request: MessageDef,
    /// What it gets back.
    pub response: MessageDef,
}

/// An action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActionDef {
    /// What a client asks for.
    pub goal: MessageDef,
    /// What it gets at the end.
    pub result: MessageDef,
    /// What it gets meanwhile.
    pub feedback: MessageDef,
}

impl fmt::Display for BaseType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(p) => f.write_str(p.word()),
            Self::String(None) => f.write_str("string"),
            Self::String(Some(bound)) => write!(f, "string<={bound}"),
            Self::WideString(None) => f.write_str("wstring"),
            Self::WideString(Some(bound)) => write!(f, "wstring<={bound}"),
            Self::Time => f.write_str("time"),
            Self::Duration => f.write_str("duration"),
            Self::Message { package, name } => write!(f, "{package}/{name}"),
        }
    }
}
