//! Publishers and subscriptions.

use std::{
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use bytes::Bytes;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, PublishError, Publisher, SampleSink},
    clock::RosTime,
    codec::Sample,
    throttle::LogThrottle,
    topic::{Qos, TopicName, TopicSpec},
};
use tracing::{debug, warn};

use crate::{
    ffi::{self, Gid, rcl_publisher_t, rcl_subscription_t},
    handle::{Buffer, Handle, view},
    library::{checked, reason},
    node::{Node, exclusive},
    qos::{from_rmw, to_rmw},
    types::MessageSupport,
    waiter::{Receiver, TURN, Waited, Waiter, Waiting},
};

/// A publish handle.
pub(crate) struct R2rPublisher {
    handle: Handle<rcl_publisher_t>,
    topic: TopicName,
    gid: Gid,
    trouble: Mutex<LogThrottle>,
}

impl R2rPublisher {
    pub(crate) fn new(
        node: &Arc<Node>,
        topic: &TopicSpec,
        support: MessageSupport,
    ) -> Result<Self, AdapterError> {
        let rcl = node.rcl();
        // SAFETY: these give structures by value; the options and the type support live through the call of init.
        let handle = unsafe {
            let zero = rcl.rcl_get_zero_initialized_publisher();
            let mut options = rcl.rcl_publisher_get_default_options();
            options.qos = to_rmw(&topic.qos);
            Handle::new(node, zero, "publisher", topic.name.as_str(), |raw, name| {
                rcl.rcl_publisher_init(raw, node.as_ptr(), support.as_ptr(), name, &raw const options)
            })?
        };
        // SAFETY: a structure of numbers and a pointer that is only written here.
        let mut gid: ffi::rmw_gid_t = unsafe { std::mem::zeroed() };
        // SAFETY: the publisher is made, and so is its RMW handle.
        let ret = unsafe {
            rcl.rmw_get_gid_for_publisher(rcl.rcl_publisher_get_rmw_handle(handle.as_ptr()), &raw mut gid)
        };
        checked(rcl, ret, || format!("cannot tell the publisher of {} from others", topic.name))?;
        node.add_own(gid.data);
        Ok(Self { handle, topic: topic.name.clone(), gid: gid.data, trouble: Mutex::default() })
    }
}

impl Publisher for R2rPublisher {
    fn publish(&self, _stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        if self.handle.node().is_closed() {
            return Err(PublishError::Closed);
        }
        let rcl = self.handle.rcl();
        let view = view(rcl, msg);
        // SAFETY: the publisher is made; the bytes are only read, and live through the call.
        let ret = unsafe {
            rcl.rcl_publish_serialized_message(self.handle.as_ptr(), &raw const view, ptr::null_mut())
        };
        if ret == ffi::OK {
            return Ok(());
        }
        let reason = reason(rcl, ret);
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = trouble.event(Instant::now()) {
            warn!(topic = %self.topic, count, reason, "not published");
        }
        Err(PublishError::Full)
    }

    fn matched(&self) -> usize {
        let mut count = 0;
        let rcl = self.handle.rcl();
        // SAFETY: the publisher is made.
        let ret = unsafe { rcl.rcl_publisher_get_subscription_count(self.handle.as_ptr(), &raw mut count) };
        if ret == ffi::OK {
            return count;
        }
        debug!(topic = %self.topic, reason = reason(rcl, ret), "cannot count subscriptions");
        0
    }
}

impl Drop for R2rPublisher {
    fn drop(&mut self) {
        self.handle.node().remove_own(&self.gid);
    }
}

/// Takes samples of a topic.
struct Taker {
    handle: Handle<rcl_subscription_t>,
    topic: TopicName,
    sink: SampleSink,
    /// Whether samples of our own publishers are left out.
    remote: bool,
    /// Not withdrawn yet.
    wanted: AtomicBool,
    trouble: Mutex<LogThrottle>,
}

/// Keeps a subscription.
pub(crate) struct Subscription {
    taker: Arc<Taker>,
    _waiting: Waiting,
}

