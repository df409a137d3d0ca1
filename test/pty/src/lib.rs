//! Pseudo terminals for tests: a serial line whose far end the test holds.
//!
//! The near end is opened by name, like a USB adapter; dropping the far end is what unplugging it is.

use std::{io, os::fd::OwnedFd};

use rustix::{
    fs::{OFlags, fcntl_setfl},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use tokio::{
    io::{Join, join},
    net::unix::pipe::{Receiver, Sender},
};

/// The far end of the line.
pub type FarEnd = Join<Receiver, Sender>;

/// Opens a pseudo terminal; returns its far end and the name of its near end, e.g. `/dev/pts/3`.
///
/// **Errors**: the system has no pseudo terminals left, or there is no Tokio runtime.
pub fn open() -> io::Result<(FarEnd, String)> {
    let far = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&far)?;
    unlockpt(&far)?;
    fcntl_setfl(&far, OFlags::NONBLOCK)?;
    let name = ptsname(&far, Vec::new())?.into_string().map_err(io::Error::other)?;
    let second: OwnedFd = far.try_clone()?;
    // A terminal's far end reads and writes as a pipe does; Tokio's checked constructors want a real one.
    let reader = Receiver::from_owned_fd_unchecked(far)?;
    let writer = Sender::from_owned_fd_unchecked(second)?;
    Ok((join(reader, writer), name))
}
