//! Looking until the picture is complete, and on when asked to.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use rostrans_adapter_dds::{
    DiscoveryRange,
    graph::{Graph, Observer},
};
use rostrans_core::text::chain;
use tracing::error;

use super::{Picture, Request};
use crate::{
    exit::Exit,
    network::{place, settle::settled},
    signals::Signals,
};

/// Looks, prints, and says how it went.
pub(super) fn run(request: &Request) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            error!(%error, "cannot start");
            return Exit::Unavailable;
        }
    };
    let observer = match Observer::new(&request.discovery, request.interfaces.clone()) {
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
        graph = look(request, observer) => graph,
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

/// The graph as soon as it is complete.
async fn look(request: &Request, observer: &Observer) -> Graph {
    let mut progress = Progress::new(request);
    // With the range off there is nothing to wait for.
    let off = request.discovery.range == DiscoveryRange::Off;
    let wait = if off { Duration::ZERO } else { request.wait };
    let graph = settled(observer, wait, |graph| progress.tell(graph)).await;
    progress.end();
    graph
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
        let mut text = format!("looking at {} for {seconds} s at most\n", place(&request.discovery));
        if let Some(note) = &request.note {
            text = format!("{note}\n{text}");
        }
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
