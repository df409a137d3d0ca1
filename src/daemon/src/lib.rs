//! The rostrans daemon.
#[doc(hidden)]
pub mod fuzzing;
pub mod load;
