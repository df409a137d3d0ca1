use rostrans_core::{adapter::Fabric, filter::TopicFilter, param::ParamSet};
use rostrans_engine::plan::{PlanContext, plan};
use rostrans_schema::TypeRegistry;

use super::*;
use crate::DllModel;

fn settings(text: &str) -> Settings {
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), text, &mut problems);
    let defs: Vec<ParamDef> = params::ALL.iter().chain(DllModel.params()).copied().collect();
    let settings = set.resolve(&defs, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    settings
}

fn only(text: &str) -> ForwardRule {
    Sim3DUe.rules(&settings(text)).unwrap().pop().unwrap()
}

#[test]
fn windows_network_and_vehicles_are_those_of_the_parameters() {
    let rule = only(
        "ue3d_ip=192.168.1.9\nue3d_count=2\nue3d_multicast_if=eth0,wlan0\ncoptersim_startid=3\ncoptersim_count=2\nue3d_prefix=/sim",
    );
    let Source::Udp(bind) = &rule.source else { panic!("{:?}", rule.source) };
    assert_eq!((bind.addr.to_string().as_str(), &*bind.multicast_if), ("224.0.0.10:20006", "eth0,wlan0"));
    let commands = &rule.links[0];
    assert_eq!(commands.target, Some(Target::Udp("192.168.1.9:20010".parse().unwrap())));
    assert_eq!(commands.options.0["windows"], 2);
    let names: Vec<_> =
        rule.links.iter().flat_map(|link| link.ports.values()).map(|spec| spec.name.as_str()).collect();
    for name in ["/sim/ue/cmd", "/sim/ue/camera_data", "/sim/uav3/crash", "/sim/uav4/collision"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert_eq!(rule.links.len(), 4);
}

#[test]
fn all_that_the_codecs_have_is_bound_and_planned_beside_the_vehicles() {
    let text = "coptersim_count=20";
    let mut rules = Sim3DUe.rules(&settings(text)).unwrap();
    for link in &rules[0].links {
        let codecs = rostrans_codecs::builtin();
        let info = codecs.get(link.codec.as_ref().unwrap().as_str()).unwrap().info();
        let names = info.ports.iter().chain(info.inputs).map(|port| port.name);
        assert!(names.into_iter().all(|name| link.ports.contains_key(name)), "{}", info.name);
    }
    rules.extend(DllModel.rules(&settings(text)).unwrap());
    let (codecs, types) = (rostrans_codecs::builtin(), std::sync::Arc::new(TypeRegistry::bundled()));
    let filter = TopicFilter::default();
    for adapters in [&[Fabric::Dds][..], &[Fabric::Ros1], &[Fabric::Ros1, Fabric::Dds]] {
        let cx =
            PlanContext { filter: &filter, codecs: &codecs, types: &types, adapters, own_addresses: &[] };
        let planned = plan(rules.clone(), &cx).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert!(planned.warnings.is_empty(), "{:?}", planned.warnings);
    }
}

#[test]
fn wrong_settings_are_named_with_their_remedy() {
    let problems = Sim3DUe.rules(&settings("ue3d_ip=window\nue3d_prefix=no topic")).unwrap_err();
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("rostrans.param:1: invalid 'ue3d_ip' 'window'; write an IP address"),
        "{told:?}"
    );
    assert!(told[1].starts_with("rostrans.param:2: 'ue3d_prefix' makes no topic"), "{told:?}");
}
