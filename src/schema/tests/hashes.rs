//! Every hash of `config/interfaces/hashes.tsv`, which ROS itself computed.

use rostrans_schema::{TypeName, TypeRegistry, md5_text, rihs01_text};

#[test]
fn every_recorded_hash_is_reproduced() {
    let types = TypeRegistry::bundled();
    let mut checked = 0;
    let mut wrong = Vec::new();
    for row in include_str!("../../../config/interfaces/hashes.tsv").lines().skip(1) {
        let [ros, kind, name, hash] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("bad row '{row}'")
        };
        let ours = our_hash(&types, ros, kind, name).unwrap_or_else(|error| format!("{error:#}"));
        if ours != hash {
            wrong.push(format!("{name}: {ours}, should be {hash}"));
        }
        checked += 1;
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked > 700, "only {checked} rows");
}

fn our_hash(
    types: &TypeRegistry,
    ros: &str,
    kind: &str,
    name: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    Ok(match (ros, kind) {
        ("ros1", "msg") => md5_text(types.ros1_message(&TypeName::message(name)?)?.md5()),
        ("ros1", "srv") => md5_text(types.ros1_service(&TypeName::service(name)?)?.md5()),
        ("ros2", "msg") => rihs01_text(types.message(&TypeName::message(name)?)?.rihs01()),
        ("ros2", "srv")
            if name.ends_with("_Request") || name.ends_with("_Response") || name.ends_with("_Event") =>
        {
            rihs01_text(types.message(&TypeName::service(name)?)?.rihs01())
        }
        ("ros2", "srv") => rihs01_text(types.service(&TypeName::service(name)?)?.rihs01()),
        other => panic!("unknown row {other:?}"),
    })
}
