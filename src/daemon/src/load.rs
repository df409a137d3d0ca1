//! Reading the configuration files.

pub mod yaml;
