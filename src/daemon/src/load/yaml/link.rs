//! The keys of a link.

use std::{collections::BTreeMap, rc::Rc};

use rostrans_core::{
    codec::{CodecInfo, PortInfo},
    rule::{CodecName, CodecOptions, Direction, LinkConfig, PortName, RateLimit, Target},
    suggest::did_you_mean,
    text::excerpt,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::TypeName;

use super::{
    fields::{Cx, Fields},
    rule::{place, udp_target},
    tree::{Entry, Kind, Node},
    value,
};

/// Reads the links of a rule; those with an error are left out.
pub(super) fn links(
    items: &[Rc<Node>],
    direction: Option<Direction>,
    default_target: Option<&Target>,
    cx: &mut Cx<'_>,
) -> Vec<LinkConfig> {
    let mut links: Vec<LinkConfig> = Vec::new();
    for (number, node) in (1u32..).zip(items) {
        let Some(link) = read(node, number, direction, default_target, cx) else { continue };
        if links.iter().any(|other| other.link_name == link.link_name) {
            let message = format!("link_name '{}' is given twice", excerpt(link.link_name.as_str()));
            cx.error(node.line, message, "give each link of a rule its own name");
        }
        links.push(link);
    }
    links
}

fn read(
    node: &Node,
    number: u32,
    direction: Option<Direction>,
    default_target: Option<&Target>,
    cx: &mut Cx<'_>,
) -> Option<LinkConfig> {
    let mut fields = Fields::open(node, "a link", cx)?;
    let name = fields.take("link_name");
    let origin = place(name, &fields, cx);
    let link_name = name.and_then(|entry| value::text(entry, cx)).filter(|text| !text.is_empty());
    let link_name = link_name.map_or_else(|| format!("link{number}"), str::to_owned);
    let codec = fields.take("codec").and_then(|entry| Some((entry, value::text(entry, cx)?)));
    let info = codec.and_then(|(_, name)| cx.codecs.get(name)).map(|codec| codec.info());
    let binding = Binding { direction, codec, info };

    let mut nested =
        fields.take("send_ros_config").and_then(|entry| Fields::open(&entry.value, "'send_ros_config'", cx));
    let bridges = direction == Some(Direction::RostopicToRostopic);
    let qos_as_offered = bridges && !fields.has("qos") && !nested.as_ref().is_some_and(|n| n.has("qos"));
    let topic = binding.topic(&mut fields, nested.as_mut(), cx);
    let to_topic = if bridges { fields.take("to_topic") } else { None };
    let to_topic = to_topic.and_then(|entry| self::name(entry, cx));
    let service = service(&mut fields, nested.as_mut(), cx);
    if let Some(nested) = nested {
        nested.finish("'send_ros_config'", cx);
    }
    let ports = fields.take("ports").map(|entry| binding.ports(entry, cx)).unwrap_or_default();
    let services = fields.take("services").map(|entry| binding.services(entry, cx)).unwrap_or_default();

    let serial = fields.take("serial_port");
    let udp = udp_target(&mut fields, cx);
    if let (Some(entry), Some(_)) = (serial, &udp) {
        cx.error(entry.line, "a link has either 'serial_port' or 'udp_dst_ip'", "make one link for each");
    }
    let url = fields.take("url");
    if let (Some(entry), true) = (url, serial.is_some() || udp.is_some()) {
        cx.error(entry.line, "a link has either 'url' or another target", "make one link for each");
    }
    let url = url.and_then(|entry| value::url(entry, cx)).map(Target::Device);
    let serial = serial.and_then(|entry| value::serial(entry, cx)).map(Target::Serial);
    let rate = fields.take("rate_limit").and_then(|entry| value::rate(entry, cx));
    let options = match fields.take("options").map(|entry| &entry.value) {
        None => CodecOptions::default(),
        Some(node) => match &node.kind {
            Kind::Map(entries) => CodecOptions(value::object(entries)),
            Kind::List(_) | Kind::Scalar { .. } => {
                let message = format!("'options' must be a block of 'key: value', not {}", node.describe());
                cx.error(node.line, message, "see --list-codecs for a codec's options");
                CodecOptions::default()
            }
        },
    };
    fields.finish(&format!("link '{}'", excerpt(&link_name)), cx);
    Some(LinkConfig {
        topic,
        to_topic,
        qos_as_offered,
        ports,
        services,
        service,
        target: url.or(serial).or(udp).or_else(|| default_target.cloned()),
        // 0 is the manual's spelling of "no limit".
        rate_limit: rate.filter(|rate| *rate > 0.0).map(RateLimit),
        options,
        ..LinkConfig::new(&*link_name, codec.map(|(_, name)| CodecName::from(name)), origin)
    })
}

/// What a topic's missing type and QoS are taken from.
struct Binding<'n> {
    direction: Option<Direction>,
    codec: Option<(&'n Entry, &'n str)>,
    info: Option<&'static CodecInfo>,
}

