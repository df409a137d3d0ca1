//! `coptersim.truth`: the true state of a vehicle.

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder},
    emit::Emit,
    transport::Frame,
};

use super::{
    CraftContext, Described, TELLS, motion,
    telemetry::{self, Telemetry},
};
use crate::options::Options;

/// Truth packets of all generations (168, 112, 200, 104 and 88 bytes), in any mixture.
///
/// Source: rflysim spec 3.1 to 3.3; ports 30101, 30103...
pub(super) const CODEC: Described = Described { info: &INFO, build };

pub(super) const NAME: &str = "coptersim.truth";

const INFO: CodecInfo = CodecInfo {
    name: NAME,
    doc: "a vehicle's true state from CopterSim (port 30101 and on) as MAVROS topics",
    ports: telemetry::PORTS,
    options: telemetry::OPTIONS,
    ..TELLS
};

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(&cx.codec, &INFO)?;
    Ok(Box::new(Truth(Telemetry::new(cx, &options)?)))
}

struct Truth(Telemetry);

impl Decoder for Truth {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        if let Some(motion) = motion::truth(frame.bytes)? {
            self.0.admit(frame)?;
            self.0.truth(&motion, out);
        }
        Ok(())
    }
}
