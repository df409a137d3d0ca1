//! `raw_bytes`: frames as they are.

use bytes::BufMut;
use rostrans_cdr::{CdrEncode, CdrError, CdrReader, CdrSizer, CdrWriter};
use rostrans_core::{
    codec::{
        Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Encoder,
        FrameOut, Interest, Port, PortInfo, Role, Sample,
    },
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};

use super::malformed;
use crate::options::Options;

/// A frame is the `data` of a `std_msgs/UInt8MultiArray`; its `layout` stays empty and is ignored on the way out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawBytesCodec;

const INFO: CodecInfo = CodecInfo {
    name: "raw_bytes",
    doc: "any frame as std_msgs/UInt8MultiArray, both ways",
    roles: &[Role::Decode, Role::Encode],
    ports: &[PortInfo {
        name: "bytes",
        msg_type: Some("std_msgs/msg/UInt8MultiArray"),
        qos: Qos::reliable(),
    }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[],
};

impl Codec for RawBytesCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(RawBytesDecoder))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Options::new(cx, &INFO)?;
        Ok(Box::new(RawBytesEncoder))
    }
}

struct RawBytesDecoder;

impl Decoder for RawBytesDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if out.wants(Port(0)) {
            out.publish(Port(0), out.stamp(), &Array(frame.bytes));
        }
        Ok(())
    }
}

/// A `UInt8MultiArray` with an empty layout, written straight from the frame.
struct Array<'a>(&'a [u8]);

impl CdrEncode for Array<'_> {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitives(3, size_of::<u32>());
        sizer.primitives(self.0.len(), 1);
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        let (dimensions, data_offset) = (0_u32, 0_u32);
        dimensions.encode(writer);
        data_offset.encode(writer);
        u32::try_from(self.0.len()).unwrap_or(u32::MAX).encode(writer);
        writer.bytes(self.0);
    }
}

struct RawBytesEncoder;

impl Encoder for RawBytesEncoder {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        let data = data(&sample.payload).map_err(malformed("not a std_msgs/UInt8MultiArray"))?;
        out.frame().put_slice(data);
        Ok(())
    }
}

/// The `data` of a `UInt8MultiArray`, in place.
fn data(sample: &[u8]) -> Result<&[u8], CdrError> {
    let mut reader = CdrReader::new(sample)?;
    reader.collection_header()?;
    for _ in 0..reader.sequence_len(MIN_DIMENSION)? {
        reader.str()?;
        reader.number::<u32>()?;
        reader.number::<u32>()?;
    }
    reader.number::<u32>()?;
    let len = reader.sequence_len(1)?;
    reader.bytes(len)
}

/// Bytes of a `MultiArrayDimension`: length of its label, `size`, `stride`.
const MIN_DIMENSION: usize = 12;
