//! Addresses as users write them in parameters.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Parses `ip:port`, `[ip6]:port`, `localhost:port`, or `port` alone, which stands for `default_ip:port`.
///
/// **Errors**: the remedy.
pub(crate) fn udp(text: &str, default_ip: Ipv4Addr) -> Result<SocketAddr, &'static str> {
    let named = || {
        let (host, port) = text.split_once(':')?;
        Some(SocketAddr::new(rostrans_core::text::ip(host)?, port.parse().ok()?))
    };
    let address = match text.parse::<u16>() {
        Ok(port) => SocketAddr::from((default_ip, port)),
        Err(_) => text
            .parse()
            .ok()
            .or_else(named)
            .ok_or("write 'ip:port', e.g. '127.0.0.1:14550' or 'localhost:14550', or a port")?,
    };
    match address.port() {
        0 => Err("use a port from 1 to 65535"),
        _ => Ok(address),
    }
}

/// Parses an IP address; `localhost` is one.
///
/// **Errors**: the remedy.
pub(crate) fn ip(text: &str) -> Result<IpAddr, &'static str> {
    rostrans_core::text::ip(text).ok_or("write an IP address, e.g. '192.168.1.10'")
}

/// True when a text names a serial port rather than a UDP address: `/dev/...` or `COM...`.
pub(crate) fn is_serial(text: &str) -> bool {
    text.starts_with('/') || text.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("com"))
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
        assert_eq!(parse("localhost:7").as_deref(), Ok("127.0.0.1:7"));
        for bad in [
            "",
            "0",
            "70000",
            "10.0.0.2",
            "10.0.0.2:0",
            "host:1",
            "1:2:3",
            "::1:7",
            "localhost",
            "localhost:0",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn serial_ports_are_told_from_addresses() {
        assert!(is_serial("/dev/ttyUSB0:921600") && is_serial("COM3") && is_serial("com12:1"));
        assert!(!is_serial("14560") && !is_serial("10.0.0.1:1") && !is_serial(""));
    }
}
