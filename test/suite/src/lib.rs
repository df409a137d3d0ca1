//! What every ROS 2 adapter must do, as tests that run on any pair of them.
//!
//! [`adapter_tests!`] makes the tests from two functions that open an adapter; the pair may be of one engine or of two
//! that must understand each other:
//!
//! ```ignore
//! fn native(name: &str) -> Arc<dyn RosAdapter> { DdsAdapter::new(config(name)).unwrap() }
//! fn cyclone(name: &str) -> Arc<dyn RosAdapter> { CycloneAdapter::new(config(name)).unwrap() }
//! rostrans_test_suite::adapter_tests!(native, cyclone);
//! ```
//!
//! Not here: what one engine alone promises, such as its counters.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "tests fail by panicking")]

pub mod services;
pub mod topics;

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{AdapterError, RosAdapter, SampleSink},
    codec::Sample,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
};
use rostrans_schema::TypeName;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The tests of this crate, for a pair of adapters opened by two [`Open`] functions.
#[macro_export]
macro_rules! adapter_tests {
    ($first:path, $second:path) => {
        $crate::adapter_tests! { $first, $second;
            topics:
                samples_cross_with_their_source_time_in_order
                late_subscriber_of_a_latched_topic_gets_the_last_samples
                late_subscriber_of_a_latched_topic_that_keeps_all_gets_all
                policies_about_time_are_compared
                one_node_hears_its_own_topics_once
                own_samples_do_not_come_back_to_who_wants_those_of_others
                samples_of_a_megabyte_cross_unchanged
                stopped_adapter_refuses_to_publish
                unknown_types_are_refused;
            services:
                calls_wait_for_their_server_and_get_its_answer
                call_without_a_server_ends_at_its_deadline
                one_node_calls_its_own_services
                service_that_went_away_is_called_again_when_it_is_back
                either_of_two_servers_answers_and_one_is_enough
                many_clients_at_once_get_their_own_answers
                thousand_calls_are_all_answered
                late_answers_leave_nothing_behind
                client_that_vanished_does_not_disturb_others
                requests_and_responses_of_a_megabyte_cross_unchanged;
        }
    };
    ($first:path, $second:path; $($module:ident: $($test:ident)+;)+) => {
        $($(
            // As in the daemon; some libraries refuse a runtime of one thread.
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::$module::$test($crate::Pair::new($first, $second)).await;
            }
        )+)+
    };
}

/// Opens an adapter with a node of that name, on the loopback interface, in the domain of [`domain`].
pub type Open = fn(&str) -> Arc<dyn RosAdapter>;

/// Longer than any test machine takes; only a failing test waits for it.
pub const LIMIT: Duration = Duration::from_secs(20);

/// A domain for this process: tests run in parallel processes. 10 to 89 are away from 0 and the ephemeral ports.
pub fn domain() -> u16 {
    u16::try_from(10 + std::process::id() % 80).unwrap()
}

/// Two nodes, running until they are stopped or the pair is dropped.
pub struct Pair {
    /// The first of them.
    pub a: Arc<dyn RosAdapter>,
    /// The other.
    pub b: Arc<dyn RosAdapter>,
    open: [Open; 2],
    /// In the names of this pair: several may run in one domain.
    number: u32,
    running: JoinSet<Result<(), AdapterError>>,
}

impl Pair {
    /// Opens and runs both.
    pub fn new(first: Open, second: Open) -> Self {
        let mut running = JoinSet::new();
        let mut start = |open: Open, name| {
            let adapter = open(name);
            running.spawn(Arc::clone(&adapter).run(CancellationToken::new()));
            adapter
        };
        let (a, b) = (start(first, "a"), start(second, "b"));
        static PAIRS: AtomicU32 = AtomicU32::new(0);
        Self { a, b, open: [first, second], number: PAIRS.fetch_add(1, Relaxed), running }
    }

