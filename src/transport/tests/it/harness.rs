//! Running transports, peers on loopback, and what the links saw.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use rostrans_core::{
    rule::UdpBind,
    transport::{ByteSink, DeviceState, Frame, Framing, Ingress, Malformed, Peer, TransportError},
};
use rostrans_transport::{Config, Device, Opened, RouteConfig, RouteStats, open};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// No test waits longer for anything.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// One thing an ingress was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Frame { bytes: Vec<u8>, peer: Peer, tag: Option<u32> },
    Malformed(Malformed),
    Up,
    Down(String),
}

/// An ingress that tells a test everything.
pub(crate) struct Tell {
    to: Sender<Told>,
    ticks: Arc<Mutex<Vec<Instant>>>,
    tick_every: Option<Duration>,
    next_tick: Option<Instant>,
    idle: bool,
}

impl Ingress for Tell {
    fn frame(&mut self, f: &Frame<'_>) {
        self.tell(Told::Frame { bytes: f.bytes.to_vec(), peer: f.peer, tag: f.tag });
    }

    fn tick(&mut self, now: Instant) {
        self.ticks.lock().unwrap().push(now);
        self.next_tick = self.tick_every.map(|every| now + every);
    }

    fn next_tick(&self) -> Option<Instant> {
        self.next_tick
    }

    fn idle(&self) -> bool {
        self.idle
    }

    fn malformed(&mut self, error: Malformed) {
        self.tell(Told::Malformed(error));
    }

    fn device(&mut self, state: DeviceState<'_>) {
        self.tell(match state {
            DeviceState::Up => Told::Up,
            DeviceState::Down(reason) => Told::Down(reason.to_owned()),
        });
    }
}

impl Tell {
    fn tell(&self, told: Told) {
        self.to.try_send(told).expect("room for what a test sends");
    }
}

/// A running transport.
pub(crate) struct Run {
    pub(crate) sink: Arc<dyn ByteSink>,
    pub(crate) addr: Option<SocketAddr>,
    pub(crate) route: Option<Arc<RouteStats>>,
    pub(crate) told: Receiver<Told>,
    pub(crate) ticks: Arc<Mutex<Vec<Instant>>>,
    cancel: CancellationToken,
    task: JoinSet<Result<(), TransportError>>,
}

/// How to run it.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) route: Option<RouteConfig>,
    pub(crate) tick_every: Option<Duration>,
    pub(crate) idle: bool,
    pub(crate) everyone: bool,
}

impl Run {
    pub(crate) fn start(device: Device, framing: Framing, options: Options) -> Self {
        let Opened { transport, sink, route, local_addr } =
            open(Config { device, framing, route: options.route, everyone: options.everyone }).unwrap();
        let (to, told) = channel(100_000);
        let (cancel, ticks) = (CancellationToken::new(), Arc::default());
        let ingress = Tell {
            to,
            ticks: Arc::clone(&ticks),
            tick_every: options.tick_every,
            next_tick: options.tick_every.map(|every| Instant::now() + every),
            idle: options.idle,
        };
        let mut task = JoinSet::new();
        task.spawn(transport.run(Box::new(ingress), cancel.clone()));
        Self { sink, addr: local_addr, route, told, ticks, cancel, task }
    }

    pub(crate) fn udp(framing: Framing, options: Options) -> Self {
        Self::start(any_udp(), framing, options)
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr.expect("a UDP transport")
    }

    pub(crate) async fn next(&mut self) -> Told {
        let told = tokio::time::timeout(DEADLINE, self.told.recv()).await;
        told.expect("told in time").expect("transport runs")
    }

    /// The bytes of the next frame.
    pub(crate) async fn frame(&mut self) -> Vec<u8> {
        match self.next().await {
            Told::Frame { bytes, .. } => bytes,
            other => panic!("no frame: {other:?}"),
        }
    }

    pub(crate) async fn stop(mut self) {
        self.cancel.cancel();
        let ended = tokio::time::timeout(DEADLINE, self.task.join_next()).await;
        ended.expect("stops soon").expect("one task").expect("no panic").expect("no error");
    }
}

pub(crate) fn any_udp() -> Device {
    Device::Udp(UdpBind::new("127.0.0.1:0".parse().unwrap()))
}

/// A socket of a peer, whose receive waits no longer than the deadline.
pub(crate) fn peer() -> UdpSocket {
    peer_at("127.0.0.1:0".parse().unwrap())
}

pub(crate) fn peer_at(addr: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind(addr).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket
}

pub(crate) fn local(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().unwrap()
}

/// The next datagram, off the runtime's threads.
pub(crate) async fn recv(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let socket = socket.try_clone().unwrap();
    let received = tokio::task::spawn_blocking(move || {
        let mut buf = vec![0; 70_000];
        let (n, from) = socket.recv_from(&mut buf).expect("a datagram in time");
        buf.truncate(n);
        (buf, from)
    });
    received.await.unwrap()
}

/// True when nothing waits in the socket.
pub(crate) fn is_empty(socket: &UdpSocket) -> bool {
    socket.set_nonblocking(true).unwrap();
    let empty = socket.peek_from(&mut [0; 1]).is_err();
    socket.set_nonblocking(false).unwrap();
    empty
}

/// Polls until `done` or the deadline.
pub(crate) async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// HEARTBEAT of a PX4 quadrotor.
pub(crate) fn heartbeat(sysid: u8, seq: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let from = rostrans_mavlink::Sender { seq, sysid, compid: 1 };
    rostrans_mavlink::write_v2(&mut out, from, 0, &[0, 0, 0, 0, 2, 12, 0, 4, 3], 50).unwrap();
    out
}

/// Bytes that differ for each number and are 20 to 300 long.
pub(crate) fn numbered(number: u32) -> Vec<u8> {
    let len = 20 + number % 281;
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend((0..len - 4).map(|i| (i ^ number.rotate_left(7)).to_le_bytes()[0]));
    bytes
}