impl Subscription {
    /// `remote`: without samples of our own publishers.
    pub(crate) fn new(
        node: &Arc<Node>,
        waiter: &Waiter,
        topic: &TopicSpec,
        support: MessageSupport,
        sink: SampleSink,
        remote: bool,
    ) -> Result<Self, AdapterError> {
        let rcl = node.rcl();
        // SAFETY: these give structures by value; the options and the type support live through the call of init.
        let handle = unsafe {
            let zero = rcl.rcl_get_zero_initialized_subscription();
            let mut options = rcl.rcl_subscription_get_default_options();
            options.qos = to_rmw(&topic.qos);
            // Not every RMW does it, so `take` looks too.
            options.rmw_subscription_options.ignore_local_publications = remote;
            Handle::new(node, zero, "subscription", topic.name.as_str(), |raw, name| {
                rcl.rcl_subscription_init(raw, node.as_ptr(), support.as_ptr(), name, &raw const options)
            })?
        };
        let (wanted, trouble) = (AtomicBool::new(true), Mutex::default());
        let taker = Arc::new(Taker { handle, topic: topic.name.clone(), sink, remote, wanted, trouble });
        let waiting = waiter.add(Arc::clone(&taker) as Arc<dyn Receiver>);
        Ok(Self { taker, _waiting: waiting })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.taker.wanted.store(false, Relaxed);
    }
}

impl Receiver for Taker {
    fn waited(&self) -> Waited {
        Waited::Subscription(self.handle.as_ptr())
    }

    fn take(&self, buffer: &mut Buffer) {
        let rcl = self.handle.rcl();
        for _ in 0..TURN {
            // SAFETY: gives a structure by value.
            let mut info = unsafe { rcl.rmw_get_zero_initialized_message_info() };
            // SAFETY: the subscription is made and nobody else takes from it; buffer and info live through the call.
            let ret = unsafe {
                let (at, buffer) = (self.handle.as_ptr(), buffer.as_mut_ptr());
                rcl.rcl_take_serialized_message(at, buffer, &raw mut info, ptr::null_mut())
            };
            if !self.wanted.load(Relaxed) || taken(rcl, ret, NOTHING, &self.topic, &self.trouble).is_none() {
                return;
            }
            if self.remote && self.handle.node().is_own(&info.publisher_gid.data) {
                continue;
            }
            if let Some(payload) = CdrBytes::new(Bytes::copy_from_slice(buffer.bytes())) {
                (self.sink)(Sample { payload, stamp: RosTime { ns: info.source_timestamp } });
            }
        }
    }
}

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const NOTHING: ffi::rcl_ret_t = ffi::RCL_RET_SUBSCRIPTION_TAKE_FAILED as ffi::rcl_ret_t;

/// `None` when there was nothing to take; errors are logged.
pub(crate) fn taken(
    rcl: &ffi::Rcl,
    ret: ffi::rcl_ret_t,
    nothing: ffi::rcl_ret_t,
    name: &TopicName,
    trouble: &Mutex<LogThrottle>,
) -> Option<()> {
    if ret == ffi::OK {
        return Some(());
    }
    let reason = reason(rcl, ret);
    if ret != nothing {
        let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = trouble.event(Instant::now()) {
            warn!(%name, count, reason, "not received");
        }
    }
    None
}

/// What publishers of others offer; `None` where the RMW does not tell.
pub(crate) fn offers(node: &Node, topic: &TopicName) -> Option<Vec<Qos>> {
    let name = std::ffi::CString::new(topic.as_str()).ok()?;
    let rcl = node.rcl();
    let _exclusive = exclusive();
    // SAFETY: gives structures by value.
    let (mut allocator, mut array) = unsafe {
        (rcl.rcutils_get_default_allocator(), rcl.rmw_get_zero_initialized_topic_endpoint_info_array())
    };
    // SAFETY: all live through the call; the array is zero before.
    let ret = unsafe {
        let (allocator, array) = (&raw mut allocator, &raw mut array);
        rcl.rcl_get_publishers_info_by_topic(node.as_ptr(), allocator, name.as_ptr(), false, array)
    };
    if ret != ffi::OK {
        debug!(%topic, reason = reason(rcl, ret), "cannot tell what is offered");
        return None;
    }
    let infos = if array.info_array.is_null() {
        &[]
    } else {
        // SAFETY: rcl made so many.
        unsafe { std::slice::from_raw_parts(array.info_array, array.size) }
    };
    let others = infos.iter().filter(|info| !node.is_own(&info.endpoint_gid));
    let offers = others.map(|info| from_rmw(&info.qos_profile)).collect();
    // SAFETY: made by the call above; the slice is not used any more.
    let ret = unsafe { rcl.rmw_topic_endpoint_info_array_fini(&raw mut array, &raw mut allocator) };
    if ret != ffi::OK {
        debug!(%topic, reason = reason(rcl, ret), "cannot free what is offered");
    }
    Some(offers)
}
