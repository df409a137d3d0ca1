//! What XML-RPC carries.

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// `<i4>` or `<int>`.
    Int(i32),
    /// `<boolean>`.
    Bool(bool),
    /// `<double>`.
    Double(f64),
    /// `<string>`, or no type at all.
    Text(String),
    /// `<dateTime.iso8601>`, as written.
    DateTime(String),
    /// `<base64>`, as written.
    Base64(String),
    /// `<array>`.
    Array(Vec<Self>),
    /// `<struct>`; names may repeat.
    Struct(Vec<(String, Self)>),
}

impl Value {
    /// The text, if it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }

    /// The number, if it is an integer.
    pub(crate) fn as_int(&self) -> Option<i32> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Self::Int(number)
    }
}

impl From<Vec<Self>> for Value {
    fn from(values: Vec<Self>) -> Self {
        Self::Array(values)
    }
}
