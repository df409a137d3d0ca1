//! What the codecs of one vehicle share.
//!
//! Codecs of one rule with the same `sysid` share a [`Uas`]. Telemetry codecs run in the transport's task and the
//! others in the rule's, so all of it is atomic; only the address, which is looked at when something is sent, has a
//! lock.

use std::{
    collections::HashMap,
    net::SocketAddr,
    ops::Deref,
    path::Path,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::BytesMut;
use rostrans_core::{
    clock::RosTime,
    codec::CodecContext,
    emit::Emit,
    rule::{Source, Target, UdpPeer},
};
use rostrans_mavlink::{Sender, write_v1, write_v2};

use crate::{
    frames::{Enu, Geodetic},
    place::Place,
};

use super::{
    dialect::{GpsRawInt, Message},
    geoid::{self, GeoidGrid},
    guard::Guard,
    ros,
    setpoint::{self, Setpoints},
    underway::Underway,
};

/// The vehicles of one registry.
#[derive(Clone, Debug, Default)]
pub(super) struct Fleet(Arc<Mutex<Vehicles>>);

/// By rule and system id.
#[derive(Debug, Default)]
struct Vehicles(HashMap<(Arc<str>, u8), Arc<Uas>>);

impl Fleet {
    /// The vehicle that a link is about.
    pub(super) fn of(&self, cx: &CodecContext<'_>) -> Arc<Uas> {
        let option = |name| cx.link.options.0.get(name).and_then(serde_json::Value::as_u64);
        let sysid = option("sysid").and_then(|sysid| u8::try_from(sysid).ok()).unwrap_or(1);
        let key = (Arc::clone(&cx.rule.rule_id.0), sysid);
        let guard = || open_guard(cx, sysid);
        let mut vehicles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(vehicles.0.entry(key).or_insert_with(|| Arc::new(Uas::new(sysid, guard()))))
    }
}

/// The key that one of the rule's links names for this vehicle, read before the first decoder runs.
fn open_guard(cx: &CodecContext<'_>, sysid: u8) -> Option<Guard> {
    let link = cx.rule.links.iter().find_map(|link| {
        let options = &link.options.0;
        let of = options.get("sysid").and_then(serde_json::Value::as_u64).unwrap_or(1);
        options.get("signing_key").filter(|_| of == u64::from(sysid))?.as_str()
    });
    let path = link.filter(|path| !path.is_empty())?;
    match Guard::open(Path::new(path)) {
        Ok(guard) => Some(guard),
        Err(error) => {
            let rule = &cx.rule.rule_id;
            tracing::error!(%rule, path, %error, "signing key not read; all frames are refused and none is understood");
            Some(Guard::shut())
        }
    }
}

/// What a MAVLink codec is built from.
pub(super) struct MavContext<'a> {
    pub(super) codec: CodecContext<'a>,
    pub(super) uas: Arc<Uas>,
}

impl<'a> Deref for MavContext<'a> {
    type Target = CodecContext<'a>;

    fn deref(&self) -> &CodecContext<'a> {
        &self.codec
    }
}

/// One vehicle as its codecs know it together. `mavlink.link` keeps it up to date.
#[derive(Debug)]
pub(super) struct Uas {
    /// System id of the vehicle; 0 stands for any.
    sysid: u8,
    /// Component that heartbeats come from.
    compid: AtomicU8,
    own_sysid: AtomicU8,
    own_compid: AtomicU8,
    /// Sequence number of the next frame; one for all senders, or receivers would count losses.
    seq: AtomicU8,
    /// ROS time minus the vehicle's time since boot in nanoseconds; [`NO_OFFSET`] when not known.
    time_offset_ns: AtomicI64,
    /// The geoid's height above the ellipsoid in metres as bits; NaN when not known.
    undulation_m: AtomicU64,
    /// `MAV_PROTOCOL_CAPABILITY`; [`NO_CAPABILITIES`] before the vehicle told.
    capabilities: AtomicU64,
    /// Undulation by place, where the user has a grid.
    grid: OnceLock<GeoidGrid>,
    /// Frames are sent as MAVLink 1.
    old_protocol: AtomicBool,
    /// Frames are signed and have to be.
    guard: Option<Guard>,
    /// Commands that go to it.
    underway: Arc<Underway>,
    /// Setpoints that go to it.
    setpoints: Setpoints,
    /// Degrees of latitude and longitude, metres above the ellipsoid.
    global: Place,
    /// ENU metres from the estimator's origin.
    local: Place,
    /// Where its frames come from.
    peer: Mutex<Option<SocketAddr>>,
}

impl Uas {
    fn new(sysid: u8, guard: Option<Guard>) -> Self {
        Self {
            sysid,
            compid: AtomicU8::new(1),
            own_sysid: AtomicU8::new(sysid.max(1)),
            own_compid: AtomicU8::new(COMPID_ONBOARD_COMPUTER),
            seq: AtomicU8::new(0),
            time_offset_ns: AtomicI64::new(NO_OFFSET),
            undulation_m: AtomicU64::new(f64::NAN.to_bits()),
            capabilities: AtomicU64::new(NO_CAPABILITIES),
            grid: OnceLock::new(),
            old_protocol: AtomicBool::new(false),
            guard,
            underway: Arc::default(),
            setpoints: Setpoints::default(),
            global: Place::default(),
            local: Place::default(),
            peer: Mutex::new(None),
        }
    }

