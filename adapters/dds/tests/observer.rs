//! Looking at a graph over real sockets on the loopback interface.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use rostrans_adapter_dds::{
    DdsAdapter, DdsConfig, Discovery, DiscoveryRange,
    graph::{Graph, Observer},
};
use rostrans_core::{
    adapter::RosAdapter as _,
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_rtps::{EndpointQos, EndpointSpec, Guid, History, Participant, ParticipantConfig};
use rostrans_schema::{TypeName, TypeRegistry};

/// Longer than any test machine takes; only a failing test waits for it.
const LIMIT: Duration = Duration::from_secs(20);

/// Away from domain 0, and from other tests that run beside this one; each test here has a number.
fn domain(test: u32) -> u16 {
    u16::try_from(10 + (std::process::id() + 17 + test) % 80).unwrap()
}

fn observer(domain: u16) -> Observer {
    let discovery = Discovery { domain, range: DiscoveryRange::Localhost, ..Discovery::default() };
    Observer::new(&discovery, Vec::new()).unwrap()
}

async fn until(observer: &Observer, ready: impl Fn(&Graph) -> bool) -> Graph {
    let look = async {
        loop {
            let graph = observer.graph();
            if ready(&graph) {
                return graph;
            }
            observer.changed().await;
        }
    };
    tokio::time::timeout(LIMIT, look).await.unwrap_or_else(|_| panic!("not seen: {:#?}", observer.graph()))
}

/// A node list as Humble writes it: each GID has 24 bytes.
fn humble_list(participant: Guid, name: &str, writer: Guid) -> Bytes {
    let gid = |guid: Guid| [&guid.as_bytes()[..], &[0; 8]].concat();
    let mut list = vec![0, 1, 0, 0];
    list.extend(gid(participant));
    list.extend([1, 0, 0, 0, 2, 0, 0, 0, b'/', 0, 0, 0]);
    let len = u32::try_from(name.len() + 1).unwrap();
    list.extend(len.to_le_bytes());
    list.extend(name.bytes().chain([0]));
    list.resize(list.len().next_multiple_of(4), 0);
    list.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    list.extend(gid(writer));
    list.into()
}

#[tokio::test]
async fn a_node_of_humble_is_seen_without_type_hash() {
    let domain = domain(0);
    let humble = Participant::new(ParticipantConfig {
        domain,
        range: DiscoveryRange::Localhost,
        ..ParticipantConfig::default()
    })
    .unwrap();
    let chatter = EndpointSpec {
        topic: "rt/humble".into(),
        type_name: "std_msgs::msg::dds_::String_".into(),
        ..EndpointSpec::default()
    };
    let writer = humble.create_writer(chatter).unwrap();
    let lists = humble
        .create_writer(EndpointSpec {
            topic: "ros_discovery_info".into(),
            type_name: "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_".into(),
            qos: EndpointQos {
                transient_local: true,
                history: History::KeepLast(1),
                ..EndpointQos::default()
            },
            ..EndpointSpec::default()
        })
        .unwrap();
    lists.write(&humble_list(humble.guid(), "old", writer.guid())).unwrap();
    let observer = observer(domain);
    let listed =
        |graph: &Graph| graph.endpoints.iter().any(|e| e.guid == writer.guid() && graph.node_of(e).is_some());
    let graph = until(&observer, listed).await;
    let endpoint = graph.endpoints.iter().find(|e| e.guid == writer.guid()).unwrap();
    assert_eq!((graph.owner(endpoint), endpoint.name.as_str()), ("/old".into(), "/humble"));
    assert_eq!((endpoint.type_name.as_str(), &endpoint.type_hash), ("std_msgs/msg/String", &None));
}

#[tokio::test]
async fn a_node_of_ours_and_the_observer_see_the_same_of_it() {
    let domain = domain(1);
    let discovery = Discovery { domain, range: DiscoveryRange::Localhost, ..Discovery::default() };
    let registry = Arc::new(TypeRegistry::bundled());
    let adapter = DdsAdapter::new(DdsConfig::new("seen", discovery, registry)).unwrap();
    let topic = TopicSpec {
        name: TopicName::parse("/seen/topic").unwrap(),
        msg_type: TypeName::message("std_msgs/String").unwrap(),
        qos: Qos::sensor_data(),
    };
    let _publisher = adapter.advertise(&topic).await.unwrap();
    let observer = observer(domain);
    let mine = |graph: &Graph| {
        let found = graph.endpoints.iter().find(|e| e.name == "/seen/topic" && e.node.is_some());
        found.map(|e| (e.guid, graph.owner(e), e.type_name.clone(), e.type_hash.clone(), e.qos.clone()))
    };
    let seen = until(&observer, |graph| mine(graph).is_some()).await;
    let own = adapter.graph();
    assert_eq!(mine(&seen), mine(&own));
    assert!(mine(&own).unwrap().3.unwrap().starts_with("RIHS01_df668c"), "String's hash");
    assert!(own.participants.iter().any(|p| p.own));
    // The observer looks on without showing anything but its participant.
    let strangers =
        |e: &&rostrans_adapter_dds::graph::EndpointInfo| e.node.is_none() && e.name.starts_with('/');
    assert_eq!(own.endpoints.iter().filter(strangers).count(), 0);
    observer.close();
}

#[tokio::test]
async fn thousands_of_endpoints_with_odd_names_are_seen() {
    let domain = domain(2);
    const COUNT: usize = 3000;
    let crowd = Participant::new(ParticipantConfig {
        domain,
        range: DiscoveryRange::Localhost,
        ..ParticipantConfig::default()
    })
    .unwrap();
    let spec = |n: usize| EndpointSpec {
        topic: format!("rt/crowd/\u{fc}\u{1f916}\u{1b}{}", n / 2),
        type_name: "std_msgs::msg::dds_::String_".into(),
        // Every writer is best effort, every fourth endpoint asks for more.
        qos: EndpointQos { reliable: n % 4 == 1, ..EndpointQos::default() },
        ..EndpointSpec::default()
    };
    let writers: Vec<_> = (0..COUNT).step_by(2).map(|n| crowd.create_writer(spec(n)).unwrap()).collect();
    let readers: Vec<_> =
        (1..COUNT).step_by(2).map(|n| crowd.create_reader(spec(n), Arc::new(drop)).unwrap()).collect();
    let observer = observer(domain);
    let mine = |graph: &Graph| graph.endpoints.iter().filter(|e| e.name.starts_with("/crowd/")).count();
    let graph = until(&observer, |graph| mine(graph) == COUNT).await;
    assert_eq!(graph.topics().iter().filter(|t| t.name.starts_with("/crowd/")).count(), COUNT / 2);
    let apart = graph.misfits.iter().filter(|m| m.name.starts_with("/crowd/") && m.is_blocking());
    assert_eq!(apart.count(), COUNT / 4);
    drop((writers, readers));
    until(&observer, |graph| mine(graph) == 0).await;
}
