use std::path::Path;

use rostrans_core::param::ParamSet;

use super::*;
use crate::{load::yaml, params, print_rules};

/// The clock of each rule, what else is printed about clocks, and the problems.
fn resolved(text: &str, params: &[(&str, &str)], env: &[(&str, &str)]) -> String {
    let mut problems = Vec::new();
    let mut set = ParamSet::default();
    for (key, value) in params {
        set.set(key, value, Origin::CommandLine);
    }
    let settings = set.resolve(&params::all(&[]), &mut problems);
    let codecs = rostrans_codecs::builtin();
    let mut file = yaml::read(Path::new("r.yaml"), text, &codecs, &mut problems);
    let look_up = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let clocks = file.clocks.resolve(&settings, &look_up, &codecs, &mut file.rules, &mut problems);
    check_graphs(&clocks, &[Fabric::Ros1, Fabric::Dds], &mut problems);
    let mut out = String::new();
    for rule in &file.rules {
        let clock = rule.clock.as_ref().map_or(WALL, |clock| clock.as_str());
        let checked = if rule.stamping.window.is_some() { " checked" } else { "" };
        out += &format!("{}: {clock} {:?}{checked}\n", rule.rule_id, rule.stamping.policy);
    }
    let printed = print_rules::clocks(&clocks);
    let again = yaml::read(Path::new("again"), &printed, &codecs, &mut problems);
    assert_eq!(again.clocks.clocks.len(), clocks.len(), "{printed}");
    for (clock, again) in clocks.iter().zip(again.clocks.clocks) {
        assert_eq!(ClockSpec { origin: clock.origin.clone(), ..again }, *clock, "{printed}");
    }
    out += &printed;
    for problem in &problems {
        out += &format!("{problem}\n");
    }
    out
}

/// A rule that decodes, with more keys.
fn rule(id: &str, more: &str) -> String {
    format!(
        "- {{rule_id: {id}, direction: udp_to_rostopic, udp_listen_port: 9000, {more} links: [{{codec: raw_bytes, topic: /{id}}}]}}\n"
    )
}

fn file(head: &str, rules: &[(&str, &str)]) -> String {
    let rules: String = rules.iter().map(|(id, more)| rule(id, more)).collect();
    format!("{head}forward_rules:\n{rules}")
}

const SIM: &[(&str, &str)] = &[("use_sim_time", "true")];

#[test]
fn simulated_time_of_all_rules_is_one_parameter_or_variable() {
    let rules = file("", &[("a", ""), ("b", "clock: wall,"), ("c", "stamp: sim,"), ("d", "stamp: none,")]);
    let want = "a: sim Source checked\nb: wall Source\nc: sim Receive\nd: sim None\nclocks:\n  - name: sim  # command line\n    source: {topic: /clock}\n";
    assert!(resolved(&rules, SIM, &[]).starts_with(want), "{}", resolved(&rules, SIM, &[]));
    let by_variable = resolved(&rules, &[], &[("ROSTRANS_USE_SIM_TIME", "1")]);
    assert_eq!(by_variable.replace("environment", "command line"), resolved(&rules, SIM, &[]));
    let without = file("", &[("a", ""), ("d", "stamp: receive,")]);
    assert_eq!(
        resolved(&without, &[], &[("ROSTRANS_USE_SIM_TIME", "0")]),
        "a: wall Source\nd: wall Receive\n"
    );
    let off = resolved(&without, &[("use_sim_time", "false")], &[("ROSTRANS_USE_SIM_TIME", "1")]);
    assert_eq!(off, "a: wall Source\nd: wall Receive\n", "the parameter wins");
}

