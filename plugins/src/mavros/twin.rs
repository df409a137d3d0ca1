//! Parameters of MAVROS and those of rostrans that stand for them.

use super::params;

/// One parameter of MAVROS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MavrosParam {
    /// The plugin's node below the prefix, e.g. `imu`; `-` for parameters of the node itself.
    pub plugin: &'static str,
    /// Its name, parts separated by dots.
    pub name: &'static str,
    /// Default in MAVROS's configuration for PX4.
    pub default: &'static str,
    /// Default in that for ArduPilot, if it differs.
    pub apm_default: &'static str,
    note: &'static str,
}

impl MavrosParam {
    /// Every parameter of MAVROS's configuration files.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or_default();
            Self { plugin: next(), name: next(), default: next(), apm_default: next(), note: next() }
        })
    }

    /// The parameter of that name.
    pub fn find(plugin: &str, name: &str) -> Option<Self> {
        Self::all().find(|param| param.plugin == plugin && param.name == name)
    }

    /// The key that stands for it here, if there is one.
    pub fn key(&self) -> Option<&'static str> {
        mavros_key(self.plugin, self.name)
    }

    /// What to know about it: why there is none here, or how it differs.
    pub fn note(&self) -> &'static str {
        match self.note.strip_prefix('!') {
            Some(note) => note,
            None if self.key().is_some() => "",
            None => self.note,
        }
    }
}

/// The key that stands for a parameter of MAVROS, known or not: `mavros_<plugin>_<name>`, of the node itself the name.
pub fn mavros_key(plugin: &str, name: &str) -> Option<&'static str> {
    let name = name.replace(['.', '/'], "_");
    let key = if plugin == "-" { name } else { format!("mavros_{plugin}_{name}") };
    params::ALL.iter().map(|def| def.key).find(|known| *known == key)
}

const TABLE: &str = include_str!("parameters.tsv");
