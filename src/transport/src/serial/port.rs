//! Opening a port, and what to say when that fails.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
};

use rostrans_core::{rule::SerialSpec, text::file_limit_remedy, transport::Peer};
use rustix::{
    fs::{FlockOperation, OFlags, flock},
    termios::{ioctl_tiocexcl, isatty},
};
use serial2_tokio::{FlowControl, SerialPort, Settings};

use crate::stream::Open;

/// Opens a port raw, 8N1, for this process alone.
///
/// **Errors**: the reason, with what to do about it.
pub(crate) fn open(spec: &SerialSpec) -> Result<Open<SerialPort>, String> {
    let claim = claim(&spec.device).map_err(|error| explain(&error, spec))?;
    if !isatty(&claim) {
        return Err(NO_PORT.to_owned());
    }
    lock(&claim).map_err(|error| explain(&error, spec))?;
    let settings = |mut settings: Settings| {
        settings.set_raw();
        settings.set_baud_rate(spec.baud)?;
        if spec.flow_control {
            settings.set_flow_control(FlowControl::RtsCts);
        }
        Ok(settings)
    };
    let stream = SerialPort::open(&*spec.device, settings).map_err(|error| explain(&error, spec))?;
    // Programs that know no file lock get EBUSY from now on. Not every device can do it, and the lock stands.
    ioctl_tiocexcl(&claim).ok();
    Ok(Open { stream, peer: Peer::Serial, claim: Some(claim) })
}

/// Opens a device without making it the terminal of this process.
fn claim(device: &str) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("invariant: both flags are small");
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(device)
}

/// Takes the lock that other serial programs look for.
fn lock(device: &File) -> io::Result<()> {
    Ok(flock(device, FlockOperation::NonBlockingLockExclusive)?)
}

const NO_PORT: &str = "not a serial port; see 'ls /dev/serial/by-id /dev/tty*' for the name of one";

fn explain(error: &io::Error, spec: &SerialSpec) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "no such device; plug it in, or see 'ls /dev/serial/by-id /dev/tty*' for its name".to_owned()
        }
        io::ErrorKind::IsADirectory => NO_PORT.to_owned(),
        io::ErrorKind::PermissionDenied => {
            "permission denied; run 'sudo usermod -aG dialout $USER' and log in again".to_owned()
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy => {
            "in use by another program; close it, or find it with 'sudo fuser -v' and the device".to_owned()
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            format!("{error}; {} bits per second may be no rate of this port", spec.baud)
        }
        _ => match file_limit_remedy(error) {
            Some(remedy) => format!("{error}; {remedy}"),
            None => error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_serial_port_is_called_so() {
        let file = std::env::current_exe().unwrap();
        for device in ["/dev/null", "/", file.to_str().unwrap()] {
            let spec = SerialSpec::new(device, 57_600);
            let reason = open(&spec).err().unwrap();
            // A program that runs may not be writable, which is another true answer.
            let busy = device == file.to_str().unwrap() && reason.contains("busy");
            assert!(reason.starts_with("not a serial port; see 'ls ") || busy, "{device}: {reason}");
        }
    }
}
