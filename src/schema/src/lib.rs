//! ROS interface definitions at run time.
//!
//! Type names in their three spellings; later the `.msg`/`.srv` parser, the registry, hashes, dynamic values.

mod names;

pub use names::{NameError, TypeKind, TypeName};

/// All interface definitions a run knows.
#[derive(Debug, Default)]
pub struct TypeRegistry {}
