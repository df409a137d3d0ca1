//! `mavlink.sink`: ready-made frames to the vehicle.

use bytes::BytesMut;
use rostrans_cdr::from_cdr;
use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Port, Sample},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{RosType, mavros_msgs::msg::Mavlink};

use crate::{
    mavlink::{
        DecodeOnly, raw,
        relay::{TALKS, input},
        uas::{MavContext, Talker},
    },
    options::Options,
};

/// `/uas<id>/mavlink_sink` to the vehicle: each `mavros_msgs/Mavlink` as the frame it describes, sequence number,
/// checksum and signature included.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.sink",
    doc: "MAVLink frames of mavros_msgs/Mavlink to the vehicle",
    inputs: &[input::<Mavlink>("mavlink", 1000)],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Options::new(cx, &INFO)?;
    Ok(Box::new(Sink { talker: Talker::new(cx), frame: BytesMut::new() }))
}

struct Sink {
    talker: Talker,
    frame: BytesMut,
}

impl Decoder for Sink {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, _: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let message: Mavlink = from_cdr(&sample.payload).map_err(|_| EncodeError::Cdr(Mavlink::TYPE))?;
        self.frame.clear();
        raw::write(&message, &mut self.frame)?;
        self.talker.forward(&self.frame, out);
        Ok(())
    }
}
