//! Entry points for fuzzers: each takes any text and must return.

use std::{
    path::Path,
    sync::{Arc, LazyLock},
};

use rostrans_core::{adapter::Fabric, filter::TopicFilter, registry::CodecRegistry};
use rostrans_engine::plan::{PlanContext, plan};
use rostrans_schema::TypeRegistry;

use crate::{
    load::{ini::PluginOrder, yaml},
    print_rules,
};

/// `ros_trans_config.yaml`: read, and if it holds, plan and print.
pub fn yaml(text: &str) {
    static CODECS: LazyLock<CodecRegistry> = LazyLock::new(rostrans_codecs::builtin);
    static TYPES: LazyLock<Arc<TypeRegistry>> = LazyLock::new(|| Arc::new(TypeRegistry::bundled()));
    let rules = yaml::rules(Path::new("f"), text, &CODECS, &mut Vec::new());
    let filter = TopicFilter::parse(Path::new("f"), "/a*\n!/ab\n", &mut Vec::new());
    let cx = PlanContext {
        filter: &filter,
        codecs: &CODECS,
        types: &TYPES,
        adapters: &[Fabric::Ros1, Fabric::Dds],
        own_addresses: &[],
    };
    let Ok(planned) = plan(rules, &cx) else { return };
    let topology = planned.topology;
    for pipeline in &topology.pipelines {
        assert!(pipeline.source.is_none_or(|id| id.0 < topology.transports.len()), "a source that exists");
        assert_eq!(pipeline.targets.len(), pipeline.rule.links.len(), "a target slot for each link");
    }
    // What runs can be printed and read back.
    let printed = print_rules::print(&topology);
    let mut problems = Vec::new();
    yaml::rules(Path::new("f"), &printed, &CODECS, &mut problems);
    assert_eq!(problems, [], "{printed}");
}

/// `plugins_config.ini`.
pub fn ini(text: &str) {
    PluginOrder::parse(Path::new("f"), text, &["mavros", "router"], &mut Vec::new());
}
