//! `my_codec`: a position tracker's datagrams.

use rostrans_core::{
    codec::{
        Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, PortInfo,
        Role,
    },
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::geometry_msgs::msg::PointStamped;

/// Tracker datagrams to `geometry_msgs/PointStamped`.
///
/// **Layout**, little-endian, 16 bytes: `u32` magic 0x4B434D59 (`YMCK` as text), then x, y, z as `f32` metres.
///
/// **Frame**: `frame_id` is the option of that name, `map` without it. The stamp is the receive time.
#[derive(Clone, Copy, Debug, Default)]
pub struct MyCodec;

const INFO: CodecInfo = CodecInfo {
    name: "my_codec",
    doc: "the example of docs/extending.md: a position in 16 bytes",
    roles: &[Role::Decode],
    ports: &[PortInfo {
        name: "point",
        msg_type: Some("geometry_msgs/msg/PointStamped"),
        qos: Qos::sensor_data(),
    }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[("frame_id", "frame of the point; default map")],
};

impl Codec for MyCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        let mut point = PointStamped::default();
        point.header.frame_id = match cx.link.options.0.get("frame_id") {
            None => "map".to_owned(),
            Some(value) => value.as_str().map(str::to_owned).ok_or_else(|| CodecError::Option {
                option: "frame_id".to_owned(),
                problem: format!("{value} is not text"),
            })?,
        };
        Ok(Box::new(MyDecoder { point }))
    }
}

/// Keeps the message, so that nothing is allocated for a datagram.
struct MyDecoder {
    point: PointStamped,
}

impl Decoder for MyDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        // Nothing a peer sends may panic: take bytes off a checked array.
        let Some(bytes) = frame.bytes.first_chunk::<16>() else {
            return Err(DecodeError::Truncated { need: 16, have: frame.bytes.len() });
        };
        let ([magic, x, y, z], []) = bytes.as_chunks::<4>() else { return Err(DecodeError::BadMagic) };
        if u32::from_le_bytes(*magic) != MAGIC {
            return Err(DecodeError::BadMagic);
        }
        let stamp = out.stamp();
        self.point.header.stamp.sec = stamp.sec();
        self.point.header.stamp.nanosec = stamp.nanosec();
        self.point.point.x = f32::from_le_bytes(*x).into();
        self.point.point.y = f32::from_le_bytes(*y).into();
        self.point.point.z = f32::from_le_bytes(*z).into();
        // Does nothing when nobody listens or the link's rate limit is reached.
        out.publish(Port(0), stamp, &self.point);
        Ok(())
    }
}

const MAGIC: u32 = 0x4B43_4D59;
