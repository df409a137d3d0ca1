//! Rules to plan to running pipelines.

pub mod plan;
pub mod topology;
