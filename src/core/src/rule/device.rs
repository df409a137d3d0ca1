//! Sockets and ports, as plain data.

use std::{fmt, net::SocketAddr, sync::Arc};

use thiserror::Error;

use crate::text::excerpt;

/// A socket or port to open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// A UDP socket.
    Udp(UdpBind),
    /// A serial port.
    Serial(SerialSpec),
    /// A TCP connection or server.
    Tcp(TcpSpec),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(bind) => write!(f, "udp {}", bind.addr),
            Self::Serial(spec) => write!(f, "serial {spec}"),
            Self::Tcp(TcpSpec::Connect(to)) => write!(f, "tcp {to}"),
            Self::Tcp(TcpSpec::Listen(at)) => write!(f, "tcp server {at}"),
        }
    }
}

/// A UDP address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UdpBind {
    /// `udp_listen_ip` and `udp_listen_port`. A multicast address joins that group.
    pub addr: SocketAddr,
    /// Interface to join multicast on (`udp_multicast_if`): an address or a name; empty lets the kernel choose.
    pub multicast_if: Arc<str>,
    /// Where frames without a receiver of their own go.
    pub peer: UdpPeer,
}

impl UdpBind {
    /// Listens on `addr` and answers whoever sends there.
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, multicast_if: "".into(), peer: UdpPeer::Heard }
    }
}

/// Whom a UDP socket sends to when a frame names no receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum UdpPeer {
    /// Who was heard last.
    #[default]
    Heard,
    /// This address until somebody is heard, then who was heard last (`udp://bind@remote`).
    Remote(Host),
    /// This broadcast address until somebody is heard, then who was heard last (`udp-b://`).
    Broadcast(SocketAddr),
    /// Always this address, whoever is heard (`udp-pb://`).
    Always(SocketAddr),
}

/// A host by name or address, and a port; the name is looked up when it is needed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// Name or address; IPv6 addresses without brackets.
    pub name: Arc<str>,
    /// Port.
    pub port: u16,
}

impl Host {
    /// The address, where no name has to be looked up.
    pub fn addr(&self) -> Option<SocketAddr> {
        crate::text::ip(&self.name).map(|ip| SocketAddr::new(ip, self.port))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}

/// A TCP connection or server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TcpSpec {
    /// Connects to a server, again and again.
    Connect(Host),
    /// Takes connections of several peers.
    Listen(SocketAddr),
}

/// A serial port: `/dev/ttyUSB0:921600`, `COM3:921600`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SerialSpec {
    /// Device path or COM name.
    pub device: Arc<str>,
    /// Bits per second.
    pub baud: u32,
    /// Flow control by RTS and CTS.
    pub flow_control: bool,
}

impl fmt::Display for SerialSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.baud)
    }
}

impl SerialSpec {
    /// A port without flow control.
    pub fn new(device: impl Into<Arc<str>>, baud: u32) -> Self {
        Self { device: device.into(), baud, flow_control: false }
    }

    /// Reads `device:baud`, e.g. `/dev/ttyUSB0:921600` or `COM3:921600`.
    ///
    /// `default_baud` stands in when the text names a device only.
    ///
    /// **Errors**: an empty device, or a baud rate that is no whole number from 1 to 20,000,000.
    pub fn parse(text: &str, default_baud: Option<u32>) -> Result<Self, SerialSpecError> {
        let bad = || SerialSpecError(excerpt(text));
        let (device, baud) = match text.rsplit_once(':') {
            Some((device, baud)) => (device, baud.trim().parse().map_err(|_| bad())?),
            None => (text, default_baud.ok_or_else(bad)?),
        };
        let device = device.trim();
        if device.is_empty() || device.contains(char::is_control) || !(1..=MAX_BAUD).contains(&baud) {
            return Err(bad());
        }
        Ok(Self::new(device, baud))
    }
}

/// Why a text is not a serial port.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid serial port '{0}'; {SERIAL_HELP}")]
pub struct SerialSpecError(pub String);

impl SerialSpecError {
    /// What is wrong, and what to write.
    pub(super) fn split(self) -> (String, String) {
        (format!("invalid serial port '{}'", self.0), SERIAL_HELP.to_owned())
    }
}

const SERIAL_HELP: &str = "write device and baud rate, e.g. '/dev/ttyUSB0:921600' or 'COM3:921600'";

/// Faster than any UART driver goes; a larger number is a typing error.
const MAX_BAUD: u32 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_port_is_device_and_baud() {
        for (text, device, baud) in [
            ("/dev/ttyUSB0:921600", "/dev/ttyUSB0", 921_600),
            ("COM3:57600", "COM3", 57_600),
            (" /dev/serial/by-id/usb-3D:x : 115200", "/dev/serial/by-id/usb-3D:x", 115_200),
            ("/dev/ttyACM0", "/dev/ttyACM0", 9600),
        ] {
            let spec = SerialSpec::parse(text, Some(9600)).unwrap();
            assert_eq!((&*spec.device, spec.baud), (device, baud), "{text}");
        }
    }

    #[test]
    fn odd_serial_ports_are_refused() {
        for bad in
            ["", ":", ":9600", "/dev/x:", "/dev/x:fast", "/dev/x:0", "/dev/x:99999999999", "/dev/x", "a\0:1"]
        {
            assert!(SerialSpec::parse(bad, None).is_err(), "{bad}");
        }
    }
}
