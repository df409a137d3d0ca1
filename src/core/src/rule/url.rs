//! Connection URLs as MAVROS users write them.
//!
//! ```text
//! /dev/ttyACM0:57600            serial:///dev/ttyUSB0:921600     serial-hwfc:///dev/ttyUSB0:921600
//! udp://[bind][:port]@[remote][:port]     udp-b://, udp-pb://    tcp://host[:port]    tcp-l://bind[:port]
//! ```
//!
//! `?ids=1,191` at the end sets the own system and component id.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use thiserror::Error;

use super::{Device, Host, SerialSpec, TcpSpec, UdpBind, UdpPeer};
use crate::{
    suggest::nearest,
    text::{excerpt, ip},
};

/// A connection URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MavUrl {
    /// What to open.
    pub device: Device,
    /// Own system and component id (`?ids=`).
    pub ids: Option<(u8, u8)>,
}

/// Why a text is no connection URL.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{problem}")]
pub struct UrlError {
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub help: String,
}

impl MavUrl {
    /// Reads a URL.
    ///
    /// What is left out is as in MAVROS: bind `0.0.0.0:14555`, remote port 14550, TCP port 5760, serial port
    /// `/dev/ttyACM0` at 57600 bit/s; without a remote address the peer is whoever sends.
    ///
    /// **Errors**: what is wrong and what to write; no name is looked up.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if text.matches("://").count() > 1 || text.contains([',', ';', ' ']) && !text.contains("ids=") {
            return Err(error("it is not one URL".to_owned(), "write a single URL here"));
        }
        let (main, query) = split_query(text);
        let ids = query.map(ids).transpose()?;
        let device = match main.split_once("://") {
            None if main.starts_with('/') || is_com(main) => Device::Serial(serial(main, false)?),
            None => {
                let help = "begin with udp://, tcp://, tcp-l://, serial:// or a device, e.g. \
                            'udp://:14540@127.0.0.1:14557' or '/dev/ttyACM0:57600'";
                return Err(error("it has no scheme".to_owned(), help));
            }
            Some(("serial", rest)) => Device::Serial(serial(rest, false)?),
            Some(("serial-hwfc", rest)) => Device::Serial(serial(rest, true)?),
            Some(("udp", rest)) => udp(rest, Kind::Remote)?,
            Some(("udp-b", rest)) => udp(rest, Kind::Broadcast)?,
            Some(("udp-pb", rest)) => udp(rest, Kind::Always)?,
            Some(("tcp", rest)) => Device::Tcp(TcpSpec::Connect(connect(rest)?)),
            Some(("tcp-l", rest)) => Device::Tcp(TcpSpec::Listen(listen(rest)?)),
            Some((scheme, _)) => {
                let problem = format!("scheme '{}' is unknown", excerpt(scheme));
                let help = match nearest(scheme, SCHEMES) {
                    Some(near) => format!("did you mean '{near}://'?"),
                    None => format!("use one of {}", SCHEMES.join(", ")),
                };
                return Err(UrlError { problem, help });
            }
        };
        Ok(Self { device, ids })
    }
}

/// The URL that reads back to the same device.
impl fmt::Display for MavUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            Device::Serial(spec) if spec.flow_control => write!(f, "serial-hwfc://{spec}")?,
            Device::Serial(spec) => write!(f, "serial://{spec}")?,
            Device::Tcp(TcpSpec::Connect(to)) => write!(f, "tcp://{to}")?,
            Device::Tcp(TcpSpec::Listen(at)) => write!(f, "tcp-l://{at}")?,
            Device::Udp(bind) => match &bind.peer {
                UdpPeer::Heard => write!(f, "udp://{}@", bind.addr)?,
                UdpPeer::Remote(to) => write!(f, "udp://{}@{to}", bind.addr)?,
                UdpPeer::Broadcast(to) => write!(f, "udp-b://{}@{to}", bind.addr)?,
                UdpPeer::Always(to) => write!(f, "udp-pb://{}@{to}", bind.addr)?,
            },
        }
        match self.ids {
            Some((sysid, compid)) => write!(f, "?ids={sysid},{compid}"),
            None => Ok(()),
        }
    }
}

/// Whom a UDP URL's right side names.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Remote,
    Broadcast,
    Always,
}

fn error(problem: String, help: &str) -> UrlError {
    UrlError { problem, help: help.to_owned() }
}

/// Takes what stands behind `?` off the end, and the `/` before it.
fn split_query(text: &str) -> (&str, Option<&str>) {
    let (main, query) = match text.split_once('?') {
        Some((main, query)) => (main, Some(query)),
        None => (text, None),
    };
    (if main.ends_with("://") { main } else { main.trim_end_matches('/') }, query)
}

