//! What TCPROS needs to know of a type.

use std::{io, sync::Arc};

use rostrans_core::{adapter::AdapterError, text::chain};
use rostrans_schema::{SchemaError, Transcoder, TypeName, TypeRegistry, md5_text};

/// A message type in both ROS versions.
#[derive(Clone, Debug)]
pub(crate) struct TopicType {
    pub(crate) name: TypeName,
    /// `pkg/Type`.
    pub(crate) ros1: String,
    pub(crate) md5: String,
    /// Its text and that of all it refers to.
    pub(crate) definition: Arc<str>,
    pub(crate) transcoder: Arc<Transcoder>,
}

impl TopicType {
    /// Looks a type up.
    ///
    /// **Errors**: not in both ROS versions, or the two are too different.
    pub(crate) fn load(registry: &TypeRegistry, name: &TypeName) -> Result<Self, AdapterError> {
        let (ros1, transcoder) = registry.paired_message(name).map_err(|error| unusable(name, error))?;
        Ok(Self {
            name: name.clone(),
            ros1: ros1.name().ros1(),
            md5: md5_text(ros1.md5()),
            definition: Arc::clone(ros1.definition()),
            transcoder: Arc::new(transcoder),
        })
    }
}

/// A service type in both ROS versions.
#[derive(Clone, Debug)]
pub(crate) struct ServiceType {
    pub(crate) name: TypeName,
    /// `pkg/Type`.
    pub(crate) ros1: String,
    pub(crate) md5: String,
    pub(crate) request: Arc<Transcoder>,
    pub(crate) response: Arc<Transcoder>,
}

impl ServiceType {
    /// Looks a type up.
    ///
    /// **Errors**: as [`TopicType::load`].
    pub(crate) fn load(registry: &TypeRegistry, name: &TypeName) -> Result<Self, AdapterError> {
        let (ros1, [request, response]) =
            registry.paired_service(name).map_err(|error| unusable(name, error))?;
        Ok(Self {
            name: name.clone(),
            ros1: name.ros1(),
            md5: md5_text(ros1.md5()),
            request: Arc::new(request),
            response: Arc::new(response),
        })
    }
}

fn unusable(name: &TypeName, error: SchemaError) -> AdapterError {
    match error {
        SchemaError::Unknown { .. } => AdapterError::UnknownType(name.to_string()),
        error => AdapterError::Io {
            context: format!("type '{name}' cannot be used with ROS 1: {}", chain(&error)),
            source: io::ErrorKind::InvalidData.into(),
        },
    }
}
