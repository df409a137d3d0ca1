//! What the blacklist takes out.

use rostrans_core::{
    filter::TopicFilter,
    rule::{ForwardRule, LinkConfig},
    topic::TopicName,
};

use crate::topology::Trimmed;

/// Takes switched-off topics and services out of a rule; `None` when nothing is left to do.
///
/// A link goes when it had a topic or service and has none left; a rule goes with its last link. Byte routes name
/// no topic and stay.
pub(super) fn rule(
    mut rule: ForwardRule,
    filter: &TopicFilter,
    trimmed: &mut Vec<Trimmed>,
) -> Option<ForwardRule> {
    let rule_id = rule.rule_id.clone();
    rule.links.retain_mut(|link| {
        let link_name = link.link_name.to_string();
        let mut keep = |name: &TopicName| {
            let verdict = filter.verdict(name.as_str());
            if !verdict.enabled {
                trimmed.push(Trimmed {
                    rule_id: rule_id.clone(),
                    link_name: link_name.clone(),
                    name: name.to_string(),
                    by: verdict.by.map(ToString::to_string).unwrap_or_default(),
                });
            }
            verdict.enabled
        };
        let was_bound = is_bound(link);
        let there = link.to_topic.as_ref().is_none_or(&mut keep);
        link.topic.take_if(|topic| !there || !keep(&topic.name));
        link.ports.retain(|_, topic| keep(&topic.name));
        link.service.take_if(|service| !keep(&service.name));
        link.services.retain(|_, service| keep(&service.name));
        !was_bound || is_bound(link)
    });
    (!rule.links.is_empty()).then_some(rule)
}

/// Whether a link names a topic or service.
pub(super) fn is_bound(link: &LinkConfig) -> bool {
    link.topic.is_some() || link.service.is_some() || !link.ports.is_empty() || !link.services.is_empty()
}
