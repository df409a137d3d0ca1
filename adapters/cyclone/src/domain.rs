//! Domains and their configuration.

use std::{
    collections::BTreeMap,
    ffi::CString,
    fmt::Write,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rostrans_adapter_dds::{Discovery, DiscoveryRange};
use rostrans_core::adapter::AdapterError;

use crate::entity::{Entity, refused};

/// A domain of this process, shared by the adapters in it; the last one to go ends it.
#[derive(Debug)]
pub(crate) struct Domain(u16);

struct Open {
    users: usize,
    config: String,
    _entity: Entity,
}

static DOMAINS: Mutex<BTreeMap<u16, Open>> = Mutex::new(BTreeMap::new());

impl Domain {
    /// Joins the domain, with its configuration if it is the first to.
    ///
    /// **Errors**: configured otherwise before; the library refuses.
    pub(crate) fn join(discovery: &Discovery, interfaces: &[String]) -> Result<Self, AdapterError> {
        let config = config(discovery, interfaces);
        let mut domains = domains();
        if let Some(open) = domains.get_mut(&discovery.domain) {
            if open.config != config {
                let context = format!(
                    "domain {} is already used with other settings in this program; Cyclone DDS takes one set",
                    discovery.domain
                );
                return Err(AdapterError::Io { context, source: io::ErrorKind::AddrInUse.into() });
            }
            open.users += 1;
            return Ok(Self(discovery.domain));
        }
        let text = CString::new(config.as_str()).map_err(|error| AdapterError::Io {
            context: "invalid Cyclone DDS configuration".to_owned(),
            source: error.into(),
        })?;
        // SAFETY: the text ends in NUL and lives through the call, which copies it.
        let entity =
            Entity::new(unsafe { cyclors::dds_create_domain(discovery.domain.into(), text.as_ptr()) })
                .map_err(refused("the domain"))?;
        domains.insert(discovery.domain, Open { users: 1, config, _entity: entity });
        Ok(Self(discovery.domain))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut domains = domains();
        if let Some(open) = domains.get_mut(&self.0) {
            open.users -= 1;
            if open.users == 0 {
                // Under the lock: whoever joins next must find it gone.
                domains.remove(&self.0);
            }
        }
    }
}

fn domains() -> MutexGuard<'static, BTreeMap<u16, Open>> {
    DOMAINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The XML that makes Cyclone DDS search where the environment variables of ROS say.
fn config(discovery: &Discovery, interfaces: &[String]) -> String {
    let localhost = discovery.range == DiscoveryRange::Localhost;
    let multicast = if discovery.range == DiscoveryRange::Subnet { "true" } else { "false" };
    let mut xml = format!("<Domain id=\"any\"><General><AllowMulticast>{multicast}</AllowMulticast>");
    let interfaces: Vec<String> = match discovery.range {
        DiscoveryRange::Subnet => interfaces.to_vec(),
        DiscoveryRange::Localhost | DiscoveryRange::Off => vec!["127.0.0.1".to_owned()],
    };
    // Writing to a String cannot fail.
    if !interfaces.is_empty() {
        xml.push_str("<Interfaces>");
        for interface in interfaces {
            let key = if interface.parse::<IpAddr>().is_ok() { "address" } else { "name" };
            write!(xml, "<NetworkInterface {key}=\"{}\"/>", escape(&interface)).unwrap_or_default();
        }
        xml.push_str("</Interfaces>");
    }
    // Peers in LOCALHOST range search the ports of the first 32 participants only.
    xml.push_str(
        "</General><Discovery><ParticipantIndex>auto</ParticipantIndex>\
         <MaxAutoParticipantIndex>31</MaxAutoParticipantIndex>",
    );
    if discovery.range == DiscoveryRange::Off {
        // Who has another tag is not listened to.
        write!(xml, "<Tag>rostrans_off_{}</Tag>", std::process::id()).unwrap_or_default();
    } else {
        // The configuration is for IPv4.
        let hosts = discovery.resolve().into_iter().filter(SocketAddr::is_ipv4);
        let hosts = hosts.map(|host| if host.port() == 0 { host.ip().to_string() } else { host.to_string() });
        let local = localhost.then(|| "127.0.0.1".to_owned());
        xml.push_str("<Peers>");
        for host in hosts.chain(local) {
            write!(xml, "<Peer address=\"{host}\"/>").unwrap_or_default();
        }
        xml.push_str("</Peers>");
    }
    // A write never waits, so the limit from which on it would has to be out of the way of a few images.
    xml.push_str(
        "</Discovery><Internal><Watermarks><WhcHigh>64 MiB</WhcHigh></Watermarks></Internal></Domain>",
    );
    xml
}

/// A text inside an attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discovery(range: DiscoveryRange) -> Discovery {
        Discovery { domain: 7, range, static_peers: vec!["127.0.0.9".to_owned()], ..Discovery::default() }
    }

    #[test]
    fn range_decides_on_multicast_interfaces_and_peers() {
        let local = config(&discovery(DiscoveryRange::Localhost), &[]);
        assert!(
            local.contains("<AllowMulticast>false<")
                && local.contains("address=\"127.0.0.1\"/></Interfaces>")
        );
        assert!(local.contains("<Peer address=\"127.0.0.9\"/><Peer address=\"127.0.0.1\"/>"), "{local}");
        let subnet = config(&discovery(DiscoveryRange::Subnet), &["10.0.0.2".into(), "e<0".into()]);
        assert!(
            subnet.contains("<AllowMulticast>true<")
                && subnet
                    .contains("<NetworkInterface address=\"10.0.0.2\"/><NetworkInterface name=\"e&lt;0\"/>")
        );
        assert!(!config(&discovery(DiscoveryRange::Subnet), &[]).contains("Interfaces"));
        let off = config(&discovery(DiscoveryRange::Off), &[]);
        assert!(off.contains("<Tag>rostrans_off_") && !off.contains("Peer "), "{off}");
    }
}
