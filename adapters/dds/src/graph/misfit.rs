//! Who cannot talk to whom, and why.

use std::{collections::HashMap, fmt, time::Duration};

use rostrans_rtps::{Durability, Liveliness, Policy, RemoteQos, VENDOR_ID};

use super::{EndpointInfo, Place};
use crate::mismatch::remedy;

/// Writers and readers of one topic that do not fit, all for the same reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What the topic is in ROS.
    pub place: Place,
    /// Name of the topic or service.
    pub name: String,
    /// Indices of the writers in [`Graph::endpoints`](super::Graph::endpoints).
    pub writers: Vec<usize>,
    /// Indices of the readers.
    pub readers: Vec<usize>,
    /// Every reason; none of them is enough to know.
    pub reasons: Vec<Reason>,
}

impl Misfit {
    /// Whether nothing gets through; else samples do, but may be misread.
    pub fn is_blocking(&self) -> bool {
        self.reasons.iter().any(|reason| reason.trouble != Trouble::TypeHash)
    }
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What does not fit.
    pub trouble: Trouble,
    /// What the writer has, in words.
    pub offered: String,
    /// What the reader has, in words.
    pub requested: String,
}

/// What two endpoints can differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A type name or a QoS policy: they do not talk.
    Policy(Policy),
    /// The definitions of a type of one name: they talk, and may misunderstand.
    TypeHash,
}

impl Reason {
    /// The name of what does not fit.
    pub fn what(&self) -> &'static str {
        match self.trouble {
            Trouble::Policy(policy) => policy.name(),
            Trouble::TypeHash => "type hash",
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self.trouble {
            Trouble::Policy(policy) => remedy(policy),
            Trouble::TypeHash => "build both sides with the same version of the message package",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: offered {}, requested {}", self.what(), self.offered, self.requested)
    }
}

/// Different endpoints of one side of a topic that are compared with the other side; a topic of ROS has a few.
const MAX_CLASSES: usize = 512;

/// Endpoints of one topic that are the same in all that matters.
struct Class<'a> {
    model: &'a EndpointInfo,
    members: Vec<usize>,
}

/// All misfits, and how many endpoints were not looked at. `endpoints` are sorted by name.
pub(super) fn find(endpoints: &[EndpointInfo]) -> (Vec<Misfit>, usize) {
    let (mut found, mut unchecked, mut start) = (Vec::new(), 0, 0);
    for topic in endpoints.chunk_by(|a, b| (&a.name, a.place) == (&b.name, b.place)) {
        let side = |is_writer| classes(topic, start, is_writer);
        let ((writers, skipped), (readers, also_skipped)) = (side(true), side(false));
        unchecked += skipped + also_skipped;
        for writer in &writers {
            for reader in &readers {
                let reasons = reasons(writer.model, reader.model);
                if !reasons.is_empty() {
                    found.push(Misfit {
                        place: writer.model.place,
                        name: writer.model.name.clone(),
                        writers: writer.members.clone(),
                        readers: reader.members.clone(),
                        reasons,
                    });
                }
            }
        }
        start += topic.len();
    }
    (found, unchecked)
}

/// The classes of one side; the members' indices begin at `start`.
fn classes(topic: &[EndpointInfo], start: usize, is_writer: bool) -> (Vec<Class<'_>>, usize) {
    let mut by_key = HashMap::new();
    let mut classes: Vec<Class<'_>> = Vec::new();
    let mut skipped = 0;
    for (index, endpoint) in topic.iter().enumerate().filter(|(_, e)| e.is_writer == is_writer) {
        let vendor = endpoint.guid.vendor() == VENDOR_ID;
        let key = (&endpoint.type_name, &endpoint.type_hash, &endpoint.qos, vendor);
        match by_key.get(&key).and_then(|place: &usize| classes.get_mut(*place)) {
            Some(class) => class.members.push(start + index),
            None if by_key.len() == MAX_CLASSES => skipped += 1,
            None => {
                by_key.insert(key, classes.len());
                classes.push(Class { model: endpoint, members: vec![start + index] });
            }
        }
    }
    (classes, skipped)
}

fn reasons(writer: &EndpointInfo, reader: &EndpointInfo) -> Vec<Reason> {
    let reason = |trouble, offered: &str, requested: &str| Reason {
        trouble,
        offered: offered.to_owned(),
        requested: requested.to_owned(),
    };
    if writer.type_name != reader.type_name {
        return vec![reason(Trouble::Policy(Policy::TypeName), &writer.type_name, &reader.type_name)];
    }
    let misfits = writer.qos.misfits(&reader.qos).into_iter();
    // A reader of ours lists no representation and takes them all.
    let takes_all = reader.guid.vendor() == VENDOR_ID && reader.qos.representations.is_empty();
    let misfits = misfits.filter(|policy| !(takes_all && *policy == Policy::Representation));
    let mut reasons: Vec<_> = misfits
        .map(|policy| {
            reason(Trouble::Policy(policy), &value(&writer.qos, policy), &value(&reader.qos, policy))
        })
        .collect();
    if let (Some(offered), Some(requested)) = (&writer.type_hash, &reader.type_hash)
        && offered != requested
    {
        reasons.push(reason(Trouble::TypeHash, offered, requested));
    }
    reasons
}

/// What an endpoint has of one policy, in words.
fn value(qos: &RemoteQos, policy: Policy) -> String {
    match policy {
        Policy::TypeName => String::new(),
        Policy::Reliability => if qos.reliable { "reliable" } else { "best effort" }.to_owned(),
        Policy::Durability => durability(qos.durability).to_owned(),
        Policy::Deadline => duration(qos.deadline),
        Policy::Liveliness => {
            format!("{} with lease {}", liveliness(qos.liveliness), duration(qos.liveliness_lease))
        }
        Policy::Ownership => if qos.exclusive_ownership { "exclusive" } else { "shared" }.to_owned(),
        Policy::Partition if qos.partitions.is_empty() => "the default partition".to_owned(),
        Policy::Partition => format!("'{}'", qos.partitions.join("', '")),
        Policy::Representation if qos.representations.is_empty() => "XCDR1".to_owned(),
        Policy::Representation => {
            let name = |kind: &i16| match kind {
                0 => "XCDR1".to_owned(),
                1 => "XML".to_owned(),
                2 => "XCDR2".to_owned(),
                other => other.to_string(),
            };
            qos.representations.iter().map(name).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A durability in words.
pub(crate) fn durability(kind: Durability) -> &'static str {
    match kind {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient local",
        Durability::Transient => "transient",
        Durability::Persistent => "persistent",
    }
}

/// A kind of liveliness in words.
pub(crate) fn liveliness(kind: Liveliness) -> &'static str {
    match kind {
        Liveliness::Automatic => "automatic",
        Liveliness::ManualByParticipant => "manual by participant",
        Liveliness::ManualByTopic => "manual by topic",
    }
}

/// A duration for people; `None` is infinite.
pub(crate) fn duration(duration: Option<Duration>) -> String {
    match duration {
        None => "infinite".to_owned(),
        Some(duration) => format!("{duration:?}"),
    }
}
