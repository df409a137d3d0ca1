//! Telling people about endpoints that share a topic and cannot talk.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::{Duration, Instant},
};

use rostrans_rtps::{Guid, Incompatible, Policy};

use crate::names;

/// Reports each incompatible pair once, for as long as it exists.
#[derive(Default)]
pub(crate) struct Mismatches {
    pairs: HashMap<(Guid, Guid), Told>,
}

enum Told {
    Yes,
    /// Waiting for the peer's name since then.
    NotSince(Instant),
}

/// Node names come after the endpoints they name; a peer that has none by then is told by its GUID.
const NAME_WAIT: Duration = Duration::from_secs(3);

impl Mismatches {
    /// The pairs among `present` to tell now: those not told yet whose peer has a name, or has none for too long.
    pub(crate) fn due<'a>(
        &mut self,
        present: &'a [Incompatible],
        named: impl Fn(Guid) -> bool,
        now: Instant,
    ) -> Vec<&'a Incompatible> {
        let keys: HashSet<(Guid, Guid)> = present.iter().map(|p| (p.local, p.remote)).collect();
        self.pairs.retain(|pair, _| keys.contains(pair));
        let mut tell = |p: &&Incompatible| {
            let told = self.pairs.entry((p.local, p.remote)).or_insert(Told::NotSince(now));
            let now_due = match told {
                Told::Yes => false,
                Told::NotSince(since) => named(p.remote) || now.duration_since(*since) >= NAME_WAIT,
            };
            if now_due {
                *told = Told::Yes;
            }
            now_due
        };
        present.iter().filter(|p| tell(p)).collect()
    }

    /// Whether a pair still waits for its peer's name.
    pub(crate) fn waiting(&self) -> bool {
        self.pairs.values().any(|told| matches!(told, Told::NotSince(_)))
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

/// What to do about endpoints that differ in a policy.
pub(crate) fn remedy(policy: Policy) -> &'static str {
    match policy {
        Policy::TypeName => "use the same message type on both sides",
        Policy::Reliability => "publish it reliable or subscribe best effort",
        Policy::Durability => "publish it transient local or subscribe volatile",
        Policy::Deadline => "offer a deadline at least as short or drop the subscriber's",
        Policy::Liveliness => "offer that liveliness and lease or drop the subscriber's",
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
        let now = Instant::now();
        let both = [pair(3, 4), pair(4, 3)];
        assert_eq!(mismatches.due(&both, |_| true, now).len(), 2);
        assert_eq!(mismatches.due(&both, |_| true, now).len(), 0);
        assert_eq!(mismatches.due(&both[..1], |_| true, now).len(), 0);
        assert_eq!(mismatches.due(&both, |_| true, now), [&both[1]]);
    }

    #[test]
    fn a_peer_without_name_is_told_after_a_while() {
        let mut mismatches = Mismatches::default();
        let now = Instant::now();
        let pairs = [pair(3, 4)];
        assert_eq!(mismatches.due(&pairs, |_| false, now).len(), 0);
        assert!(mismatches.waiting());
        assert_eq!(mismatches.due(&pairs, |_| false, now + NAME_WAIT).len(), 1);
        assert!(!mismatches.waiting());
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
