//! The RTPS wire format: checked reading of untrusted bytes, and writing.
//!
//! Reading takes both byte orders; writing is little endian. Nothing here keeps state.
//!
//! Source: DDSI-RTPS 2.5, chapters 8.3 and 9.4.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod cursor;
mod encode;
mod entity;
mod locator;
mod message;
mod param;
mod set;
mod submessage;
#[cfg(test)]
mod tests;

pub(crate) use cursor::{Cursor, Malformed};
pub(crate) use encode::Encoder;
pub(crate) use entity::{
    Entity, LIVELINESS_READER, LIVELINESS_WRITER, PARTICIPANT, Prefix, SEDP_PUB_READER, SEDP_PUB_WRITER,
    SEDP_SUB_READER, SEDP_SUB_WRITER, SPDP_READER, SPDP_WRITER, UNKNOWN_ENTITY,
};
pub(crate) use locator::{read_locator, write_locator};
pub(crate) use message::Message;
pub(crate) use param::{ParamWriter, Params, pid};
pub(crate) use set::{FragmentSet, SequenceSet};
pub(crate) use submessage::{
    AckNack, Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, NackFrag, Submessage,
};
