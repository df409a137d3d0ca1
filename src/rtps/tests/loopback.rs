//! Real participants on the loopback interface.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rostrans_rtps::{
    DiscoveryRange, EndpointQos, EndpointSpec, History, Participant, ParticipantConfig, RtpsError, Sample,
    SampleIdentity, WriteError, WriteOptions,
};

/// Counts allocations of the whole process.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "a global allocator is unsafe by nature; this one only counts")]
// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: they share a domain, and one of them counts allocations.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A domain that other programs on this host hardly use, the same for all tests of this process.
fn config() -> ParticipantConfig {
    static DOMAIN: OnceLock<u16> = OnceLock::new();
    let domain = *DOMAIN.get_or_init(|| 10 + u16::try_from(std::process::id() % 80).unwrap());
    ParticipantConfig { domain, range: DiscoveryRange::Localhost, ..ParticipantConfig::default() }
}

fn spec(topic: &str, qos: EndpointQos) -> EndpointSpec {
    let topic = format!("rt/{topic}/{}", std::process::id());
    EndpointSpec { topic, type_name: "test::msg::dds_::T_".into(), qos, ..EndpointSpec::default() }
}

const RELIABLE: EndpointQos = EndpointQos::DEFAULT;
const LATCHED: EndpointQos =
    EndpointQos { transient_local: true, history: History::KeepLast(3), ..EndpointQos::DEFAULT };

