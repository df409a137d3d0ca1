//! `recvmmsg`, `sendmmsg` and `poll`.
#![expect(unsafe_code, reason = "the only place of this crate's socket path that calls the kernel directly")]

use std::{
    fmt, io, mem,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket},
    os::fd::AsRawFd,
    ptr,
    time::Duration,
};

/// Datagrams handed to the kernel per system call.
const SEND_CHUNK: usize = 32;

/// One datagram to send, gathered from two slices.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    head: &'a [u8],
    body: &'a [u8],
    to: Option<SocketAddr>,
}

impl<'a> Datagram<'a> {
    /// A datagram from one slice. `to` is `None` on a connected socket.
    pub fn new(bytes: &'a [u8], to: Option<SocketAddr>) -> Self {
        Self { head: bytes, body: &[], to }
    }

    /// A datagram from a header and a payload, without joining them.
    pub fn gather(head: &'a [u8], body: &'a [u8], to: Option<SocketAddr>) -> Self {
        Self { head, body, to }
    }
}

/// Sends datagrams in order; returns how many the kernel took.
///
/// **Errors**: the first datagram was refused (`WouldBlock` when the send buffer is full). When a later one is
/// refused, the count so far is returned and the caller sees the error on its next call.
pub fn send_batch(socket: &UdpSocket, datagrams: &[Datagram<'_>]) -> io::Result<usize> {
    let mut sent = 0;
    for chunk in datagrams.chunks(SEND_CHUNK) {
        match send_chunk(socket, chunk) {
            Ok(n) => {
                sent += n;
                if n < chunk.len() {
                    break;
                }
            }
            Err(error) if sent == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(sent)
}

fn send_chunk(socket: &UdpSocket, chunk: &[Datagram<'_>]) -> io::Result<usize> {
    let mut names = [RawAddr::EMPTY; SEND_CHUNK];
    let mut parts = [[EMPTY_IOVEC; 2]; SEND_CHUNK];
    let mut headers = [EMPTY_HEADER; SEND_CHUNK];
    for (((datagram, name), part), header) in chunk.iter().zip(&mut names).zip(&mut parts).zip(&mut headers) {
        *part = [iovec(datagram.head), iovec(datagram.body)];
        header.msg_hdr.msg_iov = part.as_mut_ptr();
        header.msg_hdr.msg_iovlen = if datagram.body.is_empty() { 1 } else { 2 };
        if let Some(to) = datagram.to {
            let len = name.set(to);
            header.msg_hdr.msg_name = ptr::from_mut(name).cast();
            header.msg_hdr.msg_namelen = len;
        }
    }
    let count = u32::try_from(chunk.len().min(SEND_CHUNK)).unwrap_or(0);
    // SAFETY: the first `count` headers point into `names` and `parts`, which live until the call returns; each
    // iovec covers a live slice that the kernel only reads.
    let n = unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_NOSIGNAL) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// One received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its sender.
    pub from: SocketAddr,
    /// True when it was longer than the slot and its tail is lost.
    pub truncated: bool,
}

/// Buffers for receiving many datagrams per system call; made once, used for ever.
pub struct RecvBatch {
    buf: Box<[u8]>,
    slot_len: usize,
    names: Box<[RawAddr]>,
    parts: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
    filled: usize,
}

// SAFETY: the raw pointers in `parts` and `headers` point only into boxes owned by the same value, whose heap
// addresses do not change when it moves, and are rebuilt before each call.
unsafe impl Send for RecvBatch {}

impl RecvBatch {
    /// `slots` datagrams of at most `slot_len` bytes each.
    pub fn new(slots: usize, slot_len: usize) -> Self {
        Self {
            buf: vec![0; slots * slot_len].into(),
            slot_len,
            names: vec![RawAddr::EMPTY; slots].into(),
            parts: vec![EMPTY_IOVEC; slots].into(),
            headers: vec![EMPTY_HEADER; slots].into(),
            filled: 0,
        }
    }

    /// Takes what the socket holds, without waiting; returns the number of datagrams.
    ///
    /// **Errors**: `WouldBlock` when there is none; on Linux also a pending ICMP error such as `ConnectionRefused`.
    pub fn recv(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.filled = 0;
        let slots = self.buf.chunks_exact_mut(self.slot_len.max(1));
        for (((slot, name), part), header) in
            slots.zip(&mut self.names).zip(&mut self.parts).zip(&mut self.headers)
        {
            *part = libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot.len() };
            header.msg_len = 0;
            header.msg_hdr.msg_name = ptr::from_mut(name).cast();
            header.msg_hdr.msg_namelen = RawAddr::LEN;
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_flags = 0;
        }
        let count = u32::try_from(self.headers.len()).unwrap_or(u32::MAX);
        // SAFETY: `count` headers are valid and point into this value's own boxes, which the kernel may write;
        // no timeout is given.
        let n = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        self.filled = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
        Ok(self.filled)
    }

    /// The datagrams of the last [`RecvBatch::recv`], in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Received<'_>> {
        let slots = self.buf.chunks_exact(self.slot_len.max(1));
        self.headers.iter().zip(&self.names).zip(slots).take(self.filled).map(|((header, name), slot)| {
            let len = usize::try_from(header.msg_len).unwrap_or(0).min(slot.len());
            Received {
                bytes: slot.get(..len).unwrap_or_default(),
                from: name.get(),
                truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            }
        })
    }

    /// How many datagrams one call can take.
    pub fn slots(&self) -> usize {
        self.headers.len()
    }
}

impl fmt::Debug for RecvBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvBatch")
            .field("slots", &self.slots())
            .field("slot_len", &self.slot_len)
            .field("filled", &self.filled)
            .finish_non_exhaustive()
    }
}

