//! How to join a ROS 1 graph.

use std::sync::Arc;

use rostrans_core::topic::TopicName;
use rostrans_schema::TypeRegistry;
use thiserror::Error;

use crate::xmlrpc::Address;

/// How to join a ROS 1 graph.
#[derive(Clone, Debug)]
pub struct Ros1Config {
    /// Name of our node, without slash.
    pub node_name: String,
    /// Its namespace, `/` or `/robot_1`.
    pub namespace: String,
    /// Where the master is, `http://host:port`.
    pub master_uri: String,
    /// The name or address under which others reach this machine; `None` to find it out.
    pub host: Option<String>,
    /// The interface definitions of both ROS versions.
    pub registry: Arc<TypeRegistry>,
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// Node name or namespace.
    #[error(
        "invalid node '{name}' in namespace '{namespace}'; use letters, digits and '_', and a namespace that starts with '/'"
    )]
    Node {
        /// The name.
        name: String,
        /// The namespace.
        namespace: String,
    },
    /// The master's URI.
    #[error("invalid ROS_MASTER_URI '{0}'; use http://HOST:11311")]
    Master(String),
    /// Our own host.
    #[error("invalid ROS_HOSTNAME or ROS_IP '{0}'; use a name or address without port")]
    Host(String),
}

/// Where a master listens unless told otherwise.
const DEFAULT_MASTER: &str = "http://localhost:11311";

impl Ros1Config {
    /// A node in the root namespace, with the master on this machine.
    pub fn new(node_name: &str, registry: Arc<TypeRegistry>) -> Self {
        Self {
            node_name: node_name.to_owned(),
            namespace: "/".to_owned(),
            master_uri: DEFAULT_MASTER.to_owned(),
            host: None,
            registry,
        }
    }

    /// The same with what `ROS_MASTER_URI`, `ROS_HOSTNAME` (before `ROS_IP`) and `ROS_NAMESPACE` say.
    #[must_use]
    pub fn with_env(mut self, get: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if let Some(uri) = read("ROS_MASTER_URI") {
            self.master_uri = uri;
        }
        self.host = read("ROS_HOSTNAME").or_else(|| read("ROS_IP")).or(self.host);
        if let Some(namespace) = read("ROS_NAMESPACE") {
            self.namespace = format!("/{}", namespace.trim_matches('/'));
        }
        self
    }

    /// Namespace and name as one.
    ///
    /// **Errors**: [`ConfigError::Node`].
    pub fn full_name(&self) -> Result<String, ConfigError> {
        let full_name = format!("{}/{}", self.namespace.trim_end_matches('/'), self.node_name);
        let valid = TopicName::parse(&full_name).is_ok()
            && self.namespace.starts_with('/')
            && !self.node_name.contains('/');
        if valid {
            return Ok(full_name);
        }
        Err(ConfigError::Node { name: self.node_name.clone(), namespace: self.namespace.clone() })
    }

    /// Checks everything that can be checked without a network.
    ///
    /// **Errors**: [`ConfigError`].
    pub fn check(&self) -> Result<(), ConfigError> {
        self.full_name()?;
        self.master()?;
        match &self.host {
            Some(host) if host.contains(['/', ':', ' ']) => Err(ConfigError::Host(host.clone())),
            _ => Ok(()),
        }
    }

    pub(crate) fn master(&self) -> Result<Address, ConfigError> {
        Address::parse(&self.master_uri, "http").ok_or_else(|| ConfigError::Master(self.master_uri.clone()))
    }

    /// Whether others can only be on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.host.as_deref().is_some_and(|host| host == "localhost" || host.starts_with("127."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(vars: &[(&str, &str)]) -> Ros1Config {
        let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Ros1Config::new("rostrans", Arc::new(TypeRegistry::bundled())).with_env(get)
    }

    #[test]
    fn variables_are_honoured() {
        let default = from(&[("ROS_IP", " "), ("ROS_MASTER_URI", "")]);
        assert_eq!((default.master_uri.as_str(), default.host.as_deref()), (DEFAULT_MASTER, None));
        assert_eq!(default.full_name().unwrap(), "/rostrans");
        let all = from(&[
            ("ROS_MASTER_URI", "http://robot:1234/"),
            ("ROS_IP", "10.0.0.3"),
            ("ROS_HOSTNAME", "me.local"),
            ("ROS_NAMESPACE", "uav1/"),
        ]);
        assert_eq!((all.master_uri.as_str(), all.host.as_deref()), ("http://robot:1234/", Some("me.local")));
        assert_eq!(all.full_name().unwrap(), "/uav1/rostrans");
        assert_eq!(all.check(), Ok(()));
        assert!(from(&[("ROS_IP", "127.0.0.1")]).is_local());
    }

    #[test]
    fn bad_settings_are_named() {
        assert_eq!(
            from(&[("ROS_MASTER_URI", "robot:11311")]).check().unwrap_err().to_string(),
            "invalid ROS_MASTER_URI 'robot:11311'; use http://HOST:11311"
        );
        assert!(matches!(from(&[("ROS_IP", "1.2.3.4:5")]).check(), Err(ConfigError::Host(_))));
        assert!(matches!(from(&[("ROS_NAMESPACE", "a b")]).check(), Err(ConfigError::Node { .. })));
    }
}
