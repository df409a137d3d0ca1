//! Transports a test holds the other end of.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use rostrans_core::transport::{
    BoxFuture, ByteSink, DeviceState, Frame, Ingress, Malformed, Peer, SendError, Transport, TransportError,
};
use rostrans_engine::{
    topology::{Device, TransportSpec},
    transports::{Opened, TransportFactory},
};
use tokio::{
    sync::{Notify, mpsc},
    time::{self, Instant},
};
use tokio_util::sync::CancellationToken;

/// What a test feeds into a transport.
pub(crate) enum Input {
    /// Frames that arrive together.
    Frames(Vec<(Vec<u8>, Peer, Option<u32>)>),
    /// A frame that says which system wrote it.
    From(u8, Vec<u8>),
    /// Bytes the framer threw away.
    Malformed(Malformed),
    /// The device comes or goes.
    Device(bool),
    /// The transport fails.
    Fail,
    /// The transport has a bug.
    Panic,
}

/// Every device of a test, opened or not.
#[derive(Default)]
pub(crate) struct Devices {
    opened: Mutex<HashMap<Device, mpsc::Sender<Input>>>,
    opens: Notify,
    refusals: Mutex<HashMap<Device, u32>>,
    /// The write half that each device was last opened with; a port that is still held cannot be bound again.
    held: Mutex<HashMap<Device, Weak<Outlet>>>,
    pub(crate) wire: Arc<Wire>,
}

/// Frames sent by the rules: out of which device (`None` for a socket of the rule's own), to whom.
#[derive(Default)]
pub(crate) struct Wire {
    sent: Mutex<Vec<Sent>>,
    progress: Notify,
    down: Mutex<Option<SendError>>,
}

/// One frame on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) from: Option<Device>,
    pub(crate) to: Option<SocketAddr>,
    pub(crate) bytes: Vec<u8>,
}

impl Devices {
    /// Makes the next `times` attempts to open a device fail as if its port were taken.
    pub(crate) fn refuse(&self, device: &Device, times: u32) {
        self.refusals.lock().unwrap().insert(device.clone(), times);
    }

    /// Feeds a device, once it is open.
    pub(crate) async fn feed(&self, device: &Device, input: Input) {
        let open = async {
            loop {
                let opens = self.opens.notified();
                if let Some(sender) = self.opened.lock().unwrap().get(device).filter(|s| !s.is_closed()) {
                    return sender.clone();
                }
                opens.await;
            }
        };
        let sender = time::timeout(Duration::from_secs(600), open).await.expect("the device is opened");
        sender.send(input).await.expect("the transport reads");
    }

    /// Whether a transport reads the device.
    pub(crate) fn is_open(&self, device: &Device) -> bool {
        self.opened.lock().unwrap().get(device).is_some_and(|sender| !sender.is_closed())
    }

    /// Feeds one untagged frame from a UDP peer.
    pub(crate) async fn datagram(&self, device: &Device, bytes: &[u8], from: SocketAddr) {
        self.feed(device, Input::Frames(vec![(bytes.to_vec(), Peer::Udp(from), None)])).await;
    }
}

impl TransportFactory for Devices {
    fn open(&self, spec: &TransportSpec) -> Result<Opened, TransportError> {
        let device = spec.device.clone();
        let in_use = || {
            let addr = SocketAddr::from(([127, 0, 0, 1], 14_550));
            Err(TransportError::Bind { addr, source: std::io::ErrorKind::AddrInUse.into() })
        };
        if let Some(left) = self.refusals.lock().unwrap().get_mut(&device).filter(|left| **left > 0) {
            *left -= 1;
            return in_use();
        }
        let mut held = self.held.lock().unwrap();
        if held.get(&device).is_some_and(|sink| sink.strong_count() > 0) {
            return in_use();
        }
        let (sender, input) = mpsc::channel(64);
        self.opened.lock().unwrap().insert(device.clone(), sender);
        self.opens.notify_waiters();
        let serial = matches!(device, Device::Serial(_));
        let transport = Box::new(FakeTransport { input, serial });
        let sink = Outlet { from: Some(device.clone()), target: None, wire: Arc::clone(&self.wire) };
        let sink = Arc::new(sink);
        held.insert(device, Arc::downgrade(&sink));
        Ok(Opened { transport, sink, local_addr: None, route: None })
    }