/// `ids=1,191`.
fn ids(query: &str) -> Result<(u8, u8), UrlError> {
    let ids = query.strip_prefix("ids=").and_then(|ids| ids.split_once(','));
    let id = |text: &str| text.trim().parse::<u8>().ok().filter(|id| *id > 0);
    ids.and_then(|(sysid, compid)| Some((id(sysid)?, id(compid)?))).ok_or_else(|| {
        let help = "write '?ids=system,component' with numbers from 1 to 255, e.g. '?ids=1,191'";
        error(format!("'?{}' is not understood", excerpt(query)), help)
    })
}

fn is_com(text: &str) -> bool {
    text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("com"))
}

fn serial(text: &str, flow_control: bool) -> Result<SerialSpec, UrlError> {
    let text = match text {
        "" => DEFAULT_DEVICE.to_owned(),
        text if text.starts_with(':') => format!("{DEFAULT_DEVICE}{text}"),
        text => text.to_owned(),
    };
    let parsed = SerialSpec::parse(&text, Some(DEFAULT_BAUD));
    let spec = parsed.map_err(|e| {
        let (problem, help) = e.split();
        UrlError { problem, help }
    })?;
    Ok(SerialSpec { flow_control, ..spec })
}

fn udp(text: &str, kind: Kind) -> Result<Device, UrlError> {
    let (bind, remote) = match text.split_once('@') {
        Some(sides) => sides,
        // Other programs write 'udp://:14540' for where to listen; with a host it could be either side.
        None if text.starts_with(':') => (text, ""),
        None => {
            let help = format!("write 'udp://{text}@' to listen there, or 'udp://@{text}' to send there");
            return Err(UrlError { problem: "'@' is missing".to_owned(), help });
        }
    };
    let remote = host_port(remote, DEFAULT_REMOTE_PORT)?;
    let (name, port) = host_port(bind, DEFAULT_BIND_PORT)?;
    let any = match remote.0.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        _ => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    };
    let bind = UdpBind::new(SocketAddr::new(own_ip(&name, any)?, port));
    let peer = match (kind, &*remote.0) {
        (Kind::Remote, "") => UdpPeer::Heard,
        (Kind::Remote, _) => UdpPeer::Remote(Host { name: remote.0.into(), port: remote.1 }),
        (Kind::Broadcast, name) => UdpPeer::Broadcast(broadcast(name, remote.1)?),
        (Kind::Always, name) => UdpPeer::Always(broadcast(name, remote.1)?),
    };
    Ok(Device::Udp(UdpBind { peer, ..bind }))
}

fn broadcast(name: &str, port: u16) -> Result<SocketAddr, UrlError> {
    let ip = own_ip(name, Ipv4Addr::BROADCAST.into())?;
    Ok(SocketAddr::new(ip, port))
}

fn connect(text: &str) -> Result<Host, UrlError> {
    let (name, port) = host_port(text, DEFAULT_TCP_PORT)?;
    let name = if name.is_empty() { "localhost".to_owned() } else { name };
    if port == 0 {
        return Err(error("port 0 cannot be connected to".to_owned(), "write the server's port, e.g. 5760"));
    }
    Ok(Host { name: name.into(), port })
}

fn listen(text: &str) -> Result<SocketAddr, UrlError> {
    let (name, port) = host_port(text, DEFAULT_TCP_PORT)?;
    Ok(SocketAddr::new(own_ip(&name, Ipv4Addr::UNSPECIFIED.into())?, port))
}

/// `host:port`, `[ip6]:port`, `:port`, `host`, or nothing.
fn host_port(text: &str, default_port: u16) -> Result<(String, u16), UrlError> {
    let text = text.trim_end_matches('/');
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (name, rest.strip_prefix(':')),
        None => match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    if name.contains(|c: char| c.is_control() || c.is_whitespace() || matches!(c, '/' | '@')) {
        let problem = format!("'{}' is no host name", excerpt(name));
        return Err(error(problem, "write a name or an address, e.g. 192.168.1.10"));
    }
    let port = match port {
        None => default_port,
        Some(port) => port.parse().map_err(|_| {
            let problem = match port {
                "" => format!("no port behind ':' in '{}'", excerpt(text)),
                port => format!("'{}' is no port", excerpt(port)),
            };
            error(problem, "write a number from 1 to 65535; IPv6 addresses need brackets")
        })?,
    };
    Ok((name.to_owned(), port))
}

/// An address of ours; a name would have to be looked up.
fn own_ip(name: &str, default: IpAddr) -> Result<IpAddr, UrlError> {
    if name.is_empty() {
        return Ok(default);
    }
    ip(name).ok_or_else(|| {
        error(format!("'{}' is no IP address", excerpt(name)), "write an address, or leave it out for all")
    })
}

