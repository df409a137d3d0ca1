//! Between the CDR of a ROS 2 message and the wire form of its ROS 1 counterpart, without going through values.
//!
//! The two types are compared once and turned into a list of steps. Where they hold the same numbers in a row, a step
//! copies all of them at once.

mod compile;
mod run;

use bytes::{BufMut, Bytes, BytesMut};
use rostrans_cdr::{CdrBytes, CdrReader, CdrWriter, HEADER_LEN, Ros1Reader, Ros1Writer};

use crate::{
    error::SchemaError,
    message::{MessageType, Ros1Message},
    names::TypeName,
    shape::{Field, Flat, Shape},
};

/// Converts samples of one type between ROS 2 and ROS 1.
///
/// Fields are paired in order by name, letter case aside, and must have the same type. Fields that only ROS 2 has are
/// left out one way and get their defaults the other way; so is the `seq` that only the ROS 1 `Header` has. ROS 1
/// `time` and `duration` pair with `builtin_interfaces`.
#[derive(Debug)]
pub struct Transcoder {
    type_name: TypeName,
    steps: Box<[Step]>,
    ros2_min_size: usize,
    ros1_min_size: usize,
}

/// One stretch of a message, the same on both sides but for its layout.
#[derive(Debug)]
enum Step {
    /// Numbers in a row.
    Numbers(Flat),
    /// So many `bool`s, each of which must be 0 or 1.
    Bools(usize),
    /// Text of at most so many octets.
    String(Option<u32>),
    /// The `seq` of a ROS 1 `Header`.
    Seq,
    /// A field that ROS 1 lacks: passed over, or written with its default.
    Ros2Only(Field),
    /// The octet of an empty ROS 2 message.
    Empty,
    /// A fixed array of anything but plain numbers.
    Array(u32, Elements),
    /// A sequence, with its bound.
    Sequence(Option<u32>, Elements),
}

/// What a collection holds.
#[derive(Debug)]
struct Elements {
    steps: Box<[Step]>,
    /// Numbers and `bool`s, whose collections have no byte count in PLAIN_CDR2.
    primitive: bool,
    /// Set when the elements are a stretch of numbers, on both sides.
    flat: Option<Flat>,
    ros2_min_size: usize,
    ros1_min_size: usize,
}

impl Transcoder {
    /// Pairs a ROS 2 message with a ROS 1 message.
    ///
    /// **Errors**: [`SchemaError::Mismatch`] when ROS 1 has a field that ROS 2 lacks or types differently.
    pub fn new(ros2: &MessageType, ros1: &Ros1Message) -> Result<Self, SchemaError> {
        Self::of_shapes(ros2.shape(), ros1.shape())
    }

    /// Pairs two shapes; for the parts of services.
    ///
    /// **Errors**: as [`Transcoder::new`].
    pub fn of_shapes(ros2: &Shape, ros1: &Shape) -> Result<Self, SchemaError> {
        Ok(Self {
            type_name: ros2.name().clone(),
            steps: compile::message(ros2, ros1)?,
            ros2_min_size: ros2.min_size(),
            ros1_min_size: ros1.min_size(),
        })
    }

    /// Converts a ROS 2 sample (header and body) to a ROS 1 message body in space split off `pool`, whose content is
    /// discarded. `seq` goes into every `Header`.
    ///
    /// **Errors**: [`SchemaError::Sample`].
    pub fn to_ros1(&self, sample: &[u8], seq: u32, pool: &mut BytesMut) -> Result<Bytes, SchemaError> {
        pool.clear();
        pool.reserve(sample.len().max(self.ros1_min_size));
        CdrReader::new(sample)
            .and_then(|mut reader| run::to_ros1(&self.steps, &mut reader, &mut Ros1Writer::new(pool), seq))
            .map_err(|source| SchemaError::Sample { type_name: self.type_name.to_string(), source })?;
        Ok(pool.split().freeze())
    }

    /// Converts a ROS 1 message body to a ROS 2 sample in space split off `pool`, whose content is discarded.
    ///
    /// **Errors**: [`SchemaError::Sample`].
    pub fn to_ros2(&self, body: &[u8], pool: &mut BytesMut) -> Result<CdrBytes, SchemaError> {
        pool.clear();
        pool.reserve(HEADER_LEN + body.len().max(self.ros2_min_size));
        pool.put_slice(&[0, 1, 0, 0]);
        let mut reader = Ros1Reader::new(body);
        run::to_ros2(&self.steps, &mut reader, &mut CdrWriter::new(pool))
            .and_then(|()| reader.finish())
            .map_err(|source| SchemaError::Sample { type_name: self.type_name.to_string(), source })?;
        Ok(CdrBytes::new(pool.split().freeze()).unwrap_or_default())
    }
}
