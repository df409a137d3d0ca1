//! What people see of a small system.

use rostrans_adapter_dds::{
    Discovery, Guid, Policy, RemoteQos,
    graph::{EndpointInfo, Graph, Misfit, NodeInfo, ParticipantInfo, Place, Reason, Trouble},
};

use super::{
    super::{
        json,
        select::{Selection, What},
    },
    nothing, print,
};

fn guid(participant: u8, entity: u8, kind: u8) -> Guid {
    let vendor = if participant == 2 { 0x10 } else { 0x0f };
    let prefix = [1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, participant];
    Guid { prefix, entity: [0, 0, entity, kind] }
}

fn participant(number: u8, enclave: Option<&str>) -> ParticipantInfo {
    ParticipantInfo {
        guid: guid(number, 1, 0xc1),
        addresses: vec![([10, 0, 0, number], 7411).into()],
        enclave: enclave.map(str::to_owned),
        lists_nodes: enclave.is_some(),
        own: false,
    }
}

fn node(participant: u8, namespace: &str, name: &str, unseen: usize) -> NodeInfo {
    NodeInfo {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        participant: guid(participant, 1, 0xc1),
        unseen,
    }
}

/// An endpoint of node `node`, or of the plain DDS program.
fn endpoint(node: Option<usize>, is_writer: bool, place: Place, name: &str, type_name: &str) -> EndpointInfo {
    let participant = if node.is_some() { 1 } else { 2 };
    let number = u8::try_from(name.len() + usize::from(is_writer)).unwrap();
    EndpointInfo {
        guid: guid(participant, number, if is_writer { 3 } else { 4 }),
        node,
        is_writer,
        place,
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        type_hash: node.map(|_| format!("RIHS01_{}", "ab".repeat(32))),
        qos: RemoteQos { depth: Some(5), depth_announced: node.is_none(), ..RemoteQos::default() },
    }
}

/// Two nodes of one name and one with a name that tries to command the terminal, in one participant; a plain DDS program.
fn system() -> Graph {
    let (string, bool) = ("std_msgs/msg/String", "std_srvs/srv/SetBool");
    let endpoints = vec![
        endpoint(Some(0), true, Place::Topic, "/chatter", string),
        endpoint(Some(2), false, Place::Topic, "/chatter", string),
        endpoint(None, false, Place::Topic, "/chatter", string),
        endpoint(Some(0), true, Place::Topic, "/fib/_action/feedback", "a/action/Fib_FeedbackMessage"),
        endpoint(Some(0), false, Place::Request, "/fib/_action/send_goal", "a/action/Fib_SendGoal"),
        endpoint(Some(0), false, Place::Request, "/set", bool),
        endpoint(Some(0), true, Place::Reply, "/set", bool),
        endpoint(
            Some(0),
            false,
            Place::Request,
            "/talker/set_parameters",
            "rcl_interfaces/srv/SetParameters",
        ),
        endpoint(None, true, Place::Dds, "Square", "ShapeType"),
    ];
    let reason = |trouble, offered: &str, requested: &str| Reason {
        trouble,
        offered: offered.to_owned(),
        requested: requested.to_owned(),
    };
    let misfit = |readers, reasons| Misfit {
        place: Place::Topic,
        name: "/chatter".to_owned(),
        writers: vec![0],
        readers,
        reasons,
    };
    Graph {
        participants: vec![participant(1, Some("/")), participant(2, None)],
        nodes: vec![
            node(1, "/", "talker", 0),
            node(1, "/", "talker", 2),
            node(1, "/ünï", "\u{1b}[2Jcode", 0),
        ],
        endpoints,
        misfits: vec![
            misfit(vec![1], vec![reason(Trouble::Policy(Policy::Reliability), "best effort", "reliable")]),
            misfit(vec![2], vec![reason(Trouble::TypeHash, "RIHS01_aa", "RIHS01_bb")]),
        ],
        unchecked: 0,
    }
}

fn shown(what: What, name: Option<&str>, verbose: bool, all: bool) -> String {
    let (graph, selection) = (system(), Selection::new(what, name, verbose, all));
    print(&selection.of(&graph), &Discovery::default())
}

#[test]
fn a_summary_has_everything_and_commands_no_terminal() {
    let text = shown(What::Everything, None, false, false);
    assert!(!text.contains('\u{1b}'), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn hidden_names_and_dds_topics_are_shown_on_demand() {
    insta::assert_snapshot!(shown(What::Topics, None, false, true));
    assert!(!shown(What::Topics, None, false, false).contains("feedback"));
}

#[test]
fn one_topic_is_shown_with_its_endpoints() {
    insta::assert_snapshot!(shown(What::Topics, Some("chatter"), true, false));
}

#[test]
fn one_node_is_shown_with_what_it_does() {
    insta::assert_snapshot!(shown(What::Nodes, Some("talker"), false, false));
}

#[test]
fn services_actions_and_participants_are_shown() {
    let text = shown(What::Services, Some("/set"), false, false)
        + &shown(What::Actions, None, true, false)
        + &shown(What::Participants, None, false, false);
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_not_there_is_told_with_what_to_check() {
    let graph = system();
    let say = |what, name, graph: &Graph, domain| {
        let discovery = Discovery { domain, ..Discovery::default() };
        nothing(&Selection::new(what, name, false, false), graph, &discovery)
    };
    let text = say(What::Topics, Some("/chattr"), &graph, 0)
        + &say(What::Actions, None, &Graph { endpoints: Vec::new(), ..graph.clone() }, 1)
        + &say(What::Everything, None, &Graph::default(), 42);
    insta::assert_snapshot!(text);
}

#[test]
fn json_has_the_same_in_the_words_of_ros() {
    let (graph, selection) = (system(), Selection::new(What::Topics, Some("/chatter"), false, false));
    insta::assert_snapshot!(json::print(&selection.of(&graph), &Discovery::default(), false));
    let everything = Selection::new(What::Everything, None, false, true);
    let line = json::print(&everything.of(&graph), &Discovery::default(), true);
    assert_eq!(line.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["nodes"][2]["name"], "/ünï/\u{1b}[2Jcode");
    assert_eq!(value["actions"][0]["missing"], serde_json::json!(["cancel_goal", "get_result", "status"]));
}
