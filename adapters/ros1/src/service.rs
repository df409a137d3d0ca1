//! Services over TCPROS.

mod client;
mod pool;
mod server;

pub(crate) use client::Client;
pub(crate) use pool::Pool;
pub(crate) use server::{Service, serve};
