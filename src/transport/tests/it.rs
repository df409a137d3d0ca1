//! Transports over loopback sockets and pseudo terminals.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails its test")]

#[path = "it/harness.rs"]
mod harness;
#[path = "it/route_serial.rs"]
mod route_serial;
#[path = "it/route_udp.rs"]
mod route_udp;
#[path = "it/serial.rs"]
mod serial;
#[path = "it/tcp.rs"]
mod tcp;
#[path = "it/udp.rs"]
mod udp;
