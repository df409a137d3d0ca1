//! What ROS means on Zenoh, with no Zenoh library.
//!
//! | thing | form |
//! |---|---|
//! | topic, service | [`data_key`]: `<domain>/<name>/<type>/<hash>` |
//! | node, publisher, subscription, server, client | [`Token`]: a liveliness key below `@ros2_lv` |
//! | QoS | a field of the token, see [`qos`] |
//! | sequence number, source time, publisher | [`Attachment`], 33 bytes beside each payload |
//! | identity of an endpoint | [`Gid`], a hash of its token |
//!
//! Source: `rmw_zenoh_cpp`'s `docs/design.md` and `src/detail/{liveliness_utils,attachment_helpers}`.

mod attachment;
mod key;
pub mod qos;
mod token;

pub use attachment::{Attachment, AttachmentError, Gid};
pub use key::{NO_HASH, TypeOfKey, data_key, ros_type, subscription_key, type_of_key};
pub use token::{Endpoint, Kind, Token, TokenError, domain_tokens};
