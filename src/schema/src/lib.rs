//! ROS interface definitions at run time.
//!
//! [`TypeRegistry`] finds a type by name, in the program or in a sourced workspace, parses it, and gives its structure
//! ([`Shape`]) and hashes. It builds no typed code; `rostrans-msgs` does that at compile time with the same parser.

#![warn(clippy::indexing_slicing)]

pub mod definition;
mod error;
mod md5;
mod message;
mod names;
mod near;
mod parse;
mod registry;
mod rihs01;
mod shape;
mod source;

pub use definition::Dialect;
pub use error::SchemaError;
pub use md5::md5_text;
pub use message::{MessageType, Ros1Message, Ros1Service, ServiceType};
pub use names::{NameError, TypeKind, TypeName};
pub use parse::{ParseError, ParseProblem, parse_action, parse_message, parse_service};
pub use registry::{TypeRegistry, TypeRegistryBuilder};
pub use rihs01::rihs01_text;
pub use shape::{Field, FieldType, Flat, Shape};
