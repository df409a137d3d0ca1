//! What the `mavros` plugin offers, against everything MAVROS has (`data/mavros.tsv`), and the table in the docs.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use rostrans_core::{
    codec::PortInfo,
    param::{ParamSet, Settings},
    topic::{Durability, Qos, Reliability},
};

/// One name of MAVROS.
struct Name {
    /// Relative to the prefix, or absolute.
    name: String,
    kind: Kind,
    type_name: String,
    mavlink: String,
    /// Code (see `data/README.md`) of what MAVROS offers or asks for.
    qos: String,
    tier: String,
    what: String,
    /// Why it is not there; empty for what is.
    not_done: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Published,
    Read,
    Service,
}

/// The list: headings with the names below them.
fn list() -> Vec<(String, Vec<Name>)> {
    let mut sections: Vec<(String, Vec<Name>)> = Vec::new();
    for line in include_str!("data/mavros.tsv").lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [name, kind, type_name, mavlink, qos, tier, what, not_done] = cells[..] else {
            let ["#", heading] = cells[..] else { panic!("neither a name nor a heading: '{line}'") };
            sections.push((heading.to_owned(), Vec::new()));
            continue;
        };
        let kind = match kind {
            "out" => Kind::Published,
            "in" => Kind::Read,
            "service" => Kind::Service,
            other => panic!("'{name}': kind '{other}'"),
        };
        let [name, type_name, mavlink, qos, tier, what, not_done] =
            [name, type_name, mavlink, qos, tier, what, not_done].map(str::to_owned);
        let section = &mut sections.last_mut().expect("a heading comes first").1;
        section.push(Name { name, kind, type_name, mavlink, qos, tier, what, not_done });
    }
    sections
}

/// What the plugin offers for vehicle 1: by name and kind, type and QoS.
fn offered(settings: &str) -> BTreeMap<(String, Kind), (String, Option<Qos>)> {
    let plugins = rostrans_plugins::all();
    let mavros = plugins.iter().find(|p| p.name() == "mavros").unwrap();
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), settings, &mut problems);
    let settings: Settings = set.resolve(mavros.params(), &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    let rules = mavros.rules(&settings).unwrap();
    let codecs = rostrans_codecs::builtin();
    let mut offered = BTreeMap::new();
    for link in rules.iter().flat_map(|rule| &rule.links) {
        let info = codecs.get(link.codec.as_ref().unwrap().as_str()).unwrap().info();
        let reads = |port: &str| info.inputs.iter().any(|input: &PortInfo| input.name == port);
        let ports = link.ports.iter().map(|(port, spec)| (reads(port.as_str()), spec));
        for (read, spec) in ports.chain(link.topic.iter().map(|spec| (false, spec))) {
            let kind = if read { Kind::Read } else { Kind::Published };
            let value = (spec.msg_type.to_string(), Some(spec.qos));
            offered.insert((relative(spec.name.as_str()), kind), value);
        }
        for spec in link.services.values() {
            let key = (relative(spec.name.as_str()), Kind::Service);
            assert!(offered.insert(key, (spec.srv_type.to_string(), None)).is_none(), "{} twice", spec.name);
        }
    }
    offered
}

fn relative(name: &str) -> String {
    name.strip_prefix("/mavros/").unwrap_or(name).to_owned()
}

fn qos(code: &str) -> Qos {
    let depth = || {
        code.trim_start_matches(char::is_alphabetic).parse().unwrap_or_else(|_| panic!("QoS code '{code}'"))
    };
    match code.as_bytes()[0] {
        b'S' => Qos::sensor_data(),
        b'B' => Qos::sensor_data().with_depth(depth()),
        b'R' => Qos::reliable().with_depth(depth()),
        b'T' | b'L' => Qos::latched(depth()),
        _ => panic!("QoS code '{code}'"),
    }
}

