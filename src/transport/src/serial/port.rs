//! Opening a port, and what to say when that fails.

use std::io;

use rostrans_core::rule::SerialSpec;
use tokio_serial::{DataBits, ErrorKind, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

/// Opens a port raw, 8N1, without flow control, for this process alone.
///
/// **Errors**: the reason, with what to do about it.
pub(crate) fn open(spec: &SerialSpec) -> Result<SerialStream, String> {
    tokio_serial::new(&*spec.device, spec.baud)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .open_native_async()
        .map_err(|error| explain(&error, spec))
}

fn explain(error: &tokio_serial::Error, spec: &SerialSpec) -> String {
    match error.kind {
        ErrorKind::Io(io::ErrorKind::NotFound) => {
            "no such device; plug it in, or see 'ls /dev/serial/by-id /dev/tty*' for its name".to_owned()
        }
        ErrorKind::Io(io::ErrorKind::PermissionDenied) => {
            "permission denied; run 'sudo usermod -aG dialout $USER' and log in again".to_owned()
        }
        ErrorKind::NoDevice => {
            "in use by another program; close it, or find it with 'sudo fuser -v' and the device".to_owned()
        }
        ErrorKind::InvalidInput => {
            format!("{}; {} bits per second may be no rate of this port", error, spec.baud)
        }
        _ => error.to_string(),
    }
}
