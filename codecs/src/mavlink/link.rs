//! `mavlink.link`: makes an autopilot talk.

use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Role},
    emit::Emit,
    transport::{Frame, Framing},
};

use super::{
    DecodeOnly,
    dialect::{
        Attitude, AttitudeQuaternion, CommandAck, CommandLong, Heartbeat, HomePosition, Message,
        RequestDataStream, SystemTime, Timesync,
    },
    geoid::GeoidGrid,
    guard::Guard,
    pace::Pace,
    stream::{Rates, Request, Requests, parse_intervals},
    twins::{Origin, Twins},
    uas::{MavContext, Talker, Uas},
    underway::Owner,
    vehicle::{self, Vehicle},
    why::{Complaint, Why},
};
use crate::options::Options;

/// Sends heartbeats and asks for data streams; publishes nothing.
///
/// Frames go to the link's target, else to where the vehicle's frames come from; until it was heard, a UDP link without
/// a target is silent. When the vehicle appears, is back after a silence, or has restarted (its clock went back),
/// message intervals or, on ArduPilot, data streams are requested, one at a time and three times at most; HOME_POSITION
/// is requested every ten seconds until it comes.
///
/// Source: MAVLink common, HEARTBEAT (0), COMMAND_LONG (76) with SET_MESSAGE_INTERVAL (511), REQUEST_MESSAGE (512),
/// GET_HOME_POSITION (410); REQUEST_DATA_STREAM (66); COMMAND_ACK (77).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.link",
    doc: "heartbeat to the vehicle and requests for its data streams; no topics",
    roles: &[Role::Decode],
    ports: &[],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        SystemTime::ID,
        Attitude::ID,
        AttitudeQuaternion::ID,
        CommandAck::ID,
        HomePosition::ID,
        Timesync::ID,
    ]),
    cost: Cost::Inline,
    tick: Some(Duration::from_millis(100)),
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        ("own_sysid", "system id of what is sent; default that of the vehicle"),
        ("own_compid", "component id of what is sent; default 191 (onboard computer)"),
        ("heartbeat_rate", "heartbeats per second, 0.01 to 10, 0 sends none; default 1"),
        (
            "heartbeat_mav_type",
            "what the heartbeat says we are: ONBOARD_CONTROLLER, GCS or GENERIC; default the first",
        ),
        ("imu_rate", "attitude and sensors per second, 0 asks for none; default 50"),
        ("stream_rate", "data streams of ArduPilot per second, 0 asks for none; default 10"),
        (
            "message_intervals",
            "further messages with their rates in hertz: 31:100, HIGHRES_IMU:50; 0 stops one; default none",
        ),
        ("request_streams", "false asks for nothing; default true"),
        ("protocol", "what is sent: v2.0 or v1.0 (MAVLink 1); default v2.0"),
        (
            "signing_key",
            "file with the key that frames are signed with and have to be signed with; default none",
        ),
        ("geoid_file", "grid of geoid heights, such as egm96-5.pgm of GeographicLib; default none"),
    ],
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let vehicle = Vehicle::new(&options)?;
    let own_sysid = options.int("own_sysid", vehicle.sysid.max(1), 1..=255)?;
    let own_compid = options.int("own_compid", COMPID_ONBOARD_COMPUTER, 1..=255)?;
    cx.uas.set_own_ids(own_sysid, own_compid);
    let old_protocol = options.choice("protocol", &[("v2.0", false), ("v1.0", true)])?.unwrap_or(false);
    cx.uas.set_old_protocol(old_protocol);
    let key = options.text("signing_key", "")?;
    if !key.is_empty() {
        let wrong = |problem: String| CodecError::Option { option: "signing_key".to_owned(), problem };
        if old_protocol {
            return Err(wrong("MAVLink 1 has no signatures; leave out 'protocol'".to_owned()));
        }
        Guard::open(Path::new(key)).map_err(|error| wrong(format!("'{key}': {error}")))?;
    }
    open_geoid(cx, options.text("geoid_file", "")?);
    Ok(Box::new(LinkDecoder {
        vehicle,
        uas: Arc::clone(&cx.uas),
        owner: cx.uas.underway().owner(),
        talker: Talker::new(cx),
        peer: None,
        heartbeat: Pace::new(&options, "heartbeat_rate", 1.0, 10.0)?,
        kind: options.choice("heartbeat_mav_type", &MAV_TYPES)?.unwrap_or(ONBOARD_CONTROLLER),
        rates: Rates {
            imu_hz: options.int("imu_rate", 50, 0..=1000)?,
            stream_hz: options.int("stream_rate", 10, 0..=1000)?,
        },
        request_streams: options.flag("request_streams", true)?,
        wanted: parse_intervals(options.text("message_intervals", "")?).map_err(|part| {
            let problem = format!("'{part}' is no <message>:<rate in Hz>, such as 31:100 or HIGHRES_IMU:50");
            CodecError::Option { option: "message_intervals".to_owned(), problem }
        })?,
        requests: Requests::default(),
        boot_ms: None,
        sync_ns: None,
        twins: Twins::default(),
        why: Why::default(),
        rule: Arc::clone(&cx.rule.rule_id.0),
    }))
}