    /// System id that messages to the vehicle name; 0 (all) when any vehicle is taken.
    pub(super) fn target_system(&self) -> u8 {
        self.sysid
    }

    /// Component id that messages to the autopilot name.
    pub(super) fn target_component(&self) -> u8 {
        self.compid.load(Relaxed)
    }

    /// Notes the component of the autopilot's heartbeats.
    pub(super) fn set_target_component(&self, compid: u8) {
        self.compid.store(compid, Relaxed);
    }

    /// Our own system and component id.
    pub(super) fn own_ids(&self) -> (u8, u8) {
        (self.own_sysid.load(Relaxed), self.own_compid.load(Relaxed))
    }

    pub(super) fn set_own_ids(&self, sysid: u8, compid: u8) {
        self.own_sysid.store(sysid, Relaxed);
        self.own_compid.store(compid, Relaxed);
    }

    /// The stamp of something measured `boot_ns` nanoseconds after the vehicle's boot and received at `received`:
    /// the moment of measurement once the clocks are synchronised, else that of receipt.
    ///
    /// What would lie further from the receipt than [`OLDEST`] or [`NEWEST`] allow is no time since this boot (the
    /// vehicle has just restarted, or sends the time of day); it counts as measured when it was received.
    pub(super) fn stamp(&self, boot_ns: u64, received: RosTime) -> RosTime {
        let Ok(boot) = i64::try_from(boot_ns) else { return received };
        match self.time_offset_ns.load(Relaxed) {
            NO_OFFSET => received,
            PASSTHROUGH => RosTime { ns: boot },
            offset => {
                let ns = boot.saturating_add(offset);
                let plausible = received.ns.saturating_sub(OLDEST)..=received.ns.saturating_add(NEWEST);
                if plausible.contains(&ns) { RosTime { ns } } else { received }
            }
        }
    }

    /// Stamp for a `time_boot_ms` field.
    pub(super) fn stamp_ms(&self, time_boot_ms: u32, received: RosTime) -> RosTime {
        self.stamp(u64::from(time_boot_ms) * 1_000_000, received)
    }

    /// Stamp for a `time_usec` field.
    pub(super) fn stamp_us(&self, time_usec: u64, received: RosTime) -> RosTime {
        self.stamp(time_usec.saturating_mul(1000), received)
    }

    /// Sets ROS time minus time since boot in nanoseconds; `None` when it is not known.
    pub(super) fn set_time_offset(&self, offset_ns: Option<i64>) {
        self.time_offset_ns.store(offset_ns.unwrap_or(NO_OFFSET), Relaxed);
    }

    /// From now on stamps are the vehicle's time as it is.
    pub(super) fn pass_time_through(&self) {
        self.time_offset_ns.store(PASSTHROUGH, Relaxed);
    }

    /// Capabilities (`MAV_PROTOCOL_CAPABILITY`) of AUTOPILOT_VERSION; `None` until the vehicle told, and 0 when it
    /// did not.
    pub(super) fn capabilities(&self) -> Option<u64> {
        Some(self.capabilities.load(Relaxed)).filter(|bits| *bits != NO_CAPABILITIES)
    }

    pub(super) fn set_capabilities(&self, bits: Option<u64>) {
        self.capabilities.store(bits.unwrap_or(NO_CAPABILITIES), Relaxed);
    }

    /// The geoid's height above the ellipsoid at the vehicle in metres, 0 while it is not known.
    pub(super) fn undulation(&self) -> f64 {
        let known = f64::from_bits(self.undulation_m.load(Relaxed));
        if known.is_nan() { 0.0 } else { known }
    }

    /// Takes the geoid's height from a position fix, by the grid if there is one; false while it is not known.
    pub(super) fn learn_geoid(&self, gps: &GpsRawInt) -> bool {
        let by_grid = || self.grid.get()?.undulation(ros::degrees(gps.lat), ros::degrees(gps.lon));
        if let Some(metres) = by_grid().or_else(|| geoid::undulation_by_gps(gps)) {
            self.undulation_m.store(metres.to_bits(), Relaxed);
        }
        !f64::from_bits(self.undulation_m.load(Relaxed)).is_nan()
    }

    /// Metres above the ellipsoid of a place in degrees times 1e7, millimetres above mean sea level.
    pub(super) fn height(&self, lat: i32, lon: i32, alt_mm: i32) -> f64 {
        let by_grid = || self.grid.get()?.undulation(ros::degrees(lat), ros::degrees(lon));
        ros::metres(alt_mm) + by_grid().unwrap_or_else(|| self.undulation())
    }

    /// Sets the grid of undulations; the first one stays.
    pub(super) fn set_geoid_grid(&self, grid: GeoidGrid) {
        self.grid.get_or_init(|| grid);
    }