#[test]
fn every_name_of_mavros_is_there_or_has_a_reason() {
    let offered = offered("");
    let mut wrong = Vec::new();
    let mut known = BTreeSet::new();
    for name in list().into_iter().flat_map(|(_, names)| names) {
        let key = (name.name.clone(), name.kind);
        let there = offered.get(&key);
        match (there, name.not_done.is_empty()) {
            (None, true) => wrong.push(format!("{} ({:?}) is missing", name.name, name.kind)),
            (Some(_), false) => wrong.push(format!("{} is there, but said not to be", name.name)),
            (None, false) => {}
            (Some((type_name, got)), true) => {
                if *type_name != name.type_name {
                    wrong.push(format!("{} is a {type_name}, not a {}", name.name, name.type_name));
                }
                let fits = got.is_none_or(|got| match name.kind {
                    Kind::Read => requests_little(got),
                    _ => got == qos(&name.qos),
                });
                if !fits {
                    wrong.push(format!("{}: {got:?}, not {}", name.name, name.qos));
                }
            }
        }
        assert!(known.insert(key), "{} is listed twice", name.name);
    }
    for (name, kind) in offered.keys().filter(|key| !known.contains(key)) {
        wrong.push(format!("{name} ({kind:?}) is not in data/mavros.tsv"));
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn distance_sensors_are_those_that_are_configured() {
    let config = concat!(
        r#"mavros_distance_sensor_config={"sonar": {"id": 0, "orientation": 25, "frame_id": "sonar", "send_tf": true, "#,
        r#""sensor_position": {"z": -0.1}}, "#,
        r#""laser": {"subscriber": true, "id": 3, "orientation": "CUSTOM", "custom_orientation": {"pitch": 270}}}"#,
    );
    let offered = offered(config);
    let range = ("sensor_msgs/msg/Range".to_owned(), Some(Qos::sensor_data()));
    assert_eq!(offered.get(&("sonar".to_owned(), Kind::Published)), Some(&range));
    assert_eq!(offered.get(&("laser".to_owned(), Kind::Read)), Some(&range));
    assert!(!offered.contains_key(&("distance_sensor/sensor_0".to_owned(), Kind::Published)));
}

/// What every publisher can serve.
fn requests_little(qos: Qos) -> bool {
    qos.reliability == Reliability::BestEffort && qos.durability == Durability::Volatile
}

#[test]
fn what_practically_every_program_needs_is_there() {
    let ros1 = |name: &Name| name.not_done.starts_with("only ROS 1");
    let missing: Vec<String> = list()
        .into_iter()
        .flat_map(|(_, names)| names)
        .filter(|name| name.tier != "T3" && !name.not_done.is_empty() && !ros1(name))
        .map(|name| format!("{}: {}", name.name, name.not_done))
        .collect();
    assert_eq!(missing, [] as [String; 0]);
}

/// With UPDATE_DOCS=1 the table is written instead of compared.
#[test]
fn table_of_the_docs_is_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mavros-topics.md");
    let text = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, text).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert_eq!(committed, text, "run the tests once with UPDATE_DOCS=1");
}

const HEAD: &str = "\
# Topics and services of MAVROS

What MAVROS has, and whether rostrans has it. Written from `plugins/tests/data/mavros.tsv` by the tests (`UPDATE_DOCS=1`), which
also compare it with what the plugin offers. Names are under the prefix (`/mavros`) unless they start with `/`. The number is
the MAVLink message's or the command's. Topics that are read ask for best effort, so publishers of any QoS reach them. Tier T1
is what practically every MAVROS program uses, T2 what is commonly used, T3 the rest. Frames, heights and differences from
MAVROS: [mavros.md](mavros.md).
";

fn table() -> String {
    let mut text = HEAD.to_owned();
    let mut counts = BTreeMap::new();
    for (heading, names) in list() {
        let cells = "| name | type | | MAVLink | QoS | tier | |\n|---|---|---|---|---|---|---|";
        write!(text, "\n## {heading}\n\n{cells}\n").unwrap();
        for name in names {
            let direction = match name.kind {
                Kind::Published => "published",
                Kind::Read => "read",
                Kind::Service => "service",
            };
            let qos = if name.kind == Kind::Published { words(qos(&name.qos)) } else { String::new() };
            let done = name.not_done.is_empty();
            let what = if done { name.what.clone() } else { format!("**not done**: {}", name.not_done) };
            let cells = [
                &format!("`{}`", name.name),
                &name.type_name,
                &direction.to_owned(),
                &name.mavlink,
                &qos,
                &name.tier,
                &what,
            ];
            writeln!(text, "| {} |", cells.map(String::as_str).join(" | ")).unwrap();
            let count: &mut (u32, u32) = counts.entry(name.tier).or_default();
            count.0 += u32::from(done);
            count.1 += 1;
        }
    }
    text += "\n## How many\n\n| tier | done | of |\n|---|---|---|\n";
    for (tier, (done, all)) in counts {
        writeln!(text, "| {tier} | {done} | {all} |").unwrap();
    }
    text
}

fn words(qos: Qos) -> String {
    match (qos.reliability, qos.durability) {
        (Reliability::BestEffort, _) => "best effort".to_owned(),
        (Reliability::Reliable, Durability::TransientLocal) => format!("latched {}", qos.depth),
        (Reliability::Reliable, Durability::Volatile) => format!("reliable {}", qos.depth),
    }
}
