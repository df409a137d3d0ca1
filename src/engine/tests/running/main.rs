//! Whole rules against transports and a ROS graph inside the test, on paused time.

#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

mod adapters;
mod bridge;
mod call_in;
mod call_out;
mod clocks;
mod codec;
mod device;
mod faults;
mod hub;
mod inbound;
mod logs;
#[cfg(unix)]
mod loopback;
mod outbound;
mod pairing;
mod shutdown;
mod talk;
mod talker;
mod world;
