//! What can be wrong with types and values.

use rostrans_cdr::CdrError;
use thiserror::Error;

use crate::{parse::ParseError, shape::Shape, value_error::ValueError};

/// Why a type or value cannot be used.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// No definition of that name.
    #[error("type '{name}' is unknown{}{}", needed(.needed_by.as_deref()), remedy(.nearest.as_deref()))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The type that has a field of it, if it was not asked for directly.
        needed_by: Option<String>,
        /// The known name that looks most like it.
        nearest: Option<String>,
    },
    /// A definition that cannot be parsed.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A definition file that cannot be read.
    #[error("cannot read '{path}'")]
    Read {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A type that contains itself.
    #[error("type '{0}' contains itself")]
    Recursive(String),
    /// Types nested deeper than any real message.
    #[error("type '{0}' is nested more than {max} deep", max = Shape::MAX_DEPTH)]
    Deep(String),
    /// Fixed arrays larger than any real message.
    #[error("fixed arrays of type '{0}' take more than {max} bytes", max = Shape::MAX_MIN_SIZE)]
    Large(String),
    /// A sample that does not match its type.
    #[error("invalid '{type_name}' sample")]
    Sample {
        /// The type.
        type_name: String,
        /// What is wrong with the bytes.
        source: CdrError,
    },
    /// A value that does not fit its type.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Two types that do not describe the same message.
    #[error("ROS 1 and ROS 2 definitions of '{type_name}' differ at field '{field}'")]
    Mismatch {
        /// The ROS 2 type.
        type_name: String,
        /// The field.
        field: String,
    },
}

fn needed(by: Option<&str>) -> String {
    by.map(|by| format!(" (needed by '{by}')")).unwrap_or_default()
}

fn remedy(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; source the workspace that has it or add its definition to config/interfaces".to_owned(),
        |nearest| format!("; did you mean '{nearest}'?"),
    )
}
