//! `mavlink.vehicle_info`: what the vehicle is and can do.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::{CdrBytes, from_cdr};
use rostrans_core::{
    codec::{
        CallId, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, Role,
        ServiceInfo,
    },
    emit::Emit,
    throttle::LogThrottle,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::mavros_msgs::{
    msg::VehicleInfo,
    srv::{VehicleInfoGetRequest, VehicleInfoGetResponse},
};

use super::{
    DecodeOnly,
    dialect::{AutopilotVersion, CommandLong, Heartbeat, Message},
    mode, ros,
    uas::{MavContext, Talker, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// Asks the vehicle for its version and capabilities; answers `vehicle_info_get`.
///
/// The table holds each component of the vehicle's system that sends heartbeats; it is emptied when the vehicle is lost.
/// Requests are sent each second in both forms (REQUEST_MESSAGE and the older REQUEST_AUTOPILOT_CAPABILITIES), the
/// first three to all components, and given up after seven; the vehicle then counts as one without capabilities.
///
/// Source: MAVLink common, HEARTBEAT (0), AUTOPILOT_VERSION (148), COMMAND_LONG (76) with 512 and 520.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.vehicle_info",
    doc: "version and capabilities of the vehicle, service vehicle_info_get",
    roles: &[Role::Decode],
    ports: &[],
    inputs: &[],
    services: &[ServiceInfo { name: "vehicle_info_get", srv_type: "mavros_msgs/srv/VehicleInfoGet" }],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, AutopilotVersion::ID]),
    cost: Cost::Queued,
    tick: Some(Duration::from_millis(500)),
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT],
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Ok(Box::new(InfoDecoder {
        rule: cx.rule.rule_id.as_str().to_owned(),
        vehicle: Vehicle::new(&Options::new(cx, &INFO)?)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        table: BTreeMap::new(),
        asking: None,
        flight_sw_version: 0,
        changes: LogThrottle::default(),
    }))
}

struct InfoDecoder {
    rule: String,
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    /// By system and component.
    table: BTreeMap<(u8, u8), VehicleInfo>,
    asking: Option<Asking>,
    /// The autopilot's version as last told, and when that was logged.
    flight_sw_version: u32,
    changes: LogThrottle,
}

/// The vehicle has not told its version yet.
#[derive(Clone, Copy)]
struct Asking {
    due: Instant,
    asked: u32,
}

impl Decoder for InfoDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        match packet.msgid {
            Heartbeat::ID => self.heartbeat(&packet, frame.received, out),
            AutopilotVersion::ID => self.version(&packet, frame.received, out),
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.vehicle.fell_silent(now) {
            self.table.clear();
            self.asking = None;
            self.changes = LogThrottle::default();
            self.uas.set_capabilities(None);
        }
        self.ask(now, out);
        if self.changes.due(now).is_some() {
            self.log_version();
        }
    }

    fn next_due(&self) -> Option<Instant> {
        [self.asking.map(|asking| asking.due), self.changes.next_due()].into_iter().flatten().min()
    }

    fn call(
        &mut self,
        _: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let malformed = |_| EncodeError::Cdr("VehicleInfoGet");
        let request: VehicleInfoGetRequest = from_cdr(request).map_err(malformed)?;
        let vehicles: Vec<VehicleInfo> = if request.get_all {
            self.table.values().cloned().collect()
        } else {
            let of_target = (self.uas.target_system(), self.uas.target_component());
            let wanted = match (request.sysid, request.compid) {
                (0, 0) => of_target,
                ids => ids,
            };
            self.table.get(&wanted).cloned().into_iter().collect()
        };
        let success = request.get_all || !vehicles.is_empty();
        out.answer(call, &VehicleInfoGetResponse { success, vehicles });
        Ok(())
    }
}

impl InfoDecoder {
    fn heartbeat(&mut self, packet: &Packet<'_>, at: Instant, out: &mut Emit<'_>) {
        if self.vehicle.heartbeat(packet, at).is_some_and(|beat| beat.connects) {
            self.uas.set_capabilities(None);
            self.asking = Some(Asking { due: at, asked: 0 });
            self.ask(at, out);
        }
        let m = Heartbeat::decode(packet.payload);
        let Some(info) = self.entry(packet) else { return };
        ros::stamp(&mut info.header, out.stamp());
        info.available_info |= VehicleInfo::HAVE_INFO_HEARTBEAT;
        info.autopilot = m.autopilot;
        info.r#type = m.kind;
        info.system_status = m.system_status;
        info.base_mode = m.base_mode;
        info.custom_mode = m.custom_mode;
        mode::write_name(&mut info.mode, m.autopilot, m.kind, m.base_mode, m.custom_mode);
        let custom = m.base_mode & mode::CUSTOM_MODE_ENABLED != 0;
        info.mode_id = if custom { m.custom_mode } else { m.base_mode.into() };
    }

