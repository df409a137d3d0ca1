//! `coptersim.estimate`: what the autopilot makes of a vehicle's state.

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder},
    emit::Emit,
    transport::Frame,
};

use super::{
    CraftContext, Described, TELLS,
    motion::{self, Notice},
    telemetry::{self, Telemetry},
};
use crate::options::Options;

/// Estimates in the UDP modes Full and Simple (120 and 52 bytes); MAVLink on the same port is left to its codecs.
///
/// Source: rflysim spec 3.4, 3.5; ports 20101, 20103...
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "coptersim.estimate",
    doc: "the autopilot's estimate from CopterSim (port 20101 and on, UDP modes 0 and 1) as MAVROS topics",
    ports: telemetry::PORTS,
    options: telemetry::OPTIONS,
    ..TELLS
};

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(&cx.codec, &INFO)?;
    // Its positions count from home.
    cx.craft.spawned_at([0.0; 3]);
    Ok(Box::new(Estimate {
        rule: cx.codec.rule.rule_id.as_str().to_owned(),
        telemetry: Telemetry::new(cx, &options)?,
        fixed: false,
        crashed: None,
    }))
}

struct Estimate {
    rule: String,
    telemetry: Telemetry,
    fixed: bool,
    crashed: Option<i32>,
}

impl Decoder for Estimate {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let (motion, notice) = motion::estimate(frame.bytes)?;
        if let Some(motion) = motion {
            self.telemetry.admit(frame)?;
            self.telemetry.estimate(&motion, out);
        }
        let rule = &self.rule;
        match notice {
            Some(Notice::EkfFixed) if !self.fixed => {
                self.fixed = true;
                tracing::info!(%rule, "the estimator has a 3D fix");
            }
            Some(Notice::Crashed(other)) if self.crashed != Some(other) => {
                self.crashed = Some(other);
                tracing::warn!(%rule, other, "crashed");
            }
            _ => {}
        }
        Ok(())
    }
}
