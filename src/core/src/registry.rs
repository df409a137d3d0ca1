//! All codecs of a run, by name.

use std::{collections::BTreeMap, fmt, sync::Arc};

use thiserror::Error;

use crate::{codec::Codec, suggest::nearest};

/// The codecs a rule may name.
#[derive(Clone, Default)]
pub struct CodecRegistry {
    codecs: BTreeMap<&'static str, Arc<dyn Codec>>,
}

/// A second codec with a name that is taken.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("codec '{0}' is registered twice")]
pub struct DuplicateCodec(pub &'static str);

impl fmt::Debug for CodecRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.codecs.keys()).finish()
    }
}

impl CodecRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a codec under its own name.
    ///
    /// **Errors**: the name is taken; the registry is unchanged.
    pub fn register(&mut self, codec: Arc<dyn Codec>) -> Result<(), DuplicateCodec> {
        let name = codec.info().name;
        if self.codecs.contains_key(name) {
            return Err(DuplicateCodec(name));
        }
        self.codecs.insert(name, codec);
        Ok(())
    }

    /// The codec of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Codec>> {
        self.codecs.get(name)
    }

    /// The registered name closest to a misspelt one.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.codecs.keys().copied())
    }

    /// All codecs in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Codec>> {
        self.codecs.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        codec::{CodecInfo, Cost, Interest},
        transport::Framing,
    };

    struct Named(&'static CodecInfo);

    impl Codec for Named {
        fn info(&self) -> &'static CodecInfo {
            self.0
        }
    }

    static IMU: CodecInfo = CodecInfo {
        name: "mavlink.imu",
        doc: "",
        roles: &[],
        ports: &[],
        inputs: &[],
        services: &[],
        framing: Framing::Datagram,
        interest: Interest::All,
        cost: Cost::Inline,
        tick: None,
        options: &[],
    };

    #[test]
    fn name_is_taken_once() {
        let mut registry = CodecRegistry::new();
        assert_eq!(registry.register(Arc::new(Named(&IMU))), Ok(()));
        assert_eq!(registry.register(Arc::new(Named(&IMU))), Err(DuplicateCodec("mavlink.imu")));
        assert_eq!(registry.iter().count(), 1);
    }

    #[test]
    fn misspelt_name_finds_its_codec() {
        let mut registry = CodecRegistry::new();
        registry.register(Arc::new(Named(&IMU))).unwrap();
        assert!(registry.get("mavlink.imu").is_some());
        assert!(registry.get("mavlink.imo").is_none());
        assert_eq!(registry.nearest("mavlink.imo"), Some("mavlink.imu"));
    }
}
