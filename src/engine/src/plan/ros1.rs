//! Types that ROS 1 does not have.

use std::collections::HashMap;

use rostrans_core::{
    adapter::RosVersion,
    diag::{Diagnostic, Origin},
    rule::{Direction, ForwardRule, RosSelector},
    text::chain,
    topic::TopicName,
};
use rostrans_schema::TypeName;

use super::{PlanContext, check, trim};
use crate::topology::Absent;

/// Why types cannot be used with ROS 1; asked once for each.
#[derive(Default)]
pub(super) struct Known(HashMap<TypeName, Option<String>>);

impl Known {
    fn problem(&mut self, name: &TypeName, service: bool, cx: &PlanContext<'_>) -> Option<&str> {
        let look = || {
            // What ROS 2 does not know either was reported already.
            let error = if service {
                cx.types.service(name).ok().and_then(|_| cx.types.paired_service(name).err())
            } else {
                cx.types.message(name).ok().and_then(|_| cx.types.paired_message(name).err())
            };
            error.map(|error| chain(&error))
        };
        self.0.entry(name.clone()).or_insert_with(look).as_deref()
    }
}

/// Takes out what a rule of a module cannot have where only ROS 1 is joined, and notes what is in ROS 2 alone where both
/// are; a rule that the user wrote is wrong instead. `None` when nothing is left to do.
pub(super) fn rule(
    mut rule: ForwardRule,
    cx: &PlanContext<'_>,
    known: &mut Known,
    absent: &mut Vec<Absent>,
    problems: &mut Vec<Diagnostic>,
) -> Option<ForwardRule> {
    let bridge = rule.direction == Direction::RostopicToRostopic;
    let joined = |selector: RosSelector, version| {
        let meant = cx.adapters.iter().filter(|graph| selector.means(graph.as_str(), graph.version()));
        meant.into_iter().any(|graph| graph.version() == version)
    };
    let version = rule.ros_version;
    let (ros1, ros2) = (joined(version, RosVersion::Ros1), joined(version, RosVersion::Ros2));
    // What a bridge carries between ROS 2 graphs need not be in ROS 1; whether it means ROS 1 its own check says.
    if !ros1 || bridge {
        return Some(rule);
    }
    let by_module = matches!(rule.origin, Origin::Plugin(_));
    let whole = rule.clone();
    let mut links = whole.links.iter();
    rule.links.retain_mut(|link| {
        let place = links.next().map(|link| check::place(&whole, link)).unwrap_or_default();
        let (link_name, origin) = (link.link_name.to_string(), link.origin.clone());
        let mut keep = |name: &TopicName, kind: &TypeName, service: bool| {
            let Some(reason) = known.problem(kind, service, cx) else { return true };
            if !ros2 && !by_module {
                let message = format!("{place}: '{name}' cannot be in ROS 1: {reason}");
                problems.push(Diagnostic::error(origin.clone(), message, ""));
                return true;
            }
            absent.push(Absent {
                rule_id: whole.rule_id.clone(),
                link_name: link_name.clone(),
                name: name.to_string(),
                reason: reason.to_owned(),
                ros2,
            });
            ros2
        };
        let was_bound = trim::is_bound(link);
        link.topic.take_if(|topic| !keep(&topic.name, &topic.msg_type, false));
        link.ports.retain(|_, topic| keep(&topic.name, &topic.msg_type, false));
        link.service.take_if(|service| !keep(&service.name, &service.srv_type, true));
        link.services.retain(|_, service| keep(&service.name, &service.srv_type, true));
        !was_bound || trim::is_bound(link)
    });
    (!rule.links.is_empty()).then_some(rule)
}
