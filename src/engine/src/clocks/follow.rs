//! The task of one clock.

use std::{sync::Arc, time::Duration};

use rostrans_core::{
    adapter::{Guard, RosAdapter},
    clock::{ClockSource, Event, Fallback, RosTime, State},
    codec::Sample,
    rule::{RosSelector, RuleId},
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_schema::TypeName;
use tracing::{debug, info};

use super::{Followed, publish::Output, words};
use crate::{
    adapters::{AdapterSet, EndpointError},
    pipeline::{now, sleep_until},
    supervisor::{Context, Failure},
};

/// How often it says that it still waits.
const REMINDER: Duration = Duration::from_secs(10);

/// Follows until told to end.
///
/// **Errors**: no adapter, or one that refuses; no sample in time, where that shall end the program.
pub(super) async fn run(
    followed: &Followed,
    adapters: &AdapterSet,
    waiting: &[RuleId],
    context: &Context,
) -> Result<(), Failure> {
    let Followed { spec, clock } = followed;
    let _subscription = match &spec.source {
        ClockSource::Topic { adapter, topic } => Some(subscribe(followed, adapters, *adapter, topic).await?),
        ClockSource::Field { .. } => None,
    };
    let mut outputs = Vec::new();
    for output in &spec.outputs {
        let adapter = one(adapters, output.adapter)?;
        outputs.push(Output::open(&spec.name, output, adapter).await?);
    }
    context.up();
    if clock.state() == State::Acquiring {
        words::awaited(spec, waiting);
    }
    let mut reminder = now() + REMINDER;
    loop {
        while let Some(event) = clock.take_event() {
            words::tell(&spec.name, &event, spec.tuning);
            if event == Event::FellBack && spec.tuning.fallback == Fallback::Exit {
                let within = spec.tuning.acquire_timeout.as_secs_f64();
                let reason = format!("no sample of clock '{}' within {within} s", spec.name);
                return Err(Failure::permanent(reason).with_remedy(words::remedy(&spec.source)));
            }
        }
        for output in &mut outputs {
            output.publish(clock, now());
        }
        let acquiring = clock.state() == State::Acquiring;
        let due = outputs.iter().map(Output::next_due);
        let due = due.chain(clock.next_due()).chain(acquiring.then_some(reminder)).min();
        tokio::select! {
            () = context.cancel().cancelled() => return Ok(()),
            () = clock.changed() => {}
            () = sleep_until(due) => clock.tick(now()),
        }
        if acquiring && now() >= reminder {
            reminder = now() + REMINDER;
            info!(clock = %spec.name, remedy = words::remedy(&spec.source), "still no sample of the simulated clock");
        }
    }
}

async fn subscribe(
    followed: &Followed,
    adapters: &AdapterSet,
    selector: RosSelector,
    name: &TopicName,
) -> Result<Guard, Failure> {
    let clock = Arc::clone(&followed.clock);
    let sink = move |sample: Sample| {
        let at = now();
        match RosTime::from_clock(&sample.payload) {
            Some(time) => {
                clock.sample(time, sample.stamp, at);
            }
            None => debug!(clock = %clock.name(), bytes = sample.payload.len(), "no clock sample"),
        }
    };
    let adapter = one(adapters, selector)?;
    let outcome = adapter.subscribe(&topic(name.clone()), Arc::new(sink)).await;
    outcome.map_err(|source| refused(adapter, name, source))
}

/// The first adapter that `selector` means.
fn one(adapters: &AdapterSet, selector: RosSelector) -> Result<&Arc<dyn RosAdapter>, Failure> {
    let missing = || EndpointError::NoAdapter(selector.as_str()).into_failure();
    adapters.selected(selector).next().ok_or_else(missing)
}

/// As failure of the clock's task.
pub(super) fn refused(
    adapter: &Arc<dyn RosAdapter>,
    topic: &TopicName,
    source: rostrans_core::adapter::AdapterError,
) -> Failure {
    EndpointError::Refused { adapter: adapter.info().name, endpoint: topic.to_string(), source }
        .into_failure()
}

/// A clock topic with the profile that ROS 2 nodes have for it: best effort, the latest sample.
pub(super) fn topic(name: TopicName) -> TopicSpec {
    let qos = Qos { depth: 1, ..Qos::sensor_data() };
    let msg_type = TypeName::message("rosgraph_msgs/msg/Clock").expect("invariant: a valid name");
    TopicSpec { name, msg_type, qos }
}
