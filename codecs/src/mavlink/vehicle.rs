//! Whose messages a telemetry codec takes, and whether that vehicle is there.

use std::time::{Duration, Instant};

use rostrans_core::{
    codec::{CodecContext, CodecError, DecodeError},
    transport::Frame,
};
use rostrans_mavlink::Packet;

use super::dialect::{Heartbeat, Message};
use crate::options::Options;

/// Silence after which a vehicle counts as lost, unless `conn_timeout` says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// Options shared by all telemetry codecs, for [`CodecInfo::options`](rostrans_core::codec::CodecInfo::options).
pub(super) const SYSID: (&str, &str) = ("sysid", "system id of the vehicle, 0 takes any; default 1");
pub(super) const COMPID: (&str, &str) =
    ("compid", "component whose HEARTBEAT counts, 0 takes any autopilot; default 1");
pub(super) const CONN_TIMEOUT: (&str, &str) =
    ("conn_timeout", "seconds without HEARTBEAT after which the vehicle counts as lost; default 10");
pub(super) const EXACT: (&str, &str) = ("exact", "true repeats MAVROS's known mistakes; default false");

/// The only system a link hears, by its option `sysid` or without that `default`; `None` for all.
pub(super) fn named(cx: &CodecContext<'_>, default: u8) -> Option<u8> {
    let sysid = match cx.link.options.0.get(SYSID.0) {
        None => default,
        // What is no system id was refused when the decoder was built.
        Some(value) => value.as_u64().and_then(|sysid| u8::try_from(sysid).ok())?,
    };
    (sysid != 0).then_some(sysid)
}

/// The vehicle a decoder listens to.
#[derive(Clone, Debug)]
pub(super) struct Vehicle {
    pub(super) sysid: u8,
    pub(super) compid: u8,
    /// `MAV_AUTOPILOT` of the last heartbeat.
    pub(super) autopilot: u8,
    /// `MAV_TYPE` of the last heartbeat.
    pub(super) kind: u8,
    last_heartbeat: Option<Instant>,
    timeout: Duration,
}

/// A heartbeat of the vehicle.
pub(super) struct Beat {
    pub(super) heartbeat: Heartbeat,
    /// The first one, or the first after a silence.
    pub(super) connects: bool,
}

impl Vehicle {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            sysid: options.int("sysid", 1, 0..=255)?,
            compid: options.int("compid", 1, 0..=255)?,
            autopilot: 0,
            kind: 0,
            last_heartbeat: None,
            timeout: timeout(options)?,
        })
    }

    /// The packet in `frame`; `None` when another system sent it.
    ///
    /// **Errors**: the frame is no MAVLink packet.
    pub(super) fn accept<'a>(&self, frame: &Frame<'a>) -> Result<Option<Packet<'a>>, DecodeError> {
        let packet = Packet::parse(frame.bytes).ok_or(DecodeError::BadMagic)?;
        Ok((self.sysid == 0 || packet.sysid == self.sysid).then_some(packet))
    }

    /// Notes a heartbeat; `None` when it comes from another component.
    pub(super) fn heartbeat(&mut self, packet: &Packet<'_>, at: Instant) -> Option<Beat> {
        let heartbeat = Heartbeat::decode(packet.payload);
        let ours = match self.compid {
            0 => heartbeat.autopilot != AUTOPILOT_INVALID,
            compid => packet.compid == compid,
        };
        if !ours {
            return None;
        }
        let connects = !self.is_connected(at);
        self.last_heartbeat = Some(at);
        self.autopilot = heartbeat.autopilot;
        self.kind = heartbeat.kind;
        Some(Beat { heartbeat, connects })
    }

    /// True within `conn_timeout` of a heartbeat.
    pub(super) fn is_connected(&self, now: Instant) -> bool {
        self.last_heartbeat.is_some_and(|last| now.saturating_duration_since(last) < self.timeout)
    }

    /// When [`Vehicle::fell_silent`] turns true if no heartbeat comes.
    pub(super) fn silent_at(&self) -> Option<Instant> {
        self.last_heartbeat.map(|last| last + self.timeout)
    }

    /// True once after a vehicle fell silent.
    pub(super) fn fell_silent(&mut self, now: Instant) -> bool {
        let silent = self.last_heartbeat.is_some() && !self.is_connected(now);
        if silent {
            self.last_heartbeat = None;
        }
        silent
    }

    /// Follows heartbeats for a decoder that only has to forget what it saw: true when the connection came or went.
    pub(super) fn connection_changed(&mut self, packet: &Packet<'_>, at: Instant) -> bool {
        let lost = self.fell_silent(at);
        let came = packet.msgid == Heartbeat::ID && self.heartbeat(packet, at).is_some_and(|b| b.connects);
        lost || came
    }
}

/// The option `conn_timeout`.
fn timeout(options: &Options<'_>) -> Result<Duration, CodecError> {
    let seconds = options.number("conn_timeout", TIMEOUT.as_secs_f64())?;
    if (0.1..=3600.0).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let problem = format!("{seconds} is not a number from 0.1 to 3600");
    Err(CodecError::Option { option: "conn_timeout".to_owned(), problem })
}

/// `MAV_AUTOPILOT_INVALID`: a ground station, a gimbal, a companion; not a vehicle.
const AUTOPILOT_INVALID: u8 = 8;
