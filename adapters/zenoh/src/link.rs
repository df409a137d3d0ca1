//! The session, and what waits for it.
//!
//! A client has no session before its router is there; what is advertised until then is declared when it opens.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use rostrans_core::adapter::AdapterError;
use tracing::warn;
use zenoh::Session;

use crate::config::refused;

/// Something to be declared once in a session.
pub(crate) trait Attach: Send + Sync {
    /// What it is, for errors.
    fn name(&self) -> String;

    /// Declares it.
    fn attach(&self, session: &Session) -> zenoh::Result<()>;
}

/// The session of an adapter.
pub(crate) struct Link {
    state: Mutex<State>,
    closed: AtomicBool,
}

enum State {
    /// Not open yet.
    Waiting(Vec<Weak<dyn Attach>>),
    Open(Session),
    Closed,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::Waiting(Vec::new())), closed: AtomicBool::new(false) }
    }

    /// Declares a new endpoint, now or when the session opens.
    ///
    /// **Errors**: Zenoh refuses, or the adapter has ended.
    pub(crate) fn add<T: Attach + 'static>(&self, endpoint: &Arc<T>) -> Result<(), AdapterError> {
        let session = match &mut *self.state() {
            State::Waiting(waiting) => {
                waiting.retain(|other| other.strong_count() > 0);
                let weak: Weak<T> = Arc::downgrade(endpoint);
                waiting.push(weak);
                return Ok(());
            }
            State::Open(session) => session.clone(),
            State::Closed => {
                let source = io::ErrorKind::NotConnected.into();
                return Err(AdapterError::Io { context: "the Zenoh adapter has ended".to_owned(), source });
            }
        };
        endpoint
            .attach(&session)
            .map_err(|error| refused(format!("Zenoh refuses {}", endpoint.name()), error))
    }

    /// Takes the session and declares what waits for it.
    pub(crate) fn open(&self, session: &Session) {
        let waiting = {
            let mut state = self.state();
            match std::mem::replace(&mut *state, State::Open(session.clone())) {
                State::Waiting(waiting) => waiting,
                // Ended while it opened: so does the session.
                State::Closed => {
                    *state = State::Closed;
                    return;
                }
                State::Open(_) => Vec::new(),
            }
        };
        for endpoint in waiting.iter().filter_map(Weak::upgrade) {
            if let Err(error) = endpoint.attach(session) {
                warn!(endpoint = %endpoint.name(), %error, "Zenoh refuses an endpoint");
            }
        }
    }

    /// The session while it is open.
    pub(crate) fn session(&self) -> Option<Session> {
        match &*self.state() {
            State::Open(session) => Some(session.clone()),
            State::Waiting(_) | State::Closed => None,
        }
    }

    /// Whether the adapter has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Ends the session: other nodes see ours go.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Relaxed);
        let state = std::mem::replace(&mut *self.state(), State::Closed);
        if let State::Open(session) = state
            && let Err(error) = session.close().await
        {
            warn!(%error, "the Zenoh session did not close in good order");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