    /// One more node of the first or second engine; it ends with the token.
    pub fn another(&mut self, engine: usize, name: &str, cancel: CancellationToken) -> Arc<dyn RosAdapter> {
        let open = self.open.get(engine).unwrap();
        let adapter = open(name);
        self.running.spawn(Arc::clone(&adapter).run(cancel));
        adapter
    }

    /// A topic of `std_msgs/String` that no other pair uses.
    pub fn topic(&self, name: &str, qos: Qos) -> TopicSpec {
        let msg_type = TypeName::message("std_msgs/String").unwrap();
        TopicSpec { name: self.own_name(name), msg_type, qos }
    }

    /// A service of `mavros_msgs/FileRead`, which has room for a text both ways, that no other pair uses.
    pub fn service(&self, name: &str) -> ServiceSpec {
        ServiceSpec {
            name: self.own_name(name),
            srv_type: TypeName::service("mavros_msgs/FileRead").unwrap(),
        }
    }

    fn own_name(&self, name: &str) -> TopicName {
        TopicName::parse(&format!("/p{}_{}{name}", std::process::id(), self.number)).unwrap()
    }
}

/// A `std_msgs/String` with a number in it. A whole number of words: DATA payloads are padded to that, and padding stays.
pub fn cdr(tag: u32) -> CdrBytes {
    big_cdr(tag, 0)
}

/// The same with `len` bytes more, a multiple of 4.
pub fn big_cdr(tag: u32, len: usize) -> CdrBytes {
    let text = numbered(tag, len + 3);
    encapsulated([&length(text.len() + 1), &text, &[0]])
}

/// A request of [`Pair::service`] with a number and `len` more bytes in it.
pub fn request(tag: u32, len: usize) -> CdrBytes {
    path_request(&numbered(tag, len))
}

/// The answer that carries the text of a request.
///
/// **Panics**: it is none of [`request`].
pub fn response_to(request: &CdrBytes) -> CdrBytes {
    let body = request.body();
    let len = u32::from_le_bytes(*body.first_chunk().unwrap());
    let text = &body[4..3 + usize::try_from(len).unwrap()];
    let pad = [0; 4];
    let done = 4 + text.len() + 1;
    encapsulated([&length(text.len()), text, &[1], &pad[..done.next_multiple_of(4) - done], &pad])
}

/// The number in a message, request or response.
pub fn tag(message: &CdrBytes) -> u32 {
    std::str::from_utf8(&message.body()[4..4 + DIGITS]).unwrap().parse().unwrap()
}

/// A number and some noise, as text.
fn numbered(tag: u32, len: usize) -> Vec<u8> {
    let noise = (0..len).map(|i| b'0' + u8::try_from(i.wrapping_mul(7) % 71).unwrap());
    format!("{tag:0DIGITS$}").into_bytes().into_iter().chain(noise).collect()
}

/// Digits of a number, from the fourth byte of every message on.
const DIGITS: usize = 8;

/// `string file_path, uint64 offset, uint64 size`.
fn path_request(path: &[u8]) -> CdrBytes {
    let pad = [0; 8];
    let done = 4 + path.len() + 1;
    encapsulated([&length(path.len() + 1), path, &[0], &pad[..done.next_multiple_of(8) - done], &[0; 16]])
}

fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap().to_le_bytes()
}

fn encapsulated<const N: usize>(parts: [&[u8]; N]) -> CdrBytes {
    CdrBytes::new([&[0, 1, 0, 0], parts.concat().as_slice()].concat()).unwrap()
}

/// Keeps the samples of a subscription.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<Sample>>>);

impl Seen {
    /// To subscribe with.
    pub fn sink(&self) -> SampleSink {
        let seen = self.clone();
        Arc::new(move |sample| seen.samples().push(sample))
    }

    /// What came so far.
    pub fn samples(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.0.lock().unwrap()
    }

    /// The numbers in what came so far.
    pub fn tags(&self) -> Vec<u32> {
        self.samples().iter().map(|sample| tag(&sample.payload)).collect()
    }
}

/// Waits until it holds, and fails after [`LIMIT`].
pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
