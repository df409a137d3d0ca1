//! Stamps under simulated clocks.

use std::{sync::Arc, time::Duration};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    clock::{
        Authority, ClockOutput, ClockSource, ClockSpec, Fallback, Implausible, Lost, RosTime, StampPolicy,
        Stamping, State as ClockState, Tuning, Window,
    },
    codec::{Codec, CodecContext, CodecError, CodecInfo, DecodeError, Decoder, Port},
    diag::Origin,
    emit::Emit,
    rule::{Direction::UdpToRostopic, RateLimit, RosSelector},
    topic::{Qos, TopicName, TopicSpec},
    transport::Frame,
};
use rostrans_engine::{
    monitor::Rates,
    running::{Deps, Running, start},
    supervisor::State,
    topology::PipelineSpec,
};
use rostrans_schema::{TypeName, TypeRegistry};

use crate::{
    codec::{INLINE, cdr},
    logs::Lines,
    world::{PATIENCE, World, counters, peer, topic_link, udp},
};

/// A rule `up` from UDP 9000 to `/a`, whose messages begin with a header.
fn world(stamping: Stamping) -> World {
    let mut world = World::new();
    let source = world.transport(&udp(9000));
    let mut link = topic_link("inline", "/a");
    let msg_type = TypeName::message("geometry_msgs/msg/PointStamped").unwrap();
    link.topic = link.topic.map(|topic| TopicSpec { msg_type, ..topic });
    world.rule("up", UdpToRostopic, Some(source), vec![(link, None)]);
    change(&mut world.topology.pipelines[0], stamping);
    world
}

fn change(pipeline: &mut PipelineSpec, stamping: Stamping) {
    let rule = Arc::make_mut(&mut pipeline.rule);
    (rule.clock, rule.stamping) = (Some("gz".into()), stamping);
}

fn spec(tuning: Tuning) -> ClockSpec {
    let source = ClockSource::Topic { adapter: RosSelector::All, topic: name("/clock") };
    ClockSpec { name: "gz".into(), source, tuning, outputs: Vec::new(), origin: Origin::Default }
}

fn name(text: &str) -> TopicName {
    TopicName::parse(text).unwrap()
}

async fn run(world: &World, spec: ClockSpec) -> Running {
    let types = Arc::new(TypeRegistry::bundled());
    let running = start(&world.topology, &Deps { types, clocks: vec![spec], ..world.deps() });
    running.settled(PATIENCE).await;
    running
}

/// A `/clock` sample.
fn tick(world: &World, ms: i64) {
    let sample = RosTime { ns: ms * 1_000_000 }.to_clock();
    assert_eq!(world.ros.inject("/clock", RosTime::default(), sample), 1);
}

/// A datagram whose message was measured then.
async fn datagram(world: &World, measured_ms: i64) {
    let sample = RosTime { ns: measured_ms * 1_000_000 }.to_clock();
    world.devices.datagram(&udp(9000), &[sample.body(), b"rest"].concat(), peer(1)).await;
}

/// Milliseconds of the stamps published on `/a`, as header and as the publisher was told.
fn stamps(world: &World) -> Vec<(i64, i64)> {
    let ms = |time: RosTime| time.ns / 1_000_000;
    let both = |sample: &CdrBytes, told| (ms(RosTime::from_clock(sample).unwrap()), ms(told));
    world.ros.published("/a").iter().map(|sample| both(&sample.payload, sample.stamp)).collect()
}

