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
    assert!(checked > 800, "only {checked} rows");
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
        ("ros2", "srv" | "action") => {
            let service = TypeName::service(name)?;
            let whole = match kind {
                "srv" => !["_Request", "_Response", "_Event"].iter().any(|part| name.ends_with(part)),
                _ => ["_SendGoal", "_GetResult"].iter().any(|service| name.ends_with(service)),
            };
            if whole {
                rihs01_text(types.service(&service)?.rihs01())
            } else {
                rihs01_text(types.message(&service)?.rihs01())
            }
        }
        other => panic!("unknown row {other:?}"),
    })
}
