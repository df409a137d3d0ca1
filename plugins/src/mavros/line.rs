//! How vehicles are reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rostrans_core::{
    diag::Diagnostic,
    param::Settings,
    rule::{Device, Host, MavUrl, SerialSpec, Target, TcpSpec, UdpBind, UdpPeer},
};

use crate::{address, router::FIXED_PORTS};

/// How vehicles are reached.
pub(super) enum Line {
    /// CopterSim's pair of ports for each vehicle.
    Paired {
        target: IpAddr,
        base_port: u16,
    },
    /// Vehicles that send to us; answered where they send from.
    Listening {
        port: u16,
        step: u16,
    },
    Serial(SerialSpec),
    /// `fcu_url`; `{id}` in it is the vehicle's number, and ports rise by `step` for each further vehicle.
    Url {
        pattern: String,
        step: u16,
    },
}

/// The socket or port of one vehicle.
pub(super) struct Way {
    pub(super) device: Device,
    /// Where all frames for it go; `None` answers where it sends from.
    pub(super) target: Option<Target>,
    /// Own system and component id, where the URL names them.
    pub(super) ids: Option<(u8, u8)>,
}

impl Line {
    /// What the parameters say.
    pub(super) fn parse(settings: &Settings, problems: &mut Vec<Diagnostic>) -> Option<Self> {
        let url = settings.text("fcu_url").trim();
        if !url.is_empty() {
            return Some(Self::Url { pattern: url.to_owned(), step: port(settings, "mavros_listen_step") });
        }
        if settings.text("mavros_transport_mode") == "serial" {
            let key = if cfg!(windows) { "mavros_win_serial" } else { "mavros_linux_serial" };
            let baud = u32::try_from(settings.int("mavros_baudrate")).ok();
            return match SerialSpec::parse(settings.text(key), baud) {
                Ok(port) => Some(Self::Serial(port)),
                Err(error) => {
                    problems.push(Diagnostic::error(settings.origin(key), format!("'{key}': {error}"), ""));
                    None
                }
            };
        }
        let listen_port = port(settings, "mavros_listen_port");
        if listen_port > 0 {
            return Some(Self::Listening { port: listen_port, step: port(settings, "mavros_listen_step") });
        }
        let text = settings.text("mavros_target_ip");
        match address::ip(text) {
            Ok(target) => Some(Self::Paired { target, base_port: port(settings, "mavros_base_port") }),
            Err(help) => {
                let message = format!("invalid 'mavros_target_ip' '{text}'");
                problems.push(Diagnostic::error(settings.origin("mavros_target_ip"), message, help));
                None
            }
        }
    }

    /// The way to vehicle `id`, which is the one of number `index` from 0.
    ///
    /// **Errors**: the URL is wrong, or a port would be above 65535.
    pub(super) fn way(&self, id: u8, index: u16, settings: &Settings) -> Result<Way, Diagnostic> {
        let (device, target, ids) = match self {
            Self::Serial(port) => (Device::Serial(port.clone()), None, None),
            Self::Listening { port, step } => {
                let port = step_port(*port, *step, index, "mavros_listen_port", settings)?;
                (listen_on(port), None, None)
            }
            Self::Paired { target, base_port } => {
                let send = step_port(*base_port, 2, u16::from(id) - 1, "mavros_base_port", settings)?;
                let receive = step_port(send, 1, 1, "mavros_base_port", settings)?;
                (listen_on(receive), Some(Target::Udp(SocketAddr::new(*target, send))), None)
            }
            Self::Url { pattern, step } => {
                let url = parse_url("fcu_url", pattern, id, settings)?;
                let device = step_device(url.device, *step, index)
                    .ok_or_else(|| too_high("fcu_url", pattern, settings))?;
                (device, None, url.ids)
            }
        };
        Ok(Way { device, target, ids })
    }
}

/// Reads a URL parameter for one vehicle.
pub(super) fn parse_url(key: &str, pattern: &str, id: u8, settings: &Settings) -> Result<MavUrl, Diagnostic> {
    let text = pattern.replace("{id}", &id.to_string());
    MavUrl::parse(&text).map_err(|error| {
        let message = format!("invalid '{key}' '{pattern}': {}", error.problem);
        Diagnostic::error(settings.origin(key), message, error.help)
    })
}

/// The device of a further vehicle: ports are higher by `step` for each, except those that all ground stations and
/// simulators share. A serial port has none.
fn step_device(device: Device, step: u16, index: u16) -> Option<Device> {
    let offset = step.checked_mul(index)?;
    let rise = |port: u16| if offset == 0 { Some(port) } else { port.checked_add(offset) };
    let rise_to = |port: u16| if FIXED_PORTS.contains(&port) { Some(port) } else { rise(port) };
    let higher = |addr: SocketAddr, port: u16| SocketAddr::new(addr.ip(), port);
    Some(match device {
        Device::Udp(bind) => {
            let peer = match bind.peer {
                UdpPeer::Heard => UdpPeer::Heard,
                UdpPeer::Remote(host) => UdpPeer::Remote(Host { port: rise_to(host.port)?, ..host }),
                UdpPeer::Broadcast(to) => UdpPeer::Broadcast(higher(to, rise_to(to.port())?)),
                UdpPeer::Always(to) => UdpPeer::Always(higher(to, rise_to(to.port())?)),
            };
            let addr = higher(bind.addr, rise(bind.addr.port())?);
            Device::Udp(UdpBind { addr, peer, ..bind })
        }
        Device::Tcp(TcpSpec::Connect(host)) => {
            Device::Tcp(TcpSpec::Connect(Host { port: rise(host.port)?, ..host }))
        }
        Device::Tcp(TcpSpec::Listen(at)) => Device::Tcp(TcpSpec::Listen(higher(at, rise(at.port())?))),
        Device::Serial(port) => Device::Serial(port),
    })
}

fn port(settings: &Settings, key: &str) -> u16 {
    u16::try_from(settings.int(key)).unwrap_or_default()
}

fn listen_on(port: u16) -> Device {
    Device::Udp(UdpBind::new((Ipv4Addr::UNSPECIFIED, port).into()))
}

fn step_port(base: u16, step: u16, times: u16, key: &str, settings: &Settings) -> Result<u16, Diagnostic> {
    step.checked_mul(times)
        .and_then(|offset| base.checked_add(offset))
        .ok_or_else(|| too_high(key, &base.to_string(), settings))
}

fn too_high(key: &str, value: &str, settings: &Settings) -> Diagnostic {
    let message = format!("'{key}' {value} leads to ports above 65535");
    Diagnostic::error(settings.origin(key), message, "lower it, or the number of vehicles")
}
