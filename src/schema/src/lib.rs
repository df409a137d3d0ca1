//! ROS interface definitions at run time.
//!
//! [`TypeRegistry`] finds a type by name, in the program or in a sourced workspace, parses it, and gives its structure
//! ([`Shape`]) and hashes. A [`MessageType`] turns JSON and [`Value`]s into CDR and back, and checks samples.
//!
//! ```
//! use bytes::BytesMut;
//! use rostrans_schema::{TypeName, TypeRegistry};
//! use serde_json::json;
//!
//! let types = TypeRegistry::bundled();
//! let point = types.message(&TypeName::message("geometry_msgs/msg/PointStamped")?)?;
//! let sample = point.json_to_cdr(&json!({"point": {"x": 1.5, "z": "NaN"}}), &mut BytesMut::new())?;
//! let back = point.cdr_to_json(&sample)?;
//! assert_eq!(back["point"], json!({"x": 1.5, "y": 0.0, "z": "NaN"}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Transcoder`] converts samples between ROS 2 and ROS 1. The crate builds no typed code; `rostrans-msgs` does that at compile time with the same parser.

#![warn(clippy::indexing_slicing)]

mod base64;
mod decode;
pub mod definition;
mod encode;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod md5;
mod message;
mod names;
mod near;
mod parse;
mod registry;
mod rihs01;
mod ros1;
mod shape;
mod source;
mod transcode;
mod tree;
mod validate;
mod value;
mod value_error;

pub use definition::Dialect;
pub use error::SchemaError;
pub use md5::md5_text;
pub use message::{MessageType, Ros1Message, Ros1Service, ServiceType};
pub use names::{NameError, TypeKind, TypeName};
pub use parse::{ParseError, ParseProblem, parse_action, parse_message, parse_service};
pub use registry::{TypeRegistry, TypeRegistryBuilder};
pub use rihs01::rihs01_text;
pub use shape::{Field, FieldType, Flat, Shape};
pub use source::{Bundled, bundled_definitions};
pub use transcode::Transcoder;
pub use value::Value;
pub use value_error::{Excerpt, ValueError, ValueProblem};
