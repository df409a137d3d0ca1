//! Sending a batch of datagrams with somebody to blame for each.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
};

use rostrans_net::{Datagram, send_batch};

use crate::udp::is_icmp;

/// Datagrams on their way out, each with the number of its receiver.
pub(crate) struct Outbox<'a> {
    datagrams: Vec<Datagram<'a>>,
    receivers: Vec<u32>,
}

/// The empty vectors of an [`Outbox`], kept between batches so that nothing is allocated for a packet.
#[derive(Default)]
pub(crate) struct Spare(Vec<Datagram<'static>>, Vec<u32>);

impl<'a> Outbox<'a> {
    pub(crate) fn new(spare: &mut Spare) -> Self {
        Self { datagrams: relive(std::mem::take(&mut spare.0)), receivers: std::mem::take(&mut spare.1) }
    }

    #[inline]
    pub(crate) fn push(&mut self, bytes: &'a [u8], to: SocketAddr, receiver: u32) {
        self.datagrams.push(Datagram::new(bytes, Some(to)));
        self.receivers.push(receiver);
    }

    /// Sends all in order, gives the vectors back, and calls `refused` with the receiver of each datagram that the
    /// kernel did not take.
    pub(crate) fn send(
        mut self,
        socket: &UdpSocket,
        spare: &mut Spare,
        mut refused: impl FnMut(u32, &io::Error),
    ) {
        let mut at = 0;
        // A pending error of an earlier datagram is told by the next call, which then has sent nothing.
        let mut told = false;
        while let Some(rest) = self.datagrams.get(at..).filter(|rest| !rest.is_empty()) {
            match send_batch(socket, rest) {
                Ok(sent) => {
                    at += sent.max(1);
                    told = false;
                }
                Err(error) if is_icmp(&error) && !told => told = true,
                Err(error) => {
                    let full = error.kind() == io::ErrorKind::WouldBlock;
                    let lost = if full { self.receivers.len() } else { at + 1 };
                    self.receivers.get(at..lost).into_iter().flatten().for_each(|r| refused(*r, &error));
                    at = lost;
                    told = false;
                }
            }
        }
        self.receivers.clear();
        *spare = Spare(relive(self.datagrams), self.receivers);
    }
}

/// The same allocation for another lifetime: an empty vector holds no borrow, and collecting a vector's own iterator
/// into elements of the same layout reuses its memory.
fn relive<'b>(mut vector: Vec<Datagram<'_>>) -> Vec<Datagram<'b>> {
    vector.clear();
    vector.into_iter().map(|_| Datagram::new(&[], None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_batch_serves_the_next_one() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        let mut spare = Spare::default();
        let mut addresses = Vec::new();
        for _ in 0..3 {
            let bytes = b"x".to_vec();
            let mut outbox = Outbox::new(&mut spare);
            addresses.push(outbox.datagrams.as_ptr() as usize);
            (0..100).for_each(|_| outbox.push(&bytes, to, 0));
            outbox.send(&socket, &mut spare, |_, error| panic!("{error}"));
        }
        assert_eq!(addresses[1], addresses[2]);
    }

    #[test]
    fn refused_datagram_costs_no_other() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        let (mut spare, huge) = (Spare::default(), vec![0; 70_000]);
        let mut outbox = Outbox::new(&mut spare);
        for (receiver, bytes) in [(1, &b"a"[..]), (2, &huge), (3, b"b")] {
            outbox.push(bytes, to, receiver);
        }
        let mut refused = Vec::new();
        outbox.send(&socket, &mut spare, |receiver, _| refused.push(receiver));
        assert_eq!(refused, [2]);
        let mut buf = [0; 4];
        let mut seen: Vec<u8> = Vec::new();
        for _ in 0..2 {
            assert_eq!(socket.recv(&mut buf).unwrap(), 1);
            seen.push(buf[0]);
        }
        assert_eq!(seen, b"ab");
    }
}