/// Without the grid heights are still right where the receiver tells them, so nothing stops.
fn open_geoid(cx: &MavContext<'_>, path: &str) {
    if path.is_empty() {
        return;
    }
    match GeoidGrid::open(Path::new(path)) {
        Ok(grid) => cx.uas.set_geoid_grid(grid),
        Err(error) => {
            let rule = &cx.rule.rule_id;
            tracing::warn!(%rule, path, %error, "geoid grid not used; heights are as the GPS tells them");
        }
    }
}

struct LinkDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    /// As a sender of commands.
    owner: Owner,
    talker: Talker,
    /// Where the vehicle's frames come from.
    peer: Option<SocketAddr>,
    heartbeat: Pace,
    /// `MAV_TYPE` of our heartbeats.
    kind: u8,
    rates: Rates,
    request_streams: bool,
    /// Messages that the user asks for.
    wanted: Vec<Request>,
    requests: Requests,
    /// Last time since boot; it goes back when the autopilot restarts.
    boot_ms: Option<u32>,
    /// The same by its latest answer to time sync, which counts by itself.
    sync_ns: Option<i64>,
    twins: Twins,
    why: Why,
    rule: Arc<str>,
}

impl Decoder for LinkDecoder {
    fn decode(&mut self, frame: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if let Some(addr) = frame.peer.addr()
            && self.peer != Some(addr)
        {
            self.peer = Some(addr);
            self.uas.set_peer(addr);
        }
        if packet.msgid != Heartbeat::ID {
            self.why.packet(packet.compid, packet.msgid, frame.received);
        }
        let payload = packet.payload;
        match packet.msgid {
            Heartbeat::ID => {
                let Some(beat) = self.vehicle.heartbeat(&packet, frame.received) else { return Ok(()) };
                self.uas.set_target_component(packet.compid);
                self.watch_for_twins(&beat.heartbeat, frame);
                if beat.connects {
                    (self.boot_ms, self.sync_ns) = (None, None);
                    self.why.connected(self.request_streams && self.rates.imu_hz > 0, frame.received);
                    self.start_requests(frame.received);
                }
            }
            SystemTime::ID => self.clock(SystemTime::decode(payload).time_boot_ms, frame.received),
            Attitude::ID => {
                self.requests.attitude_arrived();
                self.why.attitude();
                self.clock(Attitude::decode(payload).time_boot_ms, frame.received);
            }
            AttitudeQuaternion::ID => {
                self.requests.attitude_arrived();
                self.why.attitude();
                self.clock(AttitudeQuaternion::decode(payload).time_boot_ms, frame.received);
            }
            CommandAck::ID => {
                let ack = CommandAck::decode(payload);
                let (sysid, compid) = self.uas.own_ids();
                let for_us = (ack.target_system == 0 || ack.target_system == sysid)
                    && (ack.target_component == 0 || ack.target_component == compid);
                // A user's command of that number may be under way as well; ours went first.
                let open = for_us && self.uas.underway().leave(self.owner, ack.command, frame.received);
                if ack.command == SET_MESSAGE_INTERVAL && open {
                    if self.requests.asks_for(AttitudeQuaternion::ID) {
                        self.why.answered(ack.result);
                    }
                    self.requests.acknowledged(ack.result);
                }
            }
            HomePosition::ID => self.requests.home_arrived(),
            Timesync::ID => self.sync_clock(Timesync::decode(payload).tc1, frame.received),
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.vehicle.fell_silent(now) {
            self.requests.stop();
            self.why.lost();
        }
        if let Some(complaint) = self.why.poll(now) {
            self.complain(complaint);
        }
        if !self.talker.has_receiver() {
            return;
        }
        if self.heartbeat.due(now) {
            self.talker.send(&Heartbeat { kind: self.kind, ..HEARTBEAT }, out);
        }
        // An answer could be taken for that to a user's command.
        let asks = [SET_MESSAGE_INTERVAL, REQUEST_MESSAGE, GET_HOME_POSITION];
        if asks.iter().any(|number| self.uas.underway().others(self.owner, *number, now).is_some()) {
            return;
        }
        if let Some(request) = self.requests.poll(now) {
            self.send_request(request, now, out);
        }
    }
}

impl LinkDecoder {
    fn start_requests(&mut self, now: Instant) {
        if self.request_streams {
            self.requests.start(self.vehicle.autopilot, self.rates, &self.wanted, now);
        }
    }

