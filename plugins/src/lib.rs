//! Business modules: settings in, forward rules out.
//!
//! A plugin owns some `rostrans.param` keys and turns their values into the same [`ForwardRule`]s that a user could
//! write in `ros_trans_config.yaml`. It opens nothing and starts nothing.
//!
//! [`ForwardRule`]: rostrans_core::rule::ForwardRule

#![warn(clippy::indexing_slicing)]

use rostrans_core::plugin::Plugin;

mod address;
mod bind;
mod dllmodel;
mod mavros;
mod router;
mod sim3due;

pub use dllmodel::DllModel;
pub use mavros::{Mavros, MavrosParam, mavros_key};
pub use router::Router;
pub use sim3due::Sim3DUe;

/// Every plugin that ships, in the order in which their rules are planned.
pub fn all() -> Vec<Box<dyn Plugin>> {
    vec![Box::new(DllModel), Box::new(Sim3DUe), Box::new(Mavros), Box::new(Router)]
}
