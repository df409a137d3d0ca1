//! Publishers, subscriptions, clients and servers as rcl has them, ended when dropped.

use std::{ffi::CString, sync::Arc};

use rostrans_core::adapter::AdapterError;
use tracing::debug;

use crate::{
    ffi::{self, Rcl, rcl_ret_t},
    library::{checked, reason, refusal},
    node::{Node, exclusive},
};

/// One of the four structures.
pub(crate) trait Raw: Sized {
    /// Ends it.
    ///
    /// # Safety
    ///
    /// It was made in this node and is used by nobody else.
    unsafe fn end(&mut self, rcl: &Rcl, node: *mut ffi::rcl_node_t) -> rcl_ret_t;
}

macro_rules! raw {
    ($($type:ident: $fini:ident),+) => {$(
        impl Raw for ffi::$type {
            unsafe fn end(&mut self, rcl: &Rcl, node: *mut ffi::rcl_node_t) -> rcl_ret_t {
                // SAFETY: the caller's promise.
                unsafe { rcl.$fini(self, node) }
            }
        }
    )+};
}
raw! {
    rcl_publisher_t: rcl_publisher_fini,
    rcl_subscription_t: rcl_subscription_fini,
    rcl_client_t: rcl_client_fini,
    rcl_service_t: rcl_service_fini
}

/// A made structure. It must not move while it is waited for, so its owner is in an `Arc`.
pub(crate) struct Handle<T: Raw> {
    raw: T,
    node: Arc<Node>,
}

// SAFETY: rcl lets these be used from any thread. Of the calls that must not run side by side on one of them, taking is
// done by the waiting thread alone, ending by the last owner, and sending by several at once is allowed.
unsafe impl<T: Raw> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Raw> Sync for Handle<T> {}

impl<T: Raw> Handle<T> {
    /// `raw` is zero; `init` makes it, given the pointers to it and to its name.
    ///
    /// **Errors**: the adapter has ended; what rcl says about `what`.
    ///
    /// # Safety
    ///
    /// `init` calls the init function of `T` with these pointers.
    pub(crate) unsafe fn new(
        node: &Arc<Node>,
        raw: T,
        what: &str,
        name: &str,
        init: impl FnOnce(*mut T, *const std::ffi::c_char) -> rcl_ret_t,
    ) -> Result<Self, AdapterError> {
        let what = || format!("cannot make the {what} of {name}");
        if node.is_closed() {
            return Err(refusal(what(), std::io::Error::other("the adapter has ended")));
        }
        let text = CString::new(name).map_err(|error| refusal(what(), error.into()))?;
        let mut raw = raw;
        let _exclusive = exclusive();
        // What failed to be made is not ended.
        checked(node.rcl(), init(&raw mut raw, text.as_ptr()), what)?;
        Ok(Self { raw, node: Arc::clone(node) })
    }

    pub(crate) fn as_ptr(&self) -> *const T {
        &raw const self.raw
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.node
    }

    pub(crate) fn rcl(&self) -> &'static Rcl {
        self.node.rcl()
    }
}

impl<T: Raw> Drop for Handle<T> {
    fn drop(&mut self) {
        let _exclusive = exclusive();
        let (rcl, node) = (self.node.rcl(), self.node.as_mut_ptr());
        // SAFETY: made in `new` in this node; being dropped, nobody else has it.
        let ret = unsafe { self.raw.end(rcl, node) };
        if ret != ffi::OK {
            debug!(reason = reason(rcl, ret), "an endpoint did not end cleanly");
        }
    }
}

/// A buffer that rcl fills and grows.
pub(crate) struct Buffer {
    raw: ffi::rcutils_uint8_array_t,
    rcl: &'static Rcl,
}

// SAFETY: its memory is of malloc, and one owner at a time uses it.
unsafe impl Send for Buffer {}

impl Buffer {
    pub(crate) fn new(rcl: &'static Rcl) -> Result<Self, AdapterError> {
        let mut raw = ffi::rcutils_uint8_array_t {
            buffer: std::ptr::null_mut(),
            buffer_length: 0,
            buffer_capacity: 0,
            // SAFETY: gives a structure by value.
            allocator: unsafe { rcl.rcutils_get_default_allocator() },
        };
        let allocator = raw.allocator;
        // SAFETY: both structures live through the call.
        let ret = unsafe { rcl.rcutils_uint8_array_init(&raw mut raw, 0, &raw const allocator) };
        checked(rcl, ret, || "cannot allocate a buffer".to_owned())?;
        Ok(Self { raw, rcl })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut ffi::rcutils_uint8_array_t {
        &raw mut self.raw
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.raw.buffer.is_null() {
            return &[];
        }
        // SAFETY: rcl keeps `buffer_length` initialised bytes at `buffer`, and changes them only through `as_mut_ptr`.
        unsafe { std::slice::from_raw_parts(self.raw.buffer, self.raw.buffer_length) }
    }
}

impl Buffer {
    /// Fills it with zeros; gives its capacity.
    pub(crate) fn zero(&mut self) -> usize {
        if !self.raw.buffer.is_null() {
            // SAFETY: rcl keeps so many bytes at `buffer`.
            unsafe { self.raw.buffer.write_bytes(0, self.raw.buffer_capacity) };
        }
        self.raw.buffer_capacity
    }

    pub(crate) fn capacity(&self) -> usize {
        self.raw.buffer_capacity
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: made in `new`. What it returns says only that there was nothing to free.
        let _freed = unsafe { self.rcl.rcutils_uint8_array_fini(&raw mut self.raw) };
    }
}

/// Bytes as rcl takes them; only for calls that read.
pub(crate) fn view(rcl: &Rcl, bytes: &[u8]) -> ffi::rcutils_uint8_array_t {
    ffi::rcutils_uint8_array_t {
        buffer: bytes.as_ptr().cast_mut(),
        buffer_length: bytes.len(),
        buffer_capacity: bytes.len(),
        // SAFETY: gives a structure by value.
        allocator: unsafe { rcl.rcutils_get_default_allocator() },
    }
}
