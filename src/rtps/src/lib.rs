//! A DDSI-RTPS engine for ROS 2 that knows no ROS type.
//!
//! A [`Participant`] announces itself, finds others and carries serialized samples between endpoints that agree on
//! topic name, type name and QoS:
//!
//! ```no_run
//! use std::sync::Arc;
//! use bytes::Bytes;
//! use rostrans_rtps::{EndpointSpec, Participant, ParticipantConfig};
//!
//! let participant = Participant::new(ParticipantConfig { domain: 7, ..Default::default() })?;
//! let spec = EndpointSpec {
//!     topic: "rt/chatter".into(),
//!     type_name: "std_msgs::msg::dds_::String_".into(),
//!     ..Default::default()
//! };
//! let _reader = participant.create_reader(spec.clone(), Arc::new(|sample| println!("{:?}", sample.payload)))?;
//! let writer = participant.create_writer(spec)?;
//! writer.write(&Bytes::from_static(b"\x00\x01\x00\x00\x03\x00\x00\x00hi\x00"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`EndpointQos`] has the policies. What becomes of them - missed deadlines, writers that are not alive, endpoints that
//! do not fit, lost samples - is told as an [`Event`] to [`Participant::on_event`].
//!
//! Topics are keyless, payloads are opaque, and ROS conventions (name mangling, type hashes, `ros_discovery_info`,
//! service correlation) are the caller's.

mod config;
mod discovery;
mod endpoint;
mod error;
mod event;
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod guid;
mod participant;
mod shell;
mod state;
mod stats;
mod wire;

pub use config::{DiscoveryRange, IpFamily, Limits, ParticipantConfig};
pub use endpoint::{EndpointQos, EndpointSpec, History, Ownership, Sample, WriteOptions};
pub use error::{RtpsError, WriteError};
pub use event::Event;
pub use graph::{
    Durability, GraphSnapshot, Incompatible, Liveliness, Policy, RemoteEndpoint, RemoteParticipant, RemoteQos,
};
pub use guid::{Guid, SampleIdentity, VENDOR_ID};
pub use participant::{Participant, Reader, Writer};
pub use stats::ParticipantStats;
