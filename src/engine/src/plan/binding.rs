//! Whether a link's codec, topics, service and options fit together.

use std::sync::LazyLock;

use rostrans_core::{
    codec::{Codec, CodecContext, CodecInfo, Cost, Role, port_accepts},
    diag::Diagnostic,
    rule::{ForwardRule, LinkConfig, PortName},
    suggest::did_you_mean,
    text::{chain, excerpt},
    topic::{ServiceSpec, TopicSpec},
};
use rostrans_schema::{TypeRegistry, rihs01_text};

use super::{PlanContext, check, trim, unknown_codec};

/// Checks one link of a rule that needs a codec.
pub(super) fn link(
    rule: &ForwardRule,
    link: &LinkConfig,
    cx: &PlanContext<'_>,
    problems: &mut Vec<Diagnostic>,
) {
    let Some(role) = check::role(rule.direction) else { return };
    let mut check = Check { rule, link, problems };
    let codec = link.codec.as_ref().and_then(|name| cx.codecs.get(name.as_str()));
    check.bindings(role, codec.map(|codec| codec.info()));
    let types_known = check.types(cx);
    let Some(name) = &link.codec else {
        check.error("has no codec", "add 'codec: ...'; see --list-codecs");
        return;
    };
    let Some(codec) = codec else {
        check.problems.push(unknown_codec(cx.codecs, name.as_str(), link.origin.clone()));
        return;
    };
    let info = codec.info();
    if !info.roles.contains(&role) {
        let can: Vec<_> = info.roles.iter().map(|role| ability(*role)).collect();
        let what = format!("codec '{name}' cannot {}, which {} needs", ability(role), rule.direction);
        check.error(&what, &format!("it can {}; see --list-codecs", can.join(" and ")));
        return;
    }
    let fits =
        check.task(info) & check.ports(info, cx) & check.services(role, info, cx) & check.options(info);
    if fits && types_known {
        check.build(codec.as_ref(), role, &CodecContext { rule, link, types: cx.types });
    }
}

fn ability(role: Role) -> &'static str {
    match role {
        Role::Decode => "decode frames to topics",
        Role::Encode => "encode topics to frames",
        Role::Exchange => "answer services over frames",
        Role::Caller => "call services from frames",
    }
}

struct Check<'a> {
    rule: &'a ForwardRule,
    link: &'a LinkConfig,
    problems: &'a mut Vec<Diagnostic>,
}

