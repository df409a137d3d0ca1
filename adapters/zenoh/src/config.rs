//! How to join, and what that is in Zenoh's own configuration.

use std::{fmt, io, path::PathBuf, sync::Arc};

use rostrans_core::{adapter::AdapterError, topic::TopicName};
use rostrans_schema::TypeRegistry;
use zenoh::Config;

/// The part a Zenoh session plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One connection, to a router, which does all the rest.
    Client,
    /// Connects to a router and, told by it, to other peers: what ROS nodes are.
    Peer,
    /// Is itself the router that nodes connect to.
    Router,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Peer => "peer",
            Self::Router => "router",
        })
    }
}

/// How to join a ROS 2 graph over Zenoh.
///
/// Nothing is sent by multicast unless a configuration file asks for it.
#[derive(Clone, Debug)]
pub struct ZenohConfig {
    /// Name of our node, without slash.
    pub node_name: String,
    /// Its namespace, `/` or `/robot_1`.
    pub namespace: String,
    /// ROS domain, a part of every key.
    pub domain: u16,
    /// Which part to play; `None`: what the file says, else [`Mode::Peer`].
    pub mode: Option<Mode>,
    /// Where routers or peers are, `tcp/192.168.1.5:7447` or without `tcp/`; empty: what the file says, else
    /// `tcp/localhost:7447`, and for a router none.
    pub connect: Vec<String>,
    /// Where to take connections; empty: what the file says, else `tcp/localhost:0`, for a router port 7447 of every
    /// interface, for a client none.
    pub listen: Vec<String>,
    /// Zenoh's configuration of a node (`ZENOH_SESSION_CONFIG_URI`), in place of the defaults here.
    pub session_file: Option<PathBuf>,
    /// The same of a router (`ZENOH_ROUTER_CONFIG_URI`).
    pub router_file: Option<PathBuf>,
    /// Single settings of Zenoh, `key=value;key=value` with JSON5 values (`ZENOH_CONFIG_OVERRIDE`).
    pub overrides: String,
    /// Whether a router listens on the loopback interface alone.
    pub localhost: bool,
    /// Whether keys have the hash of the type, as from Iron on; Humble has none.
    pub type_hashes: bool,
    /// The interface definitions, for type hashes.
    pub registry: Arc<TypeRegistry>,
}

impl ZenohConfig {
    /// A node in the root namespace that finds a router on this host, as ROS nodes do.
    pub fn new(node_name: &str, domain: u16, registry: Arc<TypeRegistry>) -> Self {
        Self {
            node_name: node_name.to_owned(),
            namespace: "/".to_owned(),
            domain,
            mode: None,
            connect: Vec::new(),
            listen: Vec::new(),
            session_file: None,
            router_file: None,
            overrides: String::new(),
            localhost: false,
            type_hashes: true,
            registry,
        }
    }

    /// Namespace and name as one.
    ///
    /// **Errors**: one of them does not follow the rules, which are those of topic names.
    pub fn full_name(&self) -> Result<String, AdapterError> {
        let full_name = format!("{}/{}", self.namespace.trim_end_matches('/'), self.node_name);
        let valid = TopicName::parse(&full_name).is_ok()
            && self.namespace.starts_with('/')
            && !self.node_name.contains('/');
        if valid {
            return Ok(full_name);
        }
        Err(invalid(format!(
            "invalid node '{}' in namespace '{}'; use letters, digits and '_', and a namespace that starts with '/'",
            self.node_name, self.namespace
        )))
    }

    /// Whether everything in it can be used; opens nothing.
    ///
    /// **Errors**: bad node name, a file that cannot be read, or a setting that Zenoh does not know. A remedy may follow a
    /// semicolon.
    pub fn check(&self) -> Result<(), String> {
        let checked = self.full_name().and_then(|_| self.session().map(drop));
        checked.map_err(|error| match error {
            AdapterError::Io { context, source } if source.kind() != io::ErrorKind::InvalidInput => {
                format!("{context}: {source}")
            }
            other => other.to_string(),
        })
    }

