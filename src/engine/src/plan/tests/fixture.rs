//! Codecs without behaviour, and rules in few words.

use std::{path::Path, sync::Arc};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    codec::{
        Caller, Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Encoder,
        Exchange, FrameOut, Interest, PortInfo, Reply, Retry, Role, Sample, ServiceInfo,
    },
    emit::Emit,
    rule::{CodecName, Device, Direction, LinkConfig, MavUrl, RuleId, SerialSpec, Source, Target, UdpBind},
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::{Frame, Framing},
};
use rostrans_schema::TypeName;

use super::super::*;

pub(super) struct Fake(&'static CodecInfo);
pub(super) struct Instance;

impl Codec for Fake {
    fn info(&self) -> &'static CodecInfo {
        self.0
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        match cx.link.options.0.get("sysid") {
            Some(value) if !value.is_u64() => Err(CodecError::Option {
                option: "sysid".to_owned(),
                problem: format!("must be 1 to 255, not {value}"),
            }),
            _ => Ok(Box::new(Instance)),
        }
    }

    fn encoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Encoder>, CodecError> {
        Ok(Box::new(Instance))
    }

    fn exchange(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Exchange>, CodecError> {
        let service = cx.link.service.as_ref().map(|service| service.srv_type.as_str());
        if service == Some("mavros_msgs/srv/CommandBool") {
            return Ok(Box::new(Instance));
        }
        Err(CodecError::Type("the service must be mavros_msgs/srv/CommandBool".to_owned()))
    }

    fn caller(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Caller>, CodecError> {
        Ok(Box::new(Instance))
    }
}

impl Decoder for Instance {
    fn decode(&mut self, _frame: &Frame<'_>, _out: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Encoder for Instance {
    fn encode(&mut self, _sample: &Sample, _out: &mut FrameOut) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl Exchange for Instance {
    fn request(&mut self, _request: &CdrBytes, _out: &mut FrameOut) -> Result<(), EncodeError> {
        Ok(())
    }

    fn response(&mut self, _frame: &Frame<'_>) -> Result<Reply, DecodeError> {
        Ok(Reply::Unrelated)
    }

    fn timed_out(&mut self, _attempt: u32, _out: &mut FrameOut) -> Retry {
        Retry::GiveUp(None)
    }
}

impl Caller for Instance {
    fn request(&mut self, _frame: &Frame<'_>) -> Result<Option<CdrBytes>, DecodeError> {
        Ok(None)
    }

    fn response(
        &mut self,
        _response: Result<&CdrBytes, &str>,
        _out: &mut FrameOut,
    ) -> Result<(), EncodeError> {
        Ok(())
    }
}

pub(super) static RAW: CodecInfo = CodecInfo {
    name: "raw_bytes",
    doc: "",
    roles: &[Role::Decode, Role::Encode],
    ports: &[PortInfo {
        name: "data",
        msg_type: Some("std_msgs/msg/UInt8MultiArray"),
        qos: Qos::sensor_data(),
    }],
    inputs: &[],
    services: &[],
    framing: Framing::Datagram,
    interest: Interest::All,
    cost: Cost::Queued,
    tick: None,
    options: &[],
};
pub(super) static JSON: CodecInfo = CodecInfo {
    name: "json",
    roles: &[Role::Decode, Role::Encode, Role::Caller],
    ports: &[PortInfo { name: "data", msg_type: None, qos: Qos::sensor_data() }],
    ..RAW
};
pub(super) static IMU: CodecInfo = CodecInfo {
    name: "mavlink.imu",
    roles: &[Role::Decode],
    ports: &[
        PortInfo { name: "data", msg_type: Some("sensor_msgs/msg/Imu"), qos: Qos::sensor_data() },
        PortInfo { name: "data_raw", msg_type: Some("sensor_msgs/msg/Imu"), qos: Qos::sensor_data() },
    ],
    framing: Framing::Mavlink,
    options: &[("sysid", "vehicle"), ("frame_id", "frame of the data")],
    ..RAW
};
pub(super) static RANGE: CodecInfo = CodecInfo {
    name: "range",
    ports: &[PortInfo { name: "range", msg_type: Some("sensor_msgs/msg/Range"), qos: Qos::sensor_data() }],
    ..RAW
};
/// Reads a topic and answers a service.
pub(super) static TALK: CodecInfo = CodecInfo {
    name: "talk",
    inputs: &[PortInfo { name: "cmd", msg_type: Some("sensor_msgs/msg/Range"), qos: Qos::sensor_data() }],
    services: &[ServiceInfo { name: "set", srv_type: "std_srvs/srv/SetBool" }],
    roles: &[Role::Decode],
    ..RAW
};
/// Cannot be reached by what it reads.
pub(super) static HASTY: CodecInfo = CodecInfo { name: "hasty", cost: Cost::Inline, ..TALK };
/// Answers and publishes nothing.
pub(super) static MUTE: CodecInfo = CodecInfo { name: "mute", ports: &[], ..TALK };
pub(super) static ARMING: CodecInfo = CodecInfo {
    name: "mavlink.arming",
    roles: &[Role::Exchange],
    ports: &[],
    framing: Framing::Mavlink,
    ..RAW
};

pub(super) fn codecs() -> CodecRegistry {
    let mut registry = CodecRegistry::new();
    for info in [&RAW, &JSON, &IMU, &RANGE, &TALK, &HASTY, &MUTE, &ARMING] {
        registry.register(Arc::new(Fake(info))).unwrap();
    }
    registry
}

pub(super) fn run(rules: Vec<ForwardRule>, filter: &str) -> Result<Planned, Vec<Diagnostic>> {
    run_with(rules, filter, TypeRegistry::bundled())
}

pub(super) fn run_with(
    rules: Vec<ForwardRule>,
    filter: &str,
    types: TypeRegistry,
) -> Result<Planned, Vec<Diagnostic>> {
    run_in(rules, filter, types, &[Fabric::Dds])
}

pub(super) fn run_in(
    rules: Vec<ForwardRule>,
    filter: &str,
    types: TypeRegistry,
    adapters: &[Fabric],
) -> Result<Planned, Vec<Diagnostic>> {
    let filter = TopicFilter::parse(Path::new("rostrans.filter"), filter, &mut Vec::new());
    let types = Arc::new(types);
    let cx = PlanContext {
        filter: &filter,
        codecs: &codecs(),
        types: &types,
        adapters,
        own_addresses: &["192.168.1.5".parse().unwrap(), "fd00::5".parse().unwrap()],
    };
    plan(rules, &cx)
}

pub(super) fn problems(rules: Vec<ForwardRule>) -> String {
    let found = match run(rules, "") {
        Ok(planned) => planned.warnings,
        Err(problems) => problems,
    };
    let severity = |d: &Diagnostic| if d.is_error() { "error" } else { "warning" };
    found.iter().map(|d| format!("{}: {d}\n", severity(d))).collect()
}

/// Line numbers tell the rules of a test apart.
pub(super) fn at(line: u32) -> Origin {
    Origin::file(Path::new("r.yaml"), line)
}

pub(super) fn rule(line: u32, direction: Direction, source: Source, links: Vec<LinkConfig>) -> ForwardRule {
    let id = format!("r{line}");
    ForwardRule { source, links, ..ForwardRule::new(&*id, direction, at(line)) }
}

pub(super) fn udp(text: &str) -> Source {
    Source::Udp(UdpBind::new(text.parse().unwrap()))
}

pub(super) fn tty(text: &str) -> Source {
    Source::Serial(SerialSpec::parse(text, None).unwrap())
}

pub(super) fn url(text: &str) -> Device {
    MavUrl::parse(text).unwrap().device
}

pub(super) fn station(line: u32, text: &str) -> LinkConfig {
    LinkConfig { target: Some(Target::Device(url(text))), ..LinkConfig::new("l", None, at(line)) }
}

pub(super) fn to(text: &str) -> Option<Target> {
    Some(Target::Udp(text.parse().unwrap()))
}

pub(super) fn to_tty(text: &str) -> Option<Target> {
    Some(Target::Serial(SerialSpec::parse(text, None).unwrap()))
}

pub(super) fn link(line: u32, codec: &str) -> LinkConfig {
    LinkConfig::new("l", Some(CodecName::from(codec)), at(line))
}

pub(super) fn topic(name: &str, msg_type: &str) -> TopicSpec {
    TopicSpec {
        name: TopicName::parse(name).unwrap(),
        msg_type: TypeName::message(msg_type).unwrap(),
        qos: Qos::sensor_data(),
    }
}

pub(super) fn raw(line: u32, name: &str) -> LinkConfig {
    LinkConfig { topic: Some(topic(name, "std_msgs/UInt8MultiArray")), ..link(line, "raw_bytes") }
}

pub(super) fn imu(line: u32, name: &str) -> LinkConfig {
    LinkConfig { topic: Some(topic(name, "sensor_msgs/Imu")), ..link(line, "mavlink.imu") }
}

pub(super) fn service(line: u32, codec: &str, name: &str, srv_type: &str) -> LinkConfig {
    let name = TopicName::parse(name).unwrap();
    let srv_type = TypeName::service(srv_type).unwrap();
    LinkConfig { service: Some(ServiceSpec { name, srv_type }), ..link(line, codec) }
}

/// A link of `talk` that publishes, reads and answers under these names; an empty one is not bound.
pub(super) fn talk(line: u32, published: &str, read: &str, answered: &str) -> LinkConfig {
    let mut link = link(line, "talk");
    if !published.is_empty() {
        link.ports.insert("data".into(), topic(published, "std_msgs/UInt8MultiArray"));
    }
    if !read.is_empty() {
        link.ports.insert("cmd".into(), topic(read, "sensor_msgs/Range"));
    }
    if !answered.is_empty() {
        let name = TopicName::parse(answered).unwrap();
        let srv_type = TypeName::service("std_srvs/SetBool").unwrap();
        link.services.insert("set".into(), ServiceSpec { name, srv_type });
    }
    link
}

pub(super) fn endpoint(line: u32, target: &str) -> LinkConfig {
    LinkConfig { target: to(target), ..LinkConfig::new("l", None, at(line)) }
}

/// A topology in few lines.
pub(super) fn sketch(topology: &Topology) -> String {
    let mut text = String::new();
    for (index, t) in topology.transports.iter().enumerate() {
        text += &format!("T{index} {} {:?}", t.device, t.framing);
        if let Some(route) = &t.route {
            text +=
                &format!(" route {} -> {:?} upstream {:?}", route.rule_id, route.endpoints, route.upstream);
        }
        text += "\n";
    }
    for p in &topology.pipelines {
        let links: Vec<_> = p.rule.links.iter().map(|l| l.link_name.as_str()).collect();
        let source = p.source.map(|id| id.0);
        text += &format!(
            "{} {} source {source:?} targets {:?} {links:?}\n",
            p.rule.rule_id, p.rule.direction, p.targets
        );
    }
    for hub in &topology.hubs {
        let vehicles: Vec<_> = hub.vehicles.iter().map(|id| id.0).collect();
        let rules: Vec<_> = hub.rules.iter().map(RuleId::as_str).collect();
        text += &format!("hub {rules:?} T{vehicles:?} <-> T{}\n", hub.stations.0);
    }
    for t in &topology.trimmed {
        text += &format!("trimmed {}/{} {} by {}\n", t.rule_id, t.link_name, t.name, t.by);
    }
    text + &format!("disabled {:?}", topology.disabled.iter().map(RuleId::as_str).collect::<Vec<_>>())
}
