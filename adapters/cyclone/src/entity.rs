//! Handles of Cyclone DDS and its error codes.

use std::{
    ffi::CStr,
    fmt, io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use rostrans_adapter_dds::Guid;
use rostrans_core::adapter::AdapterError;

/// A Cyclone DDS entity that is deleted when dropped.
#[derive(Debug)]
pub(crate) struct Entity(cyclors::dds_entity_t);

impl Entity {
    /// Takes over what a `dds_create_*` function returned.
    ///
    /// **Errors**: the function returned an error code.
    pub(crate) fn new(created: cyclors::dds_entity_t) -> Result<Self, Code> {
        Code::check(created).map(Self)
    }

    /// For calls into the library.
    pub(crate) fn handle(&self) -> cyclors::dds_entity_t {
        self.0
    }

    /// The id other participants know it by.
    pub(crate) fn guid(&self) -> Result<Guid, Code> {
        let mut guid = cyclors::dds_guid_t { v: [0; 16] };
        // SAFETY: the library checks the handle; the place for the result is valid.
        Code::check(unsafe { cyclors::dds_get_guid(self.0, &raw mut guid) })?;
        Ok(Guid::from_bytes(guid.v))
    }
}

impl Drop for Entity {
    fn drop(&mut self) {
        // SAFETY: the library checks the handle; one that went with its parent is refused.
        unsafe { cyclors::dds_delete(self.0) };
    }
}

/// An error code of Cyclone DDS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    /// Results below zero are errors.
    pub(crate) fn check(result: i32) -> Result<i32, Self> {
        if result < 0 { Err(Self(result)) } else { Ok(result) }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the function takes any number and returns a text that lives as long as the program.
        let text = unsafe { CStr::from_ptr(cyclors::dds_strretcode(self.0)) };
        f.write_str(&text.to_string_lossy())
    }
}

impl std::error::Error for Code {}

/// The refusal of `what` as an adapter error.
pub(crate) fn refused(what: &str) -> impl Fn(Code) -> AdapterError {
    move |code| AdapterError::Io {
        context: format!("Cyclone DDS refused {what}"),
        source: io::Error::other(code),
    }
}

/// Whether the participant and all that belongs to it still exist.
///
/// Who needs them to stay for the length of a call holds the gate meanwhile. Not a read-write lock: a write delivers to
/// readers of the same participant at once, whose sinks may write in turn, and such a second hold must never wait.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Debug)]
struct State {
    open: bool,
    inside: usize,
}

impl Gate {
    pub(crate) fn open() -> Self {
        Self { state: Mutex::new(State { open: true, inside: 0 }), left: Condvar::new() }
    }

    /// Keeps the participant for as long as the result lives; `None` when it is gone or about to go.
    pub(crate) fn hold(&self) -> Option<Held<'_>> {
        let mut state = self.state();
        state.open.then(|| {
            state.inside += 1;
            Held(self)
        })
    }

    /// Lets nobody in any more, waits until nobody is inside, and runs `end`; once. Not for those who are inside.
    pub(crate) fn close(&self, end: impl FnOnce()) {
        let mut state = self.state();
        if std::mem::take(&mut state.open) {
            while state.inside > 0 {
                state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            drop(state);
            end();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place inside a [`Gate`].
pub(crate) struct Held<'a>(&'a Gate);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.state().inside -= 1;
        self.0.left.notify_all();
    }
}
