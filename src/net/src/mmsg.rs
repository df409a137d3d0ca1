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

/// Bytes of a datagram received beside its neighbours': what an Ethernet frame carries. An odd number of cache lines,
/// so that the starts of all datagrams do not compete for the same few sets of the first-level cache.
const HEAD: usize = 25 * 64;

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

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Where it goes.
    pub(crate) fn to(&self) -> Option<SocketAddr> {
        self.to
    }

    /// What it is gathered from.
    pub(crate) fn parts(&self) -> [&'a [u8]; 2] {
        [self.head, self.body]
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
///
/// The first bytes of all datagrams lie close together, and only what is longer reaches its own large slot. With slots
/// of 64 KiB, each small datagram of a batch would touch a page of its own: routing to three receivers costs 2 % more.
pub struct RecvBatch {
    /// The first [`HEAD`] bytes of each datagram, side by side.
    heads: Box<[u8]>,
    /// A slot for each datagram. A longer one is put together here: its head is copied in front of its tail.
    buf: Box<[u8]>,
    slot_len: usize,
    names: Box<[RawAddr]>,
    parts: Box<[[libc::iovec; 2]]>,
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
            heads: vec![0; slots * HEAD].into(),
            buf: vec![0; slots * slot_len].into(),
            slot_len,
            names: vec![RawAddr::EMPTY; slots].into(),
            parts: vec![[EMPTY_IOVEC; 2]; slots].into(),
            headers: vec![EMPTY_HEADER; slots].into(),
            filled: 0,
        }
    }

    /// Takes what the socket holds, without waiting; returns the number of datagrams.
    ///
    /// **Errors**: `WouldBlock` when there is none; on Linux also a pending ICMP error such as `ConnectionRefused`.
    pub fn recv(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.recv_some(socket, usize::MAX)
    }

    /// [`RecvBatch::recv`] of at most `max` datagrams. Fewer big ones stay in the processor's cache until they are used.
    ///
    /// **Errors**: as for `recv`.
    pub fn recv_some(&mut self, socket: &UdpSocket, max: usize) -> io::Result<usize> {
        self.filled = 0;
        let head_len = HEAD.min(self.slot_len);
        let heads = self.heads.chunks_exact_mut(HEAD);
        let slots = self.buf.chunks_exact_mut(self.slot_len.max(1));
        let buffers = heads.zip(slots).zip(&mut self.parts).take(max);
        for (((head, slot), parts), (name, header)) in
            buffers.zip(self.names.iter_mut().zip(&mut self.headers))
        {
            let tail = slot.get_mut(head_len..).unwrap_or_default();
            *parts = [
                libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: head_len },
                libc::iovec { iov_base: tail.as_mut_ptr().cast(), iov_len: tail.len() },
            ];
            header.msg_len = 0;
            header.msg_hdr.msg_name = ptr::from_mut(name).cast();
            header.msg_hdr.msg_namelen = RawAddr::LEN;
            header.msg_hdr.msg_iov = parts.as_mut_ptr();
            header.msg_hdr.msg_iovlen = if tail.is_empty() { 1 } else { 2 };
            header.msg_hdr.msg_flags = 0;
        }
        let count = u32::try_from(self.headers.len().min(max)).unwrap_or(u32::MAX);
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
        self.join_long();
        Ok(self.filled)
    }

    /// Puts the heads of datagrams longer than a head in front of their tails.
    fn join_long(&mut self) {
        let heads = self.heads.chunks_exact(HEAD);
        let slots = self.buf.chunks_exact_mut(self.slot_len.max(1));
        for ((header, head), slot) in self.headers.iter().zip(heads).zip(slots).take(self.filled) {
            if usize::try_from(header.msg_len).unwrap_or(0) > HEAD
                && let Some(front) = slot.get_mut(..HEAD)
            {
                front.copy_from_slice(head);
            }
        }
    }

    /// The datagrams of the last [`RecvBatch::recv`], in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Received<'_>> {
        let heads = self.heads.chunks_exact(HEAD);
        let slots = self.buf.chunks_exact(self.slot_len.max(1));
        let places = heads.zip(slots).zip(&self.names);
        self.headers.iter().zip(places).take(self.filled).map(|(header, ((head, slot), name))| {
            let len = usize::try_from(header.msg_len).unwrap_or(0).min(slot.len());
            let place = if len > HEAD { slot } else { head };
            Received {
                bytes: place.get(..len).unwrap_or_default(),
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
pub(crate) union RawAddr {
    family: libc::sa_family_t,
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
}

impl RawAddr {
    pub(crate) const EMPTY: Self = Self {
        // SAFETY: all-zero bytes are a valid sockaddr_in6 (plain integers).
        v6: unsafe { mem::zeroed() },
    };

    #[expect(clippy::cast_possible_truncation, reason = "the size of this union is 28 bytes")]
    const LEN: libc::socklen_t = size_of::<Self>() as libc::socklen_t;

    pub(crate) fn set(&mut self, addr: SocketAddr) -> libc::socklen_t {
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

pub(crate) const EMPTY_IOVEC: libc::iovec = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
const EMPTY_HEADER: libc::mmsghdr = libc::mmsghdr {
    // SAFETY: an all-zero msghdr is valid: null pointers with zero lengths.
    msg_hdr: unsafe { mem::zeroed() },
    msg_len: 0,
};

pub(crate) fn iovec(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}
