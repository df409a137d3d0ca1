use std::sync::Arc;

use rostrans_core::{adapter::Fabric, filter::TopicFilter, param::ParamSet};
use rostrans_engine::plan::{PlanContext, plan};
use rostrans_schema::TypeRegistry;

use super::*;

fn settings(text: &str) -> Settings {
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), text, &mut problems);
    let settings = set.resolve(params::ALL, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    settings
}

/// `rule source -> target first topic`, one line a rule.
fn show(text: &str) -> Vec<String> {
    let rules = DllModel.rules(&settings(text)).unwrap();
    let line = |rule: &ForwardRule| {
        let Source::Udp(bind) = &rule.source else { panic!("{:?}", rule.source) };
        let target = rule.links.iter().find_map(|link| match link.target {
            Some(Target::Udp(addr)) => Some(addr),
            _ => None,
        });
        let pose = &rule.links[0].ports["pose"].name;
        format!("{} {} -> {} {pose}", rule.rule_id, bind.addr, target.unwrap())
    };
    rules.iter().map(line).collect()
}

#[test]
fn vehicles_have_their_ports_and_prefixes() {
    assert_eq!(
        show("coptersim_count=3\ncoptersim_targetip=192.168.1.9"),
        [
            "dllmodel_1 0.0.0.0:30101 -> 192.168.1.9:30100 /mavros/local_position/pose",
            "dllmodel_2 0.0.0.0:30103 -> 192.168.1.9:30102 /mavros2/local_position/pose",
            "dllmodel_3 0.0.0.0:30105 -> 192.168.1.9:30104 /mavros3/local_position/pose",
        ]
    );
    assert_eq!(
        show(
            "coptersim_startid=4\ndllmodel_prefix=/uav{id}/mavros\ndllmodel_ctrl=simple\ndllmodel_source=estimate"
        ),
        ["dllmodel_4 0.0.0.0:20107 -> 127.0.0.1:20106 /uav4/mavros/local_position/pose"]
    );
}

#[test]
fn all_that_the_codecs_have_is_bound_and_planned() {
    let rules = DllModel.rules(&settings("coptersim_count=50")).unwrap();
    for codec in ["coptersim.truth", "coptersim.event", "coptersim.flight"] {
        let codecs = rostrans_codecs::builtin();
        let info = codecs.get(codec).unwrap().info();
        let link = rules[0].links.iter().find(|link| link.codec.as_ref().unwrap().as_str() == codec).unwrap();
        let names = info.ports.iter().chain(info.inputs).map(|port| port.name);
        assert!(names.into_iter().all(|name| link.ports.contains_key(name)), "{codec}");
        assert!(info.services.iter().all(|service| link.services.contains_key(service.name)), "{codec}");
    }
    let (codecs, types) = (rostrans_codecs::builtin(), Arc::new(TypeRegistry::bundled()));
    let filter = TopicFilter::default();
    let adapters = &[Fabric::Dds];
    let cx = PlanContext { filter: &filter, codecs: &codecs, types: &types, adapters, own_addresses: &[] };
    let planned = plan(rules, &cx).unwrap();
    assert_eq!(planned.warnings, []);
}

#[test]
fn settings_that_cannot_be_name_their_remedy() {
    let errors = |text: &str| -> Vec<String> {
        DllModel.rules(&settings(text)).unwrap_err().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        errors("coptersim_targetip=sim.local\ncoptersim_startid=200\ncoptersim_count=100"),
        [
            "rostrans.param:1: invalid 'coptersim_targetip' 'sim.local'; write an IP address, e.g. '192.168.1.10'",
            "rostrans.param:3: 100 vehicles from number 200 on end with number 299; vehicles have numbers up to 255; lower 'coptersim_count' or 'coptersim_startid'",
        ]
    );
    let wrong = errors("dllmodel_prefix=/my drone");
    assert!(wrong[0].contains("'dllmodel_prefix' makes no topic"), "{wrong:?}");
}