    /// The mode, and the configuration of a session.
    ///
    /// **Errors**: a file that cannot be read, or a setting that Zenoh does not know.
    pub(crate) fn session(&self) -> Result<(Mode, Config), AdapterError> {
        let file = match self.mode {
            Some(Mode::Router) => &self.router_file,
            _ => &self.session_file,
        };
        let mut config = match file {
            Some(file) => Config::from_file(file).map_err(|error| {
                refused(format!("cannot use Zenoh's configuration '{}'", file.display()), error)
            })?,
            None => Config::from_json5(&self.defaults())
                .map_err(|error| refused("Zenoh's defaults".to_owned(), error))?,
        };
        if let Some(mode) = self.mode {
            set(&mut config, "mode", &format!("\"{mode}\""))?;
        }
        for (key, endpoints) in [("connect/endpoints", &self.connect), ("listen/endpoints", &self.listen)] {
            if !endpoints.is_empty() {
                set(&mut config, key, &list(endpoints)?)?;
            }
        }
        for setting in self.overrides.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                invalid(format!(
                    "ZENOH_CONFIG_OVERRIDE: '{setting}' is no setting; write key=value;key=value"
                ))
            })?;
            set(&mut config, key.trim(), value.trim())?;
        }
        let mode = match config.get_json("mode").unwrap_or_default().trim_matches('"') {
            "client" => Mode::Client,
            "router" => Mode::Router,
            _ => Mode::Peer,
        };
        Ok((mode, config))
    }

    /// What `rmw_zenoh` starts its nodes and its router with.
    fn defaults(&self) -> String {
        let (connect, listen, delay_ms) = match self.mode {
            Some(Mode::Router) => ("", self.router_address(), 0),
            Some(Mode::Client) => (ROUTER, "", 0),
            Some(Mode::Peer) | None => (ROUTER, "\"tcp/localhost:0\"", 500),
        };
        // A transient-local sample carries a timestamp; `delay` is how long opening waits for the first connection.
        format!(
            "{{mode: \"{}\", connect: {{endpoints: [{connect}]}}, listen: {{endpoints: [{listen}]}}, \
             scouting: {{delay: {delay_ms}, multicast: {{enabled: false}}}}, timestamping: {{enabled: true}}}}",
            self.mode.unwrap_or(Mode::Peer)
        )
    }

    fn router_address(&self) -> &'static str {
        // Where IPv6 is switched off there is no address for both.
        let both = || std::net::UdpSocket::bind("[::]:0").is_ok();
        match self.localhost {
            true => ROUTER,
            false if both() => "\"tcp/[::]:7447\"",
            false => "\"tcp/0.0.0.0:7447\"",
        }
    }
}

const ROUTER: &str = "\"tcp/localhost:7447\"";

fn set(config: &mut Config, key: &str, value: &str) -> Result<(), AdapterError> {
    config
        .insert_json5(key, value)
        .map_err(|error| refused(format!("Zenoh refuses '{key}' = {value}"), error))
}

/// Endpoints as a JSON list.
///
/// **Errors**: another protocol than TCP, or something that would end the text.
fn list(endpoints: &[String]) -> Result<String, AdapterError> {
    let quoted = endpoints.iter().map(|endpoint| {
        let address = endpoint.strip_prefix("tcp/").unwrap_or(endpoint);
        let usable =
            !address.is_empty() && !address.contains(['/', '"', '\\', '#', '?']) && address.contains(':');
        let problem = || {
            invalid(format!(
                "invalid Zenoh endpoint '{endpoint}'; write tcp/HOST:PORT, as in tcp/192.168.1.5:7447"
            ))
        };
        usable.then(|| format!("\"tcp/{address}\"")).ok_or_else(problem)
    });
    Ok(format!("[{}]", quoted.collect::<Result<Vec<_>, _>>()?.join(",")))
}

fn invalid(context: String) -> AdapterError {
    AdapterError::Io { context, source: io::ErrorKind::InvalidInput.into() }
}

/// Zenoh's refusal as an adapter error.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn refused(context: String, error: zenoh::Error) -> AdapterError {
    AdapterError::Io { context, source: io::Error::other(reason(&error.to_string())) }
}

