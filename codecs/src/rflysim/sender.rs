//! Which simulator a vehicle's states come from.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

/// Tells one simulator that has been started anew from two that send to one port.
///
/// States of two simulators would have a vehicle jump between two places, and each change of simulation time would pass for a
/// restart. So the one that is heard keeps the port until it is silent for a second; the other is refused, with its address
/// told. A new port of the same address is the same computer after a restart, or a sender that opens a socket for each
/// packet, and is taken at once; only when the former port speaks again there are two.
#[derive(Debug, Default)]
pub(super) struct Sender {
    current: Option<SocketAddr>,
    heard: Option<Instant>,
    /// The one before, of the same address.
    former: Option<SocketAddr>,
}

/// What to do with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Take it; the sender is who it was.
    Known,
    /// Take it; somebody else sends from now on.
    New,
    /// Leave it: this one has the port.
    Second(SocketAddr),
}

impl Sender {
    /// Judges a state from `from` that came at `now`.
    pub(super) fn hears(&mut self, from: SocketAddr, now: Instant) -> Verdict {
        let fresh = self.heard.is_some_and(|at| now.saturating_duration_since(at) < SILENCE);
        match self.current {
            Some(current) if current == from => {
                self.heard = Some(now);
                return Verdict::Known;
            }
            Some(current) if fresh && (current.ip() != from.ip() || self.former == Some(from)) => {
                return Verdict::Second(current);
            }
            Some(current) if fresh => self.former = Some(current),
            _ => self.former = None,
        }
        let verdict = match self.current {
            // Another port of the same computer.
            Some(current) if current.ip() == from.ip() => Verdict::Known,
            _ => Verdict::New,
        };
        (self.current, self.heard) = (Some(from), Some(now));
        verdict
    }
}

/// Whether packets to `target` reach the computer that `sender` is an address of, as far as this one can tell.
///
/// Two different addresses may both be this computer's: a simulator here may send from the address of a network card.
pub(super) fn is_reached(target: IpAddr, sender: IpAddr) -> bool {
    let (target, sender) = (target.to_canonical(), sender.to_canonical());
    // Only own addresses can be bound.
    let is_own = |ip| UdpSocket::bind((ip, 0)).is_ok();
    target == sender || (is_own(sender) && is_own(target))
}

/// A simulator that sends nothing for so long has given up its port.
const SILENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    /// Verdicts on senders and the milliseconds at which they speak.
    fn judge(senders: &[(&str, u64)]) -> Vec<Verdict> {
        let (start, mut sender) = (Instant::now(), Sender::default());
        let hears = |(from, at): &(&str, u64)| {
            sender.hears(from.parse().unwrap(), start + Duration::from_millis(*at))
        };
        senders.iter().map(hears).collect()
    }

    #[test]
    fn second_simulator_is_refused_while_the_first_sends() {
        let (a, b) = ("10.0.0.1:30100", "10.0.0.2:30100");
        let second = Verdict::Second(a.parse().unwrap());
        assert_eq!(
            judge(&[(a, 0), (b, 5), (a, 10), (b, 15), (a, 20)]),
            [Verdict::New, second, Verdict::Known, second, Verdict::Known]
        );
        // The first is gone.
        assert_eq!(
            judge(&[(a, 0), (b, 900), (b, 1000), (b, 1010)]),
            [Verdict::New, second, Verdict::New, Verdict::Known]
        );
    }

    #[test]
    fn restart_on_the_same_computer_is_taken_at_once() {
        let (a, b) = ("10.0.0.1:30100", "10.0.0.1:40000");
        assert_eq!(judge(&[(a, 0), (b, 10), (b, 20)]), [Verdict::New, Verdict::Known, Verdict::Known]);
        // Both speak.
        let second = Verdict::Second(b.parse().unwrap());
        assert_eq!(
            judge(&[(a, 0), (b, 10), (a, 20), (b, 30), (a, 40), (a, 1100)]),
            [Verdict::New, Verdict::Known, second, Verdict::Known, second, Verdict::Known]
        );
    }

    #[test]
    fn sockets_for_each_packet_are_one_sender() {
        let ports: Vec<String> = (0..50).map(|n| format!("10.0.0.1:{}", 40_000 + n)).collect();
        let senders: Vec<(&str, u64)> = ports.iter().map(String::as_str).zip((0..).step_by(10)).collect();
        assert_eq!(judge(&senders)[1..], [Verdict::Known; 49]);
    }

    #[test]
    fn own_addresses_reach_each_other() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(
            is_reached(ip("127.0.0.1"), ip("127.0.0.2")) && is_reached(ip("::ffff:9.9.9.9"), ip("9.9.9.9"))
        );
        // Reserved for documentation: nobody's.
        assert!(
            !is_reached(ip("127.0.0.1"), ip("192.0.2.1")) && !is_reached(ip("192.0.2.1"), ip("192.0.2.2"))
        );
    }
}