fn wait(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn payload(n: u32, len: usize) -> Bytes {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(n.to_le_bytes());
    bytes.resize(len, n.to_le_bytes()[0]);
    bytes.into()
}

fn number(sample: &Sample) -> u32 {
    u32::from_le_bytes(sample.payload[4..8].try_into().unwrap())
}

#[test]
fn two_participants_exchange_samples_of_all_sizes() {
    let _alone = alone();
    let (a, b) = (Participant::new(config()).unwrap(), Participant::new(config()).unwrap());
    assert_ne!(a.guid(), b.guid());
    let writer = a.create_writer(spec("sizes", RELIABLE)).unwrap();
    let got = Arc::new(Mutex::new(Vec::new()));
    let sink = got.clone();
    let reader =
        b.create_reader(spec("sizes", RELIABLE), Arc::new(move |s| sink.lock().unwrap().push(s))).unwrap();
    wait("matching", || writer.matched() == 1 && reader.matched() == 1);
    assert_eq!(writer.matched_readers(), [reader.guid()]);
    assert_eq!(reader.matched_writers(), [writer.guid()]);

    let sizes = [8, 9, 8192, 8193, 60_000, 60_001, 2_764_848, 12, 180_000];
    let related = Some(SampleIdentity { guid: reader.guid(), seq: SampleIdentity::SEQ_UNKNOWN });
    for (n, len) in (0..).zip(sizes) {
        let options = WriteOptions { related, ..WriteOptions::default() };
        assert_eq!(writer.write_with(&payload(n, len), options), Ok(i64::from(n) + 1));
    }
    wait("delivery", || got.lock().unwrap().len() == sizes.len());
    for ((n, len), sample) in (0..).zip(sizes).zip(got.lock().unwrap().iter()) {
        assert_eq!(sample.payload.slice(..len), payload(n, len));
        assert_eq!((sample.writer, sample.seq, sample.related), (writer.guid(), i64::from(n) + 1, related));
        assert!(sample.source_time.is_some());
    }
}

#[test]
fn a_sink_may_write_and_replies_come_back() {
    let _alone = alone();
    let (a, b) = (Participant::new(config()).unwrap(), Participant::new(config()).unwrap());
    let reply = b.create_writer(spec("reply", RELIABLE)).unwrap();
    let echo = Arc::new(reply);
    let sink = echo.clone();
    let request_reader = b
        .create_reader(
            spec("request", RELIABLE),
            Arc::new(move |s: Sample| assert!(sink.write(&s.payload).is_ok())),
        )
        .unwrap();
    let request = a.create_writer(spec("request", RELIABLE)).unwrap();
    let replies = Arc::new(AtomicUsize::new(0));
    let count = replies.clone();
    let reply_reader = a
        .create_reader(
            spec("reply", RELIABLE),
            Arc::new(move |s| {
                count.fetch_add(number(&s) as usize, Ordering::Relaxed);
            }),
        )
        .unwrap();
    wait("matching", || {
        request.matched() + echo.matched() == 2 && request_reader.matched() + reply_reader.matched() == 2
    });
    (1..=100).for_each(|n| assert_eq!(request.write(&payload(n, 64)), Ok(i64::from(n))));
    wait("replies", || replies.load(Ordering::Relaxed) == 5050);
}

#[test]
fn a_late_reader_gets_latched_samples_and_a_dropped_writer_disappears() {
    let _alone = alone();
    let (a, b) = (Participant::new(config()).unwrap(), Participant::new(config()).unwrap());
    let changes = Arc::new(AtomicUsize::new(0));
    let count = changes.clone();
    b.on_graph_change(Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let writer = a.create_writer(spec("latched", LATCHED)).unwrap();
    (0..5).for_each(|n| assert!(writer.write(&payload(n, 20)).is_ok()));
    let of_a = |p: &Participant| {
        p.discovered().endpoints.iter().filter(|e| e.guid.prefix == a.guid().prefix).count()
    };
    wait("discovery", || of_a(&b) == 1);
    let got = Arc::new(Mutex::new(Vec::new()));
    let sink = got.clone();
    let reader = b
        .create_reader(spec("latched", LATCHED), Arc::new(move |s| sink.lock().unwrap().push(number(&s))))
        .unwrap();
    wait("replay", || *got.lock().unwrap() == [2, 3, 4]);
    drop(writer);
    wait("withdrawal", || of_a(&b) == 0 && reader.matched() == 0);
    let prefix = a.guid().prefix;
    drop(a);
    wait("farewell", || b.discovered().participants.iter().all(|p| p.guid.prefix != prefix));
    assert!(changes.load(Ordering::Relaxed) >= 3);
}

#[test]
fn a_closed_participant_refuses_politely() {
    let _alone = alone();
    let participant = Participant::new(config()).unwrap();
    let writer = participant.create_writer(spec("closed", RELIABLE)).unwrap();
    assert_eq!(writer.write(&Bytes::from_static(b"abc")), Err(WriteError::TooShort { have: 3 }));
    participant.close();
    participant.close();
    assert_eq!(writer.write(&payload(0, 8)), Err(WriteError::Closed));
    assert!(matches!(participant.create_writer(spec("x", RELIABLE)), Err(RtpsError::Closed)));
    let nameless = EndpointSpec { topic: String::new(), ..spec("x", RELIABLE) };
    assert!(matches!(participant.create_writer(nameless), Err(RtpsError::Name { what: "topic", .. })));
    let hasty = spec("x", EndpointQos { deadline: Some(Duration::ZERO), ..RELIABLE });
    assert!(matches!(participant.create_writer(hasty), Err(RtpsError::Period("deadline"))));
    let restless = Participant::new(ParticipantConfig { lease: Duration::ZERO, ..config() });
    assert!(matches!(restless, Err(RtpsError::Period("participant lease"))));
    let split = EndpointSpec { partitions: vec!["a\0b".into()], ..spec("x", RELIABLE) };
    assert!(matches!(participant.create_writer(split), Err(RtpsError::Partitions)));
}

#[test]
fn range_off_talks_to_nobody() {
    let _alone = alone();
    let off = Participant::new(ParticipantConfig { range: DiscoveryRange::Off, ..config() }).unwrap();
    let writer = off.create_writer(spec("off", RELIABLE)).unwrap();
    assert_eq!(writer.write(&payload(0, 8)), Ok(1));
    assert_eq!((writer.matched(), off.stats().datagrams_out), (0, 0));
}

#[test]
fn small_samples_need_no_allocation() {
    let _alone = alone();
    let (a, b) = (Participant::new(config()).unwrap(), Participant::new(config()).unwrap());
    let writer = a.create_writer(spec("steady", RELIABLE)).unwrap();
    let got = Arc::new(AtomicUsize::new(0));
    let sink = got.clone();
    let reader = b
        .create_reader(
            spec("steady", RELIABLE),
            Arc::new(move |_| {
                sink.fetch_add(1, Ordering::Relaxed);
            }),
        )
        .unwrap();
    wait("matching", || writer.matched() == 1 && reader.matched() == 1);
    let payload = payload(1, 320);
    let send = |from: usize, to: usize| {
        for n in from..to {
            writer.write(&payload).unwrap();
            wait("delivery", || got.load(Ordering::Relaxed) == n + 1);
        }
    };
    send(0, 500);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    send(500, 2500);
    // What remains: blocks of received bytes and the participants' periodic announcements.
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    println!("{allocations} allocations for 2000 samples");
    assert!(allocations < 200, "{allocations} allocations for 2000 samples");
}
