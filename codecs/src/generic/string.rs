//! `string`: text frames.

use bytes::BufMut;
use rostrans_cdr::CdrReader;
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

/// A frame is the `data` of a `std_msgs/String`.
///
/// ROS strings are UTF-8. With `encoding: latin-1` frames hold one byte a character (ISO 8859-1). A frame that is
/// not valid UTF-8 is refused; so is, on the way out, a character that Latin-1 does not have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StringCodec;

const INFO: CodecInfo = CodecInfo {
    name: "string",
    doc: "text frames as std_msgs/String, both ways",
    roles: &[Role::Decode, Role::Encode],
    ports: &[PortInfo { name: "text", msg_type: Some("std_msgs/msg/String"), qos: Qos::reliable() }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[("encoding", "utf-8 or latin-1; default utf-8")],
};

impl Codec for StringCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Ok(Box::new(StringDecoder { encoding: Encoding::new(cx)?, text: String::new() }))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Ok(Box::new(StringEncoder { encoding: Encoding::new(cx)? }))
    }
}

/// How characters are bytes in a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Latin1,
}

impl Encoding {
    fn new(cx: &CodecContext<'_>) -> Result<Self, CodecError> {
        let words = [("utf-8", Self::Utf8), ("latin-1", Self::Latin1)];
        Ok(Options::new(cx, &INFO)?.choice("encoding", &words)?.unwrap_or(Self::Utf8))
    }
}

struct StringDecoder {
    encoding: Encoding,
    text: String,
}

impl Decoder for StringDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if !out.wants(Port(0)) {
            return Ok(());
        }
        let text = match self.encoding {
            Encoding::Utf8 => str::from_utf8(frame.bytes).map_err(|_| DecodeError::Text("UTF-8"))?,
            Encoding::Latin1 => {
                self.text.clear();
                self.text.extend(frame.bytes.iter().map(|byte| char::from(*byte)));
                &self.text
            }
        };
        // A message with one string field is written like the string itself.
        out.publish(Port(0), out.stamp(), text);
        Ok(())
    }
}

struct StringEncoder {
    encoding: Encoding,
}

impl Encoder for StringEncoder {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        let text = CdrReader::new(&sample.payload).and_then(|mut reader| reader.str());
        let text = text.map_err(malformed("not a std_msgs/String"))?;
        match self.encoding {
            Encoding::Utf8 => out.frame().put_slice(text.as_bytes()),
            Encoding::Latin1 => {
                if text.chars().any(|c| u8::try_from(c).is_err()) {
                    return Err(EncodeError::OutOfRange("data"));
                }
                out.frame().extend(text.chars().filter_map(|c| u8::try_from(c).ok()));
            }
        }
        Ok(())
    }
}
