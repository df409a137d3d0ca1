//! Graphs made from hand-written discoveries.

use std::{collections::HashMap, time::Duration};

use rostrans_rtps::{Durability, GraphSnapshot, Guid, RemoteEndpoint, RemoteParticipant, RemoteQos};

use super::{Graph, Misfit, Own, gid, is_hidden};
use crate::entities::{NodeEntities, ParticipantEntities};

const FAST: u8 = 0x0f;
const CYCLONE: u8 = 0x10;

/// A world put together by a test.
#[derive(Default)]
struct World {
    found: GraphSnapshot,
    lists: HashMap<[u8; 12], ParticipantEntities>,
}

impl World {
    fn participant(&mut self, vendor: u8, number: u8, user_data: &[u8]) -> Guid {
        let guid = Guid { prefix: [1, vendor, 0, 0, 0, 0, 0, 0, 0, 0, 0, number], entity: [0, 0, 1, 0xc1] };
        let locators = vec![([127, 0, 0, 1], 7411).into()];
        self.found.participants.push(RemoteParticipant { guid, user_data: user_data.to_vec(), locators });
        guid
    }

    fn endpoint(&mut self, participant: Guid, is_writer: bool, topic: &str, type_name: &str) -> Guid {
        self.endpoint_with(participant, is_writer, topic, type_name, 1, RemoteQos::default())
    }

    /// `hash` is the first hexadecimal digit of the type hash; 0 is none.
    fn endpoint_with(
        &mut self,
        participant: Guid,
        is_writer: bool,
        topic: &str,
        type_name: &str,
        hash: u8,
        qos: RemoteQos,
    ) -> Guid {
        let [_, _, a, b] = u32::try_from(self.found.endpoints.len()).unwrap().to_be_bytes();
        let guid = Guid { entity: [0, a, b, if is_writer { 3 } else { 4 }], ..participant };
        let user_data = match hash {
            0 => Vec::new(),
            digit => format!("typehash=RIHS01_{digit}{};", "0".repeat(63)).into_bytes(),
        };
        self.found.endpoints.push(RemoteEndpoint {
            guid,
            participant,
            topic: topic.into(),
            type_name: type_name.into(),
            qos,
            user_data,
            is_writer,
        });
        guid
    }

    fn node(&mut self, participant: Guid, namespace: &str, name: &str, endpoints: &[Guid]) {
        let list = self
            .lists
            .entry(participant.prefix)
            .or_insert_with(|| ParticipantEntities { participant, nodes: Vec::new() });
        let (readers, writers) = endpoints.iter().partition(|guid| guid.is_reader());
        list.nodes.push(NodeEntities { namespace: namespace.into(), name: name.into(), readers, writers });
    }

    fn graph(self) -> Graph {
        Graph::build(self.found, &self.lists, Own { guid: Guid::UNKNOWN, list: None })
    }
}

const STRING: &str = "std_msgs::msg::dds_::String_";

#[test]
fn endpoints_belong_to_the_node_that_lists_them() {
    let mut world = World::default();
    let ros = world.participant(FAST, 1, b"enclave=/secret;");
    let plain = world.participant(CYCLONE, 2, b"");
    let talker = world.endpoint(ros, true, "rt/chatter", STRING);
    let unlisted = world.endpoint(ros, false, "rt/chatter", STRING);
    world.endpoint(plain, true, "square", "ShapeType");
    let not_here = Guid { entity: [9, 9, 9, 3], ..ros };
    let of_another = Guid { entity: [9, 9, 9, 3], ..plain };
    world.node(ros, "/robot", "talker", &[talker, not_here, of_another]);
    world.node(ros, "/", "empty", &[]);
    let graph = world.graph();
    let names: Vec<_> = graph.nodes.iter().map(|n| (n.full_name(), n.unseen)).collect();
    assert_eq!(names, [("/empty".into(), 0), ("/robot/talker".into(), 1)]);
    let owners: Vec<_> = graph.endpoints.iter().map(|e| (e.name.as_str(), graph.owner(e))).collect();
    assert_eq!(
        owners,
        [
            ("/chatter", "/robot/talker".to_owned()),
            ("/chatter", "(Fast DDS at 127.0.0.1:7411)".to_owned()),
            ("square", "(Cyclone DDS at 127.0.0.1:7411)".to_owned()),
        ]
    );
    assert_eq!(graph.endpoints[1].guid, unlisted);
    let enclaves: Vec<_> =
        graph.participants.iter().map(|p| (p.enclave.as_deref(), p.lists_nodes, p.vendor())).collect();
    assert_eq!(enclaves, [(Some("/secret"), true, "Fast DDS"), (None, false, "Cyclone DDS")]);
}

