//! Services: calling and offering them.

mod client;
mod server;

pub(crate) use client::Client;
pub(crate) use server::Server;

/// Requests and responses that endpoints keep. With the default of ROS, 10, a burst of calls loses some; and over Fast DDS
/// each client gets the responses to all clients of the service.
const DEPTH: usize = 1000;