impl Binding<'_> {
    /// `topic`, `msg_type`, `qos` in the link or in `send_ros_config`.
    fn topic(
        &self,
        fields: &mut Fields<'_>,
        mut nested: Option<&mut Fields<'_>>,
        cx: &mut Cx<'_>,
    ) -> Option<TopicSpec> {
        let mut either = |key: &'static str, cx: &mut Cx<'_>| {
            let outer = fields.take(key);
            let inner = nested.as_mut().and_then(|nested| nested.take(key));
            if let (Some(_), Some(inner)) = (outer, inner) {
                let message = format!("'{key}' is given both in the link and in 'send_ros_config'");
                cx.error(inner.line, message, "delete one of them");
            }
            outer.or(inner)
        };
        let (topic, msg_type, qos) = (either("topic", cx), either("msg_type", cx), either("qos", cx));
        let first = self.info.and_then(|info| info.ports.first());
        match topic {
            Some(topic) => self.spec(topic, msg_type, qos, first, cx),
            None => {
                if let Some(entry) = msg_type.or(qos) {
                    cx.error(entry.line, format!("'{}' without 'topic'", entry.key), "add 'topic: /name'");
                }
                None
            }
        }
    }

    /// `ports: {name: {topic, msg_type, qos}}`, or `name: /topic` for short; the codec's inputs are among them.
    fn ports(&self, entry: &Entry, cx: &mut Cx<'_>) -> BTreeMap<PortName, TopicSpec> {
        let mut ports = BTreeMap::new();
        let Kind::Map(entries) = &entry.value.kind else {
            let message = format!("'ports' must be a block of port names, not {}", entry.value.describe());
            cx.error(entry.line, message, "write 'ports: {name: {topic: /a, msg_type: pkg/msg/Type}}'");
            return ports;
        };
        for port in entries {
            let known = self.info.map(|info| info.ports.iter().chain(info.inputs));
            let info = known.clone().and_then(|mut ports| ports.find(|info| info.name == port.key));
            if let (Some(known), None) = (known, info) {
                unknown(port, "port", known.map(|info| info.name), cx);
                continue;
            }
            let spec = match &port.value.kind {
                Kind::Scalar { .. } => self.spec(port, None, None, info, cx),
                Kind::List(_) | Kind::Map(_) => {
                    let what = format!("port '{}'", excerpt(&port.key));
                    let Some(mut fields) = Fields::open(&port.value, &what, cx) else { continue };
                    let topic = fields.take("topic");
                    let (msg_type, qos) = (fields.take("msg_type"), fields.take("qos"));
                    fields.finish(&what, cx);
                    match topic {
                        Some(topic) => self.spec(topic, msg_type, qos, info, cx),
                        None => {
                            cx.error(port.line, format!("{what} has no 'topic'"), "add 'topic: /name'");
                            None
                        }
                    }
                }
            };
            if let Some(spec) = spec {
                ports.insert(PortName::from(port.key.as_str()), spec);
            }
        }
        ports
    }

    /// `services: {name: {service, srv_type}}`, or `name: /service` for short.
    fn services(&self, entry: &Entry, cx: &mut Cx<'_>) -> BTreeMap<PortName, ServiceSpec> {
        let mut services = BTreeMap::new();
        let Kind::Map(entries) = &entry.value.kind else {
            let message =
                format!("'services' must be a block of service names, not {}", entry.value.describe());
            cx.error(entry.line, message, "write 'services: {name: {service: /a}}'");
            return services;
        };
        for answered in entries {
            let known = self.info.map(|info| info.services);
            let info = known.and_then(|services| services.iter().find(|info| info.name == answered.key));
            if let (Some(known), None) = (known, info) {
                unknown(answered, "service", known.iter().map(|info| info.name), cx);
                continue;
            }
            let what = format!("service '{}'", excerpt(&answered.key));
            let (service, srv_type) = match &answered.value.kind {
                Kind::Scalar { .. } => (Some(answered), None),
                Kind::List(_) | Kind::Map(_) => {
                    let Some(mut fields) = Fields::open(&answered.value, &what, cx) else { continue };
                    let service = fields.take_either("service", "service_name", cx);
                    let srv_type = fields.take_either("srv_type", "service_type", cx);
                    fields.finish(&what, cx);
                    (service, srv_type)
                }
            };
            let Some(service) = service else {
                cx.error(answered.line, format!("{what} has no 'service'"), "add 'service: /name'");
                continue;
            };
            let srv_type = match (srv_type, info) {
                (Some(entry), _) => parsed_type(entry, TypeName::service, cx),
                (None, Some(info)) => TypeName::service(info.srv_type).ok(),
                // The unknown codec is reported with the plan.
                (None, None) => None,
            };
            if let (Some(name), Some(srv_type)) = (name(service, cx), srv_type) {
                services.insert(PortName::from(answered.key.as_str()), ServiceSpec { name, srv_type });
            }
        }
        services
    }

    fn spec(
        &self,
        topic: &Entry,
        msg_type: Option<&Entry>,
        qos: Option<&Entry>,
        port: Option<&PortInfo>,
        cx: &mut Cx<'_>,
    ) -> Option<TopicSpec> {
        let name = name(topic, cx);
        let msg_type = match msg_type {
            Some(entry) => parsed_type(entry, TypeName::message, cx),
            None => self.fixed_type(topic, port, cx),
        };
        // What a codec publishes has the codec's QoS; what it reads is asked for best effort, which every
        // publisher can serve.
        let publishes = !matches!(self.direction, Some(Direction::RostopicToUdp | Direction::RosToSerial));
        let base = port.filter(|_| publishes).map_or(Qos::sensor_data(), |port| port.qos);
        let qos = qos.map_or(base, |entry| value::qos(entry, base, cx));
        Some(TopicSpec { name: name?, msg_type: msg_type?, qos })
    }

    /// The type of a port that has only one.
    fn fixed_type(&self, topic: &Entry, port: Option<&PortInfo>, cx: &mut Cx<'_>) -> Option<TypeName> {
        if let Some(fixed) = port.and_then(|port| port.msg_type) {
            return TypeName::message(fixed).ok();
        }
        if let (Some((entry, name)), None) = (self.codec, self.info) {
            let problem = rostrans_engine::plan::unknown_codec(cx.codecs, name, cx.origin(entry.line));
            cx.problems.push(problem);
        } else {
            cx.error(topic.line, "topic without 'msg_type'", "add e.g. 'msg_type: std_msgs/msg/String'");
        }
        None
    }
}