    fn version(&mut self, packet: &Packet<'_>, at: Instant, out: &mut Emit<'_>) {
        let m = AutopilotVersion::decode(packet.payload);
        let autopilot = packet.compid == self.uas.target_component();
        if autopilot {
            self.asking = None;
            let changed = self.uas.capabilities() != Some(m.capabilities);
            self.uas.set_capabilities(Some(m.capabilities));
            self.flight_sw_version = m.flight_sw_version;
            if changed && self.changes.event(at).is_some() {
                self.log_version();
            }
        }
        let Some(info) = self.entry(packet) else { return };
        ros::stamp(&mut info.header, out.stamp());
        info.available_info |= VehicleInfo::HAVE_INFO_AUTOPILOT_VERSION;
        info.capabilities = m.capabilities;
        info.flight_sw_version = m.flight_sw_version;
        info.middleware_sw_version = m.middleware_sw_version;
        info.os_sw_version = m.os_sw_version;
        info.board_version = m.board_version;
        info.flight_custom_version.clear();
        // A String takes whatever is written.
        let written =
            write!(info.flight_custom_version, "{:016x}", u64::from_le_bytes(m.flight_custom_version));
        debug_assert!(written.is_ok(), "a string takes all text");
        info.vendor_id = m.vendor_id;
        info.product_id = m.product_id;
        info.uid = m.uid;
    }

    fn log_version(&self) {
        let (rule, capabilities) = (&self.rule, self.uas.capabilities().unwrap_or(0));
        let [major, minor, patch, kind] = self.flight_sw_version.to_be_bytes();
        tracing::info!(%rule, capabilities, "VER: flight software {major}.{minor}.{patch} ({kind:02x})");
    }

    /// The component's entry; `None` when there are too many, which is no real system.
    fn entry(&mut self, packet: &Packet<'_>) -> Option<&mut VehicleInfo> {
        let ids = (packet.sysid, packet.compid);
        if self.table.len() >= MAX_ENTRIES && !self.table.contains_key(&ids) {
            return None;
        }
        let fresh = || VehicleInfo { sysid: ids.0, compid: ids.1, ..VehicleInfo::default() };
        Some(self.table.entry(ids).or_insert_with(fresh))
    }

    fn ask(&mut self, now: Instant, out: &mut Emit<'_>) {
        let Some(asking) = self.asking.filter(|asking| now >= asking.due) else { return };
        if asking.asked >= ATTEMPTS {
            self.asking = None;
            self.uas.set_capabilities(Some(0));
            tracing::warn!(rule = %self.rule, "VER: the vehicle does not tell its version; it counts as one without capabilities");
            return;
        }
        let (target_system, target_component) = match asking.asked < BROADCASTS {
            true => (0, 0),
            false => (self.uas.target_system(), self.uas.target_component()),
        };
        let forms = [(REQUEST_AUTOPILOT_CAPABILITIES, 1.0), (REQUEST_MESSAGE, AUTOPILOT_VERSION)];
        for (command, param1) in forms {
            let zero = CommandLong::decode(&[]);
            let request = CommandLong { param1, command, target_system, target_component, ..zero };
            if !self.talker.send(&request, out) {
                return;
            }
        }
        self.asking = Some(Asking { due: now + INTERVAL, asked: asking.asked + 1 });
    }
}

/// `MAV_CMD`.
const REQUEST_MESSAGE: u16 = 512;
const REQUEST_AUTOPILOT_CAPABILITIES: u16 = 520;
/// The message's id as a command's parameter.
const AUTOPILOT_VERSION: f32 = 148.0;
const INTERVAL: Duration = Duration::from_secs(1);
/// Requests to all components, and requests at all.
const BROADCASTS: u32 = 3;
const ATTEMPTS: u32 = 7;
/// Systems with any system id share one table.
const MAX_ENTRIES: usize = 256;
