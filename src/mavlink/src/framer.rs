//! Cutting bytes into packets.
//!
//! A marker byte (`FE`, `FD`) may also be data, so a candidate frame counts only when its checksum is right. After a
//! wrong one the search goes on at the very next byte: a good frame that starts inside a broken one is not lost.
//!
//! Frames of unknown messages cannot be checked. They are taken while the bytes are **in step**, that is when the frame
//! follows a good one directly or opens the stream; after garbage, only a checked frame brings the stream back in
//! step. Otherwise a stray marker byte would swallow up to 280 bytes of good frames.

use crate::{MAX_FRAME, Packet, STX_V1, STX_V2, packet::Prefix};

/// What the next bytes were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A frame; its checksum is right or its message unknown.
    Packet(Packet<'a>),
    /// Bytes that are no frame.
    Fault(Fault),
}

/// Bytes that could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// So many bytes belonged to no frame.
    Skipped(usize),
    /// A frame in step with a wrong checksum; its bytes are not counted as skipped.
    Checksum {
        /// Its message id, if that is not what broke.
        msgid: u32,
    },
    /// A frame that its datagram cuts short; its bytes are not counted as skipped.
    Truncated {
        /// Bytes the header announced, as far as there was one.
        need: usize,
        /// Bytes there were.
        have: usize,
    },
}

/// The packets of one datagram, which may hold several. Nothing is carried over to the next datagram.
pub fn frames(datagram: &[u8]) -> Frames<'_> {
    Frames { bytes: datagram, at: 0, scan: Scan::default() }
}

/// See [`frames`].
#[derive(Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    scan: Scan,
}

impl<'a> Iterator for Frames<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        self.scan.next(self.bytes, &mut self.at, true)
    }
}

/// The packets of a byte stream.
///
/// Read into [`Stream::spare`], tell [`Stream::filled`], then take events until there are none:
///
/// ```
/// # let (mut stream, mut port) = (rostrans_mavlink::Stream::new(), &b"\xFE\x09"[..]);
/// let n = std::io::Read::read(&mut port, stream.spare())?;
/// stream.filled(n);
/// while let Some(event) = stream.next() {
///     println!("{event:?}");
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Packets are views of the buffer, which never grows. How the bytes are cut into reads does not matter.
#[derive(Debug)]
pub struct Stream {
    buf: Box<[u8]>,
    /// First byte that is not used up.
    at: usize,
    /// End of the bytes read.
    end: usize,
    scan: Scan,
}

impl Stream {
    /// An empty stream, in step.
    pub fn new() -> Self {
        Self { buf: vec![0; CAPACITY].into(), at: 0, end: 0, scan: Scan::default() }
    }

    /// Where to read to; at least 4 KiB when all events were taken, never empty then.
    ///
    /// Moves an unfinished frame to the front of the buffer, so call it once for each read.
    pub fn spare(&mut self) -> &mut [u8] {
        self.buf.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        self.buf.get_mut(self.end..).unwrap_or_default()
    }

    /// Tells that `n` bytes were read into [`Stream::spare`].
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buf.len());
    }

    /// Copies as much of `bytes` as fits and returns how much that was.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let n = self.spare().iter_mut().zip(bytes).map(|(to, &from)| *to = from).count();
        self.filled(n);
        n
    }

    /// The next packet or fault among the bytes read so far.
    #[expect(
        clippy::should_implement_trait,
        reason = "the event borrows the buffer, which an Iterator cannot express"
    )]
    pub fn next(&mut self) -> Option<Event<'_>> {
        self.scan.next(self.buf.get(..self.end).unwrap_or_default(), &mut self.at, false)
    }

    /// All bytes read so far, in order, cut before and behind each frame. Nothing is left out or changed.
    ///
    /// An unfinished frame waits for its rest; see [`Stream::unfinished`].
    pub fn pieces(&mut self) -> Pieces<'_> {
        let bytes = self.buf.get(..self.end).unwrap_or_default();
        Pieces { bytes, at: &mut self.at, scan: &mut self.scan, packet: None }
    }

    /// The start of a frame whose rest is awaited.
    pub fn unfinished(&self) -> &[u8] {
        self.buf.get(self.at..self.end).unwrap_or_default()
    }

    /// Forgets an unfinished frame, as when the port was lost; returns how many bytes that were.
    pub fn reset(&mut self) -> usize {
        let lost = self.end - self.at;
        (self.at, self.end, self.scan) = (0, 0, Scan::default());
        lost
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

/// A run of bytes: one frame, or bytes that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The frame they are.
    pub packet: Option<Packet<'a>>,
}