const SCHEMES: [&str; 7] = ["udp", "udp-b", "udp-pb", "tcp", "tcp-l", "serial", "serial-hwfc"];
// Source: MAVROS, `libmavconn`: what a URL leaves out.
const DEFAULT_BIND_PORT: u16 = 14_555;
const DEFAULT_REMOTE_PORT: u16 = 14_550;
const DEFAULT_TCP_PORT: u16 = 5760;
const DEFAULT_DEVICE: &str = "/dev/ttyACM0";
const DEFAULT_BAUD: u32 = 57_600;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        MavUrl::parse(text).unwrap_or_else(|e| panic!("{text}: {e}")).to_string()
    }

    #[test]
    fn urls_of_mavros_are_understood() {
        for (text, canonical) in [
            ("/dev/ttyACM0:57600", "serial:///dev/ttyACM0:57600"),
            ("/dev/ttyACM0", "serial:///dev/ttyACM0:57600"),
            ("serial:///dev/ttyUSB0:921600", "serial:///dev/ttyUSB0:921600"),
            ("serial://", "serial:///dev/ttyACM0:57600"),
            ("serial://:115200", "serial:///dev/ttyACM0:115200"),
            ("serial-hwfc:///dev/ttyUSB0:921600/?ids=1,240", "serial-hwfc:///dev/ttyUSB0:921600?ids=1,240"),
            ("COM3:9600", "serial://COM3:9600"),
            ("udp://:14540@127.0.0.1:14557", "udp://0.0.0.0:14540@127.0.0.1:14557"),
            ("udp://:14540@", "udp://0.0.0.0:14540@"),
            ("udp://:14540", "udp://0.0.0.0:14540@"),
            ("udp://@", "udp://0.0.0.0:14555@"),
            ("udp://192.168.1.2@px4", "udp://192.168.1.2:14555@px4:14550"),
            ("udp://[::]:1@[fe80::1]:2", "udp://[::]:1@[fe80::1]:2"),
            ("udp://@[::1]:2", "udp://[::]:14555@[::1]:2"),
            ("udp-b://@", "udp-b://0.0.0.0:14555@255.255.255.255:14550"),
            ("udp-b://:14556@192.168.1.255:14550", "udp-b://0.0.0.0:14556@192.168.1.255:14550"),
            ("udp-pb://:1@:2", "udp-pb://0.0.0.0:1@255.255.255.255:2"),
            ("tcp://127.0.0.1:5763", "tcp://127.0.0.1:5763"),
            ("tcp://ardupilot/", "tcp://ardupilot:5760"),
            ("tcp://", "tcp://localhost:5760"),
            ("tcp-l://0.0.0.0:5770?ids=255,190", "tcp-l://0.0.0.0:5770?ids=255,190"),
            ("tcp-l://", "tcp-l://0.0.0.0:5760"),
        ] {
            assert_eq!(shown(text), canonical, "{text}");
            assert_eq!(shown(canonical), canonical);
        }
    }

    #[test]
    fn mistakes_are_named_with_the_remedy() {
        for (text, expected) in [
            ("upd://:14540@", "scheme 'upd' is unknown; did you mean 'udp://'?"),
            (
                "http://x",
                "scheme 'http' is unknown; use one of udp, udp-b, udp-pb, tcp, tcp-l, serial, serial-hwfc",
            ),
            (
                "127.0.0.1:14550",
                "it has no scheme; begin with udp://, tcp://, tcp-l://, serial:// or a device, e.g. 'udp://:14540@127.0.0.1:14557' or '/dev/ttyACM0:57600'",
            ),
            (
                "udp://127.0.0.1:14550",
                "'@' is missing; write 'udp://127.0.0.1:14550@' to listen there, or 'udp://@127.0.0.1:14550' to send there",
            ),
            (
                "udp://:@",
                "no port behind ':' in ':'; write a number from 1 to 65535; IPv6 addresses need brackets",
            ),
            (
                "tcp://host:http",
                "'http' is no port; write a number from 1 to 65535; IPv6 addresses need brackets",
            ),
            ("tcp://host:0", "port 0 cannot be connected to; write the server's port, e.g. 5760"),
            ("tcp-l://myhost", "'myhost' is no IP address; write an address, or leave it out for all"),
            ("udp://:1@ udp://:2@", "it is not one URL; write a single URL here"),
            ("udp://:1@,udp://:2@", "it is not one URL; write a single URL here"),
            (
                "udp://:1@?ids=1",
                "'?ids=1' is not understood; write '?ids=system,component' with numbers from 1 to 255, e.g. '?ids=1,191'",
            ),
            (
                "serial:///dev/ttyUSB0:fast",
                "invalid serial port '/dev/ttyUSB0:fast'; write device and baud rate, e.g. '/dev/ttyUSB0:921600' or 'COM3:921600'",
            ),
        ] {
            let error = MavUrl::parse(text).expect_err(text);
            assert_eq!(format!("{}; {}", error.problem, error.help), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived_and_what_is_read_reads_back(
            text in "(udp|udp-b|udp-pb|tcp|tcp-l|serial)://[a-z0-9:@./\\[\\]?=,]{0,30}|\\PC*",
        ) {
            if let Ok(url) = MavUrl::parse(&text) {
                prop_assert_eq!(MavUrl::parse(&url.to_string()), Ok(url.clone()), "{}", url);
            }
        }
    }
}
