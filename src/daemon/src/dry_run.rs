//! The ROS of `--dry-run`: the in-process bus, with everything published printed.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{
        AdapterError, AdapterInfo, Guard, PublishError, Publisher, RosAdapter, RosVersion, SampleSink,
        ServiceClient, ServiceHandler,
    },
    clock::RosTime,
    topic::{Qos, ServiceSpec, TopicSpec},
    transport::BoxFuture,
};
use rostrans_schema::{MessageType, TypeRegistry};
use tokio_util::sync::CancellationToken;

/// Prints each topic's message at most once a second, as `topic type (count): json`.
pub(crate) struct DryRun {
    bus: Arc<MemoryAdapter>,
    types: Arc<TypeRegistry>,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl DryRun {
    /// A bus on which every topic has a listener, so that decoders do their work.
    pub(crate) fn new(types: Arc<TypeRegistry>, out: Box<dyn Write + Send>) -> Arc<Self> {
        let bus = MemoryAdapter::new(RosVersion::Ros2, 0);
        bus.pretend_subscribers(1);
        Arc::new(Self { bus, types, out: Arc::new(Mutex::new(out)) })
    }
}

impl RosAdapter for DryRun {
    fn info(&self) -> &AdapterInfo {
        self.bus.info()
    }

    fn advertise<'a>(
        &'a self,
        topic: &'a TopicSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn Publisher>, AdapterError>> {
        Box::pin(async move {
            let message = self.types.message(&topic.msg_type);
            let message = message.map_err(|_| AdapterError::UnknownType(topic.msg_type.to_string()))?;
            let publisher: Arc<dyn Publisher> = Arc::new(Printer {
                inner: self.bus.advertise(&untimed(topic)).await?,
                topic: topic.name.to_string(),
                message,
                out: Arc::clone(&self.out),
                throttle: Mutex::new(Throttle { last: None, count: 0 }),
            });
            Ok(publisher)
        })
    }

    fn subscribe<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(async move { self.bus.subscribe(&untimed(topic), sink).await })
    }

    fn subscribe_remote<'a>(
        &'a self,
        topic: &'a TopicSpec,
        sink: SampleSink,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        Box::pin(async move { self.bus.subscribe_remote(&untimed(topic), sink).await })
    }

    fn service_client<'a>(
        &'a self,
        service: &'a ServiceSpec,
    ) -> BoxFuture<'a, Result<Arc<dyn ServiceClient>, AdapterError>> {
        self.bus.service_client(service)
    }

    fn advertise_service<'a>(
        &'a self,
        service: &'a ServiceSpec,
        handler: Arc<dyn ServiceHandler>,
    ) -> BoxFuture<'a, Result<Guard, AdapterError>> {
        self.bus.advertise_service(service, handler)
    }

    fn run(self: Arc<Self>, cancel: CancellationToken) -> BoxFuture<'static, Result<(), AdapterError>> {
        Arc::clone(&self.bus).run(cancel)
    }
}

/// The topic without what only a network keeps: in a dry run nobody waits for anything.
fn untimed(topic: &TopicSpec) -> TopicSpec {
    let Qos { reliability, durability, history, depth, .. } = topic.qos;
    let qos = Qos { history, ..Qos::new(reliability, durability, depth) };
    TopicSpec { qos, ..topic.clone() }
}

struct Printer {
    inner: Arc<dyn Publisher>,
    topic: String,
    message: Arc<MessageType>,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
    throttle: Mutex<Throttle>,
}

struct Throttle {
    last: Option<Instant>,
    count: u64,
}

impl Throttle {
    /// How many messages a line printed at `now` stands for; `None` when it is too early.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        self.count += 1;
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.count))
    }
}

const PAUSE: Duration = Duration::from_secs(1);

impl Publisher for Printer {
    fn publish(&self, stamp: RosTime, msg: &CdrBytes) -> Result<(), PublishError> {
        let due = self.throttle.lock().unwrap_or_else(PoisonError::into_inner).admit(Instant::now());
        if let Some(count) = due {
            let line = line(&self.topic, &self.message, count, msg.as_bytes());
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            // A closed pipe must not stop the run.
            let _closed = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
        self.inner.publish(stamp, msg)
    }

    fn matched(&self) -> usize {
        self.inner.matched()
    }
}

fn line(topic: &str, message: &MessageType, count: u64, sample: &[u8]) -> String {
    let text = match message.cdr_to_json(sample) {
        Ok(json) => shorten(json.to_string()),
        Err(error) => format!("not a valid sample: {error}"),
    };
    format!("{topic} {} ({count}): {text}\n", message.name())
}

/// Long arrays would fill the screen.
fn shorten(text: String) -> String {
    const MAX: usize = 400;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}... ({} letters)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use rostrans_core::topic::TopicName;
    use rostrans_schema::TypeName;
    use serde_json::json;

    use super::*;

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn published_messages_are_printed_as_json() {
        let types = Arc::new(TypeRegistry::bundled());
        let string = types.message(&TypeName::message("std_msgs/String").unwrap()).unwrap();
        let screen = Screen::default();
        let adapter = DryRun::new(types, Box::new(screen.clone()));
        let topic = TopicSpec {
            name: TopicName::parse("/t").unwrap(),
            msg_type: string.name().clone(),
            qos: Qos::reliable(),
        };
        let publisher = adapter.advertise(&topic).await.unwrap();
        assert_eq!(publisher.matched(), 1);
        let sample = string.json_to_cdr(&json!({"data": "hi"}), &mut BytesMut::new()).unwrap();
        publisher.publish(RosTime::default(), &sample).unwrap();
        publisher.publish(RosTime::default(), &sample).unwrap();
        let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
        assert_eq!(shown, "/t std_msgs/msg/String (1): {\"data\":\"hi\"}\n");
    }

    #[test]
    fn a_line_stands_for_the_messages_of_a_second() {
        let mut throttle = Throttle { last: None, count: 0 };
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let due: Vec<_> = [0, 1, 999, 1000, 1001, 2500].map(|ms| throttle.admit(at(ms))).into();
        assert_eq!(due, [Some(1), None, None, Some(3), None, Some(2)]);
    }

    #[test]
    fn long_messages_are_cut() {
        assert!(shorten("x".repeat(1000)).ends_with("... (1000 letters)"));
        assert_eq!(shorten("é".repeat(400)), "é".repeat(400));
    }
}
