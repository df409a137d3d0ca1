//! Writes that wait for room in a keep-all history.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rostrans_rtps::{
    DiscoveryRange, EndpointQos, EndpointSpec, History, Participant, ParticipantConfig, Reader, Sample,
    WriteError, Writer,
};

/// Longer than the test may take.
const LONG: Duration = Duration::from_secs(3600);
const HISTORY: History = History::KeepAll { bytes: 20_000 };

/// A domain for each test, since they run at the same time.
fn participant(test: u16) -> Participant {
    let domain = 10 + (u16::try_from(std::process::id() % 80).unwrap() + test) % 80;
    Participant::new(ParticipantConfig { domain, range: DiscoveryRange::Localhost, ..Default::default() })
        .unwrap()
}

fn spec(max_blocking: Duration) -> EndpointSpec {
    let qos = EndpointQos { history: HISTORY, max_blocking, ..EndpointQos::DEFAULT };
    let topic = format!("rt/blocking/{}", std::process::id());
    EndpointSpec { topic, type_name: "test::msg::dds_::T_".into(), qos, ..EndpointSpec::default() }
}

fn wait(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn payload(n: u32) -> Bytes {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(n.to_le_bytes());
    bytes.resize(1000, 7);
    bytes.into()
}

fn pair(
    a: &Participant,
    b: &Participant,
    max_blocking: Duration,
    sink: Arc<dyn Fn(Sample) + Send + Sync>,
) -> (Writer, Reader) {
    let writer = a.create_writer(spec(max_blocking)).unwrap();
    let reader = b.create_reader(spec(max_blocking), sink).unwrap();
    wait("matching", || writer.matched() == 1 && reader.matched() == 1);
    (writer, reader)
}

/// Writes until there is no room.
fn fill(writer: &Writer) {
    let full = (0..1000).find_map(|n| writer.write(&payload(n)).err());
    assert_eq!(full, Some(WriteError::HistoryFull));
}

#[test]
fn a_full_writer_waits_for_its_readers_and_loses_nothing() {
    let (a, b) = (participant(0), participant(0));
    let got = Arc::new(Mutex::new(Vec::new()));
    let sink = got.clone();
    let (writer, _reader) = pair(&a, &b, LONG, Arc::new(move |s| sink.lock().unwrap().push(s.seq)));
    for n in 0..3000 {
        writer.write(&payload(n)).unwrap();
    }
    wait("delivery", || got.lock().unwrap().len() == 3000);
    assert!(got.lock().unwrap().iter().copied().eq(1..=3000));
}

/// A reader that never answers: its participant's receive thread is held until the test ends.
struct Deaf {
    _release: std::sync::mpsc::Sender<()>,
    reader: Reader,
}

fn deaf(a: &Participant, b: &Participant, max_blocking: Duration) -> (Writer, Deaf) {
    let (release, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    // Ends with an error when the other end is dropped.
    let hold = move |_| gate.lock().unwrap().recv().unwrap_or_default();
    let (writer, reader) = pair(a, b, max_blocking, Arc::new(hold));
    (writer, Deaf { _release: release, reader })
}

#[test]
fn a_wait_ends_with_an_error_when_its_time_is_over() {
    let (a, b) = (participant(1), participant(1));
    let (writer, _deaf) = deaf(&a, &b, Duration::from_millis(20));
    fill(&writer);
    assert_eq!(writer.write(&payload(0)), Err(WriteError::HistoryFull));
}

#[test]
fn a_reader_that_goes_releases_the_writer() {
    let (a, b) = (participant(2), participant(2));
    let (writer, deaf) = deaf(&a, &b, LONG);
    let (told, done) = sync_channel(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // More than fits, so that one of them waits.
            let last = (0..100).map(|n| writer.write(&payload(n))).last();
            told.send(last).unwrap();
        });
        wait("a full history", || a.stats().samples_out >= 20);
        let Deaf { _release, reader } = deaf;
        drop(reader);
        assert!(matches!(done.recv_timeout(Duration::from_secs(20)), Ok(Some(Ok(_)))));
    });
}

#[test]
fn closing_releases_the_writer() {
    let (a, b) = (participant(3), participant(3));
    let (writer, _deaf) = deaf(&a, &b, LONG);
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| (0..100).find_map(|n| writer.write(&payload(n)).err()));
        wait("a full history", || a.stats().samples_out >= 20);
        a.close();
        assert_eq!(writes.join().unwrap(), Some(WriteError::Closed));
    });
}

#[test]
fn a_callback_never_waits() {
    let (a, b) = (participant(4), participant(4));
    let (writer, _deaf) = deaf(&a, &b, LONG);
    let (told, done) = channel();
    let other = |topic: &str| EndpointSpec { topic: topic.into(), ..spec(LONG) };
    let sink = move |_| {
        let full = (0..1000).find_map(|n| writer.write(&payload(n)).err());
        told.send(full).unwrap();
    };
    let reader = a.create_reader(other("rt/go"), Arc::new(sink)).unwrap();
    let c = participant(4);
    let go = c.create_writer(other("rt/go")).unwrap();
    wait("matching", || go.matched() == 1 && reader.matched() == 1);
    go.write(&payload(0)).unwrap();
    assert_eq!(done.recv_timeout(Duration::from_secs(20)), Ok(Some(WriteError::HistoryFull)));
}