/// Zenoh's text without the places in its source, ` at <path>.rs:<line>.`, that it puts behind each sentence.
fn reason(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for part in text.split(" at ") {
        let place = part.split_once(".rs:");
        let rest = place.map(|(_, line)| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
        let rest = rest.unwrap_or(part);
        if !kept.is_empty() && place.is_none() {
            kept.push_str(" at ");
        }
        kept.push_str(rest);
    }
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ZenohConfig {
        ZenohConfig { localhost: true, ..ZenohConfig::new("rostrans", 0, Arc::new(TypeRegistry::bundled())) }
    }

    /// Mode, connect, listen and whether it scouts.
    fn session(config: &ZenohConfig) -> String {
        match config.session() {
            Ok((mode, session)) => {
                let of = |key| session.get_json(key).unwrap();
                let (connect, listen) = (of("connect/endpoints"), of("listen/endpoints"));
                format!("{mode} {connect} {listen} {}", of("scouting/multicast/enabled"))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn defaults_are_those_of_ros_nodes() {
        let with = |mode| session(&ZenohConfig { mode, ..config() });
        assert_eq!(with(None), r#"peer ["tcp/localhost:7447"] ["tcp/localhost:0"] false"#);
        assert_eq!(with(Some(Mode::Client)), r#"client ["tcp/localhost:7447"] [] false"#);
        assert_eq!(with(Some(Mode::Router)), r#"router [] ["tcp/localhost:7447"] false"#);
    }

    #[test]
    fn parameters_win_over_the_file_and_overrides_over_both() {
        let folder = std::env::temp_dir().join(format!("rostrans-zenoh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("session.json5");
        std::fs::write(&file, "{mode: 'client', connect: {endpoints: ['tcp/10.0.0.1:7447']}, scouting: {multicast: {enabled: true}}}")
            .unwrap();
        let from_file = ZenohConfig { session_file: Some(file), ..config() };
        let with_parameters = ZenohConfig {
            mode: Some(Mode::Peer),
            connect: vec!["10.0.0.2:1".to_owned()],
            ..from_file.clone()
        };
        let overridden = ZenohConfig {
            overrides: "mode=\"router\"; listen/endpoints=[\"tcp/[::1]:0\"]".to_owned(),
            ..with_parameters.clone()
        };
        assert!(session(&from_file).starts_with(r#"client ["tcp/10.0.0.1:7447"]"#));
        assert!(session(&from_file).ends_with("true"));
        assert!(session(&with_parameters).starts_with(r#"peer ["tcp/10.0.0.2:1"]"#));
        assert!(session(&overridden).starts_with(r#"router ["tcp/10.0.0.2:1"] ["tcp/[::1]:0"]"#));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn places_in_zenohs_source_are_left_out_of_its_reasons() {
        for (text, says) in [
            ("no such file at /a/zenoh-1.0/src/b.rs:12.", "no such file"),
            (
                "no at all at /a.rs:1. - Caused by port in use at C:\\b.rs:33.",
                "no at all - Caused by port in use",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(reason(text), says);
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        for endpoint in ["udp/10.0.0.1:7447", "tcp/10.0.0.1", "", "tcp/\"]:1"] {
            let text = session(&ZenohConfig { connect: vec![endpoint.to_owned()], ..config() });
            assert!(text.starts_with(&format!("invalid Zenoh endpoint '{endpoint}'")), "{text}");
        }
        let missing = ZenohConfig { session_file: Some("/no/such/file.json5".into()), ..config() };
        assert!(session(&missing).contains("/no/such/file.json5"));
        for (overrides, says) in [("mode", "'mode' is no setting"), ("no/such=1", "'no/such' = 1")] {
            let text = session(&ZenohConfig { overrides: overrides.to_owned(), ..config() });
            assert!(text.contains(says), "{text}");
        }
        let nameless = ZenohConfig { node_name: "a/b".to_owned(), ..config() };
        assert!(nameless.full_name().is_err());
    }
}
