//! One node of the sourced ROS.

use std::{
    collections::BTreeSet,
    ffi::CString,
    ptr,
    sync::{
        Condvar, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use rostrans_core::adapter::AdapterError;
use tracing::{debug, warn};

use crate::{
    ffi::{self, Gid, Rcl},
    library::{checked, reason, refusal},
};

/// A node in a context of its own, as several adapters of one process need it. Whatever is made in it holds it.
pub(crate) struct Node {
    rcl: &'static Rcl,
    parts: Box<Parts>,
    closed: AtomicBool,
    /// Our publishers.
    own: RwLock<BTreeSet<Gid>>,
}

/// In a box, for they point to each other.
struct Parts {
    context: ffi::rcl_context_t,
    node: ffi::rcl_node_t,
    /// Wakes the thread that waits.
    wake: ffi::rcl_guard_condition_t,
}

// SAFETY: rcl lets these be used from any thread; see `Node`.
unsafe impl Send for Parts {}

impl Parts {
    /// Before anything is begun.
    fn new(rcl: &Rcl) -> Self {
        // SAFETY: these give structures by value.
        unsafe {
            Self {
                context: rcl.rcl_get_zero_initialized_context(),
                node: rcl.rcl_get_zero_initialized_node(),
                wake: rcl.rcl_get_zero_initialized_guard_condition(),
            }
        }
    }

    /// Ends what was begun.
    fn end(&mut self, rcl: &Rcl) {
        // SAFETY: nothing made in the node is left, for that holds the node; what was never made is left out.
        let results = unsafe {
            [
                if self.wake.impl_.is_null() {
                    ffi::OK
                } else {
                    rcl.rcl_guard_condition_fini(&raw mut self.wake)
                },
                if self.node.impl_.is_null() { ffi::OK } else { rcl.rcl_node_fini(&raw mut self.node) },
                if self.context.impl_.is_null() { ffi::OK } else { rcl.rcl_shutdown(&raw mut self.context) },
                if self.context.impl_.is_null() {
                    ffi::OK
                } else {
                    rcl.rcl_context_fini(&raw mut self.context)
                },
            ]
        };
        if let Some(ret) = results.into_iter().find(|ret| *ret != ffi::OK) {
            debug!(reason = reason(rcl, ret), "the node did not end cleanly");
        }
    }
}

// SAFETY: rcl lets a node, its context and a guard condition be used from any thread; the calls that must not run side
// by side (making and ending) are made under `exclusive`.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

/// Held while something of rcl is made or ended.
pub(crate) struct Exclusive(());

static CHANGING: Mutex<bool> = Mutex::new(false);
static CHANGED: Condvar = Condvar::new();

/// Waits for its turn; who holds it for ever, in an RMW that has locked up, is passed over.
pub(crate) fn exclusive() -> Exclusive {
    let changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let turn = CHANGED.wait_timeout_while(changing, PATIENCE, |changing| *changing);
    *turn.unwrap_or_else(PoisonError::into_inner).0 = true;
    Exclusive(())
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        *CHANGING.lock().unwrap_or_else(PoisonError::into_inner) = false;
        CHANGED.notify_one();
    }
}

/// Far longer than a healthy RMW takes to make or end anything.
const PATIENCE: Duration = Duration::from_secs(10);

impl Node {
    /// Joins the graph. `ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_SECURITY_*`, `RMW_IMPLEMENTATION` and what the RMW has
    /// besides are read by the libraries.
    ///
    /// **Errors**: a name that ROS refuses; what the RMW says.
    pub(crate) fn new(
        rcl: &'static Rcl,
        name: &str,
        namespace: &str,
        domain: u16,
    ) -> Result<Self, AdapterError> {
        let what = || format!("cannot join domain {domain} as node '{name}' in namespace '{namespace}'");
        let text = |text: &str| CString::new(text).map_err(|error| refusal(what(), error.into()));
        let (name_text, namespace_text) = (text(name)?, text(namespace)?);
        let parts = Box::new(Parts::new(rcl));
        // From here on `Drop` ends what was begun: ending what is still zero does nothing.
        let mut this = Self { rcl, parts, closed: AtomicBool::new(false), own: RwLock::default() };
        // Begun after `this`, so that it ends before that may have to be dropped.
        let _exclusive = exclusive();
        // SAFETY: the pointers are to live structures in the states that each call asks for (zero before, made after);
        // the texts end in NUL and are copied; argc 0 needs no argv.
        unsafe {
            let mut options = rcl.rcl_get_zero_initialized_init_options();
            checked(
                rcl,
                rcl.rcl_init_options_init(&raw mut options, rcl.rcutils_get_default_allocator()),
                what,
            )?;
            let set = rcl.rcl_init_options_set_domain_id(&raw mut options, domain.into());
            let begun = if set == ffi::OK {
                rcl.rcl_init(0, ptr::null(), &raw const options, &raw mut this.parts.context)
            } else {
                set
            };
            let begun = checked(rcl, begun, what);
            if rcl.rcl_init_options_fini(&raw mut options) != ffi::OK {
                rcl.rcutils_reset_error();
            }
            begun?;
            let mut options = rcl.rcl_node_get_default_options();
            options.enable_rosout = false;
            let ret = rcl.rcl_node_init(
                &raw mut this.parts.node,
                name_text.as_ptr(),
                namespace_text.as_ptr(),
                &raw mut this.parts.context,
                &raw const options,
            );
            checked(rcl, ret, what)?;
            let options = rcl.rcl_guard_condition_get_default_options();
            let ret =
                rcl.rcl_guard_condition_init(&raw mut this.parts.wake, &raw mut this.parts.context, options);
            checked(rcl, ret, what)?;
        }
        Ok(this)
    }

    pub(crate) fn rcl(&self) -> &'static Rcl {
        self.rcl
    }

    pub(crate) fn as_ptr(&self) -> *const ffi::rcl_node_t {
        &raw const self.parts.node
    }

    /// For calls that change nothing in it but want it so.
    pub(crate) fn as_mut_ptr(&self) -> *mut ffi::rcl_node_t {
        self.as_ptr().cast_mut()
    }

    pub(crate) fn context(&self) -> *mut ffi::rcl_context_t {
        (&raw const self.parts.context).cast_mut()
    }

    pub(crate) fn wake_condition(&self) -> *const ffi::rcl_guard_condition_t {
        &raw const self.parts.wake
    }

    /// Ends the present wait.
    pub(crate) fn wake(&self) {
        // SAFETY: the guard condition is made and lives; triggering is safe from any thread.
        let ret = unsafe { self.rcl.rcl_trigger_guard_condition((&raw const self.parts.wake).cast_mut()) };
        if ret != ffi::OK {
            debug!(
                reason = reason(self.rcl, ret),
                "cannot wake the waiting thread; it looks again within a second"
            );
        }
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Relaxed);
        self.wake();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    pub(crate) fn add_own(&self, publisher: Gid) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).insert(publisher);
    }

    pub(crate) fn remove_own(&self, publisher: &Gid) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).remove(publisher);
    }

    pub(crate) fn is_own(&self, publisher: &Gid) -> bool {
        self.own.read().unwrap_or_else(PoisonError::into_inner).contains(publisher)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Ending a participant of Fast DDS 2.14 while others leave the graph deadlocks now and then.
        let rcl = self.rcl;
        let mut parts = std::mem::replace(&mut self.parts, Box::new(Parts::new(rcl)));
        let (done, ended) = mpsc::channel();
        let end = move || {
            let _exclusive = exclusive();
            parts.end(rcl);
            // Nobody may be waiting any more.
            done.send(()).unwrap_or_default();
        };
        let spawned = thread::Builder::new().name("r2r-end".to_owned()).spawn(end);
        if spawned.is_err() || ended.recv_timeout(LONGEST_END).is_err() {
            warn!("the RMW did not end in time; it is left as it is");
        }
    }
}

/// How long an end may take.
const LONGEST_END: Duration = Duration::from_secs(2);
