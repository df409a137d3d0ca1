//! Looking until the picture is complete, and on when asked to.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use rostrans_adapter_dds::graph::{Graph, Observer};
use rostrans_core::text::chain;
use tokio::time::{Instant, sleep_until};
use tracing::error;

use super::{Picture, Request};
use crate::{exit::Exit, network::place, signals::Signals};

/// Looks, prints, and says how it went.
pub(super) fn run(request: &Request) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!(%error, "cannot start");
            return Exit::Unavailable;
        }
    };
    let observer = match Observer::new(&request.discovery, Vec::new()) {
        Ok(observer) => observer,
        Err(error) => {
            error!(error = chain(&error), "cannot look at the network; 'rostrans doctor' may know why");
            return Exit::Unavailable;
        }
    };
    let exit = runtime.block_on(watch(request, &observer));
    observer.close();
    exit
}

async fn watch(request: &Request, observer: &Observer) -> Exit {
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => {
            error!(%error, "cannot listen for signals");
            return Exit::Unavailable;
        }
    };
    let graph = tokio::select! {
        graph = settled(request, observer) => graph,
        _ = signals.next() => return Exit::Aborted,
    };
    let mut picture = request.picture(&graph);
    if !request.watch {
        show(&picture, Screen::Plain);
        return picture.exit;
    }
    let screen = match (request.json, io::stdout().is_terminal()) {
        (true, _) => Screen::Plain,
        (false, true) => Screen::Cleared,
        (false, false) => Screen::Separated,
    };
    loop {
        if !show(&picture, screen) {
            return Exit::Ok;
        }
        loop {
            tokio::select! {
                () = observer.changed() => {}
                _ = signals.next() => return Exit::Ok,
            }
            // Changes come in bursts.
            tokio::time::sleep(BURST).await;
            let next = request.picture(&observer.graph());
            if next.text != picture.text {
                picture = next;
                break;
            }
        }
    }
}

const BURST: Duration = Duration::from_millis(300);

/// What becomes of the picture before.
#[derive(Clone, Copy)]
enum Screen {
    Plain,
    Cleared,
    Separated,
}

/// False when nobody reads any more.
fn show(picture: &Picture, screen: Screen) -> bool {
    let mut out = io::stdout();
    let text = match screen {
        Screen::Plain => picture.text.clone(),
        // Home, the text, and whatever is left of the picture before away.
        Screen::Cleared => format!("\x1b[H\x1b[2J{}", picture.text),
        Screen::Separated => format!("{}\n", picture.text),
    };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// The graph, once nothing has changed for a while or the time is up.
async fn settled(request: &Request, observer: &Observer) -> Graph {
    let mut progress = Progress::new(request);
    let mut look = Look::begin(Instant::now(), request.wait);
    loop {
        let graph = observer.graph();
        progress.tell(&graph);
        let due = look.due(&graph);
        if Instant::now() >= due {
            progress.end();
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

/// What a person sees while waiting.
struct Progress {
    on_terminal: bool,
    told: String,
}

impl Progress {
    fn new(request: &Request) -> Self {
        let seconds = request.wait.as_secs_f64();
        let mut err = io::stderr();
        let text = format!("looking at {} for {seconds} s at most\n", place(&request.discovery));
        // Nobody misses it when standard error is closed.
        let _closed = err.write_all(text.as_bytes());
        Self { on_terminal: err.is_terminal(), told: String::new() }
    }

    fn tell(&mut self, graph: &Graph) {
        let now = format!(
            "{} participants, {} nodes, {} endpoints",
            graph.participants.len(),
            graph.nodes.len(),
            graph.endpoints.len()
        );
        if self.on_terminal && now != self.told {
            let _closed = io::stderr().write_all(format!("\r\x1b[K{now}").as_bytes());
            self.told = now;
        }
    }

    fn end(&self) {
        if self.on_terminal {
            let _closed = io::stderr().write_all(b"\r\x1b[K");
        }
    }
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
