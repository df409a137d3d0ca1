//! The rostrans daemon.

fn main() {}
