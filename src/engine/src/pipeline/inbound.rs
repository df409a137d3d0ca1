//! Frames to topics, and whole conversations: `udp_to_rostopic`, `serial_to_ros`.
//!
//! ```text
//! frame -> interest -> decode -> limit -> Publisher     inline, in the transport's task
//! frame -> interest -> queue --\
//! sample of an input -> queue ---> decoder -> Publisher, ByteSink, answers     queued, in the rule's worker
//! service call -> queue -------/
//! ```
//!
//! The worker handles one event at a time. A sample or call is one hop away from the socket: adapter, worker, send.

mod inbox;

use std::{sync::Arc, time::Instant};

use bytes::BytesMut;
use rostrans_core::{
    adapter::Guard,
    codec::{Cost, Port},
};

use self::inbox::{Inbox, Item};
use super::{
    Env,
    calls::{Call, CallBox},
    decode::{DecodeLink, DecodeSpec, Io},
    now, sleep_until,
};
use crate::{
    dispatch_table::DispatchTable,
    due::Earliest,
    ingress::{FrameQueue, OwnedFrame, Reader},
    link::Link,
    supervisor::{Context, Failure},
};

/// Announces the rule's topics and services, attaches its links, and works off its queues until told to end.
pub(super) async fn run(env: &Env, context: &Context) -> Result<(), Failure> {
    let mut readers = Vec::new();
    let mut queued = Vec::new();
    for link in &env.links {
        let spec = Arc::new(DecodeSpec::advertise(env, Arc::clone(link)).await?);
        match link.info().cost {
            Cost::Inline => readers.push(Reader::Inline(spec)),
            Cost::Queued => queued.push(spec),
        }
    }
    let source = env.source()?;
    let mut pool = BytesMut::new();
    let mut io = Io { pool: &mut pool, sink: &*source.sink };
    let links: Vec<Arc<Link>> = queued.iter().map(|spec| Arc::clone(spec.link())).collect();
    let mut worker = Worker::new(queued.iter().map(|spec| spec.open(now())).collect::<Result<_, _>>()?);
    let queue = FrameQueue::of_decoders(links.clone());
    let inbox = Arc::new(Inbox::new(links.clone()));
    let (call_box, mut calls) = CallBox::new();
    let subscriptions = subscribe(env, &links, &inbox).await?;
    let services = advertise_services(env, &links, &call_box).await?;
    if !links.is_empty() {
        readers.push(Reader::Queue(Arc::clone(&queue)));
    }
    let attachment = source.attach(readers);
    context.up();
    loop {
        let due = worker.due.get().into_iter().chain(inbox.next_due()).min();
        tokio::select! {
            () = context.cancel().cancelled() => break,
            item = inbox.samples.pop() => worker.sample(&item, &mut io),
            Some(call) = calls.recv() => worker.call(call, &mut io),
            frame = queue.frames.pop() => worker.frame(&frame, &mut io),
            () = sleep_until(due) => inbox.flush(now()),
        }
        worker.tick(now(), &mut io);
    }
    drop(attachment);
    drop(subscriptions);
    calls.close();
    while let Some(frame) = queue.frames.try_pop() {
        worker.frame(&frame, &mut io);
    }
    while let Some(item) = inbox.samples.try_pop() {
        worker.sample(&item, &mut io);
    }
    worker.close(std::iter::from_fn(|| calls.try_recv().ok()), &mut io);
    call_box.picked_up(&env.rule.rule_id).await;
    drop(services);
    Ok(())
}

/// Subscribes to the topics bound to inputs of `links`.
async fn subscribe(env: &Env, links: &[Arc<Link>], inbox: &Arc<Inbox>) -> Result<Vec<Guard>, Failure> {
    let mut guards = Vec::new();
    for (index, link) in links.iter().enumerate() {
        for (port, input) in (0..).map(Port).zip(link.info().inputs) {
            let Some(topic) = link.config().ports.get(input.name) else { continue };
            let inbox = Arc::clone(inbox);
            let sink = Arc::new(move |sample| inbox.put(index, port, sample, now()));
            let guard = env.adapters.subscribe(env.rule.ros_version, topic, sink).await;
            guards.push(guard.map_err(|error| error.into_failure())?);
        }
    }
    Ok(guards)
}

/// Offers the services bound to those that codecs of `links` answer.
async fn advertise_services(
    env: &Env,
    links: &[Arc<Link>],
    call_box: &CallBox,
) -> Result<Vec<Guard>, Failure> {
    let mut guards = Vec::new();
    for (index, link) in links.iter().enumerate() {
        for (port, answered) in (0..).map(Port).zip(link.info().services) {
            let Some(service) = link.config().services.get(answered.name) else { continue };
            let handler = call_box.handler(index, port);
            let guard = env.adapters.advertise_service(env.rule.ros_version, service, handler).await;
            guards.push(guard.map_err(|error| error.into_failure())?);
        }
    }
    Ok(guards)
}

/// The queued links of a rule.
struct Worker {
    links: Vec<DecodeLink>,
    table: DispatchTable,
    due: Earliest,
}

impl Worker {
    fn new(links: Vec<DecodeLink>) -> Self {
        let mut due = Earliest::default();
        links.iter().for_each(|link| due.note(link.next_due()));
        let table = DispatchTable::new(links.iter().map(|link| vec![link.link().wish()]));
        Self { links, table, due }
    }

    fn frame(&mut self, frame: &OwnedFrame, io: &mut Io<'_>) {
        let frame = frame.as_frame();
        for &index in self.table.readers(&frame) {
            let Some(link) = self.links.get_mut(usize::from(index)) else { continue };
            link.frame(&frame, io);
            self.due.note(link.next_due());
        }
    }

    fn sample(&mut self, item: &Item, io: &mut Io<'_>) {
        let Some(link) = self.links.get_mut(item.link) else { return };
        link.sample(item.input, &item.sample, item.at, io);
        self.due.note(link.next_due());
    }

    fn call(&mut self, call: Call, io: &mut Io<'_>) {
        let Some(link) = self.links.get_mut(call.link) else { return };
        link.call(call, now(), io);
        self.due.note(link.next_due());
    }

    /// Runs what is due, if anything is.
    fn tick(&mut self, now: Instant, io: &mut Io<'_>) {
        if !self.due.reached(now) {
            return;
        }
        for link in &mut self.links {
            if link.next_due().is_some_and(|due| due <= now) {
                link.tick(now, io);
            }
            self.due.note(link.next_due());
        }
    }

    /// Ends what is open; `calls` came too late to be started.
    fn close(&mut self, calls: impl Iterator<Item = Call>, io: &mut Io<'_>) {
        for call in calls {
            if let Some(link) = self.links.get(call.link) {
                link.refuse(call);
            }
        }
        self.links.iter_mut().for_each(|link| link.close(now(), io));
    }
}