#[test]
fn one_name_in_two_participants_is_two_nodes_and_a_gone_participant_has_none() {
    let mut world = World::default();
    for number in 1..3 {
        let participant = world.participant(FAST, number, b"enclave=/;");
        world.node(participant, "/", "twin", &[]);
    }
    let gone = Guid { prefix: [3; 12], entity: [0, 0, 1, 0xc1] };
    world.node(gone, "/", "ghost", &[]);
    let names: Vec<_> = world.graph().nodes.iter().map(super::NodeInfo::full_name).collect();
    assert_eq!(names, ["/twin", "/twin"]);
}

#[test]
fn a_name_meant_to_annoy_is_cut() {
    let mut world = World::default();
    let participant = world.participant(FAST, 1, b"enclave=/;");
    world.node(participant, "/", &"\u{1f916}".repeat(100_000), &[]);
    assert_eq!(world.graph().nodes[0].name.chars().count(), 255);
}

#[test]
fn services_and_actions_are_known_by_their_topics() {
    let mut world = World::default();
    let (server, client) = (world.participant(FAST, 1, b""), world.participant(CYCLONE, 2, b""));
    for (at, is_server) in [(server, true), (client, false)] {
        let set = "std_srvs::srv::dds_::SetBool";
        world.endpoint(at, !is_server, "rq/setRequest", &format!("{set}_Request_"));
        world.endpoint(at, is_server, "rr/setReply", &format!("{set}_Response_"));
        for part in ["SendGoal", "GetResult", "CancelGoal"] {
            let (name, type_name) = match part {
                "SendGoal" => ("send_goal", "a::action::dds_::Fib_SendGoal"),
                "GetResult" => ("get_result", "a::action::dds_::Fib_GetResult"),
                _ => ("cancel_goal", "action_msgs::srv::dds_::CancelGoal"),
            };
            world.endpoint(
                at,
                !is_server,
                &format!("rq/fib/_action/{name}Request"),
                &format!("{type_name}_Request_"),
            );
            world.endpoint(
                at,
                is_server,
                &format!("rr/fib/_action/{name}Reply"),
                &format!("{type_name}_Response_"),
            );
        }
        world.endpoint(at, is_server, "rt/fib/_action/feedback", "a::action::dds_::Fib_FeedbackMessage_");
    }
    let graph = world.graph();
    let services: Vec<_> = graph
        .services()
        .iter()
        .filter(|s| !is_hidden(s.name))
        .map(|s| (s.name.to_owned(), s.types.join(" "), s.servers.len(), s.clients.len(), s.writers.len()))
        .collect();
    assert_eq!(services, [("/set".into(), "std_srvs/srv/SetBool".into(), 1, 1, 2)]);
    let [action] = &graph.actions()[..] else { panic!("{:?}", graph.actions()) };
    assert_eq!((action.name, &action.types[..]), ("/fib", &["a/action/Fib"][..]));
    let prefixes = |side: &[&super::EndpointInfo]| side.iter().map(|e| e.guid.prefix).collect::<Vec<_>>();
    assert_eq!(
        (prefixes(&action.servers), prefixes(&action.clients)),
        (vec![server.prefix], vec![client.prefix])
    );
    assert_eq!(action.missing, ["status"]);
    assert!(graph.misfits.is_empty(), "{:?}", graph.misfits);
}

fn told(graph: &Graph, misfit: &Misfit) -> String {
    let owners = |side: &[usize]| {
        side.iter().map(|at| graph.owner(&graph.endpoints[*at])).collect::<Vec<_>>().join(", ")
    };
    let reasons: Vec<_> = misfit.reasons.iter().map(|r| format!("{r}; {}", r.remedy())).collect();
    let blocking = if misfit.is_blocking() { "apart" } else { "risky" };
    format!(
        "{} {blocking} [{}] -> [{}]: {}",
        misfit.name,
        owners(&misfit.writers),
        owners(&misfit.readers),
        reasons.join(" | ")
    )
}

