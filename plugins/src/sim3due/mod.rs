//! `sim3due` (Sim3DUEAssistant): RflySim3D commanded from ROS, and what it tells of its scene.

use std::net::{Ipv4Addr, SocketAddr};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    param::{ParamDef, Settings},
    plugin::Plugin,
    rule::{Direction, ForwardRule, LinkConfig, Source, Target, UdpBind},
    topic::TopicName,
};
use rostrans_rflysim::port;

use crate::{address, bind};

mod params;

/// One rule, `sim3due`: topics under `/rflysim/ue` to the windows of RflySim3D on `ue3d_ip`, ports 20010 and on, and to all of a
/// network by 224.0.0.10:20009; reports on 224.0.0.10:20006 to topics.
///
/// Crashes have topics for each vehicle, `/rflysim/uav<n>/...`, of the numbers that `coptersim_startid` and
/// `coptersim_count` give.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sim3DUe;

impl Plugin for Sim3DUe {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> &'static [ParamDef] {
        params::ALL
    }

    fn enabled(&self, settings: &Settings) -> bool {
        settings.flag("enable_ue3d")
    }

    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let text = settings.text("ue3d_ip");
        let ip = address::ip(text).unwrap_or_else(|help| {
            let message = format!("invalid 'ue3d_ip' '{text}'");
            problems.push(Diagnostic::error(settings.origin("ue3d_ip"), message, help));
            Ipv4Addr::LOCALHOST.into()
        });
        let mut rule = ForwardRule::new(NAME, Direction::UdpToRostopic, Origin::Plugin(NAME));
        rule.source = Source::Udp(UdpBind {
            multicast_if: settings.text("ue3d_multicast_if").into(),
            ..UdpBind::new((port::GROUP, port::SCENE).into())
        });
        let place = Place { settings };
        let frame = settings.text("ue3d_frame");
        let mut add = |link: Result<LinkConfig, Diagnostic>| match link {
            Ok(link) => rule.links.push(link),
            Err(problem) => problems.push(problem),
        };
        add(place.link("commands", "rflysim3d.commands", COMMANDS, "ue").map(|mut link| {
            link.target = Some(Target::Udp(SocketAddr::new(ip, port::UE)));
            link.options.0.insert("windows".into(), settings.int("ue3d_count").into());
            link
        }));
        add(place.link("scene", "rflysim3d.scene", SCENE, "ue").map(|mut link| {
            link.options.0.insert("frame".into(), frame.into());
            link
        }));
        let first = settings.int("coptersim_startid");
        for vehicle in first..first + settings.int("coptersim_count") {
            let link =
                place.link(&format!("crash_{vehicle}"), "rflysim3d.crash", CRASH, &format!("uav{vehicle}"));
            add(link.map(|mut link| {
                link.options.0.insert("copter_id".into(), vehicle.into());
                link
            }));
        }
        // A prefix that makes no topic is one problem, not one for each name.
        problems.dedup_by(|a, b| a.origin == b.origin);
        if problems.is_empty() { Ok(vec![rule]) } else { Err(problems) }
    }
}

/// Where the topics are.
struct Place<'a> {
    settings: &'a Settings,
}

impl Place<'_> {
    /// A link with the topics of a codec below the prefix, of the types that it declares.
    ///
    /// **Errors**: the prefix makes no topic name.
    fn link(&self, name: &str, codec: &str, topics: &[&str], below: &str) -> Result<LinkConfig, Diagnostic> {
        let mut link = LinkConfig::new(name, Some(codec.into()), Origin::Plugin(NAME));
        let codecs = rostrans_codecs::builtin();
        let info = codecs.get(codec).map(|codec| codec.info()).ok_or_else(|| self.bug(codec))?;
        let prefix = self.settings.text("ue3d_prefix");
        for topic in topics {
            let name = TopicName::parse(&format!("{prefix}/{below}/{topic}")).map_err(|error| {
                let message = format!("'ue3d_prefix' makes no topic: {error}");
                Diagnostic::error(self.settings.origin("ue3d_prefix"), message, "write e.g. '/rflysim'")
            })?;
            let spec = bind::topic(info, topic, name).ok_or_else(|| self.bug(topic))?;
            link.ports.insert((*topic).into(), spec);
        }
        Ok(link)
    }

    fn bug(&self, what: &str) -> Diagnostic {
        let message = format!("no codec or port '{what}'");
        Diagnostic::error(self.settings.origin("enable_ue3d"), message, "this is a bug in rostrans")
    }
}

const COMMANDS: &[&str] = &["cmd", "cmd_net", "pose", "poses", "label", "attach", "ext_act", "request"];
const SCENE: &[&str] = &["copter_data", "object_data", "camera_data"];
const CRASH: &[&str] = &["crash", "collision"];
const NAME: &str = "sim3due";

#[cfg(test)]
mod tests;
