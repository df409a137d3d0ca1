use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::gate::Owner;
use super::outbox::SampleFn;
use super::watch::Deadline;
use crate::endpoint::{EndpointSpec, Sample};
use crate::guid::Guid;
use crate::wire::Entity;

/// A reader of this participant.
pub(crate) struct LocalReader {
    pub(crate) spec: EndpointSpec,
    pub(crate) sink: Sink,
    pub(crate) matched: Arc<AtomicUsize>,
    /// Number of its announcement, for withdrawing it.
    pub(crate) announced: i64,
    pub(crate) deadline: Deadline,
    /// With exclusive ownership, whose samples count now.
    pub(crate) owner: Option<Owner>,
}

impl LocalReader {
    pub(crate) fn new(spec: EndpointSpec, sink: SampleFn) -> Self {
        Self {
            spec,
            sink: Sink::User(sink),
            matched: Arc::default(),
            announced: 0,
            deadline: Deadline::default(),
            owner: None,
        }
    }
}

/// Where a reader's samples go.
#[derive(Clone)]
pub(crate) enum Sink {
    /// To the user.
    User(SampleFn),
    /// To the user of this reader, after a look at each.
    Choosy(Entity),
    /// To the engine.
    Builtin(Builtin),
}

/// What the builtin readers hear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Builtin {
    /// Announcements of writers.
    Writers,
    /// Announcements of readers.
    Readers,
    /// Assertions of liveliness.
    Liveliness,
}

/// What arrived under one sequence number.
#[derive(Debug)]
pub(crate) enum Arrival {
    Sample(Sample),
    /// The instance with this key is gone.
    Disposed(Option<Guid>),
    /// Nothing for this reader.
    Irrelevant,
}

impl Arrival {
    /// The same once more; payloads are shared.
    pub(crate) fn share(&self) -> Self {
        match self {
            Self::Sample(sample) => Self::Sample(sample.clone()),
            Self::Disposed(key) => Self::Disposed(*key),
            Self::Irrelevant => Self::Irrelevant,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Sample(sample) => sample.payload.len(),
            Self::Disposed(_) | Self::Irrelevant => 0,
        }
    }
}
