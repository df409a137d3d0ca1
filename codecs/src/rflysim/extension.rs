//! `coptersim.px4ext`: controls of the autopilot.

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::std_msgs::msg::Float32MultiArray;
use rostrans_rflysim::{Packet as _, event::Px4ExtMsg};

use super::{CraftContext, Described, TELLS, motion::error};
use crate::{describe::topic, options::Options};

/// `PX4ExtMsg`: eight numbers whose meaning the firmware decides.
///
/// Source: rflysim spec 3.7; ports 40101, 40103...
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "coptersim.px4ext",
    doc: "controls of the autopilot from CopterSim (port 40101 and on)",
    ports: &[topic::<Float32MultiArray>("controls", Qos::sensor_data())],
    ..TELLS
};

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Options::new(&cx.codec, &INFO)?;
    Ok(Box::new(Extension(Float32MultiArray::default())))
}

struct Extension(Float32MultiArray);

impl Decoder for Extension {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let packet = Px4ExtMsg::decode(frame.bytes).map_err(error)?;
        self.0.data.clear();
        self.0.data.extend(packet.controls);
        out.publish(Port(0), out.stamp(), &self.0);
        Ok(())
    }
}
