//! MAVLink: messages, flight modes and the codecs between MAVLink and MAVROS topics.
//!
//! One codec per MAVROS plugin. Each decoder follows what it needs (attitude, geoid, connection) by itself, so
//! links can be left out or put on other rules freely. Behaviour follows MAVROS; its known mistakes are corrected
//! unless the option `exact` asks for them. Stamps are receive times.

use rostrans_core::codec::{Codec, CodecContext, CodecError, CodecInfo, Decoder};

mod altitude;
mod attitude;
mod battery;
pub mod dialect;
mod estimator;
mod geoid;
mod global_position;
mod home_position;
mod imu;
mod link;
mod local_position;
pub mod mode;
mod raw;
mod rc;
mod ros;
mod state;
mod statustext;
mod stream;
mod sys_status;
mod vehicle;
mod vfr_hud;

use std::sync::Arc;

pub use vehicle::TIMEOUT;

/// All codecs of this module.
pub(crate) fn codecs() -> [Arc<dyn Codec>; 14] {
    [
        Arc::new(raw::MavlinkCodec),
        Arc::new(state::CODEC),
        Arc::new(imu::CODEC),
        Arc::new(local_position::CODEC),
        Arc::new(global_position::CODEC),
        Arc::new(battery::CODEC),
        Arc::new(sys_status::CODEC),
        Arc::new(statustext::CODEC),
        Arc::new(rc::CODEC),
        Arc::new(altitude::CODEC),
        Arc::new(vfr_hud::CODEC),
        Arc::new(home_position::CODEC),
        Arc::new(estimator::CODEC),
        Arc::new(link::CODEC),
    ]
}

/// A codec that is a description and a decoder.
#[derive(Clone, Copy)]
pub(crate) struct DecodeOnly {
    info: &'static CodecInfo,
    build: BuildDecoder,
}

impl DecodeOnly {
    pub(crate) const fn new(info: &'static CodecInfo, build: BuildDecoder) -> Self {
        Self { info, build }
    }
}

impl Codec for DecodeOnly {
    fn info(&self) -> &'static CodecInfo {
        self.info
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        (self.build)(cx)
    }
}

type BuildDecoder = fn(&CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError>;
