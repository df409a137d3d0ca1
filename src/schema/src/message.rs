//! Loaded types: structure, hashes, and what can be done with their values.

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use rostrans_cdr::{CdrBytes, CdrError, CdrReader, CdrWriter, HEADER_LEN};

use crate::{
    decode,
    definition::{Arity, Dialect},
    encode,
    error::SchemaError,
    names::TypeName,
    registry::AT_MOST_ONE,
    rihs01,
    shape::{Field, FieldType, Shape},
    tree::Input,
    validate,
    value::Value,
};

/// A ROS 2 message type.
#[derive(Debug)]
pub struct MessageType {
    shape: Arc<Shape>,
    rihs01: [u8; 32],
}

impl MessageType {
    pub(crate) fn new(shape: Arc<Shape>) -> Self {
        let rihs01 = rihs01::hash(&shape);
        Self { shape, rihs01 }
    }

    /// Its name, `pkg/msg/Type`; for the parts of a service `pkg/srv/Type_Request` and so on.
    pub fn name(&self) -> &TypeName {
        self.shape.name()
    }

    /// Its fields and constants.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Its type hash; [`crate::rihs01_text`] spells it.
    pub fn rihs01(&self) -> &[u8; 32] {
        &self.rihs01
    }

    /// Serializes a JSON object into space split off `pool`, whose content is discarded.
    ///
    /// Fields that are missing get their defaults. Floats may be `"NaN"`, `"Infinity"`, `"-Infinity"` or `null`
    /// (NaN); arrays of `uint8`, `byte` and `char` may be base64 text.
    ///
    /// **Errors**: [`SchemaError::Value`] with the path of the field that is unknown or does not fit.
    pub fn json_to_cdr(
        &self,
        value: &serde_json::Value,
        pool: &mut BytesMut,
    ) -> Result<CdrBytes, SchemaError> {
        self.write(value, pool)
    }

    /// Reads a sample (header and body) as a JSON object with all fields.
    ///
    /// NaN and infinities become the strings `"NaN"`, `"Infinity"`, `"-Infinity"`; arrays of octets are lists.
    ///
    /// **Errors**: [`SchemaError::Sample`].
    pub fn cdr_to_json(&self, sample: &[u8]) -> Result<serde_json::Value, SchemaError> {
        self.read(sample, decode::message)
    }

    /// Serializes a [`Value`] into space split off `pool`; fields that are missing get their defaults.
    ///
    /// **Errors**: as [`MessageType::json_to_cdr`].
    pub fn encode(&self, value: &Value, pool: &mut BytesMut) -> Result<CdrBytes, SchemaError> {
        self.write(value, pool)
    }

    /// Reads a sample as a [`Value`] with all fields.
    ///
    /// **Errors**: [`SchemaError::Sample`].
    pub fn decode(&self, sample: &[u8]) -> Result<Value, SchemaError> {
        self.read(sample, decode::message)
    }

    /// Checks that `sample` starts with a complete value of this type: lengths, bounds, text, `bool`s. Gives the
    /// number of octets after it.
    ///
    /// DDS pads to 4, and rclpy's `serialize_message` hands out what it had estimated, which has been seen to be 24
    /// octets too many; a much larger rest tells of another type.
    ///
    /// **Errors**: [`SchemaError::Sample`].
    pub fn validate(&self, sample: &[u8]) -> Result<usize, SchemaError> {
        self.read(sample, |shape, reader| {
            validate::message(shape, reader)?;
            Ok(reader.remaining())
        })
    }

