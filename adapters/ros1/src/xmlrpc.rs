//! XML-RPC over HTTP, as much as ROS uses.
//!
//! Values, calls and responses to and from text ([`parse_call`], [`parse_response`], [`write_call`],
//! [`write_response`], [`write_fault`]), a client that makes one connection for each call, and the reading of requests
//! for the server. What is read is bounded by [`http::MAX_BODY`] before anything is allocated for it, and nesting by
//! [`parse::MAX_DEPTH`].
//!
//! Source: <http://xmlrpc.com/spec.md>, <https://wiki.ros.org/ROS/Master_Slave_APIs>.

mod client;
mod http;
mod parse;
mod server;
mod uri;
mod value;
mod write;

pub(crate) use client::{ApiError, call};
pub(crate) use http::parse_head;
pub(crate) use parse::{parse_call, parse_response};
pub(crate) use server::{Api, serve};
pub(crate) use uri::Address;
pub(crate) use value::Value;
pub(crate) use write::{write_call, write_fault, write_response};