pub(crate) fn poll(fds: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<bool> {
    let ms = timeout.map_or(-1, |t| {
        // Rounded up: a wait that ends a fraction early would spin.
        libc::c_int::try_from(t.as_micros().div_ceil(1000)).unwrap_or(libc::c_int::MAX)
    });
    let count = libc::nfds_t::try_from(fds.len()).unwrap_or(0);
    // SAFETY: `count` entries of `fds` are valid for reading and writing during the call.
    let n = unsafe { libc::poll(fds.as_mut_ptr(), count, ms) };
    if n >= 0 {
        return Ok(n > 0);
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) }
}

/// Asks for a receive buffer beyond the system's limit, which needs `CAP_NET_ADMIN`; false when that is missing.
pub(crate) fn force_recv_buffer(socket: &impl AsRawFd, bytes: usize) -> bool {
    let Ok(bytes) = libc::c_int::try_from(bytes) else { return false };
    // SAFETY: the option's value is a live integer of the length given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            ptr::from_ref(&bytes).cast(),
            C_INT_LEN,
        )
    };
    result == 0
}

/// A socket address in the kernel's form, large enough for IPv4 and IPv6.
#[derive(Clone, Copy)]
#[repr(C)]
union RawAddr {
    family: libc::sa_family_t,
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl RawAddr {
    const EMPTY: Self = Self {
        // SAFETY: all-zero bytes are a valid sockaddr_in6 (plain integers).
        v6: unsafe { mem::zeroed() },
    };

    #[expect(clippy::cast_possible_truncation, reason = "the size of this union is 28 bytes")]
    const LEN: libc::socklen_t = size_of::<Self>() as libc::socklen_t;

    fn set(&mut self, addr: SocketAddr) -> libc::socklen_t {
        match addr {
            SocketAddr::V4(addr) => {
                self.v4 = libc::sockaddr_in {
                    sin_family: AF_INET,
                    sin_port: addr.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(addr.ip().octets()) },
                    sin_zero: [0; 8],
                };
                SOCKADDR_IN_LEN
            }
            SocketAddr::V6(addr) => {
                self.v6 = libc::sockaddr_in6 {
                    sin6_family: AF_INET6,
                    sin6_port: addr.port().to_be(),
                    sin6_flowinfo: addr.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: addr.ip().octets() },
                    sin6_scope_id: addr.scope_id(),
                };
                Self::LEN
            }
        }
    }

    fn get(&self) -> SocketAddr {
        // SAFETY: every bit pattern is valid for these integer-only structures, and the union is always fully
        // initialised (it starts as zeros and is only overwritten by whole variants or by the kernel).
        let (family, v4, v6) = unsafe { (self.family, self.v4, self.v6) };
        if family == AF_INET6 {
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            SocketAddr::V6(SocketAddrV6::new(
                ip,
                u16::from_be(v6.sin6_port),
                v6.sin6_flowinfo,
                v6.sin6_scope_id,
            ))
        } else {
            let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            SocketAddr::V4(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an integer has a few bytes")]
const C_INT_LEN: libc::socklen_t = size_of::<libc::c_int>() as libc::socklen_t;
#[expect(clippy::cast_possible_truncation, reason = "address families are small numbers")]
const AF_INET: libc::sa_family_t = libc::AF_INET as libc::sa_family_t;
#[expect(clippy::cast_possible_truncation, reason = "address families are small numbers")]
const AF_INET6: libc::sa_family_t = libc::AF_INET6 as libc::sa_family_t;
#[expect(clippy::cast_possible_truncation, reason = "the structure is 16 bytes")]
const SOCKADDR_IN_LEN: libc::socklen_t = size_of::<libc::sockaddr_in>() as libc::socklen_t;

const EMPTY_IOVEC: libc::iovec = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
const EMPTY_HEADER: libc::mmsghdr = libc::mmsghdr {
    // SAFETY: an all-zero msghdr is valid: null pointers with zero lengths.
    msg_hdr: unsafe { mem::zeroed() },
    msg_len: 0,
};

fn iovec(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BindOptions, bind, wait_readable};

    fn pair(addr: &str) -> (UdpSocket, UdpSocket) {
        let open = || bind(addr.parse().unwrap(), &BindOptions::default()).unwrap().0;
        (open(), open())
    }

    fn exchange(addr: &str) {
        let (a, b) = pair(addr);
        let to = Some(b.local_addr().unwrap());
        let payload = vec![7; 60_000];
        let mut datagrams: Vec<_> = (0..70).map(|_| Datagram::gather(b"head", b"body", to)).collect();
        datagrams.push(Datagram::gather(b"big", &payload, to));
        datagrams.push(Datagram::new(b"", to));
        assert_eq!(send_batch(&a, &datagrams).unwrap(), 72);
        let mut batch = RecvBatch::new(16, 65_536);
        let mut seen = Vec::new();
        while seen.len() < 72 {
            assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap(), "datagrams missing");
            batch.recv(&b).unwrap();
            for d in batch.iter() {
                assert_eq!(d.from, a.local_addr().unwrap());
                assert!(!d.truncated);
                seen.push(d.bytes.to_vec());
            }
        }
        assert!(seen[..70].iter().all(|d| d == b"headbody"));
        assert_eq!(seen[70].len(), 60_003);
        assert!(seen[71].is_empty());
    }

    #[test]
    fn batches_arrive_in_order_over_ipv4() {
        exchange("127.0.0.1:0");
    }

    #[test]
    fn batches_arrive_in_order_over_ipv6() {
        if bind("[::1]:0".parse().unwrap(), &BindOptions::default()).is_ok() {
            exchange("[::1]:0");
        }
    }

    #[test]
    fn a_datagram_longer_than_its_slot_is_marked() {
        let (a, b) = pair("127.0.0.1:0");
        send_batch(&a, &[Datagram::new(&[1; 100], b.local_addr().ok())]).unwrap();
        assert!(wait_readable(&[&b], Some(Duration::from_secs(5))).unwrap());
        let mut batch = RecvBatch::new(2, 64);
        batch.recv(&b).unwrap();
        let got = batch.iter().next().unwrap();
        assert!(got.truncated);
        assert_eq!(got.bytes.len(), 64);
    }

    #[test]
    fn an_empty_socket_would_block() {
        let (a, _) = pair("127.0.0.1:0");
        let error = RecvBatch::new(2, 64).recv(&a).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(!wait_readable(&[&a], Some(Duration::ZERO)).unwrap());
    }
}
