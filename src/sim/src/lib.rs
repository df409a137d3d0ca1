//! Stands in for RflySim: vehicles that obey CopterSim's packets and tell their truth, and a scene that obeys RflySim3D's.
//!
//! To try rostrans without RflySim (`rostrans demo coptersim`), and to test it. The flight is a simple one: velocities
//! follow commands with a lag, positions by velocities, nothing falls or tips over.

#![warn(clippy::indexing_slicing)]

mod copter;
mod coptersim;
mod forms;
mod scene;
mod socket;

pub use self::{
    copter::Copter,
    coptersim::{CopterSim, CopterSimConfig},
    forms::Packets,
    scene::{Scene, SceneConfig, SceneEvent},
};

use std::net::SocketAddr;

use thiserror::Error;

/// Why a simulation could not start.
#[derive(Debug, Error)]
pub enum SimError {
    /// A socket could not be opened.
    #[error("cannot open UDP {addr} for {what}")]
    Open {
        /// The address.
        addr: SocketAddr,
        /// What arrives there.
        what: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The last vehicle's ports would be above 65535.
    #[error("vehicle {0} has no ports: they would be above 65535")]
    Ports(u16),
}
