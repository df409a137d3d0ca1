//! Telling people about endpoints that share a topic and cannot talk.

use std::{collections::HashSet, fmt};

use rostrans_rtps::{Guid, Incompatible, Policy};

use crate::names;

/// Reports each incompatible pair once, for as long as it exists.
#[derive(Default)]
pub(crate) struct Mismatches {
    told: HashSet<(Guid, Guid)>,
}

impl Mismatches {
    /// The pairs among `now` that were not there before.
    pub(crate) fn fresh<'a>(&mut self, now: &'a [Incompatible]) -> Vec<&'a Incompatible> {
        let present: HashSet<(Guid, Guid)> = now.iter().map(|p| (p.local, p.remote)).collect();
        self.told.retain(|pair| present.contains(pair));
        now.iter().filter(|p| self.told.insert((p.local, p.remote))).collect()
    }
}

/// An incompatible pair in words.
pub(crate) struct Mismatch<'a> {
    pub(crate) pair: &'a Incompatible,
    pub(crate) peer: String,
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.pair.local.is_reader() { "published" } else { "subscribed" };
        let topic = names::ros_name(&self.pair.topic);
        write!(f, "topic '{topic}' as {what} by {} cannot be exchanged:", self.peer)?;
        for (i, policy) in self.pair.policies.iter().enumerate() {
            let comma = if i == 0 { "" } else { ";" };
            write!(f, "{comma} {} does not fit, {}", policy.name(), remedy(*policy))?;
        }
        Ok(())
    }
}

fn remedy(policy: Policy) -> &'static str {
    match policy {
        Policy::TypeName => "use the same message type on both sides",
        Policy::Reliability => "publish it reliable or subscribe best effort",
        Policy::Durability => "publish it transient local or subscribe volatile",
        Policy::Deadline => "drop the subscriber's deadline",
        Policy::Liveliness => "drop the subscriber's liveliness requirement",
        Policy::Ownership => "use shared ownership on both sides",
        Policy::Partition => "remove the partition from the peer",
        Policy::Representation => "let the subscriber accept XCDR1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(local: u8, remote: u8) -> Incompatible {
        let guid = |entity| Guid { prefix: [1; 12], entity: [0, 0, 1, entity] };
        Incompatible {
            local: guid(local),
            remote: guid(remote),
            topic: "rt/image".into(),
            policies: vec![Policy::Reliability, Policy::Durability],
        }
    }

    #[test]
    fn a_pair_is_told_once_and_again_after_it_was_gone() {
        let mut mismatches = Mismatches::default();
        let both = [pair(3, 4), pair(4, 3)];
        assert_eq!(mismatches.fresh(&both).len(), 2);
        assert_eq!(mismatches.fresh(&both).len(), 0);
        assert_eq!(mismatches.fresh(&both[..1]).len(), 0);
        assert_eq!(mismatches.fresh(&both), [&both[1]]);
    }

    #[test]
    fn text_names_topic_peer_policy_and_remedy() {
        let text = Mismatch { pair: &pair(3, 4), peer: "/viewer".into() }.to_string();
        assert_eq!(
            text,
            "topic '/image' as subscribed by /viewer cannot be exchanged: reliability does not fit, publish it \
             reliable or subscribe best effort; durability does not fit, publish it transient local or subscribe volatile"
        );
    }
}
