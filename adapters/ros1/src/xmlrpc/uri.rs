//! Where a node can be reached.

use std::fmt;

use tokio::net::TcpStream;

/// Host and port of an `http://` or `rosrpc://` URI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// Reads `scheme://host:port/...`; `None` for anything else.
    pub(crate) fn parse(uri: &str, scheme: &str) -> Option<Self> {
        let rest = uri.trim().strip_prefix(scheme)?.strip_prefix("://")?;
        let authority = rest.split_once('/').map_or(rest, |(authority, _)| authority);
        let (host, port) = authority.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let valid = !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic());
        Some(Self { host: host.to_owned(), port: port.parse().ok()? }).filter(|a| valid && a.port != 0)
    }

    /// Connects.
    pub(crate) async fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_masters_nodes_and_services_are_read() {
        let address = |host: &str, port| Some(Address { host: host.to_owned(), port });
        assert_eq!(Address::parse("http://robot:11311", "http"), address("robot", 11311));
        assert_eq!(Address::parse(" http://10.0.0.2:40001/ ", "http"), address("10.0.0.2", 40001));
        assert_eq!(Address::parse("rosrpc://[::1]:5/", "rosrpc"), address("::1", 5));
        for bad in [
            "",
            "http://",
            "http://robot",
            "http://:1",
            "http://a:0/",
            "http://a:99999",
            "rosrpc://a:1",
            "http://a b:1",
        ] {
            assert_eq!(Address::parse(bad, "http"), None, "{bad}");
        }
    }
}
