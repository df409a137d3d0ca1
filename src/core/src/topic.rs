//! ROS topics, services and their QoS.

use std::{fmt, sync::Arc, time::Duration};

use rostrans_schema::TypeName;
use thiserror::Error;

/// A fully qualified ROS name such as `/mavros/imu/data`; used for topics and services.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicName(Arc<str>);

/// Why a text is not a topic name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "invalid topic name '{0}'; use letters, digits, '_' and '/', each part starting with a letter or '_'"
)]
pub struct TopicNameError(pub String);

impl TopicName {
    /// Parses a name and makes it absolute (`chatter` becomes `/chatter`).
    ///
    /// **Errors**: an empty part, a trailing `/`, a part that starts with a digit, or any character ROS 2 refuses.
    pub fn parse(text: &str) -> Result<Self, TopicNameError> {
        let relative = text.strip_prefix('/').unwrap_or(text);
        let part_is_valid = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if relative.split('/').all(part_is_valid) {
            Ok(Self(format!("/{relative}").into()))
        } else {
            Err(TopicNameError(text.to_owned()))
        }
    }

    /// The absolute name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TopicName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TopicName({})", self.0)
    }
}

/// Whether lost samples are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reliability {
    /// Never repeated.
    BestEffort,
    /// Repeated until acknowledged.
    Reliable,
}

/// Whether late subscribers get earlier samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Only what is published from now on.
    Volatile,
    /// The last `depth` samples first ("latched").
    TransientLocal,
}

/// How many samples an endpoint keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum History {
    /// The last `depth`; older ones give way.
    KeepLast,
    /// All until every reliable subscriber has them, [`KEEP_ALL_BYTES`] at most. More are refused with
    /// [`PublishError::Full`](crate::adapter::PublishError::Full): a publisher never waits for room.
    KeepAll,
}

/// Payload bytes that a keep-all publisher holds at most, 16 MiB.
pub const KEEP_ALL_BYTES: usize = 16 << 20;

/// What shows that a publisher is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveliness {
    /// Its process runs.
    Automatic,
    /// It publishes.
    ManualByTopic,
}

/// Quality of service of one endpoint.
///
/// A publisher offers, a subscription requests; they meet when what is offered is at least what is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Qos {
    /// Repeat lost samples or not.
    pub reliability: Reliability,
    /// Replay to late subscribers or not.
    pub durability: Durability,
    /// Keep the last ones or all.
    pub history: History,
    /// Samples kept per endpoint when it keeps the last.
    pub depth: u16,
    /// A sample is published (or expected) at least this often; `None` for no promise.
    pub deadline: Option<Duration>,
    /// A sample older than this is of no use to anybody; `None` for ever.
    pub lifespan: Option<Duration>,
    /// What shows that a publisher is alive.
    pub liveliness: Liveliness,
    /// A publisher that shows nothing for this long is not alive; `None` for never.
    pub liveliness_lease: Option<Duration>,
}

impl Qos {
    /// These three, with keep-last and the ROS 2 defaults of all others.
    pub const fn new(reliability: Reliability, durability: Durability, depth: u16) -> Self {
        Self {
            reliability,
            durability,
            history: History::KeepLast,
            depth,
            deadline: None,
            lifespan: None,
            liveliness: Liveliness::Automatic,
            liveliness_lease: None,
        }
    }

    /// Reliable, volatile, keep last 10: the ROS 2 default.
    pub const fn reliable() -> Self {
        Self::new(Reliability::Reliable, Durability::Volatile, 10)
    }

    /// Best effort, volatile, keep last 5: `rmw_qos_profile_sensor_data`.
    pub const fn sensor_data() -> Self {
        Self::new(Reliability::BestEffort, Durability::Volatile, 5)
    }

    /// Reliable, transient local, keep last `depth`: what ROS 1 calls latched.
    pub const fn latched(depth: u16) -> Self {
        Self::new(Reliability::Reliable, Durability::TransientLocal, depth)
    }

    /// The same with another depth.
    pub const fn with_depth(self, depth: u16) -> Self {
        Self { depth, ..self }
    }

    /// Whether anything but reliability, durability, history and depth differs from the default: what only DDS can do.
    pub const fn is_timed(&self) -> bool {
        self.deadline.is_some()
            || self.lifespan.is_some()
            || self.liveliness_lease.is_some()
            || matches!(self.liveliness, Liveliness::ManualByTopic)
    }
}

/// A topic to publish or subscribe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Absolute name.
    pub name: TopicName,
    /// Message type.
    pub msg_type: TypeName,
    /// QoS offered (publisher) or requested (subscriber).
    pub qos: Qos,
}

/// A service to offer or call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceSpec {
    /// Absolute name.
    pub name: TopicName,
    /// Service type.
    pub srv_type: TypeName,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_names_become_absolute() {
        assert_eq!(TopicName::parse("chatter").unwrap().as_str(), "/chatter");
        assert_eq!(TopicName::parse("/a/b_2").unwrap().as_str(), "/a/b_2");
        // The hidden names of an action.
        assert_eq!(TopicName::parse("dock/_action/status").unwrap().as_str(), "/dock/_action/status");
    }

    #[test]
    fn invalid_names_are_refused() {
        for bad in ["", "/", "/a/", "a//b", "/1a", "/a b", "/ä", "/a-b", "/a/{x}"] {
            assert!(TopicName::parse(bad).is_err(), "{bad}");
        }
    }
}
