//! `docs/mavros.md` lists exactly the topics the plugin publishes, with their types and QoS.

use std::{collections::BTreeSet, path::Path};

use rostrans_core::{
    param::Settings,
    topic::{Durability, Qos, Reliability},
};

#[test]
fn table_lists_every_topic_with_type_and_qos() {
    let doc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mavros.md");
    let doc = std::fs::read_to_string(doc).unwrap();
    let documented: BTreeSet<String> = doc
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|cells| cells.len() == 7 && cells[1].starts_with('`'))
        .map(|cells| format!("{} {} {}", cells[1].trim_matches('`'), cells[2], cells[4]))
        .collect();

    let plugins = rostrans_plugins::all();
    let mavros = plugins.iter().find(|p| p.name() == "mavros").unwrap();
    let rules = mavros.rules(&Settings::defaults(mavros.params())).unwrap();
    let published: BTreeSet<String> = rules
        .iter()
        .flat_map(|rule| &rule.links)
        .flat_map(|link| link.ports.values().chain(&link.topic))
        .filter_map(|spec| {
            let name = spec.name.as_str().strip_prefix("/mavros/")?;
            Some(format!("{name} {} {}", spec.msg_type, qos(spec.qos)))
        })
        .collect();

    assert_eq!(documented, published);
}

fn qos(qos: Qos) -> String {
    match (qos.reliability, qos.durability) {
        (Reliability::BestEffort, _) => "best effort".to_owned(),
        (_, Durability::TransientLocal) => format!("latched {}", qos.depth),
        (Reliability::Reliable, Durability::Volatile) => format!("reliable {}", qos.depth),
    }
}