    fn read<T>(
        &self,
        sample: &[u8],
        walk: impl FnOnce(&Shape, &mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SchemaError> {
        CdrReader::new(sample)
            .and_then(|mut reader| walk(&self.shape, &mut reader))
            .map_err(|source| SchemaError::Sample { type_name: self.name().to_string(), source })
    }

    fn write<T: Input>(&self, value: &T, pool: &mut BytesMut) -> Result<CdrBytes, SchemaError> {
        pool.clear();
        pool.reserve(HEADER_LEN + self.shape.min_size());
        pool.put_slice(&[0, 1, 0, 0]);
        encode::message(&self.shape, value, &mut CdrWriter::new(pool))?;
        Ok(CdrBytes::new(pool.split().freeze()).unwrap_or_default())
    }
}

/// A ROS 2 service type.
#[derive(Debug)]
pub struct ServiceType {
    name: TypeName,
    request: Arc<MessageType>,
    response: Arc<MessageType>,
    event: Arc<MessageType>,
    rihs01: [u8; 32],
}

impl ServiceType {
    pub(crate) fn new(name: TypeName, request: Arc<Shape>, response: Arc<Shape>, info: &Arc<Shape>) -> Self {
        let field = |name: &str, shape: &Arc<Shape>, arity| Field {
            name: name.into(),
            field_type: FieldType::Message(Arc::clone(shape)),
            arity,
            default: None,
        };
        let shape = |name, fields| Arc::new(Shape::new(name, Dialect::Ros2, fields, Vec::new()));
        let event = shape(
            name.with_suffix("_Event"),
            vec![
                field("info", info, Arity::One),
                field("request", &request, AT_MOST_ONE),
                field("response", &response, AT_MOST_ONE),
            ],
        );
        let whole = shape(
            name.clone(),
            vec![
                field("request_message", &request, Arity::One),
                field("response_message", &response, Arity::One),
                field("event_message", &event, Arity::One),
            ],
        );
        let message = |shape| Arc::new(MessageType::new(shape));
        Self {
            name,
            request: message(request),
            response: message(response),
            event: message(event),
            rihs01: rihs01::hash(&whole),
        }
    }

    /// Its name, `pkg/srv/Type`.
    pub fn name(&self) -> &TypeName {
        &self.name
    }

    /// What a client sends, `pkg/srv/Type_Request`.
    pub fn request(&self) -> &Arc<MessageType> {
        &self.request
    }

    /// What a client gets, `pkg/srv/Type_Response`.
    pub fn response(&self) -> &Arc<MessageType> {
        &self.response
    }

    /// What introspection publishes, `pkg/srv/Type_Event`.
    pub fn event(&self) -> &Arc<MessageType> {
        &self.event
    }

    /// Its type hash.
    pub fn rihs01(&self) -> &[u8; 32] {
        &self.rihs01
    }
}

/// A ROS 1 message type.
#[derive(Clone, Debug)]
pub struct Ros1Message {
    shape: Arc<Shape>,
    md5: [u8; 16],
    definition: Arc<str>,
}

impl Ros1Message {
    pub(crate) fn new(shape: Arc<Shape>, md5: [u8; 16], definition: Arc<str>) -> Self {
        Self { shape, md5, definition }
    }

    /// Its name; [`TypeName::ros1`] spells it the ROS 1 way.
    pub fn name(&self) -> &TypeName {
        self.shape.name()
    }

    /// Its fields and constants.
    pub fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    /// Its sum; [`crate::md5_text`] spells it.
    pub fn md5(&self) -> &[u8; 16] {
        &self.md5
    }

    /// Its definition and those of all it refers to, as a publisher sends it.
    pub fn definition(&self) -> &Arc<str> {
        &self.definition
    }
}

/// A ROS 1 service type.
#[derive(Clone, Debug)]
pub struct Ros1Service {
    name: TypeName,
    request: Arc<Shape>,
    response: Arc<Shape>,
    md5: [u8; 16],
}

impl Ros1Service {
    pub(crate) fn new(name: TypeName, request: Arc<Shape>, response: Arc<Shape>, md5: [u8; 16]) -> Self {
        Self { name, request, response, md5 }
    }

    /// Its name; [`TypeName::ros1`] spells it the ROS 1 way.
    pub fn name(&self) -> &TypeName {
        &self.name
    }

    /// What a client sends.
    pub fn request(&self) -> &Arc<Shape> {
        &self.request
    }

    /// What a client gets.
    pub fn response(&self) -> &Arc<Shape> {
        &self.response
    }

    /// Its sum, which its request and response share.
    pub fn md5(&self) -> &[u8; 16] {
        &self.md5
    }
}
