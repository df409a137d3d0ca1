//! `mavlink.param`: the vehicle's parameters as a ROS node's.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{
        CallId, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port, Role,
        ServiceInfo,
    },
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::{
    mavros_msgs::{
        msg::ParamEvent,
        srv::{ParamGetRequest, ParamPullRequest, ParamPullResponse},
    },
    rcl_interfaces::{
        msg::{ParameterEvent, SetParametersResult},
        srv::{
            DescribeParametersRequest, GetParameterTypesRequest, GetParametersRequest,
            SetParametersAtomicallyResponse,
        },
    },
};

use super::{
    event::Events,
    list::{Ask, End, Listing},
    service::{self, read},
    sets::Sets,
    setting::{Batch, Wish},
    table::{self, Refused, Table},
    value::Encoding,
};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{AutopilotVersion, Heartbeat, Message, ParamRequestList, ParamRequestRead, ParamValue},
        relay::topic,
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// Parameters: an event for each value told, and the services that list, read and set them.
///
/// The whole list is asked for 10 s after the vehicle connects. Values that others ask for are noted too. Whole
/// numbers are integers, all others doubles. A value is sent with the type that the vehicle has told; success means
/// that the vehicle has told the wanted value.
///
/// Source: MAVLink common, PARAM_REQUEST_READ (20), PARAM_REQUEST_LIST (21), PARAM_VALUE (22), PARAM_SET (23);
/// AUTOPILOT_VERSION (148) for the encoding of whole numbers, else the autopilot of HEARTBEAT (0).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.param",
    doc: "the vehicle's parameters, as topics and as services of a ROS node",
    roles: &[Role::Decode],
    ports: &[
        topic::<ParamEvent>("event", Qos::reliable().with_depth(1000)),
        topic::<ParameterEvent>("parameter_events", Qos::reliable().with_depth(1000)),
    ],
    inputs: &[],
    services: &[
        ServiceInfo { name: "pull", srv_type: "mavros_msgs/srv/ParamPull" },
        ServiceInfo { name: "set", srv_type: "mavros_msgs/srv/ParamSetV2" },
        ServiceInfo { name: "get", srv_type: "mavros_msgs/srv/ParamGet" },
        ServiceInfo { name: "get_parameters", srv_type: "rcl_interfaces/srv/GetParameters" },
        ServiceInfo { name: "get_parameter_types", srv_type: "rcl_interfaces/srv/GetParameterTypes" },
        ServiceInfo { name: "set_parameters", srv_type: "rcl_interfaces/srv/SetParameters" },
        ServiceInfo {
            name: "set_parameters_atomically",
            srv_type: "rcl_interfaces/srv/SetParametersAtomically",
        },
        ServiceInfo { name: "describe_parameters", srv_type: "rcl_interfaces/srv/DescribeParameters" },
        ServiceInfo { name: "list_parameters", srv_type: "rcl_interfaces/srv/ListParameters" },
    ],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, ParamValue::ID, AutopilotVersion::ID]),
    cost: Cost::Queued,
    tick: None,
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT],
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let event =
        cx.link.ports.iter().find(|(port, _)| port.as_str() == "event").map(|(_, spec)| spec.name.as_str());
    let node = event.and_then(|name| name.strip_suffix("/event")).unwrap_or("/mavros/param");
    Ok(Box::new(ParamDecoder {
        rule: Arc::clone(&cx.rule.rule_id.0),
        vehicle: Vehicle::new(&Options::new(cx, &INFO)?)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        events: Events::new(node),
        encoding: None,
        table: Table::default(),
        listing: None,
        list_at: None,
        pulls: Vec::new(),
        sets: Sets::default(),
        batches: BTreeMap::new(),
        warned: false,
    }))
}

