//! What `build.rs` made of the headers.

#![allow(
    unreachable_pub,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::use_self,
    reason = "generated, and another for each distribution"
)]

include!(concat!(env!("OUT_DIR"), "/rcl.rs"));

/// Of publishers.
pub type Gid = [u8; RMW_GID_STORAGE_SIZE as usize];

pub const OK: rcl_ret_t = RCL_RET_OK as rcl_ret_t;
pub const TIMEOUT: rcl_ret_t = RCL_RET_TIMEOUT as rcl_ret_t;

// A node and what it has may be used from any thread: rcl documents which calls are not safe side by side, and those are
// made under `node::exclusive`.
