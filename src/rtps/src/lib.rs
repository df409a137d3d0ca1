//! DDSI-RTPS engine.
