//! The codecs from outside: frames in, messages out.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]
#![expect(clippy::needless_pass_by_value, reason = "json!(..) is written where it is used")]

mod command;
mod control;
mod diagnostics;
mod example;
mod external;
mod extras;
mod ftp;
mod generic;
mod golden;
mod link;
mod mission;
mod offboard;
mod param;
mod property;
mod rflysim;
mod service;
mod signing;
mod state;
mod status;
mod support;
mod telemetry;
mod time;
mod vehicle_info;