/// The codec has no port or service of that name.
fn unknown(entry: &Entry, kind: &str, names: impl Iterator<Item = &'static str>, cx: &mut Cx<'_>) {
    let names: Vec<_> = names.collect();
    let otherwise =
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
    let help = did_you_mean(&entry.key, names.iter().copied(), otherwise);
    cx.error(entry.line, format!("the codec has no {kind} '{}'", excerpt(&entry.key)), help);
}

/// `service`/`service_name` and `srv_type`/`service_type`, in the link or in `send_ros_config`.
fn service(
    fields: &mut Fields<'_>,
    mut nested: Option<&mut Fields<'_>>,
    cx: &mut Cx<'_>,
) -> Option<ServiceSpec> {
    let mut either = |key, other, cx: &mut Cx<'_>| {
        let outer = fields.take_either(key, other, cx);
        let inner = nested.as_mut().and_then(|nested| nested.take_either(key, other, cx));
        outer.or(inner)
    };
    match (either("service", "service_name", cx), either("srv_type", "service_type", cx)) {
        (Some(service), Some(srv_type)) => {
            let (name, srv_type) = (name(service, cx), parsed_type(srv_type, TypeName::service, cx));
            Some(ServiceSpec { name: name?, srv_type: srv_type? })
        }
        (Some(service), None) => {
            cx.error(service.line, "service without 'srv_type'", "add e.g. 'srv_type: std_srvs/srv/SetBool'");
            None
        }
        (None, Some(srv_type)) => {
            cx.error(srv_type.line, format!("'{}' without 'service'", srv_type.key), "add 'service: /name'");
            None
        }
        (None, None) => None,
    }
}

fn name(entry: &Entry, cx: &mut Cx<'_>) -> Option<TopicName> {
    let text = value::text(entry, cx)?;
    match TopicName::parse(text) {
        Ok(name) if text.len() <= MAX_NAME => Some(name),
        Ok(_) => {
            cx.error(entry.line, format!("name '{}' is longer than {MAX_NAME} letters", excerpt(text)), "");
            None
        }
        Err(mut error) => {
            error.0 = excerpt(&error.0);
            cx.error(entry.line, error.to_string(), "");
            None
        }
    }
}

/// What DDS allows a topic name, less the prefix ROS adds.
const MAX_NAME: usize = 240;

fn parsed_type(
    entry: &Entry,
    parse: fn(&str) -> Result<TypeName, rostrans_schema::NameError>,
    cx: &mut Cx<'_>,
) -> Option<TypeName> {
    match parse(value::text(entry, cx)?) {
        Ok(name) => Some(name),
        Err(mut error) => {
            error.0 = excerpt(&error.0);
            cx.error(entry.line, error.to_string(), "");
            None
        }
    }
}
