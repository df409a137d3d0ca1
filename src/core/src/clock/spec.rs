//! What a user says about a clock: `clocks:` in the rules file.

use std::{borrow::Borrow, fmt, sync::Arc};

use super::Tuning;
use crate::{
    diag::Origin,
    rule::{LinkName, RateLimit, RosSelector, RuleId},
    text::printable,
    topic::TopicName,
};

/// Name of a simulated clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockName(pub Arc<str>);

impl ClockName {
    /// The name as it was written; printing escapes control characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ClockName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ClockName {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ClockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.0))
    }
}

/// A simulated clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockSpec {
    /// What rules call it.
    pub name: ClockName,
    /// Where its samples come from.
    pub source: ClockSource,
    /// How it is followed.
    pub tuning: Tuning,
    /// Where it is published.
    pub outputs: Vec<ClockOutput>,
    /// Where it was written.
    pub origin: Origin,
}

/// Where samples of a clock come from.
#[derive(Clone, Debug, PartialEq)]
pub enum ClockSource {
    /// A `rosgraph_msgs/msg/Clock` topic.
    Topic {
        /// The adapter, the first that it means.
        adapter: RosSelector,
        /// The topic.
        topic: TopicName,
    },
    /// A field of the packets that a rule decodes.
    Field {
        /// The rule.
        rule: RuleId,
        /// The link; `None` is the first one whose codec knows the field.
        link: Option<LinkName>,
        /// The field, as [`Codec::clock_field`](crate::codec::Codec::clock_field) calls it.
        field: Box<str>,
    },
}

/// A topic that a clock is published on.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockOutput {
    /// The adapter, the first that it means.
    pub adapter: RosSelector,
    /// The topic.
    pub topic: TopicName,
    /// Messages a second at most.
    pub max_rate: RateLimit,
    /// What to do when somebody else publishes there.
    pub authority: Authority,
}

/// Who may publish a clock: one per graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authority {
    /// Once somebody else does, rostrans does not, until its next start.
    #[default]
    Refuse,
    /// As long as somebody else does, rostrans does not.
    Yield,
    /// Rostrans does, whoever else may.
    Force,
}
