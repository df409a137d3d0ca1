//! `rostrans.filter`: which topics and services stay.
//!
//! A blacklist. One line names one topic or a pattern, and switches it off unless it says otherwise:
//!
//! ```text
//! /mavros/vfr_hud              one topic or service, off
//! /mavros/imu/*                '*' is any text, '/' included; '?' is any one character
//! prefix:/rflysim/sensor1      every name that begins so
//! regex:^/mavros[0-9]*/imu/.*  every name the expression matches somewhere ('re:' for short)
//! !/mavros/imu/data            on again; '+' does the same, and '-' in front means off
//! /mavros/imu/mag = on         a word behind '=', ':' or a blank: on true yes 1 enable, off false no 0 disable
//! enable /mavros/imu/mag       the word in front works too
//! # comment                    also behind a blank
//! ```
//!
//! An exact line wins over all patterns. Else the last matching line decides. Else the name is enabled. Of two
//! exact lines for one name the last wins.

mod parse;
mod verdict;

pub use verdict::{FilterLine, TopicFilter, Verdict};
