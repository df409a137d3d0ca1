//! `mavlink`: whole MAVLink frames on ROS.

use bytes::{BufMut, BytesMut};
use rostrans_cdr::from_cdr;
use rostrans_core::{
    codec::{
        Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Encoder,
        FrameOut, Interest, Port, PortInfo, Role, Sample,
    },
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::{Packet, STX_V1, STX_V2, Version};
use rostrans_msgs::mavros_msgs::msg::Mavlink;

use super::{ros, vehicle};
use crate::options::Options;

/// Frames to and from `mavros_msgs/Mavlink`, as on MAVROS's `/uas1/mavlink_source` and `/uas1/mavlink_sink`.
///
/// `payload64` holds the payload as transmitted in little-endian words, `len` its bytes. On the way out the frame is
/// put together from the fields as they are, checksum and signature included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MavlinkCodec;

const INFO: CodecInfo = CodecInfo {
    name: "mavlink",
    doc: "MAVLink frames as mavros_msgs/Mavlink, both ways",
    roles: &[Role::Decode, Role::Encode],
    ports: &[PortInfo {
        name: "mavlink",
        msg_type: Some("mavros_msgs/msg/Mavlink"),
        qos: Qos::sensor_data().with_depth(1000),
    }],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[
        ("sysid", "system id to pass, 0 passes all; default 0"),
        ("compid", "component id to pass, 0 passes all; default 0"),
        ("frame_id", "frame_id of the header; default empty"),
    ],
};

impl Codec for MavlinkCodec {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn sender(&self, cx: &CodecContext<'_>) -> Option<u8> {
        vehicle::named(cx, 0)
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        let options = Options::new(cx, &INFO)?;
        Ok(Box::new(MavlinkDecoder {
            filter: Filter::new(&options)?,
            message: Mavlink {
                header: ros::header(options.text("frame_id", "")?),
                framing_status: Mavlink::FRAMING_OK,
                ..Mavlink::default()
            },
        }))
    }

    fn encoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Ok(Box::new(MavlinkEncoder { filter: Filter::new(&Options::new(cx, &INFO)?)? }))
    }
}

/// Which senders pass.
struct Filter {
    sysid: u8,
    compid: u8,
}

impl Filter {
    fn new(options: &Options<'_>) -> Result<Self, CodecError> {
        Ok(Self { sysid: options.int("sysid", 0, 0..=255)?, compid: options.int("compid", 0, 0..=255)? })
    }

    fn passes(&self, sysid: u8, compid: u8) -> bool {
        (self.sysid == 0 || self.sysid == sysid) && (self.compid == 0 || self.compid == compid)
    }
}

struct MavlinkDecoder {
    filter: Filter,
    message: Mavlink,
}

impl Decoder for MavlinkDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if !out.wants(Port(0)) {
            return Ok(());
        }
        let packet = Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?;
        if !self.filter.passes(packet.sysid, packet.compid) {
            return Ok(());
        }
        let stamp = out.stamp();
        let message = &mut self.message;
        ros::stamp(&mut message.header, stamp);
        message.magic = match packet.version {
            Version::V1 => STX_V1,
            Version::V2 => STX_V2,
        };
        message.len = u8::try_from(packet.payload.len()).unwrap_or(u8::MAX);
        message.incompat_flags = packet.incompat;
        message.compat_flags = packet.compat;
        message.seq = packet.seq;
        message.sysid = packet.sysid;
        message.compid = packet.compid;
        message.msgid = packet.msgid;
        message.checksum = packet.checksum;
        message.payload64.clear();
        message.payload64.extend(packet.payload.chunks(8).map(word));
        message.signature.clear();
        message.signature.extend(packet.signature.into_iter().flatten());
        out.publish(Port(0), stamp, message);
        Ok(())
    }
}

/// Up to eight bytes as a little-endian word, the rest of it zero.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

struct MavlinkEncoder {
    filter: Filter,
}

impl Encoder for MavlinkEncoder {
    fn encode(&mut self, sample: &Sample, out: &mut FrameOut) -> Result<(), EncodeError> {
        let m: Mavlink =
            from_cdr(&sample.payload).map_err(|_| EncodeError::Cdr("not a mavros_msgs/Mavlink"))?;
        if !self.filter.passes(m.sysid, m.compid) {
            return Ok(());
        }
        write(&m, out.frame())
    }
}

/// Appends the frame that a message describes.
///
/// **Errors**: a field that no frame can have; nothing is written then.
pub(super) fn write(m: &Mavlink, frame: &mut BytesMut) -> Result<(), EncodeError> {
    let words = usize::from(m.len).div_ceil(8);
    let words = m.payload64.get(..words).ok_or(EncodeError::OutOfRange("payload64"))?;
    let signed = m.incompat_flags & rostrans_mavlink::FLAG_SIGNED != 0;
    let header: &[u8] = match m.magic {
        STX_V2 => {
            if m.incompat_flags & !rostrans_mavlink::FLAG_SIGNED != 0 {
                return Err(EncodeError::OutOfRange("incompat_flags"));
            }
            let signature = if signed { rostrans_mavlink::SIGNATURE } else { 0 };
            if m.signature.len() != signature {
                return Err(EncodeError::OutOfRange("signature"));
            }
            let [m0, m1, m2, 0] = m.msgid.to_le_bytes() else {
                return Err(EncodeError::OutOfRange("msgid"));
            };
            &[STX_V2, m.len, m.incompat_flags, m.compat_flags, m.seq, m.sysid, m.compid, m0, m1, m2]
        }
        STX_V1 => {
            let msgid = u8::try_from(m.msgid).map_err(|_| EncodeError::OutOfRange("msgid"))?;
            &[STX_V1, m.len, m.seq, m.sysid, m.compid, msgid]
        }
        _ => return Err(EncodeError::OutOfRange("magic")),
    };
    frame.put_slice(header);
    for (index, word) in words.iter().enumerate() {
        let bytes = word.to_le_bytes();
        let used = usize::from(m.len) - 8 * index;
        frame.put_slice(bytes.get(..used).unwrap_or(&bytes));
    }
    frame.put_u16_le(m.checksum);
    if m.magic == STX_V2 {
        frame.put_slice(&m.signature);
    }
    Ok(())
}
