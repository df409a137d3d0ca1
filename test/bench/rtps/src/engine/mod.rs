//! The engines under test behind one face. Each gets the same QoS and socket buffers and talks over loopback.

#[cfg(feature = "cyclone")]
mod cyclone;
mod ours;
#[cfg(feature = "rustdds")]
mod rust_dds;

use std::any::Any;

/// Receive and send buffer every engine asks for, in bytes; what `net.core.rmem_max` is set to on many robots.
pub(crate) const SOCKET_BUFFER: usize = 4 << 20;
/// Payload bytes a keep-all writer may hold before it waits.
const KEEP_ALL_BYTES: usize = 1 << 20;
/// Depth of keep-last histories.
const DEPTH: u32 = 10;

pub(crate) struct Failure(String);

impl<E: std::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl std::fmt::Debug for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A topic and the QoS of both its ends.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    /// ROS name without the leading slash.
    pub(crate) name: String,
    pub(crate) type_name: &'static str,
    pub(crate) reliable: bool,
    /// Keep all, and wait when the history is full; otherwise keep last [`DEPTH`].
    pub(crate) keep_all: bool,
    /// Depth of a keep-last history; 0 is [`DEPTH`].
    pub(crate) depth: u32,
}

impl Topic {
    fn depth(&self) -> u32 {
        if self.depth == 0 { DEPTH } else { self.depth }
    }
}

/// Gets the body of each message, without the encapsulation header.
pub(crate) type Sink = Box<dyn Fn(&[u8]) + Send + Sync>;

pub(crate) trait Engine {
    fn writer(&self, topic: &Topic) -> Result<Box<dyn Writer>, Failure>;
    /// The subscription lives as long as what is returned.
    fn reader(&self, topic: &Topic, sink: Sink) -> Result<Box<dyn Any>, Failure>;
    /// What the engine counts itself, for people.
    fn note(&self) -> String {
        String::new()
    }
}

pub(crate) trait Writer {
    fn matched(&self) -> usize;
    /// Sends one message, encapsulation header included; false when the engine refused it.
    fn write(&self, cdr: &[u8]) -> bool;
}

/// Names for the command line, ours first.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names = vec!["ours"];
    if cfg!(feature = "cyclone") {
        names.extend(["cyclone", "cyclone64k"]);
    }
    if cfg!(feature = "rustdds") {
        names.push("rustdds");
    }
    names
}

pub(crate) fn open(name: &str, domain: u16) -> Result<Box<dyn Engine>, Failure> {
    match name {
        "ours" => Ok(Box::new(ours::Ours::open(domain)?)),
        #[cfg(feature = "cyclone")]
        "cyclone" => Ok(Box::new(cyclone::Cyclone::open(domain, false)?)),
        #[cfg(feature = "cyclone")]
        "cyclone64k" => Ok(Box::new(cyclone::Cyclone::open(domain, true)?)),
        #[cfg(feature = "rustdds")]
        "rustdds" => Ok(Box::new(rust_dds::RustDds::open(domain)?)),
        _ => Err(format!("unknown engine '{name}'; use one of {}", names().join(", ")).into()),
    }
}