/// See [`Stream::pieces`].
#[derive(Debug)]
pub struct Pieces<'a> {
    bytes: &'a [u8],
    at: &'a mut usize,
    scan: &'a mut Scan,
    /// A frame found behind bytes that came first.
    packet: Option<Packet<'a>>,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if let Some(packet) = self.packet.take() {
            return Some(Piece { bytes: packet.bytes, packet: Some(packet) });
        }
        let from = *self.at;
        let mut packet = None;
        while let Some(event) = self.scan.next(self.bytes, self.at, false) {
            if let Event::Packet(found) = event {
                packet = Some(found);
                break;
            }
        }
        let end = *self.at - packet.map_or(0, |p| p.bytes.len());
        let skipped = self.bytes.get(from..end).unwrap_or_default();
        if skipped.is_empty() {
            return packet.map(|p| Piece { bytes: p.bytes, packet: Some(p) });
        }
        self.packet = packet;
        Some(Piece { bytes: skipped, packet: None })
    }
}

/// One read of 4 KiB behind an unfinished frame.
const CAPACITY: usize = 4096 + MAX_FRAME;

/// The search for frames; knows no buffer.
#[derive(Debug, Default)]
struct Scan {
    /// Garbage was seen since the last good frame.
    astray: bool,
    /// Bytes skipped and not yet reported.
    skipped: usize,
    /// Bytes still to skip that a reported fault accounts for.
    excused: usize,
}

impl Scan {
    /// The next event of `bytes[at..]`; `whole` says that no more bytes will come.
    #[inline]
    fn next<'a>(&mut self, bytes: &'a [u8], at: &mut usize, whole: bool) -> Option<Event<'a>> {
        loop {
            let rest = bytes.get(*at..).unwrap_or_default();
            let Some(&first) = rest.first() else { return self.report_skipped() };
            if first != STX_V2 && first != STX_V1 {
                let garbage = rest.iter().position(|b| matches!(*b, STX_V1 | STX_V2)).unwrap_or(rest.len());
                self.skip(at, garbage);
                continue;
            }
            match Packet::parse_prefix(rest) {
                Prefix::Packet(packet) => {
                    let checked = packet.checksum_ok();
                    if checked.unwrap_or(!self.astray) {
                        // Garbage before the frame is told first; the frame is found again by the next call.
                        if let Some(event) = self.report_skipped() {
                            return Some(event);
                        }
                        *self = Self::default();
                        *at += packet.bytes.len();
                        return Some(Event::Packet(packet));
                    }
                    if let Some(event) =
                        self.fault(at, packet.bytes.len(), Fault::Checksum { msgid: packet.msgid })
                    {
                        return Some(event);
                    }
                }
                Prefix::Short { .. } if !whole => return self.report_skipped(),
                Prefix::Short { need } => {
                    let have = rest.len();
                    if let Some(event) = self.fault(at, have, Fault::Truncated { need, have }) {
                        return Some(event);
                    }
                }
                Prefix::NoFrame => self.skip(at, 1),
            }
        }
    }

    /// Steps over the marker of a broken frame of `len` bytes. Only a frame that was in step is worth a report of its
    /// own: astray, a marker is as good as any garbage.
    fn fault(&mut self, at: &mut usize, len: usize, fault: Fault) -> Option<Event<'static>> {
        let in_step = !self.astray;
        if in_step {
            self.excused = len;
        }
        self.skip(at, 1);
        in_step.then_some(Event::Fault(fault))
    }

    fn skip(&mut self, at: &mut usize, n: usize) {
        let excused = n.min(self.excused);
        self.excused -= excused;
        self.skipped += n - excused;
        self.astray = true;
        *at += n;
    }

    fn report_skipped(&mut self) -> Option<Event<'static>> {
        let skipped = std::mem::take(&mut self.skipped);
        (skipped > 0).then_some(Event::Fault(Fault::Skipped(skipped)))
    }
}

#[cfg(test)]
mod tests;
