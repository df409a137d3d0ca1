use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rostrans_core::{
    rule::SerialSpec,
    transport::{Framing, Peer, SendError},
};
use rostrans_test_pty::FarEnd;
use rostrans_transport::Device;
use rustix::termios::{ControlModes, tcgetattr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::*;

/// A pseudo terminal under a name of its own, like a USB adapter under `/dev/serial/by-id`.
pub(crate) struct Plug {
    link: PathBuf,
    _dir: Dir,
}

struct Dir(PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Plug {
    pub(crate) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rostrans-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self { link: dir.join("tty"), _dir: Dir(dir) }
    }

    pub(crate) fn device(&self) -> Device {
        Device::Serial(SerialSpec::new(self.link.to_str().unwrap(), 921_600))
    }

    /// Plugs in a device and returns its far end.
    pub(crate) fn insert(&self) -> FarEnd {
        let (far_end, tty) = rostrans_test_pty::open().unwrap();
        let fresh = self.link.with_extension("new");
        symlink(Path::new(&tty), &fresh).unwrap();
        std::fs::rename(&fresh, &self.link).unwrap();
        far_end
    }

    pub(crate) fn remove(&self, far_end: FarEnd) {
        std::fs::remove_file(&self.link).unwrap();
        drop(far_end);
    }
}

pub(crate) async fn read_exactly(far_end: &mut FarEnd, len: usize) -> Vec<u8> {
    let mut buf = vec![0; len];
    tokio::time::timeout(DEADLINE, far_end.read_exact(&mut buf)).await.expect("bytes in time").unwrap();
    buf
}

#[tokio::test]
async fn frames_come_out_of_a_stream_and_go_in_raw() {
    let plug = Plug::new("raw");
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let (one, two) = (heartbeat(1, 1), heartbeat(1, 2));
    let bytes = [&one[..], &two[..5]].concat();
    far.write_all(&bytes).await.unwrap();
    assert_eq!(run.next().await, Told::Frame { bytes: one, peer: Peer::Serial, tag: Some(0) });
    far.write_all(&two[5..]).await.unwrap();
    assert_eq!(run.frame().await, two);
    // Bytes that a terminal in line mode would change or act upon.
    let raw: Vec<u8> = (0..=255).collect();
    run.sink.try_send(&raw, None).unwrap();
    assert_eq!(read_exactly(&mut far, 256).await, raw);
    run.stop().await;
}

#[tokio::test]
async fn without_mavlink_a_read_is_a_frame() {
    let plug = Plug::new("datagram");
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Datagram, Options::default());
    assert_eq!(run.next().await, Told::Up);
    far.write_all(b"$GPGGA\r\n").await.unwrap();
    assert_eq!(run.frame().await, b"$GPGGA\r\n");
    run.stop().await;
}

#[tokio::test]
async fn missing_device_is_waited_for() {
    let plug = Plug::new("missing");
    let mut run = Run::start(plug.device(), Framing::Mavlink, Options::default());
    let Told::Down(reason) = run.next().await else { panic!("not missing") };
    assert!(reason.contains("no such device; plug it in"), "{reason}");
    assert_eq!(run.sink.try_send(b"x", None), Err(SendError::Down));
    let mut far = plug.insert();
    assert_eq!(run.next().await, Told::Up);
    far.write_all(&heartbeat(1, 1)).await.unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 1));
    run.stop().await;
}

#[tokio::test]
async fn port_of_another_program_is_waited_for() {
    let plug = Plug::new("busy");
    let mut far = plug.insert();
    let mut first = Run::start(plug.device(), Framing::Mavlink, Options::default());
    assert_eq!(first.next().await, Told::Up);
    let mut second = Run::start(plug.device(), Framing::Mavlink, Options::default());
    let Told::Down(reason) = second.next().await else { panic!("opened twice") };
    assert!(reason.contains("in use by another program; close it"), "{reason}");
    first.stop().await;
    assert_eq!(second.next().await, Told::Up);
    far.write_all(&heartbeat(1, 1)).await.unwrap();
    assert_eq!(second.frame().await, heartbeat(1, 1));
    second.stop().await;
}

#[tokio::test]
async fn device_is_lost_and_found_again_and_old_bytes_are_not_sent() {
    let plug = Plug::new("replug");
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    far.write_all(&heartbeat(1, 1)[..9]).await.unwrap();
    plug.remove(far);
    let Told::Down(_) = run.next().await else { panic!("not lost") };
    assert_eq!(run.sink.try_send(b"stale", None), Err(SendError::Down));
    let mut far = plug.insert();
    // The reason changes to "no such device" when an attempt comes between.
    while run.next().await != Told::Up {}
    far.write_all(&heartbeat(1, 2)).await.unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 2), "half a frame of before does not hide it");
    run.sink.try_send(b"fresh", None).unwrap();
    assert_eq!(read_exactly(&mut far, 5).await, b"fresh");
    run.stop().await;
}

#[tokio::test]
async fn frames_of_many_senders_never_interleave() {
    let plug = Plug::new("writers");
    let mut far = plug.insert();
    let mut run = Run::start(plug.device(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let threads: Vec<_> = (1..=4_u8)
        .map(|sysid| {
            let sink = std::sync::Arc::clone(&run.sink);
            tokio::task::spawn_blocking(move || {
                for seq in 0..200 {
                    while sink.try_send(&heartbeat(sysid, seq), None) == Err(SendError::Full) {
                        std::thread::yield_now();
                    }
                }
            })
        })
        .collect();
    let bytes = read_exactly(&mut far, 4 * 200 * heartbeat(1, 1).len()).await;
    let events: Vec<_> = rostrans_mavlink::frames(&bytes).collect();
    assert_eq!(events.len(), 800);
    assert!(events.iter().all(|e| matches!(e, rostrans_mavlink::Event::Packet(_))));
    for thread in threads {
        thread.await.unwrap();
    }
    run.stop().await;
}

#[tokio::test]
async fn ticks_go_on_while_the_device_is_away() {
    let plug = Plug::new("ticks");
    let tick_every = Some(std::time::Duration::from_millis(2));
    let run = Run::start(plug.device(), Framing::Mavlink, Options { tick_every, ..Options::default() });
    until("ticks", || run.ticks.lock().unwrap().len() >= 3).await;
    run.stop().await;
}

#[tokio::test]
async fn hardware_flow_control_is_asked_of_the_port() {
    let plug = Plug::new("hwfc");
    let mut far = plug.insert();
    let Device::Serial(spec) = plug.device() else { panic!("no serial port") };
    let device = Device::Serial(SerialSpec { flow_control: true, ..spec });
    let mut run = Run::start(device, Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let modes = tcgetattr(far.reader()).unwrap().control_modes;
    assert!(modes.contains(ControlModes::CRTSCTS), "{modes:?}");
    far.write_all(&heartbeat(1, 1)).await.unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 1));
    run.sink.try_send(b"back", None).unwrap();
    assert_eq!(read_exactly(&mut far, 4).await, b"back");
    run.stop().await;
}
