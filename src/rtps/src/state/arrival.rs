use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::outbox::SampleFn;
use crate::endpoint::{EndpointSpec, Sample};
use crate::guid::Guid;

/// A reader of this participant.
pub(crate) struct LocalReader {
    pub(crate) spec: EndpointSpec,
    pub(crate) sink: Sink,
    pub(crate) matched: Arc<AtomicUsize>,
    /// Number of its announcement, for withdrawing it.
    pub(crate) announced: i64,
}

/// Where a reader's samples go.
#[derive(Clone)]
pub(crate) enum Sink {
    /// To the user.
    User(SampleFn),
    /// Announcements of writers (true) or readers, to discovery.
    Discovery { writers: bool },
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
