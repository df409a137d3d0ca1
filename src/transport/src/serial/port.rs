//! Opening a port, and what to say when that fails.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
};

use rostrans_core::rule::SerialSpec;
use rustix::{
    fs::{FlockOperation, OFlags, flock},
    termios::ioctl_tiocexcl,
};
use serial2_tokio::SerialPort;

/// An open port that is this process's alone.
pub(crate) struct Port {
    /// Bytes in and out.
    pub(crate) stream: SerialPort,
    /// Keeps other programs out while it lives.
    pub(crate) claim: File,
}

/// Opens a port raw, 8N1, without flow control, for this process alone.
///
/// **Errors**: the reason, with what to do about it.
pub(crate) fn open(spec: &SerialSpec) -> Result<Port, String> {
    let claim = claim(&spec.device).map_err(|error| explain(&error, spec))?;
    let stream = SerialPort::open(&*spec.device, spec.baud).map_err(|error| explain(&error, spec))?;
    // Programs that know no file lock get EBUSY from now on. Not every device can do it, and the lock stands.
    ioctl_tiocexcl(&claim).ok();
    Ok(Port { stream, claim })
}

/// Takes the lock that other serial programs look for.
fn claim(device: &str) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("invariant: both flags are small");
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(device)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

fn explain(error: &io::Error, spec: &SerialSpec) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "no such device; plug it in, or see 'ls /dev/serial/by-id /dev/tty*' for its name".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied; run 'sudo usermod -aG dialout $USER' and log in again".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy => {
            "in use by another program; close it, or find it with 'sudo fuser -v' and the device".to_owned()
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            format!("{error}; {} bits per second may be no rate of this port", spec.baud)
        }
        _ => error.to_string(),
    }
}
