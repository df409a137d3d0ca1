//! Endpoints on one topic that cannot talk to each other.

use std::collections::BTreeSet;

use tracing::debug;

use super::arrival::LocalReader;
use super::events::Events;
use super::writer::LocalWriter;
use crate::discovery::{EndpointData, mismatches};
use crate::endpoint::EndpointSpec;
use crate::event::Event;
use crate::graph::{Policy, RemoteQos};
use crate::guid::Guid;

/// Why a local writer and a remote reader do not fit; `None` when they have different topics.
pub(super) fn writer_mismatch(local: &LocalWriter, remote: &EndpointData) -> Option<Vec<Policy>> {
    compare(&local.spec, remote, |ours| mismatches(ours, &remote.qos))
}

/// Why a local reader and a remote writer do not fit; `None` when they have different topics.
pub(super) fn reader_mismatch(local: &LocalReader, remote: &EndpointData) -> Option<Vec<Policy>> {
    compare(&local.spec, remote, |ours| mismatches(&remote.qos, ours))
}

fn compare(
    spec: &EndpointSpec,
    remote: &EndpointData,
    policies: impl FnOnce(&RemoteQos) -> Vec<Policy>,
) -> Option<Vec<Policy>> {
    if remote.topic != spec.topic {
        return None;
    }
    if remote.type_name != spec.type_name {
        return Some(vec![Policy::TypeName]);
    }
    Some(policies(&RemoteQos::local(spec)))
}

/// The misfits already told in the log, so that endpoints which come and go do not fill it.
#[derive(Debug, Default)]
pub(super) struct Misfits(BTreeSet<(Guid, Guid)>);

/// Misfits told in all; the graph has the rest.
const MAX_TOLD: usize = 256;

impl Misfits {
    pub(super) fn tell(
        &mut self,
        local: Guid,
        data: &EndpointData,
        policies: Vec<Policy>,
        events: &mut Events,
    ) {
        let (remote, topic) = (data.guid, &data.topic);
        if self.0.len() < MAX_TOLD && self.0.insert((local, remote)) {
            let names: Vec<_> = policies.iter().map(|p| p.name()).collect();
            // The adapter tells people, in their words.
            debug!(%topic, %local, %remote, policies = names.join(", "), "endpoints do not fit and will not talk");
        }
        events.push(Event::IncompatibleQos { endpoint: local, remote, topic: topic.clone(), policies });
    }
}
