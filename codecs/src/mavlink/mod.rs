//! MAVLink: messages, flight modes and the codecs between MAVLink and MAVROS topics.
//!
//! One codec per MAVROS plugin. Each decoder follows what it needs (attitude, connection) by itself, so links can be
//! left out freely; what needs the whole vehicle (clock, geoid, address, ids) is shared (`uas`). Behaviour follows
//! MAVROS; its known mistakes are corrected unless the option `exact` asks for them. Stamps are the times of
//! measurement once `mavlink.time` knows the vehicle's clock, else those of receipt.

use rostrans_core::codec::{Codec, CodecContext, CodecError, CodecInfo, Decoder};

mod altitude;
mod attitude;
mod battery;
mod command;
mod control;
mod diagnostics;
pub mod dialect;
mod estimator;
mod external;
mod extras;
mod ftp;
mod geoid;
mod global_position;
mod guard;
mod health;
mod home_position;
mod imu;
mod link;
mod local_position;
mod mission;
pub mod mode;
mod monotonic;
mod pace;
mod param;
mod parts;
mod raw;
mod rc;
mod relay;
mod ros;
mod setpoint;
mod state;
mod statustext;
mod stream;
mod sys_status;
mod tf;
mod time;
mod timesync;
mod transaction;
mod twins;
mod uas;
mod underway;
mod value;
mod vehicle;
mod vehicle_info;
mod vfr_hud;
mod why;

use std::sync::Arc;

use guard::Guarded;
use uas::{Fleet, MavContext};
pub use vehicle::TIMEOUT;

/// All codecs of this module; they share what they know of their vehicles.
pub(crate) fn codecs() -> Vec<Arc<dyn Codec>> {
    let fleet = Fleet::default();
    let groups = [
        TELEMETRY,
        control::CODECS,
        command::CODECS,
        mission::CODECS,
        param::CODECS,
        ftp::CODECS,
        external::CODECS,
        extras::CODECS,
    ];
    let described = groups.into_iter().flatten().map(|codec| {
        let codec: Arc<dyn Codec> = Arc::new(OfFleet { codec: *codec, fleet: fleet.clone() });
        codec
    });
    std::iter::once(Arc::new(raw::MavlinkCodec) as Arc<dyn Codec>).chain(described).collect()
}

/// What vehicles tell at all times.
const TELEMETRY: &[DecodeOnly] = &[
    state::CODEC,
    imu::CODEC,
    local_position::CODEC,
    global_position::CODEC,
    battery::CODEC,
    sys_status::CODEC,
    statustext::CODEC,
    rc::CODEC,
    altitude::CODEC,
    vfr_hud::CODEC,
    home_position::CODEC,
    estimator::CODEC,
    time::CODEC,
    vehicle_info::CODEC,
    diagnostics::CODEC,
    link::CODEC,
];

/// A codec that is a description and a decoder.
#[derive(Clone, Copy)]
pub(crate) struct DecodeOnly {
    info: &'static CodecInfo,
    build: BuildDecoder,
    hears_all: bool,
}

impl DecodeOnly {
    /// One that hears its vehicle: frames of the system that the option `sysid` names.
    const fn new(info: &'static CodecInfo, build: BuildDecoder) -> Self {
        Self { info, build, hears_all: false }
    }

    /// Lets it hear frames of all systems.
    const fn hearing_all(self) -> Self {
        Self { hears_all: true, ..self }
    }
}

/// A codec with the vehicles it may be about.
struct OfFleet {
    codec: DecodeOnly,
    fleet: Fleet,
}

impl Codec for OfFleet {
    fn info(&self) -> &'static CodecInfo {
        self.codec.info
    }

    fn sender(&self, cx: &CodecContext<'_>) -> Option<u8> {
        if self.codec.hears_all { None } else { vehicle::named(cx, 1) }
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        let uas = self.fleet.of(cx);
        let inner = (self.codec.build)(&MavContext { codec: *cx, uas: Arc::clone(&uas) })?;
        Ok(Box::new(Guarded { inner, uas }))
    }
}

type BuildDecoder = fn(&MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError>;