/// The clock is in that state within a while.
async fn reaches(running: &Running, state: ClockState) {
    let reached = async {
        while running.snapshot().clocks[0].state != state {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reached).await.unwrap();
}

/// Waits until `/a` is offered.
async fn offered(world: &World) {
    let offered = async {
        while !world.ros.advertised().iter().any(|topic| topic == "/a") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, offered).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_offered_or_published_before_the_first_sample() {
    let world = world(Stamping::new(StampPolicy::Receive));
    let running = run(&world, spec(Tuning::default())).await;
    datagram(&world, 5).await;
    datagram(&world, 6).await;
    assert_eq!(world.ros.advertised(), Vec::<String>::new());
    assert_eq!(running.snapshot().rules[0].state, State::Running, "it does what it is there for");
    tick(&world, 0);
    offered(&world).await;
    datagram(&world, 7).await;
    assert!(world.ros.wait_published("/a", 1, PATIENCE).await);
    let counters = counters(&running, 0, 0);
    assert_eq!((counters.gated, counters.messages), (2, 1));
    assert!(stamps(&world)[0].0 < 50, "{:?} begins at 0", stamps(&world));
    let rates = Rates::between(&running.snapshot(), &running.snapshot());
    assert_eq!((rates.clocks[0].gated, rates.links[0].dropped), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn policies_make_stamps() {
    let keep = Window { implausible: Implausible::Keep, ..Window::default() };
    let drop = Window { implausible: Implausible::Drop, ..Window::default() };
    let source = |window| Stamping { policy: StampPolicy::Source, window };
    let wall = 1_790_000_000_000;
    for (stamping, measured, stamp, implausible) in [
        (Stamping::new(StampPolicy::Source), 99_970, Some(99_970), 0),
        (Stamping::new(StampPolicy::Source), 0, Some(100_000), 0),
        (Stamping::new(StampPolicy::Source), wall, Some(100_000), 1),
        (Stamping::new(StampPolicy::Source), 80_000, Some(100_000), 1),
        (source(Some(keep)), wall, Some(wall), 1),
        (source(Some(drop)), wall, None, 1),
        (Stamping::AS_IS, wall, Some(wall), 0),
        (Stamping::new(StampPolicy::Receive), 50_000, Some(100_000), 0),
        (Stamping::new(StampPolicy::Now), 50_000, Some(100_000), 0),
        (Stamping::new(StampPolicy::Passthrough), wall, Some(wall), 0),
        (Stamping::new(StampPolicy::None), 99_970, Some(0), 0),
    ] {
        let world = world(stamping);
        let running = run(&world, spec(Tuning::default())).await;
        tick(&world, 100_000);
        offered(&world).await;
        tick(&world, 100_000);
        // The time of publication is the computer's, which paused time is ahead of.
        datagram(&world, measured).await;
        let waited = stamp.is_none() || world.ros.wait_published("/a", 1, PATIENCE).await;
        assert!(waited, "{stamping:?}");
        let header = stamps(&world).first().map(|(header, _)| *header);
        let near = header.zip(stamp).map(|(header, stamp)| (-200..=50).contains(&(header - stamp)));
        assert!(near.unwrap_or(header == stamp), "{stamping:?}: {header:?} for {stamp:?}");
        let counted = async {
            while counters(&running, 0, 0).implausible < implausible {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, counted).await.unwrap();
        assert_eq!(counters(&running, 0, 0).implausible, implausible, "{stamping:?}");
        assert_eq!(stamps(&world).len(), usize::from(stamp.is_some()), "{stamping:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_clock_holds_output_until_it_is_back() {
    let world = world(Stamping::new(StampPolicy::Receive));
    let running = run(&world, spec(Tuning { lost: Lost::Hold, ..Tuning::default() })).await;
    tick(&world, 100_000);
    offered(&world).await;
    reaches(&running, ClockState::Lost).await;
    datagram(&world, 1).await;
    while counters(&running, 0, 0).gated < 1 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(stamps(&world), []);
    tick(&world, 200_000);
    datagram(&world, 2).await;
    assert!(world.ros.wait_published("/a", 1, PATIENCE).await);
    assert!((200_000..200_050).contains(&stamps(&world)[0].0));
}

#[tokio::test(start_paused = true)]
async fn clock_that_never_comes_gives_way_to_wall_time() {
    let lines = Lines::default();
    let _kept = lines.keep();
    let world = world(Stamping::new(StampPolicy::Receive));
    let acquire_timeout = Duration::from_secs(45);
    let running = run(&world, spec(Tuning { acquire_timeout, ..Tuning::default() })).await;
    reaches(&running, ClockState::Fallback).await;
    offered(&world).await;
    datagram(&world, 1).await;
    assert!(world.ros.wait_published("/a", 1, PATIENCE).await);
    assert!(stamps(&world)[0].0 > 1_600_000_000_000, "{:?}", stamps(&world));
    tick(&world, 5);
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(running.snapshot().clocks[0].state, ClockState::Fallback);
    let lines = lines.take();
    let clock: Vec<_> = lines.iter().filter(|line| line.contains("clock=gz")).collect();
    let has = |text: &str| clock.iter().filter(|line| line.contains(text)).count();
    assert_eq!(has("waiting for the simulated clock; then wall time"), 1, "{clock:#?}");
    assert_eq!(has("rules=\"up\""), 1, "{clock:#?}");
    assert!((3..=4).contains(&has("still no sample")), "{clock:#?}");
    assert_eq!(has("stamps are wall time from now on"), 1, "{clock:#?}");
    assert_eq!(has("came too late"), 1, "{clock:#?}");
}

#[tokio::test(start_paused = true)]
async fn clock_that_must_come_ends_the_run() {
    let world = world(Stamping::new(StampPolicy::Receive));
    let acquire_timeout = Duration::from_secs(3);
    let running =
        run(&world, spec(Tuning { fallback: Fallback::Exit, acquire_timeout, ..Tuning::default() })).await;
    let problem = tokio::time::timeout(PATIENCE, running.wait_clock_failed()).await.unwrap();
    assert_eq!(&*problem.name, "clock gz");
    let reason = problem.state.problem().unwrap();
    assert!(reason.starts_with("no sample of clock 'gz' within 3 s; start the simulator"), "{reason}");
    assert_eq!(world.ros.advertised(), Vec::<String>::new());
}

/// Says a simulator's time, the first eight bytes of a frame, and publishes what follows.
struct Telling;

struct Tells;

impl Codec for Telling {
    fn info(&self) -> &'static CodecInfo {
        static INFO: CodecInfo = CodecInfo { name: "telling", ..INLINE };
        &INFO
    }

    fn decoder(&self, _cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        Ok(Box::new(Tells))
    }

    fn clock_field(&self) -> Option<&'static str> {
        Some("time")
    }
}

impl Decoder for Tells {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        out.simulated(RosTime::from_clock(&cdr(frame.bytes)).ok_or(DecodeError::BadMagic)?);
        let stamp = out.stamp();
        out.forward(Port(0), stamp, &stamp.to_clock());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn packets_of_a_simulator_are_a_clock_that_is_published() {
    let mut world = world(Stamping::new(StampPolicy::Source));
    world.register(Arc::new(Telling));
    let rule = Arc::make_mut(&mut world.topology.pipelines[0].rule);
    rule.links[0].codec = Some("telling".into());
    let output = |topic, authority| ClockOutput {
        adapter: RosSelector::All,
        topic: name(topic),
        max_rate: RateLimit(100.0),
        authority,
    };
    let clock = ClockSpec {
        source: ClockSource::Field { rule: "up".into(), link: None, field: "time".into() },
        outputs: vec![
            output("/clock", Authority::Refuse),
            output("/taken", Authority::Refuse),
            output("/forced", Authority::Force),
            output("/polite", Authority::Yield),
        ],
        ..spec(Tuning::default())
    };
    for taken in ["/taken", "/forced", "/polite"] {
        world.ros.pretend_offers(taken, Some(vec![Qos::sensor_data()]));
    }
    let lines = Lines::default();
    let _kept = lines.keep();
    let running = run(&world, clock).await;
    offered(&world).await;
    // Two seconds of a 500 Hz simulation.
    for step in 0..1000 {
        datagram(&world, 5_000 + step * 2).await;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let exact: Vec<i64> = stamps(&world).iter().map(|(header, _)| *header).collect();
    let first = 5_000 + (1000 - i64::try_from(exact.len()).unwrap()) * 2;
    assert!(exact.iter().copied().eq((first..7_000).step_by(2)), "the simulator's times unchanged");
    assert!(exact.len() == 1000);
    let count = world.ros.publish_count("/clock");
    assert!((20..=60).contains(&count), "at 100 Hz from 1.5 s on: {count}");
    assert!((150..=220).contains(&world.ros.publish_count("/forced")));
    assert_eq!((world.ros.publish_count("/taken"), world.ros.publish_count("/polite")), (0, 0));
    // The other one leaves; who was refused stays so, who is polite takes over. Meanwhile the clock stands still.
    for taken in ["/taken", "/polite"] {
        world.ros.pretend_offers(taken, Some(Vec::new()));
    }
    tokio::time::sleep(Duration::from_millis(3500)).await;
    let repeats = world.ros.publish_count("/clock") - count;
    assert!((2..=4).contains(&repeats), "a standing clock is told once a second: {repeats}");
    assert_eq!(world.ros.publish_count("/taken"), 0);
    assert!(world.ros.publish_count("/polite") > 0);
    let last = world.ros.published("/clock").last().map(|sample| sample.stamp);
    assert_eq!(last, Some(RosTime { ns: 6_998_000_000 }));
    let lines = lines.take();
    let refused =
        lines.iter().filter(|line| line.contains("another node publishes a clock there; not published"));
    assert_eq!(refused.count(), 2);
    running.shutdown(PATIENCE).await;
}
