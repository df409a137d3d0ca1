//! Addresses as users write them in parameters.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rostrans_core::rule::SerialSpec;

/// Parses `ip:port`, or `port` alone, which stands for `default_ip:port`.
///
/// **Errors**: the remedy.
pub(crate) fn udp(text: &str, default_ip: Ipv4Addr) -> Result<SocketAddr, String> {
    let address = match text.parse::<u16>() {
        Ok(port) => SocketAddr::from((default_ip, port)),
        Err(_) => text.parse().map_err(|_| "write 'ip:port', e.g. '127.0.0.1:14550', or a port".to_owned())?,
    };
    match address.port() {
        0 => Err("use a port from 1 to 65535".to_owned()),
        _ => Ok(address),
    }
}

/// Parses an IP address.
///
/// **Errors**: the remedy.
pub(crate) fn ip(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        _ => text.parse().map_err(|_| "write an IP address, e.g. '192.168.1.10'".to_owned()),
    }
}

/// Parses `device:baud`, e.g. `/dev/ttyUSB0:921600` or `COM3:921600`; `None` when the text names no serial device.
///
/// **Errors**: the remedy.
pub(crate) fn serial(text: &str) -> Result<Option<SerialSpec>, String> {
    let is_com = text.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("com"));
    if !text.starts_with('/') && !is_com {
        return Ok(None);
    }
    let remedy = || format!("write 'device:baud', e.g. '{}:921600'", if is_com { "COM3" } else { "/dev/ttyUSB0" });
    let (device, baud) = text.rsplit_once(':').ok_or_else(remedy)?;
    match baud.parse() {
        Ok(baud) if baud > 0 && !device.is_empty() => Ok(Some(SerialSpec { device: device.into(), baud })),
        _ => Err(remedy()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udp_addresses_are_ip_and_port_or_a_port() {
        let parse = |text| udp(text, Ipv4Addr::LOCALHOST).map(|a| a.to_string());
        assert_eq!(parse("14550").as_deref(), Ok("127.0.0.1:14550"));
        assert_eq!(parse("10.0.0.2:1").as_deref(), Ok("10.0.0.2:1"));
        assert_eq!(parse("[::1]:7").as_deref(), Ok("[::1]:7"));
        for bad in ["", "0", "70000", "10.0.0.2", "10.0.0.2:0", "host:1", "1:2:3"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn serial_devices_carry_a_baud_rate() {
        let parse = |text| serial(text).map(|s| s.map(|s| s.to_string()));
        assert_eq!(parse("/dev/ttyUSB0:921600"), Ok(Some("/dev/ttyUSB0:921600".to_owned())));
        assert_eq!(parse("com3:57600"), Ok(Some("com3:57600".to_owned())));
        assert_eq!(parse("14560"), Ok(None));
        for bad in ["/dev/ttyUSB0", "/dev/ttyUSB0:", "/dev/ttyUSB0:fast", "COM3", "COM3:0"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