    fn sender(&self, to: SocketAddr) -> Result<Arc<dyn ByteSink>, TransportError> {
        Ok(Arc::new(Outlet { from: None, target: Some(to), wire: Arc::clone(&self.wire) }))
    }
}

impl Wire {
    /// Everything sent so far.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// Waits until `count` frames were sent and returns them all.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Sent> {
        let enough = async {
            loop {
                let progress = self.progress.notified();
                if self.sent.lock().unwrap().len() >= count {
                    return;
                }
                progress.await;
            }
        };
        let in_time = time::timeout(Duration::from_secs(60), enough).await.is_ok();
        assert!(in_time, "wanted {count} frames, have {:?}", self.sent());
        self.sent()
    }

    /// Makes every send fail, or succeed again.
    pub(crate) fn refuse(&self, error: Option<SendError>) {
        *self.down.lock().unwrap() = error;
    }
}

struct Outlet {
    from: Option<Device>,
    target: Option<SocketAddr>,
    wire: Arc<Wire>,
}

impl ByteSink for Outlet {
    fn try_send(&self, frame: &[u8], to: Option<SocketAddr>) -> Result<(), SendError> {
        if let Some(error) = *self.wire.down.lock().unwrap() {
            return Err(error);
        }
        let sent = Sent { from: self.from.clone(), to: to.or(self.target), bytes: frame.to_vec() };
        self.wire.sent.lock().unwrap().push(sent);
        self.wire.progress.notify_waiters();
        Ok(())
    }
}

struct FakeTransport {
    input: mpsc::Receiver<Input>,
    /// A serial port is not there until the test says so.
    serial: bool,
}

impl Transport for FakeTransport {
    fn run(
        mut self: Box<Self>,
        mut ingress: Box<dyn Ingress>,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<(), TransportError>> {
        Box::pin(async move {
            if !self.serial {
                ingress.device(DeviceState::Up);
            }
            loop {
                let tick = ingress.next_tick().unwrap_or_else(|| (Instant::now() + DAY).into_std());
                let input = tokio::select! {
                    () = cancel.cancelled() => return Ok(()),
                    input = self.input.recv() => input,
                    () = time::sleep_until(tick.into()) => {
                        ingress.tick(Instant::now().into_std());
                        continue;
                    }
                };
                match input {
                    Some(Input::Frames(frames)) => {
                        for (bytes, peer, tag) in &frames {
                            let received = Instant::now().into_std();
                            ingress.frame(&Frame { bytes, peer: *peer, received, tag: *tag, sender: None });
                        }
                        ingress.batch_end();
                    }
                    Some(Input::From(system, bytes)) => {
                        let (received, sender) = (Instant::now().into_std(), Some(system));
                        let peer = Peer::Serial;
                        ingress.frame(&Frame { bytes: &bytes, peer, received, tag: None, sender });
                        ingress.batch_end();
                    }
                    Some(Input::Malformed(malformed)) => ingress.malformed(malformed),
                    Some(Input::Device(true)) => ingress.device(DeviceState::Up),
                    Some(Input::Device(false)) => ingress.device(DeviceState::Down("unplugged")),
                    Some(Input::Fail) => {
                        let source = std::io::ErrorKind::BrokenPipe.into();
                        return Err(TransportError::Io { device: "fake".into(), source });
                    }
                    Some(Input::Panic) => panic!("at the socket"),
                    None => std::future::pending().await,
                }
            }
        })
    }
}

const DAY: Duration = Duration::from_secs(86_400);
