//! Rules to plan to running pipelines.

pub mod topology;
