//! Adapters on Cyclone DDS among themselves, and with the native engine in both roles.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::sync::Arc;

use rostrans_adapter_cyclone::CycloneAdapter;
use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery, DiscoveryRange};
use rostrans_core::adapter::RosAdapter;
use rostrans_schema::TypeRegistry;
use rostrans_test_suite::domain;

mod cyclone_alone {
    rostrans_test_suite::adapter_tests!(crate::cyclone, crate::cyclone);
}

mod native_with_cyclone {
    rostrans_test_suite::adapter_tests!(crate::native, crate::cyclone);
}

mod cyclone_with_native {
    rostrans_test_suite::adapter_tests!(crate::cyclone, crate::native);
}

fn config(name: &str) -> DdsConfig {
    let discovery = Discovery { domain: domain(), range: DiscoveryRange::Localhost, ..Discovery::default() };
    DdsConfig::new(name, discovery, Arc::new(TypeRegistry::bundled()))
}

fn cyclone(name: &str) -> Arc<dyn RosAdapter> {
    CycloneAdapter::new(&config(name)).unwrap()
}

fn native(name: &str) -> Arc<dyn RosAdapter> {
    DdsAdapter::new(config(name)).unwrap()
}
