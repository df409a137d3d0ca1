//! Who else is there.

use std::collections::BTreeMap;

use rostrans_adapter_dds::{
    DiscoveryRange,
    graph::{Graph, ParticipantInfo},
};

use super::super::{
    facts::{Answer, Facts},
    finding::Finding,
};
use crate::network::ports;

/// Hosts named in `ROS_STATIC_PEERS`.
pub(super) fn peers(facts: &Facts) -> Vec<Finding> {
    let (first, last) = ports(facts.discovery.domain);
    let judge = |peer: &super::super::facts::Peer| {
        let host = &peer.host;
        let addresses = match &peer.addresses {
            Err(error) => {
                return Finding::problem(
                    "peers",
                    format!("static peer {host}: {error}"),
                    "correct ROS_STATIC_PEERS, or add the host to /etc/hosts",
                );
            }
            Ok(addresses) => addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        let name = if *host == addresses { host.clone() } else { format!("{host} ({addresses})") };
        match peer.answer {
            Answer::Found(1) => Finding::ok("peers", format!("static peer {name}: 1 participant")),
            Answer::Found(many) => Finding::ok("peers", format!("static peer {name}: {many} participants")),
            Answer::NobodyThere => Finding::warning(
                "peers",
                format!("static peer {name}: the host answers, but no participant of the domain is there"),
                "start a node there, or compare ROS_DOMAIN_ID",
            ),
            Answer::Silence => Finding::warning(
                "peers",
                format!("static peer {name}: no answer"),
                format!(
                    "is it on? its firewall must let UDP {first} to {last} in, and it may have to name this host, too"
                ),
            ),
        }
    };
    facts.peers.iter().map(judge).collect()
}

/// Participants found on the domain.
pub(super) fn found(facts: &Facts) -> Vec<Finding> {
    let graph = match &facts.graph {
        None => return Vec::new(),
        Some(Err(error)) => {
            return vec![Finding::problem("others", format!("cannot join: {error}"), "see the ports above")];
        }
        Some(Ok(graph)) => graph,
    };
    let domain = facts.discovery.domain;
    if graph.participants.is_empty() {
        let wider = match facts.discovery.range {
            DiscoveryRange::Subnet => "",
            _ => ", or look further with --range SUBNET",
        };
        return vec![Finding::warning(
            "others",
            format!("nobody else was found on domain {domain}"),
            format!("start a node, compare ROS_DOMAIN_ID and ROS_AUTOMATIC_DISCOVERY_RANGE{wider}"),
        )];
    }
    let mut found = vec![Finding::ok("others", summary(graph))];
    let apart = graph.misfits.iter().filter(|misfit| misfit.is_blocking()).count();
    if apart > 0 {
        let noun = if apart == 1 { "pair does" } else { "pairs do" };
        found.push(Finding::warning(
            "others",
            format!("{apart} {noun} not fit and cannot talk to each other"),
            "'rostrans graph' shows which, and what to change",
        ));
    }
    found
}

/// `3 participants (2 Fast DDS, 1 Cyclone DDS) with 4 nodes, at 10.0.0.1, 10.0.0.2`.
fn summary(graph: &Graph) -> String {
    let mut vendors: BTreeMap<&str, usize> = BTreeMap::new();
    graph.participants.iter().for_each(|p| *vendors.entry(p.vendor()).or_default() += 1);
    let vendors: Vec<_> = vendors.iter().map(|(name, many)| format!("{many} {name}")).collect();
    let ip = |p: &ParticipantInfo| p.addresses.first().map(|address| address.ip().to_string());
    let mut hosts: Vec<_> = graph.participants.iter().filter_map(ip).collect();
    hosts.sort();
    hosts.dedup();
    let more = hosts.len().saturating_sub(MAX_HOSTS);
    hosts.truncate(MAX_HOSTS);
    if more > 0 {
        hosts.push(format!("{more} more"));
    }
    let noun = |many: usize, one: &str| format!("{many} {one}{}", if many == 1 { "" } else { "s" });
    format!(
        "{} ({}) with {}, at {}",
        noun(graph.participants.len(), "participant"),
        vendors.join(", "),
        noun(graph.nodes.len(), "node"),
        hosts.join(", ")
    )
}

/// Addresses named at most.
const MAX_HOSTS: usize = 8;

#[cfg(test)]
mod tests {
    use rostrans_adapter_dds::{
        Guid, Policy,
        graph::{Misfit, Place, Reason, Trouble},
    };

    use super::{super::lines, *};
    use crate::network::doctor::facts::Peer;

    #[test]
    fn static_peers_are_told_by_how_they_answer() {
        let peer = |host: &str, addresses: Result<&str, &str>, answer| Peer {
            host: host.to_owned(),
            addresses: addresses.map(|ip| vec![ip.parse().unwrap()]).map_err(str::to_owned),
            answer,
        };
        let facts = Facts {
            peers: vec![
                peer("robot", Err("name or service not known"), Answer::Silence),
                peer("10.0.0.2", Ok("10.0.0.2"), Answer::Found(2)),
                peer("arm", Ok("10.0.0.3"), Answer::NobodyThere),
                peer("10.0.0.4", Ok("10.0.0.4"), Answer::Silence),
            ],
            ..Facts::default()
        };
        insta::assert_snapshot!(lines(&peers(&facts)));
    }

    #[test]
    fn others_are_counted_and_misfits_mentioned() {
        let text = |graph: Option<Result<Graph, String>>| lines(&found(&Facts { graph, ..Facts::default() }));
        assert_eq!(text(None), "");
        assert!(text(Some(Err("no free participant id".into()))).starts_with("Problem others: cannot join"));
        assert!(text(Some(Ok(Graph::default()))).starts_with("Warning others: nobody else"));
        let participant = |last| ParticipantInfo {
            guid: Guid { prefix: [1, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, last], entity: [0, 0, 1, 0xc1] },
            addresses: vec![([10, 0, 0, last], 7411).into()],
            enclave: None,
            lists_nodes: false,
            own: false,
        };
        let graph = Graph {
            participants: (1..=10).map(participant).collect(),
            misfits: vec![Misfit {
                place: Place::Topic,
                name: "/a".into(),
                writers: vec![0],
                readers: vec![1],
                reasons: vec![Reason {
                    trouble: Trouble::Policy(Policy::Reliability),
                    offered: String::new(),
                    requested: String::new(),
                }],
            }],
            ..Graph::default()
        };
        insta::assert_snapshot!(text(Some(Ok(graph))));
    }
}