impl Check<'_> {
    fn error(&mut self, what: &str, help: &str) {
        let message = format!("{}: {what}", check::place(self.rule, self.link));
        self.problems.push(Diagnostic::error(self.link.origin.clone(), message, help));
    }

    /// Topics or a service, as the direction needs.
    fn bindings(&mut self, role: Role, info: Option<&CodecInfo>) {
        let link = self.link;
        let direction = self.rule.direction;
        if role != Role::Decode && !link.services.is_empty() {
            let help = "write 'direction: udp_to_rostopic' or 'serial_to_ros', or delete it";
            self.error(&format!("has 'services', but {direction} answers none of them"), help);
        }
        match role {
            Role::Decode | Role::Encode if link.service.is_some() => {
                let help = "write 'direction: udp_to_rosservice' or 'rosservice_to_udp', or name a topic";
                self.error(&format!("names a service, but {direction} uses topics"), help);
            }
            Role::Exchange | Role::Caller if link.topic.is_some() || !link.ports.is_empty() => {
                self.error(
                    &format!("names a topic, but {direction} uses a service"),
                    "write 'service' instead",
                );
            }
            _ => {}
        }
        match role {
            Role::Decode if !trim::is_bound(link) => match info {
                // A codec without topics and services has its own business with the device.
                Some(info) if info.ports.is_empty() && info.inputs.is_empty() && info.services.is_empty() => {
                }
                Some(info) if info.ports.is_empty() => {
                    self.error("reads no topic and answers no service", "add 'ports' or 'services'");
                }
                _ => self.error("publishes nothing", "add 'topic' and 'msg_type'"),
            },
            Role::Encode if link.topic.is_none() => {
                self.error("subscribes to nothing", "add 'topic' and 'msg_type'");
            }
            Role::Encode if !link.ports.is_empty() => {
                self.error("has 'ports', but a link reads one topic", "make one link for each topic");
            }
            Role::Exchange | Role::Caller if link.service.is_none() => {
                self.error("has no service", "add 'service' and 'srv_type'");
            }
            _ => {}
        }
    }

    /// True when every type is in the registry.
    fn types(&mut self, cx: &PlanContext<'_>) -> bool {
        let link = self.link;
        let mut known = true;
        for topic in link.topic.iter().chain(link.ports.values()) {
            if let Err(error) = cx.types.message(&topic.msg_type) {
                known = false;
                self.error(&format!("topic '{}': {}", topic.name, chain(&error)), "");
            }
        }
        for service in link.service.iter().chain(link.services.values()) {
            if let Err(error) = cx.types.service(&service.srv_type) {
                known = false;
                self.error(&format!("service '{}': {}", service.name, chain(&error)), "");
            }
        }
        known
    }

    /// True when the codec runs where its inputs and services can reach it, and its names are clear.
    fn task(&mut self, info: &CodecInfo) -> bool {
        let talks = !info.inputs.is_empty() || !info.services.is_empty();
        let twice = info.inputs.iter().find(|input| info.ports.iter().any(|port| port.name == input.name));
        let flaw = match twice {
            _ if talks && info.cost == Cost::Inline => "is inline, but has inputs or services".to_owned(),
            Some(input) => format!("has two ports '{}'", input.name),
            None => return true,
        };
        self.error(&format!("codec '{}' {flaw}", info.name), "this is a bug in the codec");
        false
    }

    /// True when every topic is bound to a port of its type.
    fn ports(&mut self, info: &CodecInfo, cx: &PlanContext<'_>) -> bool {
        let link = self.link;
        let mut fit = true;
        if let Some(topic) = &link.topic {
            match info.ports.first() {
                Some(port) => fit &= self.port_type(info, port, topic, cx),
                None => {
                    fit = false;
                    let what = format!("codec '{}' publishes no topics", info.name);
                    let help =
                        if info.inputs.is_empty() { "delete 'topic'" } else { "name its inputs in 'ports'" };
                    self.error(&what, help);
                }
            }
        }
        for (name, topic) in &link.ports {
            let all = || info.ports.iter().chain(info.inputs);
            let Some(port) = all().find(|port| port.name == name.as_str()) else {
                fit = false;
                self.unknown(info, "port", name, &all().map(|port| port.name).collect::<Vec<_>>());
                continue;
            };
            fit &= self.port_type(info, port, topic, cx);
            if link.topic.is_some() && info.ports.first().is_some_and(|first| first.name == port.name) {
                fit = false;
                let what = format!("port '{name}' is bound by 'topic' already");
                self.error(&what, "delete it from 'ports', or delete 'topic'");
            }
        }
        fit
    }

    /// True when every service is bound to one that the codec answers.
    fn services(&mut self, role: Role, info: &CodecInfo, cx: &PlanContext<'_>) -> bool {
        let link = self.link;
        let mut fit = true;
        for (name, service) in link.services.iter().filter(|_| role == Role::Decode) {
            let Some(known) = info.services.iter().find(|known| known.name == name.as_str()) else {
                fit = false;
                self.unknown(
                    info,
                    "service",
                    name,
                    &info.services.iter().map(|s| s.name).collect::<Vec<_>>(),
                );
                continue;
            };
            if service.srv_type.as_str() == known.srv_type {
                fit &= self.service_definition(info, service, cx.types);
            } else {
                fit = false;
                let what = format!("service '{}' is {}, but ", service.name, service.srv_type);
                let what = format!("{what}service '{name}' of codec '{}' is {}", info.name, known.srv_type);
                self.error(&what, &format!("write 'srv_type: {}', or delete 'srv_type'", known.srv_type));
            }
        }
        fit
    }

    /// The codec has no port or service of that name.
    fn unknown(&mut self, info: &CodecInfo, kind: &str, name: &PortName, all: &[&'static str]) {
        let otherwise =
            if all.is_empty() { "it has none".to_owned() } else { format!("it has {}", all.join(", ")) };
        let help = did_you_mean(name.as_str(), all.iter().copied(), otherwise);
        self.error(&format!("codec '{}' has no {kind} '{}'", info.name, excerpt(name.as_str())), &help);
    }

    fn port_type(
        &mut self,
        info: &CodecInfo,
        port: &rostrans_core::codec::PortInfo,
        topic: &TopicSpec,
        cx: &PlanContext<'_>,
    ) -> bool {
        let Some(fixed) = port.msg_type else { return true };
        if port_accepts(port, &topic.msg_type) {
            return self.definition(info, topic, cx.types);
        }
        let what = format!("topic '{}' is {}, but ", topic.name, topic.msg_type);
        let what = format!("{what}port '{}' of codec '{}' carries {fixed}", port.name, info.name);
        self.error(&what, &format!("write 'msg_type: {fixed}', or choose another codec"));
        false
    }

    /// True when a type that a codec has built in is defined here as it was there. Peers would misread it otherwise.
    fn definition(&mut self, info: &CodecInfo, topic: &TopicSpec, types: &TypeRegistry) -> bool {
        let name = &topic.msg_type;
        // What is unknown here was reported already; what is not bundled, a codec cannot have built in.
        let (Ok(here), Ok(there)) = (types.message(name), BUNDLED.message(name)) else { return true };
        let what = format!("topic '{}': {name}", topic.name);
        self.same(info, &what, here.rihs01(), there.rihs01())
    }

    /// As [`Check::definition`], for a service.
    fn service_definition(&mut self, info: &CodecInfo, service: &ServiceSpec, types: &TypeRegistry) -> bool {
        let name = &service.srv_type;
        let (Ok(here), Ok(there)) = (types.service(name), BUNDLED.service(name)) else { return true };
        let what = format!("service '{}': {name}", service.name);
        self.same(info, &what, here.rihs01(), there.rihs01())
    }

    fn same(&mut self, info: &CodecInfo, what: &str, here: &[u8; 32], there: &[u8; 32]) -> bool {
        if here == there {
            return true;
        }
        let [here, there] = [here, there].map(rihs01_text);
        let what = format!("{what} is {here} in this ROS distribution, but ");
        let what = format!("{what}codec '{}' writes and reads {there}", info.name);
        self.error(&what, "use codec 'json' or 'cdr', which follow the distribution, or unset ROS_DISTRO");
        false
    }

    /// True when the codec knows every option's name; values are its own business.
    fn options(&mut self, info: &CodecInfo) -> bool {
        let link = self.link;
        let names = || info.options.iter().map(|(name, _)| *name);
        let mut known = true;
        for option in link.options.0.keys().filter(|key| !names().any(|name| name == key.as_str())) {
            known = false;
            let all: Vec<_> = names().collect();
            let otherwise = if all.is_empty() {
                format!("codec '{}' has no options", info.name)
            } else {
                format!("codec '{}' knows {}", info.name, all.join(", "))
            };
            let help = did_you_mean(option, names(), otherwise);
            self.error(&format!("unknown option '{}'", excerpt(option)), &help);
        }
        known
    }

    /// Builds the instance once, to hear what the codec says about its options and types.
    fn build(&mut self, codec: &dyn Codec, role: Role, cx: &CodecContext<'_>) {
        let built = match role {
            Role::Decode => codec.decoder(cx).map(drop),
            Role::Encode => codec.encoder(cx).map(drop),
            Role::Exchange => codec.exchange(cx).map(drop),
            Role::Caller => codec.caller(cx).map(drop),
        };
        if let Err(error) = built {
            self.error(&format!("codec '{}': {error}", codec.info().name), "");
        }
    }
}

/// The definitions that typed messages are generated from.
static BUNDLED: LazyLock<TypeRegistry> = LazyLock::new(TypeRegistry::bundled);