    #[cold]
    fn complain(&self, complaint: Complaint) {
        let (rule, sysid) = (&self.rule, self.uas.target_system());
        match complaint {
            Complaint::NoHeartbeat { compid, msgid } => tracing::warn!(
                %rule, sysid, wanted_compid = self.vehicle.compid, compid, msgid,
                "packets arrive, but no HEARTBEAT of the autopilot, so nothing counts as connected; \
                 set tgt_component, or let the link carry HEARTBEAT"
            ),
            Complaint::NoAttitude { refusal } => tracing::warn!(
                %rule, sysid, refusal,
                "connected, but no attitude comes, so there is no imu/data; raise the stream (ArduPilot: SRn_EXTRA1, \
                 PX4: MAV_n_MODE), or see mavros_message_intervals"
            ),
        }
    }

    fn watch_for_twins(&mut self, beat: &Heartbeat, frame: &Frame<'_>) {
        let origin = Origin { peer: frame.peer.addr(), autopilot: beat.autopilot, kind: beat.kind };
        let Some((other, times)) = self.twins.heartbeat(origin, frame.received) else { return };
        let (rule, sysid) = (&self.rule, self.uas.target_system());
        tracing::warn!(
            %rule, sysid, %origin, %other, times,
            "two autopilots use one system id; give one another (SYSID_THISMAV, MAV_SYS_ID)"
        );
    }

    /// Notices a restart that was quicker than the connection timeout.
    fn clock(&mut self, boot_ms: u32, at: Instant) {
        let restarted = self.boot_ms.is_some_and(|last| boot_ms.saturating_add(REBOOT_MARGIN_MS) < last);
        self.boot_ms = Some(boot_ms);
        if restarted && self.vehicle.is_connected(at) && !self.twins.are_two(at) {
            self.sync_ns = None;
            self.start_requests(at);
        }
    }

    /// The same by an answer to time sync: nothing else that an ArduPilot sends unasked has a time.
    fn sync_clock(&mut self, remote_ns: i64, at: Instant) {
        // 0 is a question.
        if remote_ns <= 0 {
            return;
        }
        let last = self.sync_ns.replace(remote_ns);
        let restarted =
            last.is_some_and(|last| remote_ns.saturating_add(i64::from(REBOOT_MARGIN_MS) * 1_000_000) < last);
        if restarted && self.vehicle.is_connected(at) && !self.twins.are_two(at) {
            self.boot_ms = None;
            self.start_requests(at);
        }
    }

    fn send_request(&mut self, request: Request, now: Instant, out: &mut Emit<'_>) {
        match request {
            Request::Stream { stream, rate_hz } => {
                let message = RequestDataStream {
                    req_message_rate: rate_hz,
                    target_system: self.uas.target_system(),
                    target_component: self.uas.target_component(),
                    req_stream_id: stream,
                    start_stop: 1,
                };
                self.talker.send(&message, out);
            }
            Request::Interval { msgid, interval_us } => {
                // Message ids have 24 bits: exact in a float.
                #[expect(clippy::cast_precision_loss, reason = "24 bits fit the mantissa")]
                self.command(SET_MESSAGE_INTERVAL, [msgid as f32, interval_us], now, out);
            }
            Request::Home => {
                #[expect(clippy::cast_precision_loss, reason = "242 fits")]
                self.command(REQUEST_MESSAGE, [HomePosition::ID as f32, 0.0], now, out);
            }
            Request::HomeOldStyle => self.command(GET_HOME_POSITION, [0.0, 0.0], now, out),
        }
    }

    fn command(&mut self, command: u16, [param1, param2]: [f32; 2], now: Instant, out: &mut Emit<'_>) {
        self.uas.underway().enter(self.owner, command, now + ANSWER);
        let message = CommandLong {
            param1,
            param2,
            param3: 0.0,
            param4: 0.0,
            param5: 0.0,
            param6: 0.0,
            param7: 0.0,
            command,
            target_system: self.uas.target_system(),
            target_component: self.uas.target_component(),
            confirmation: 0,
        };
        self.talker.send(&message, out);
    }
}

/// What a companion computer says of itself: MAV_TYPE_ONBOARD_CONTROLLER, MAV_AUTOPILOT_INVALID, armed with manual
/// input, active. MAVROS sends the same.
const HEARTBEAT: Heartbeat = Heartbeat {
    custom_mode: 0,
    kind: ONBOARD_CONTROLLER,
    autopilot: 8,
    base_mode: 192,
    system_status: 4,
    mavlink_version: 3,
};
/// `MAV_TYPE`.
const ONBOARD_CONTROLLER: u8 = 18;
const MAV_TYPES: [(&str, u8); 3] = [("ONBOARD_CONTROLLER", ONBOARD_CONTROLLER), ("GCS", 6), ("GENERIC", 0)];
/// `MAV_COMP_ID_ONBOARD_COMPUTER`.
const COMPID_ONBOARD_COMPUTER: u8 = 191;
/// How long a command of ours may be answered.
const ANSWER: Duration = Duration::from_millis(1500);
/// `MAV_CMD`.
const GET_HOME_POSITION: u16 = 410;
const SET_MESSAGE_INTERVAL: u16 = 511;
const REQUEST_MESSAGE: u16 = 512;
/// Messages overtake each other by less than this; a restart sets the clock back by more.
const REBOOT_MARGIN_MS: u32 = 1000;