#[test]
fn rules_name_clocks() {
    let head = "
clocks:
  - name: gz
    source: {topic: /world/clock, adapter: dds}
    acquire_timeout: 5s
    fallback: wait
    lost_after: 0.5
    lost: extrapolate
    project: rate
    max_lead: 100ms
    publish: [{topic: /clock, adapter: ros1, max_rate: 50, authority: yield}]
  - {name: unused}
default_clock: gz
";
    insta::assert_snapshot!(resolved(&file(head, &[("a", ""), ("b", "clock: wall,"), ("c", "stamp: {max_age: 2s, implausible: drop},")]), &[], &[]), @r"
    a: gz Source checked
    b: wall Source
    c: gz Source checked
    clocks:
      - name: gz  # r.yaml:3
        source: {topic: /world/clock, adapter: dds}
        acquire_timeout: 5s
        fallback: wait
        lost_after: 0.5s
        lost: extrapolate
        project: rate
        max_lead: 0.1s
        publish: [{topic: /clock, adapter: ros1, max_rate: 50, authority: yield}]
    ");
}

#[test]
fn only_clock_is_the_one_that_is_meant() {
    let head = "clocks: [{name: gz}]\n";
    let rules = file(head, &[("a", ""), ("b", "stamp: sim,")]);
    assert!(resolved(&rules, &[], &[]).starts_with("a: wall Source\nb: gz Receive\nclocks:"));
    assert!(resolved(&rules, SIM, &[]).starts_with("a: gz Source checked\nb: gz Receive\nclocks:"));
}

#[test]
fn packets_of_a_simulator_may_be_a_clock() {
    let text = "
clocks:
  - {name: copter, source: {rule: truth, field: runnedTime}, publish: /clock}
default_clock: copter
forward_rules:
  - rule_id: truth
    direction: udp_to_rostopic
    udp_listen_port: 30101
    links: [{codec: coptersim.truth, ports: {pose: /pose}}]
";
    let out = resolved(text, &[], &[]);
    assert!(
        out.contains("source: {rule: truth, field: runnedTime, link: link1}") && !out.contains("r.yaml:2:"),
        "{out}"
    );
    for (from, to, problem) in [
        (
            "runnedTime",
            "runtime",
            "clock 'copter': no codec of rule 'truth' tells a time called 'runtime'; there is: runnedTime",
        ),
        ("rule: truth", "rule: tuth", "clock 'copter': no rule 'tuth' that decodes packets"),
        ("{rule: truth, ", "{", "'field' and 'rule' go together"),
        (
            "coptersim.truth, ports: {pose: /pose}",
            "raw_bytes, topic: /t",
            "tells a time called 'runnedTime'; 'runnedTime' of 'coptersim.truth' is one",
        ),
    ] {
        let out = resolved(&text.replacen(from, to, 1), &[], &[]);
        assert!(out.contains(problem), "{problem}: {out}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let two = "clocks: [{name: gz}, {name: ue}]\n";
    for (text, params, problem) in [
        (file("clocks: [{name: gazebo}]\n", &[("a", "clock: gazbo,")]), &[][..], "r.yaml:3: rule 'a' names the clock 'gazbo', which is not there; did you mean 'gazebo'?"),
        (file("", &[("a", "clock: simulator,")]), &[], "names the clock 'simulator', which is not there; there are: wall"),
        (file("default_clock: gs\nclocks: [{name: gz}]\n", &[("a", "")]), &[], "r.yaml:1: 'default_clock' names the clock 'gs', which is not there; did you mean 'gz'?"),
        (file(two, &[("a", "")]), SIM, "command line: simulated time is asked for, and there are several clocks; say which with 'default_clock'"),
        (file(two, &[("a", "stamp: sim,")]), &[], "rule 'a' wants simulated time, but no clock is chosen; name one with 'clock', or start with 'use_sim_time=true'"),
        (file("default_clock: wall\n", &[("a", "")]), SIM, "command line: simulated time is asked for, but 'default_clock' is 'wall'; change one of them"),
        (file("", &[("a", "clock: wall, stamp: sim,")]), &[], "r.yaml:2: 'stamp: sim' with 'clock: wall'"),
        (file("clocks: [{name: wall}]\n", &[]), &[], "a clock cannot be called 'wall'"),
        (file("clocks: [{source: /clock}]\n", &[]), &[], "clock without 'name'"),
        (file("clocks: [{name: gz}, {name: gz}]\n", &[]), &[], "clock 'gz' is given twice"),
        (file("clocks: [{name: gz, filter: envelope}]\n", &[]), &[], "unknown key 'filter' in clock 'gz'"),
        (file("clocks: [{name: gz, source: {phc: /dev/ptp0}}]\n", &[]), &[], "unknown key 'phc' in 'source'"),
        (file("clocks: [{name: gz, fallback: fial}]\n", &[]), &[], "unknown fallback 'fial'; did you mean 'fail'?"),
        (file("clocks: {name: gz}\n", &[]), &[], "'clocks' must be a list, not a block of keys"),
        (file("clocks: [{name: gz, publish: /clock}]\n", &[("a", "clock: gz,")]), &[], "clock 'gz' is published where it comes from"),
        (file("clocks: [{name: gz, source: {adapter: zenoh}}]\n", &[("a", "clock: gz,")]), &[], "clock 'gz': no zenoh adapter runs"),
        (file("", &[("a", "stamp: {policy: receive, max_age: 1s},")]), &[], "'max_age' with a policy that takes no stamp of the sender's"),
        (file("", &[("a", "stamp: sometime,")]), &[], "unknown stamp 'sometime'; write one of source, receive, sim, now, passthrough, none"),
        ("- {rule_id: a, direction: rostopic_to_udp, clock: wall, links: [{codec: string, topic: /s, udp_dst_ip: 1.1.1.1, udp_dst_port: 1}]}".to_owned(), &[], "r.yaml:1: 'clock' in a rule that makes no messages; stamps are made by 'udp_to_rostopic' and 'serial_to_ros'; delete it"),
    ] {
        let out = resolved(&text, params, &[]);
        assert!(out.contains(problem), "wanted {problem}\nhave {out}");
    }
    let out = resolved("", &[], &[("ROSTRANS_USE_SIM_TIME", "si")]);
    assert_eq!(out, "environment: ROSTRANS_USE_SIM_TIME: invalid value 'si'; write 1 or 0\n");
}

#[test]
fn files_are_one_but_must_not_contradict() {
    let mut problems = Vec::new();
    let codecs = rostrans_codecs::builtin();
    let mut said = Said::default();
    for (path, text) in
        [("a", "clocks: [{name: gz}]\ndefault_clock: gz"), ("b", "default_clock: wall\nclocks: [{name: gz}]")]
    {
        said.add(yaml::read(Path::new(path), text, &codecs, &mut problems).clocks, &mut problems);
    }
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "b:2: clock 'gz' is given in another file, too; delete one of them",
            "b:1: 'default_clock: wall', but another file says 'gz'; delete one of them",
        ]
    );
}
