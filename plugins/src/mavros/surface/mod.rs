//! Which codec is behind which topics and services, and which parameters reach which codec.
//!
//! A file for each group of MAVROS plugins. A parameter `/mavros/<plugin>: <name>` of MAVROS is
//! `mavros_<plugin>_<name>` here, dots as underscores.

use rostrans_core::param::ParamDef;

mod command;
mod control;
mod external;
mod extras;
mod ftp;
mod link;
mod mission;
mod param;
mod telemetry;

/// What MAVROS users see of one codec. Names are relative to the prefix; one that starts with `/` stands for itself, with the
/// vehicle's number for `{id}`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pub(super) codec: &'static str,
    /// The codec's ports and inputs, each with its topic.
    pub(super) topics: &'static [(&'static str, &'static str)],
    /// The codec's services, each with its name.
    pub(super) services: &'static [(&'static str, &'static str)],
    /// The codec's options, each with the parameter that sets it.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// It sends to the vehicle, even without services and topics to read.
    pub(super) talks: bool,
}

impl Surface {
    /// A codec without topics, services and parameters yet.
    pub(super) const fn of(codec: &'static str) -> Self {
        Self { codec, topics: &[], services: &[], options: &[], talks: false }
    }
}

/// Everything, in the order of the links.
pub(super) fn all() -> impl Iterator<Item = &'static Surface> {
    let groups = [
        telemetry::SURFACES,
        link::SURFACES,
        control::SURFACES,
        command::SURFACES,
        mission::SURFACES,
        param::SURFACES,
        ftp::SURFACES,
        external::SURFACES,
        extras::SURFACES,
    ];
    groups.into_iter().flatten()
}

/// The parameters of all groups.
pub(super) fn params() -> impl Iterator<Item = &'static ParamDef> {
    let groups = [
        telemetry::PARAMS,
        link::PARAMS,
        control::PARAMS,
        command::PARAMS,
        mission::PARAMS,
        param::PARAMS,
        ftp::PARAMS,
        external::PARAMS,
        extras::PARAMS,
    ];
    groups.into_iter().flatten()
}
