//! Knowing when discovery has found everybody.

use std::time::Duration;

use rostrans_adapter_dds::graph::{Graph, Observer};
use tokio::time::{Instant, sleep_until};

/// The graph, once nothing has changed for a while or the time is up.
///
/// `tell` hears of every state in between.
pub(super) async fn settled(observer: &Observer, wait: Duration, mut tell: impl FnMut(&Graph)) -> Graph {
    let mut look = Look::begin(Instant::now(), wait);
    loop {
        let graph = observer.graph();
        tell(&graph);
        let due = look.due(&graph);
        if Instant::now() >= due {
            return graph;
        }
        tokio::select! {
            () = observer.changed() => look.changed(Instant::now()),
            () = sleep_until(due) => {}
        }
        // Changes come in bursts.
        tokio::time::sleep(COALESCE).await;
    }
}

const COALESCE: Duration = Duration::from_millis(20);

/// When to stop looking.
struct Look {
    end: Instant,
    last_change: Instant,
}

/// Nothing new for so long means that all is there: longer than the second between two announcements.
const QUIET: Duration = Duration::from_millis(1200);

/// The same when something announced is still missing.
const QUIET_INCOMPLETE: Duration = Duration::from_millis(2500);

impl Look {
    fn begin(now: Instant, wait: Duration) -> Self {
        Self { end: now + wait, last_change: now }
    }

    fn changed(&mut self, now: Instant) {
        self.last_change = now;
    }

    /// When `graph`, unless it changes, is taken as complete. Nobody at all may still come until the end.
    fn due(&self, graph: &Graph) -> Instant {
        let quiet = match graph {
            Graph { participants, .. } if participants.is_empty() => return self.end,
            graph if is_complete(graph) => QUIET,
            _ => QUIET_INCOMPLETE,
        };
        self.end.min(self.last_change + quiet)
    }
}

/// Whether every ROS participant has sent its node list, and every endpoint listed is known.
fn is_complete(graph: &Graph) -> bool {
    graph.participants.iter().all(|p| p.lists_nodes || p.enclave.is_none())
        && graph.nodes.iter().all(|node| node.unseen == 0)
}

#[cfg(test)]
mod tests {
    use rostrans_adapter_dds::{
        Guid,
        graph::{NodeInfo, ParticipantInfo},
    };

    use super::*;

    #[test]
    fn looking_ends_soon_when_all_is_there_later_when_something_is_missing() {
        let start = Instant::now();
        let mut look = Look::begin(start, Duration::from_secs(5));
        let mut graph = Graph::default();
        assert_eq!(look.due(&graph), start + Duration::from_secs(5));
        graph.participants.push(ParticipantInfo {
            guid: Guid::UNKNOWN,
            addresses: Vec::new(),
            enclave: Some("/".into()),
            lists_nodes: false,
            own: false,
        });
        let heard = start + Duration::from_millis(100);
        look.changed(heard);
        assert_eq!(look.due(&graph), heard + QUIET_INCOMPLETE);
        graph.participants[0].lists_nodes = true;
        assert_eq!(look.due(&graph), heard + QUIET);
        let (name, namespace) = ("n".to_owned(), "/".to_owned());
        graph.nodes.push(NodeInfo { name, namespace, participant: Guid::UNKNOWN, unseen: 2 });
        assert_eq!(look.due(&graph), heard + QUIET_INCOMPLETE);
        look.changed(start + Duration::from_secs(4));
        assert_eq!(look.due(&graph), start + Duration::from_secs(5));
    }
}
