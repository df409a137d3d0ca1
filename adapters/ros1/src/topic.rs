//! Topics: publications with their connections, subscriptions with their links.

mod connection;
mod latch;
mod link;
mod publication;
mod subscription;

pub(crate) use link::follow;
pub(crate) use publication::{Publication, Ros1Publisher};
pub(crate) use subscription::{Sink, Subscription};
