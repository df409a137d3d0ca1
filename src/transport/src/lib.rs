//! Byte transports.
