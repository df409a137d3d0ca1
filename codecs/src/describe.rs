//! Parts of a codec's description, from the types of its messages.

use rostrans_core::{
    codec::{PortInfo, ServiceInfo},
    topic::{Durability, Qos, Reliability},
};
use rostrans_msgs::{RosService, RosType};

/// A topic that is published.
pub(crate) const fn topic<R: RosType>(name: &'static str, qos: Qos) -> PortInfo {
    PortInfo { name, msg_type: Some(R::TYPE), qos }
}

/// A topic that is read. It asks for best effort, which every publisher offers.
pub(crate) const fn input<R: RosType>(name: &'static str, depth: u16) -> PortInfo {
    topic::<R>(name, Qos::new(Reliability::BestEffort, Durability::Volatile, depth))
}

/// A service that is answered.
pub(crate) const fn service<S: RosService>(name: &'static str) -> ServiceInfo {
    ServiceInfo { name, srv_type: S::TYPE }
}
