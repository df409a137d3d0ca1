use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
};

use rostrans_core::{
    rule::{Host, TcpSpec},
    transport::{Framing, Peer, SendError, TransportError},
};
use rostrans_transport::{Config, Device, open};

use crate::harness::*;

fn server() -> Device {
    Device::Tcp(TcpSpec::Listen("127.0.0.1:0".parse().unwrap()))
}

fn client(of: SocketAddr) -> Device {
    Device::Tcp(TcpSpec::Connect(Host { name: "localhost".into(), port: of.port() }))
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Reads exactly so many bytes, off the runtime's threads.
async fn read(stream: &TcpStream, len: usize) -> Vec<u8> {
    let mut stream = stream.try_clone().unwrap();
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; len];
        stream.read_exact(&mut bytes).expect("bytes in time");
        bytes
    });
    read.await.unwrap()
}

async fn accept(listener: &TcpListener) -> TcpStream {
    let listener = listener.try_clone().unwrap();
    let (stream, _) = tokio::task::spawn_blocking(move || listener.accept()).await.unwrap().unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

#[tokio::test]
async fn clients_of_a_server_are_framed_apart_and_all_hear_it() {
    let mut run = Run::start(server(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    assert_eq!(run.sink.try_send(b"early", None), Err(SendError::NoTarget));
    let (mut a, mut b) = (connect(run.addr()), connect(run.addr()));
    let (one, two) = (heartbeat(1, 1), heartbeat(2, 2));
    // Halves of two clients' frames must not become one frame.
    a.write_all(&one[..9]).unwrap();
    b.write_all(&two).unwrap();
    let peer = Peer::Tcp(b.local_addr().unwrap());
    assert_eq!(run.next().await, Told::Frame { bytes: two, peer, tag: Some(0) });
    a.write_all(&one[9..]).unwrap();
    assert_eq!(run.frame().await, one);
    run.sink.try_send(b"for all", None).unwrap();
    run.sink.try_send(b"for b", Some(b.local_addr().unwrap())).unwrap();
    assert_eq!(read(&a, 7).await, b"for all");
    assert_eq!(read(&b, 12).await, b"for allfor b");
    assert_eq!(run.sink.try_send(b"x", Some("127.0.0.1:1".parse().unwrap())), Err(SendError::Down));
    run.stop().await;
}

#[tokio::test]
async fn client_that_does_not_read_costs_the_others_nothing() {
    let mut run = Run::start(server(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let mut deaf = connect(run.addr());
    let mut reader = connect(run.addr());
    for (stream, sysid) in [(&mut deaf, 1), (&mut reader, 2)] {
        stream.write_all(&heartbeat(sysid, 0)).unwrap();
        run.frame().await;
    }
    let deaf_addr = Some(deaf.local_addr().unwrap());
    let frame = vec![0x55; 1000];
    let (mut sent, mut refused) = (0, 0);
    while refused < 100 {
        run.sink.try_send(&frame, None).unwrap();
        sent += 1;
        assert_eq!(read(&reader, frame.len()).await, frame);
        refused += u32::from(run.sink.try_send(&frame, deaf_addr) == Err(SendError::Full));
        assert!(sent < 100_000, "the deaf client's queue never fills");
    }
    reader.write_all(&heartbeat(2, 1)).unwrap();
    assert_eq!(run.frame().await, heartbeat(2, 1));
    run.stop().await;
}

#[tokio::test]
async fn client_that_leaves_is_forgotten_and_may_come_back() {
    let mut run = Run::start(server(), Framing::Mavlink, Options::default());
    assert_eq!(run.next().await, Told::Up);
    let mut first = connect(run.addr());
    first.write_all(&heartbeat(1, 1)).unwrap();
    run.frame().await;
    drop(first);
    until("forgotten", || run.sink.try_send(b"x", None) == Err(SendError::NoTarget)).await;
    let mut second = connect(run.addr());
    second.write_all(&heartbeat(1, 2)).unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 2));
    run.stop().await;
}

#[tokio::test]
async fn port_in_use_is_an_error_worth_another_try() {
    let run = Run::start(server(), Framing::Mavlink, Options::default());
    let device = Device::Tcp(TcpSpec::Listen(run.addr()));
    let config = Config { device, framing: Framing::Mavlink, route: None, everyone: false };
    let Err(TransportError::Listen { addr, source }) = open(config) else { panic!("bound twice") };
    assert_eq!((addr, source.kind()), (run.addr(), std::io::ErrorKind::AddrInUse));
    run.stop().await;
}

#[tokio::test]
async fn server_is_waited_for_lost_and_found_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let mut run = Run::start(client(addr), Framing::Mavlink, Options::default());
    let Told::Down(reason) = run.next().await else { panic!("connected to nobody") };
    assert!(reason.contains("connection refused; start the server"), "{reason}");
    assert_eq!(run.sink.try_send(b"x", None), Err(SendError::Down));
    let listener = TcpListener::bind(addr).unwrap();
    let mut far = accept(&listener).await;
    assert_eq!(run.next().await, Told::Up);
    far.write_all(&heartbeat(1, 1)).unwrap();
    assert_eq!(run.next().await, Told::Frame { bytes: heartbeat(1, 1), peer: Peer::Tcp(addr), tag: Some(0) });
    run.sink.try_send(b"hello", None).unwrap();
    assert_eq!(read(&far, 5).await, b"hello");
    far.write_all(&heartbeat(1, 2)[..9]).unwrap();
    drop(far);
    let Told::Down(_) = run.next().await else { panic!("not lost") };
    let mut far = accept(&listener).await;
    while run.next().await != Told::Up {}
    far.write_all(&heartbeat(1, 3)).unwrap();
    assert_eq!(run.frame().await, heartbeat(1, 3), "half a frame of before does not hide it");
    run.stop().await;
}

#[tokio::test]
async fn ticks_go_on_with_and_without_clients() {
    let tick_every = Some(std::time::Duration::from_millis(2));
    let run = Run::start(server(), Framing::Mavlink, Options { tick_every, ..Options::default() });
    until("ticks", || run.ticks.lock().unwrap().len() >= 3).await;
    let _client = connect(run.addr());
    let before = run.ticks.lock().unwrap().len();
    until("more ticks", || run.ticks.lock().unwrap().len() >= before + 3).await;
    run.stop().await;
}