pub(super) struct ParamDecoder {
    pub(super) rule: Arc<str>,
    pub(super) vehicle: Vehicle,
    pub(super) uas: Arc<Uas>,
    pub(super) talker: Talker,
    events: Events,
    /// As AUTOPILOT_VERSION says.
    encoding: Option<Encoding>,
    pub(super) table: Table,
    listing: Option<Listing>,
    /// When to ask for the list unasked.
    list_at: Option<Instant>,
    /// Calls that wait for the list.
    pulls: Vec<CallId>,
    pub(super) sets: Sets<Wish>,
    /// Calls that set several, with what became of each.
    pub(super) batches: BTreeMap<CallId, Batch>,
    /// A full table was told of.
    warned: bool,
}

impl Decoder for ParamDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        let now = frame.received;
        self.check_connection(now, out);
        match packet.msgid {
            Heartbeat::ID if self.vehicle.heartbeat(&packet, now).is_some_and(|beat| beat.connects) => {
                self.list_at = Some(now + FIRST_LIST);
            }
            _ if packet.compid != self.uas.target_component() => {}
            ParamValue::ID => self.told(&ParamValue::decode(packet.payload), now, out),
            AutopilotVersion::ID => {
                let capabilities = AutopilotVersion::decode(packet.payload).capabilities;
                self.encoding = match (capabilities & BYTEWISE != 0, capabilities & C_CAST != 0) {
                    (true, false) => Some(Encoding::Bytewise),
                    (false, true) => Some(Encoding::Cast),
                    _ => None,
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.check_connection(now, out);
        if self.list_at.is_some_and(|at| at <= now) {
            self.begin_list(now, out);
        }
        let mut asks = Vec::new();
        let end = self.listing.as_mut().and_then(|listing| listing.tick(now, &mut asks));
        self.ask(&asks, out);
        self.end_list(end, out);
        let mut steps = Vec::new();
        self.sets.tick(now, &mut steps);
        self.carry_out(steps, out);
    }

    fn next_due(&self) -> Option<Instant> {
        let listing = self.listing.as_ref().map(Listing::next_due);
        [listing, self.sets.next_due(), self.list_at, self.vehicle.silent_at()].into_iter().flatten().min()
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let now = out.received();
        self.check_connection(now, out);
        let table = &self.table;
        match INFO.services.get(usize::from(service.0)).map_or("", |service| service.name) {
            "pull" => self.pull(call, read::<ParamPullRequest>(request)?.force_pull, now, out),
            "set" => self.set_one(call, read(request)?, now, out),
            "get" => out.answer(call, &service::one(table, &read::<ParamGetRequest>(request)?.param_id)),
            "get_parameters" => {
                out.answer(call, &service::values(table, &read::<GetParametersRequest>(request)?.names));
            }
            "get_parameter_types" => {
                out.answer(call, &service::types(table, &read::<GetParameterTypesRequest>(request)?.names));
            }
            "set_parameters" => self.set_many(call, read(request)?, now, out),
            "set_parameters_atomically" => {
                let reason = "A vehicle sets its parameters one by one".to_owned();
                let result = SetParametersResult { successful: false, reason };
                out.answer(call, &SetParametersAtomicallyResponse { result });
            }
            "describe_parameters" => {
                let names = read::<DescribeParametersRequest>(request)?.names;
                out.answer(call, &service::descriptors(table, names));
            }
            _ => out.answer(call, &service::names(table)),
        }
        Ok(())
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        self.stop(out);
    }
}

impl ParamDecoder {
    fn check_connection(&mut self, now: Instant, out: &mut Emit<'_>) {
        if self.vehicle.fell_silent(now) {
            self.stop(out);
            self.encoding = None;
            let gone = self.table.clear();
            self.events.deleted(gone, out);
        }
    }

    /// All calls fail.
    fn stop(&mut self, out: &mut Emit<'_>) {
        self.list_at = None;
        self.listing = None;
        self.answer_pulls(false, out);
        let mut steps = Vec::new();
        self.sets.cancel(&mut steps);
        self.carry_out(steps, out);
    }

    pub(super) fn encoding(&self) -> Encoding {
        let usual =
            if self.vehicle.autopilot == AUTOPILOT_ARDUPILOT { Encoding::Cast } else { Encoding::Bytewise };
        self.encoding.unwrap_or(usual)
    }

    /// The vehicle has told a value, whoever asked for it.
    fn told(&mut self, m: &ParamValue, now: Instant, out: &mut Emit<'_>) {
        let encoding = self.encoding();
        let name = table::name(&m.param_id);
        match name.and_then(|name| Ok((name, self.table.note(name, m, encoding)?))) {
            Ok((name, (param, is_new))) => {
                self.events.told(name, &param, is_new, out);
                let mut steps = Vec::new();
                self.sets.heard(name, param.value, now, &mut steps);
                self.carry_out(steps, out);
            }
            Err(Refused::Full) if !self.warned => {
                self.warned = true;
                tracing::warn!(
                    rule = %self.rule,
                    parameters = self.table.len(),
                    "the vehicle tells of ever more parameters; no more are kept"
                );
            }
            Err(reason) => tracing::debug!(?reason, index = m.param_index, "a parameter is left out"),
        }
        let mut asks = Vec::new();
        let (index, count) = (m.param_index, m.param_count);
        let end = self.listing.as_mut().and_then(|listing| listing.heard(index, count, now, &mut asks));
        self.ask(&asks, out);
        self.end_list(end, out);
    }

    fn begin_list(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.list_at = None;
        if self.listing.is_none() {
            self.table.begin();
            let mut asks = Vec::new();
            self.listing = Some(Listing::new(now, &mut asks));
            self.ask(&asks, out);
        }
    }

    fn end_list(&mut self, end: Option<End>, out: &mut Emit<'_>) {
        let Some(end) = end else { return };
        self.listing = None;
        match end {
            End::Whole => {
                tracing::info!(rule = %self.rule, parameters = self.table.len(), "the vehicle's parameters are here");
                let gone = self.table.forget_stale();
                self.events.deleted(gone, out);
            }
            End::Missing(missing) => {
                tracing::warn!(rule = %self.rule, missing, "some parameters do not come")
            }
            End::Silence => tracing::warn!(rule = %self.rule, "the vehicle does not tell its parameters"),
        }
        self.answer_pulls(end != End::Silence, out);
    }

    fn answer_pulls(&mut self, success: bool, out: &mut Emit<'_>) {
        let response = ParamPullResponse { success, param_received: self.count() };
        for call in self.pulls.drain(..) {
            out.answer(call, &response);
        }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.table.len()).unwrap_or(u32::MAX)
    }

    fn pull(&mut self, call: CallId, force: bool, now: Instant, out: &mut Emit<'_>) {
        let has_list = self.listing.is_none() && self.table.len() > 0;
        if !self.vehicle.is_connected(now) || (has_list && !force) {
            let success = self.vehicle.is_connected(now);
            return out.answer(call, &ParamPullResponse { success, param_received: self.count() });
        }
        self.pulls.push(call);
        self.begin_list(now, out);
    }

    fn ask(&mut self, asks: &[Ask], out: &mut Emit<'_>) {
        let (target_system, target_component) = (self.uas.target_system(), self.uas.target_component());
        for ask in asks {
            match ask {
                Ask::List => self.talker.send(&ParamRequestList { target_system, target_component }, out),
                Ask::Place(place) => {
                    // The field has no room for more.
                    let Ok(param_index) = i16::try_from(*place) else { continue };
                    let read =
                        ParamRequestRead { param_index, target_system, target_component, param_id: [0; 16] };
                    self.talker.send(&read, out)
                }
            };
        }
    }
}

/// From the connection to the first list: MAVROS leaves the vehicle time to boot.
const FIRST_LIST: Duration = Duration::from_secs(10);
/// Bits of `MAV_PROTOCOL_CAPABILITY`.
const BYTEWISE: u64 = 16;
const C_CAST: u64 = 131_072;
/// `MAV_AUTOPILOT_ARDUPILOTMEGA`.
const AUTOPILOT_ARDUPILOT: u8 = 3;
