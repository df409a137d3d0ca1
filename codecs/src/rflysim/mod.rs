//! RflySim: codecs between the packets of CopterSim and MAVROS topics.
//!
//! All links of one rule are about one vehicle and share what they know of it ([`craft::Craft`]). Packets are told apart
//! by the port they come to, their length and their first field, at any time: a simulator may change its mode while it
//! runs. A packet of another kind is counted as malformed and changes nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rostrans_core::codec::{Codec, CodecContext, CodecError, CodecInfo, Decoder, Interest, Role};
use rostrans_core::{codec::Cost, transport::Framing};

mod craft;
mod estimate;
mod event;
mod extension;
mod flight;
mod imu;
mod motion;
mod sender;
mod telemetry;
mod truth;
mod ue;

use craft::Craft;

/// All codecs of this module; they share what they know of their vehicles.
pub(crate) fn codecs() -> Vec<Arc<dyn Codec>> {
    let crafts = Crafts::default();
    [truth::CODEC, estimate::CODEC, event::CODEC, extension::CODEC, imu::CODEC, flight::CODEC]
        .into_iter()
        .map(|codec| Arc::new(OfCraft { codec, crafts: crafts.clone() }) as Arc<dyn Codec>)
        .chain(ue::codecs())
        .collect()
}

/// The vehicles of one registry, by rule family: `dllmodel_2` and `dllmodel_2_imu` are about one.
#[derive(Clone, Default)]
struct Crafts(Arc<Mutex<HashMap<Arc<str>, Arc<Craft>>>>);

/// A codec that is a description and a decoder.
#[derive(Clone, Copy)]
struct Described {
    info: &'static CodecInfo,
    build: fn(&CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError>,
}

/// What a codec of a vehicle is built from.
struct CraftContext<'a> {
    codec: CodecContext<'a>,
    craft: Arc<Craft>,
}

/// A codec with the vehicles it may be about.
struct OfCraft {
    codec: Described,
    crafts: Crafts,
}

impl Codec for OfCraft {
    fn info(&self) -> &'static CodecInfo {
        self.codec.info
    }

    fn clock_field(&self) -> Option<&'static str> {
        (self.codec.info.name == truth::NAME).then_some("runnedTime")
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        let key = match cx.link.options.0.get("craft").and_then(serde_json::Value::as_str) {
            Some(name) => name.into(),
            None => Arc::clone(&cx.rule.rule_id.0),
        };
        let mut crafts = self.crafts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let craft = Arc::clone(crafts.entry(key).or_default());
        drop(crafts);
        (self.codec.build)(&CraftContext { codec: *cx, craft })
    }
}

/// What codecs that only publish have in common.
const TELLS: CodecInfo = CodecInfo {
    name: "",
    doc: "",
    roles: &[Role::Decode],
    ports: &[],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Inline,
    tick: None,
    options: &[CRAFT],
};

/// The option that names the vehicle.
const CRAFT: (&str, &str) = ("craft", "links of this name are about one vehicle; default the rule's name");
