//! Requests and responses of the services.

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::{codec::EncodeError, emit::Emit};
use rostrans_msgs::mavros_msgs::srv::{
    WaypointClearResponse, WaypointPullResponse, WaypointPushRequest, WaypointPushResponse,
    WaypointSetCurrentResponse,
};

use super::task::{Answer, Caller, Job};

/// **Errors**: the request is another one.
pub(super) fn read<M: CdrDecode>(request: &CdrBytes) -> Result<M, EncodeError> {
    from_cdr(request).map_err(|_| EncodeError::Cdr("not the service's request"))
}

/// An empty list is none: the vehicle shall forget what it has.
pub(super) fn push(request: WaypointPushRequest) -> Job {
    match request {
        WaypointPushRequest { start_index: 0, waypoints } if waypoints.is_empty() => Job::Clear,
        WaypointPushRequest { start_index, waypoints } => Job::Push { start: start_index, items: waypoints },
    }
}

/// Answers a call; `count` are items received or sent.
pub(super) fn reply(Caller { call, answer }: Caller, success: bool, count: u32, out: &mut Emit<'_>) {
    match answer {
        Answer::Pull => out.answer(call, &WaypointPullResponse { success, wp_received: count }),
        Answer::Push => out.answer(call, &WaypointPushResponse { success, wp_transfered: count }),
        Answer::Clear => out.answer(call, &WaypointClearResponse { success }),
        Answer::SetCurrent => out.answer(call, &WaypointSetCurrentResponse { success }),
    }
}
