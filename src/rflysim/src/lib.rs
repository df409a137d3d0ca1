//! RflySim on the wire: the packets of CopterSim and RflySim3D, without I/O.
//!
//! ```text
//! (port, bytes) --detect()--> Kind        which packet it is: port series, exact length, magic number
//!         bytes --P::decode()--> P        a packet as a struct, fields in wire order
//!             P --encode()--> bytes
//! ```
//!
//! | module | packets | from, to |
//! |---|---|---|
//! | [`truth`] | true state of a vehicle, all generations | CopterSim -> outside, 30101-series |
//! | [`estimate`] | the autopilot's estimate | CopterSim -> outside, 20101-series |
//! | [`event`] | GPS origin, crash, model outputs, actuators, EKF | CopterSim -> outside |
//! | [`imu`] | IMU samples and the request for them; time heartbeat | both ways |
//! | [`control`] | flight control | outside -> CopterSim, 20100-series |
//! | [`model`] | model inputs, faults, collisions | outside -> CopterSim, 30100-series |
//! | [`command`] | the bits in [`model::PX4SILIntFloat`] | |
//! | [`setup`] | position, map, model, start signal | outside -> CopterSim |
//! | [`ue`] | console commands, poses, labels, attachments | outside -> RflySim3D |
//! | [`scene`] | cameras, vehicles, objects, collisions | RflySim3D -> outside |
//! | [`vision`] | sensor requests, image fragments, payload headers | both ways |
//!
//! Everything is little-endian with natural C alignment. The first field of nearly every packet, called "checksum" by
//! the vendor, is a constant; several packets share one, so port and length belong to the detection. Vendor names are
//! kept, with their spelling (`AngEular`, `VehicleAttatch`).
//!
//! Positions are metres in NED, angles radians (roll, pitch, yaw; Z-Y-X), quaternions w, x, y, z from FRD to NED, unless
//! a field says otherwise. `PosE` has its origin in the centre of the map, `localPos` where the vehicle was spawned.

#![warn(clippy::indexing_slicing)]

#[macro_use]
mod wire;

pub mod command;
pub mod control;
mod detect;
pub mod estimate;
pub mod event;
pub mod fuzzing;
pub mod imu;
pub mod model;
pub mod port;
pub mod scene;
pub mod setup;
mod text;
pub mod truth;
pub mod ue;
pub mod vision;

pub use self::{
    detect::{Kind, Series, detect, lengths},
    text::Text,
    wire::{Packet, Pad, WireError},
};