#[test]
fn misfits_between_strangers_are_told_with_reason_and_remedy() {
    let mut world = World::default();
    let p = world.participant(FAST, 1, b"");
    let best = || RemoteQos { reliable: false, ..RemoteQos::default() };
    let slow = || RemoteQos { deadline: Some(Duration::from_millis(200)), ..best() };
    let quick = || RemoteQos { deadline: Some(Duration::from_millis(100)), ..best() };
    let strict = || RemoteQos {
        durability: Durability::TransientLocal,
        partitions: vec!["a".into()],
        ..RemoteQos::default()
    };
    let talker = world.endpoint_with(p, true, "rt/a", STRING, 1, best());
    let viewer = world.endpoint_with(p, false, "rt/a", STRING, 1, RemoteQos::default());
    let second = world.endpoint_with(p, false, "rt/a", STRING, 1, RemoteQos::default());
    world.endpoint_with(p, false, "rt/a", STRING, 0, best());
    let old = world.endpoint_with(p, false, "rt/a", STRING, 2, best());
    let other = world.endpoint_with(p, false, "rt/a", "std_msgs::msg::dds_::Int8_", 1, best());
    world.endpoint_with(p, true, "rt/b", STRING, 1, slow());
    world.endpoint_with(p, false, "rt/b", STRING, 1, quick());
    world.endpoint_with(p, true, "rt/c", STRING, 1, best());
    world.endpoint_with(p, false, "rt/c", STRING, 1, strict());
    for (name, guid) in
        [("talker", talker), ("viewer", viewer), ("second", second), ("old", old), ("other", other)]
    {
        world.node(p, "/", name, &[guid]);
    }
    let graph = world.graph();
    let mut lines: Vec<_> = graph.misfits.iter().map(|misfit| told(&graph, misfit)).collect();
    lines.sort();
    let hash = |digit: u8| format!("RIHS01_{digit}{}", "0".repeat(63));
    let nobody = "(Fast DDS at 127.0.0.1:7411)";
    assert_eq!(
        lines,
        [
            "/a apart [/talker] -> [/other]: type: offered std_msgs/msg/String, requested std_msgs/msg/Int8; use the \
             same message type on both sides"
                .to_owned(),
            "/a apart [/talker] -> [/viewer, /second]: reliability: offered best effort, requested reliable; publish it \
             reliable or subscribe best effort"
                .to_owned(),
            format!(
                "/a risky [/talker] -> [/old]: type hash: offered {}, requested {}; build both sides with the same \
                 version of the message package",
                hash(1),
                hash(2)
            ),
            format!(
                "/b apart [{nobody}] -> [{nobody}]: deadline: offered 200ms, requested 100ms; offer a deadline at \
                 least as short or drop the subscriber's"
            ),
            format!(
                "/c apart [{nobody}] -> [{nobody}]: reliability: offered best effort, requested reliable; publish it \
                 reliable or subscribe best effort | durability: offered volatile, requested transient local; publish it \
                 transient local or subscribe volatile | partition: offered the default partition, requested 'a'; remove \
                 the partition from the peer"
            ),
        ]
    );
}

#[test]
fn thousands_of_endpoints_on_one_topic_are_compared_in_classes() {
    let mut world = World::default();
    let p = world.participant(FAST, 1, b"");
    for n in 0..12_000_u32 {
        let qos = RemoteQos { reliable: n % 4 != 0, depth: Some(n % 8), ..RemoteQos::default() };
        world.endpoint_with(p, n % 2 == 0, "rt/\u{1f916}/all", STRING, 1, qos);
    }
    let graph = world.graph();
    assert_eq!((graph.endpoints.len(), graph.unchecked), (12_000, 0));
    assert_eq!(graph.topics()[0].name, "/\u{1f916}/all");
    // Two depths of best-effort writers meet four of reliable readers.
    assert_eq!(graph.misfits.len(), 8);
    assert_eq!(graph.misfits.iter().map(|m| m.writers.len() * m.readers.len()).sum::<usize>(), 3000 * 6000);
}

#[test]
fn a_topic_with_too_many_different_endpoints_says_how_many_were_left_out() {
    let mut world = World::default();
    let p = world.participant(FAST, 1, b"");
    for n in 0..1000_u32 {
        let qos = RemoteQos { depth: Some(n), ..RemoteQos::default() };
        world.endpoint_with(p, true, "rt/t", STRING, 1, qos);
    }
    assert_eq!(world.graph().unchecked, 488);
}

#[test]
fn gids_and_hidden_names_are_as_ros_has_them() {
    let guid = Guid::from_bytes([1, 15, 0xeb, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 3]);
    assert_eq!(gid(guid), "01.0f.eb.00.00.00.00.00.00.00.00.00.00.00.14.03");
    assert!(is_hidden("/a/_action/feedback") && is_hidden("/_x") && !is_hidden("/a_b/c"));
}