    /// Sends MAVLink 1 from now on, or MAVLink 2.
    pub(super) fn set_old_protocol(&self, old: bool) {
        self.old_protocol.store(old, Relaxed);
    }

    /// What signs and checks frames, with a key.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Commands that may be answered yet.
    pub(super) fn underway(&self) -> &Arc<Underway> {
        &self.underway
    }

    /// For how long setpoints have been going to the vehicle; `None` when none goes now.
    pub(super) fn streaming(&self, now: Instant) -> Option<Duration> {
        self.setpoints.streaming(now)
    }

    /// Where the vehicle is on the globe, as `global_position/global` has it.
    pub(super) fn global(&self) -> Option<Geodetic> {
        let [latitude_deg, longitude_deg, height_m] = self.global.get()?;
        Some(Geodetic { latitude_deg, longitude_deg, height_m })
    }

    /// Set by `mavlink.global_position` alone.
    pub(super) fn set_global(&self, at: Geodetic) {
        self.global.set([at.latitude_deg, at.longitude_deg, at.height_m]);
    }

    /// Where the vehicle is in the local frame, as `local_position/pose` has it.
    pub(super) fn local(&self) -> Option<Enu<[f64; 3]>> {
        self.local.get().map(Enu)
    }

    /// Set by `mavlink.local_position` alone.
    pub(super) fn set_local(&self, at: Enu<[f64; 3]>) {
        self.local.set(at.0);
    }

    /// The UDP address the vehicle's frames come from.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_peer(&self, addr: SocketAddr) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(addr);
    }
}

/// Sends messages to the vehicle.
pub(super) struct Talker {
    uas: Arc<Uas>,
    /// Where the link says to send.
    target: Option<SocketAddr>,
    /// Over UDP there is nobody to send to before a peer was heard, unless there is a target.
    learns_peer: bool,
    payload: BytesMut,
    frame: Vec<u8>,
}

impl Talker {
    pub(super) fn new(cx: &MavContext<'_>) -> Self {
        let target = match cx.link.target {
            Some(Target::Udp(addr)) => Some(addr),
            _ => None,
        };
        Self {
            uas: Arc::clone(&cx.uas),
            target,
            learns_peer: matches!(&cx.rule.source, Source::Udp(bind) if bind.peer == UdpPeer::Heard),
            payload: BytesMut::new(),
            frame: Vec::new(),
        }
    }

    /// False while nobody is known to send to.
    pub(super) fn has_receiver(&self) -> bool {
        !self.learns_peer || self.target.or_else(|| self.uas.peer()).is_some()
    }

    /// Sends a message from our own ids. False when there is nobody to send to yet, or when MAVLink 1 does not have it.
    pub(super) fn send<M: Message>(&mut self, message: &M, out: &mut Emit<'_>) -> bool {
        let (_, compid) = self.uas.own_ids();
        self.send_as(compid, message, out)
    }

    /// Sends a message from another component of ours.
    pub(super) fn send_as<M: Message>(&mut self, compid: u8, message: &M, out: &mut Emit<'_>) -> bool {
        let to = self.target.or_else(|| self.uas.peer());
        if self.learns_peer && to.is_none() {
            return false;
        }
        self.payload.clear();
        message.encode(&mut self.payload);
        self.frame.clear();
        let (sysid, _) = self.uas.own_ids();
        let from = Sender { seq: self.uas.seq.fetch_add(1, Relaxed), sysid, compid };
        let written = if let Some(guard) = self.uas.guard() {
            guard.write::<M>(&mut self.frame, from, &self.payload)
        } else if self.uas.old_protocol.load(Relaxed) {
            let payload = self.payload.get(..M::BASE_LEN).unwrap_or(&self.payload);
            write_v1(&mut self.frame, from, M::ID, payload, M::CRC_EXTRA)
        } else {
            write_v2(&mut self.frame, from, M::ID, &self.payload, M::CRC_EXTRA)
        };
        if written.is_ok() {
            if const { setpoint::is_setpoint(M::ID) } {
                self.uas.setpoints.sent(out.received());
            }
            out.send_to(&self.frame, to);
        }
        written.is_ok()
    }

    /// Sends a frame that is complete. False when there is nobody to send to yet.
    pub(super) fn forward(&self, frame: &[u8], out: &mut Emit<'_>) -> bool {
        let to = self.target.or_else(|| self.uas.peer());
        let somebody = to.is_some() || !self.learns_peer;
        if somebody {
            out.send_to(frame, to);
        }
        somebody
    }
}

/// `MAV_COMP_ID_ONBOARD_COMPUTER`.
const COMPID_ONBOARD_COMPUTER: u8 = 191;
/// No capabilities are known.
const NO_CAPABILITIES: u64 = u64::MAX;
/// No time offset is known.
const NO_OFFSET: i64 = i64::MIN;
/// Times are passed through.
const PASSTHROUGH: i64 = i64::MIN + 1;
/// Nanoseconds before their receipt that measurements can be made: slow links, full buffers.
const OLDEST: i64 = 5_000_000_000;
/// Nanoseconds behind their receipt that stamps can be: errors of the estimate.
const NEWEST: i64 = 500_000_000;
