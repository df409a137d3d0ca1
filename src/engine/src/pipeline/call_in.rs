//! Services answered over frames: `rosservice_to_udp`.
//!
//! ```text
//! service call -> Exchange::request -> ByteSink
//! frame -> queue -> Exchange::response -> service response
//! ```
//!
//! Each service has one call in flight: a COMMAND_ACK names only the command, so overlapping calls could not be told
//! apart. Further calls wait their turn. Whose answer a frame can be is in [`lanes`].

mod lane;
mod lanes;
mod sender;

use std::sync::Arc;

use rostrans_core::codec::{FrameOut, Port};

use self::{lane::Lane, lanes::Lanes};
use super::{
    Env, Way,
    calls::{Call, CallBox},
    now, sleep_until,
};
use crate::{
    ingress::{FrameQueue, Reader},
    supervisor::{Context, Failure},
    transports::explain,
};

/// Offers the rule's services and answers calls until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let source = env.source()?;
    let ways = env.ways().map_err(explain)?;
    let mut lanes = Vec::new();
    for (link, way) in env.links.iter().zip(ways) {
        let way = way.unwrap_or_else(|| Way { sink: source.sink.clone(), to: None });
        lanes.push(Lane::new(Arc::clone(link), way)?);
    }
    let mut lanes = Lanes::new(lanes);
    let queue = FrameQueue::new(env.links.clone(), false);
    let attachment = source.attach(vec![Reader::Queue(Arc::clone(&queue))]);
    let (call_box, mut calls) = CallBox::new();
    let mut guards = Vec::new();
    for link in &env.links {
        let Some(service) = &link.config().service else {
            return Err(Failure::permanent(format!("link '{}' names no service", link.config().link_name)));
        };
        let handler = call_box.handler(link.index, Port(0));
        let guard = env.adapters.advertise_service(env.rule.ros_version, service, handler).await;
        guards.push(guard.map_err(|error| error.into_failure())?);
    }
    context.up();
    let mut out = FrameOut::new();
    loop {
        queue.set_open(lanes.are_open());
        let due = lanes.next_due();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            Some(call) = calls.recv() => {
                queue.set_open(true);
                lanes.call(call, &mut out);
            }
            frame = queue.frames.pop() => lanes.frame(&frame.as_frame(), &mut out),
            () = sleep_until(due) => lanes.due(now(), &mut out),
        }
    }
    drop(attachment);
    calls.close();
    lanes.close(std::iter::from_fn(|| calls.try_recv().ok()));
    call_box.picked_up(&env.rule.rule_id).await;
    drop(guards);
    Ok(())
}
