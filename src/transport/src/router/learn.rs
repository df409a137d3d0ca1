//! Who sends to a routed socket, and where bytes for vehicles go. See [`crate::router`] for the rules.
//!
//! Pure: time is an argument, and addresses go in and out.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_mavlink::{Event, frames};
use tracing::{debug, info};

use super::evidence::{Evidence, evidence, evidence_anywhere, holds_mavlink, sysid};

/// Silence after which any other address may be the flight controller.
const SILENCE: Duration = Duration::from_secs(5);
/// Silence after which the same host may be it from another port: a simulator that was started again.
const SILENCE_SAME_HOST: Duration = Duration::from_secs(1);
/// A vehicle not heard for so long gets no more frames that are for all.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Senders remembered; then the one silent for longest gives way. Bounds memory against forged addresses.
const MAX_SENDERS: usize = 256;

/// What the sender of a datagram is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The endpoint of this number.
    Endpoint(usize),
    /// A vehicle.
    Vehicle,
    /// A ground station that is no endpoint.
    Station,
    /// Nobody the route knows, and without MAVLink on a route that carries MAVLink.
    Foreign,
}

/// Learns senders.
#[derive(Debug)]
pub(crate) struct Learner {
    name: Arc<str>,
    /// Configured endpoints, then senders met.
    addrs: Vec<SocketAddr>,
    endpoints: usize,
    /// What is known of `addrs[endpoints..]`.
    senders: Vec<Sender>,
    /// Index into `addrs` last found for each low byte of a port; a guess that is checked.
    hints: [u16; 256],
    /// The vehicle that each MAVLink system id belongs to.
    owners: [Option<u16>; 256],
    /// The flight controller, an index into `senders`.
    fcu: Option<usize>,
    /// The flight controller has sent valid MAVLink: whoever does not is foreign from then on.
    mavlink: bool,
    /// Bytes for vehicles have more than one place to go.
    several: bool,
}

#[derive(Clone, Debug)]
struct Sender {
    heard: Instant,
    evidence: Evidence,
    is_station: bool,
}

impl Sender {
    /// True once it has sent valid MAVLink.
    fn speaks_mavlink(&self) -> bool {
        self.evidence != Evidence::Unknown
    }
}

impl Learner {
    pub(crate) fn new(name: Arc<str>, endpoints: &[SocketAddr]) -> Self {
        Self {
            name,
            addrs: endpoints.to_vec(),
            endpoints: endpoints.len(),
            senders: Vec::new(),
            hints: [0; 256],
            owners: [None; 256],
            fcu: None,
            mavlink: false,
            several: false,
        }
    }

    /// Says what the sender of `datagram` is, and learns from it.
    #[inline]
    pub(crate) fn classify(&mut self, from: SocketAddr, datagram: &[u8], now: Instant) -> Origin {
        let Some(index) = self.find(from) else { return self.meet(from, datagram, now) };
        match index.checked_sub(self.endpoints) {
            None => Origin::Endpoint(index),
            Some(sender) => self.hear(sender, datagram, now),
        }
    }

    /// The flight controller.
    pub(crate) fn fcu(&self) -> Option<SocketAddr> {
        self.fcu.and_then(|index| self.addr(index))
    }

    /// Calls `to` with each address that `datagram`, which comes from an endpoint, goes to.
    pub(crate) fn upstream(&self, datagram: &[u8], now: Instant, mut to: impl FnMut(SocketAddr)) {
        if !self.several {
            self.fcu().into_iter().for_each(to);
            return;
        }
        let mut chosen = [false; MAX_SENDERS];
        let mut choose = |index: usize| chosen.get_mut(index).into_iter().for_each(|c| *c = true);
        let mut is_mavlink = false;
        for event in frames(datagram) {
            let Event::Packet(packet) = event else { continue };
            is_mavlink = true;
            match packet.target_system() {
                None | Some(0) => self.heard_owners(now).chain(self.fcu).for_each(&mut choose),
                Some(sysid) => self.owner(sysid).or(self.fcu).into_iter().for_each(&mut choose),
            }
        }
        if !is_mavlink {
            self.fcu.into_iter().for_each(&mut choose);
        }
        let chosen = chosen.iter().enumerate().filter(|(_, chosen)| **chosen);
        chosen.filter_map(|(index, _)| self.addr(index)).for_each(&mut to);
    }

    #[inline]
    fn find(&mut self, from: SocketAddr) -> Option<usize> {
        let [_, low] = from.port().to_be_bytes();
        let hint = self.hints.get_mut(usize::from(low))?;
        if self.addrs.get(usize::from(*hint)) == Some(&from) {
            return Some(usize::from(*hint));
        }
        let index = self.addrs.iter().position(|addr| *addr == from)?;
        *hint = u16::try_from(index).unwrap_or(0);
        Some(index)
    }

    #[inline]
    fn hear(&mut self, index: usize, datagram: &[u8], now: Instant) -> Origin {
        let Some(sender) = self.senders.get_mut(index) else { return Origin::Vehicle };
        sender.heard = now;
        if sender.evidence != Evidence::Autopilot && !self.judge(index, datagram) {
            return Origin::Foreign;
        }
        if self.senders.get(index).is_some_and(|sender| sender.is_station) {
            return Origin::Station;
        }
        if let Some(sysid) = sysid(datagram)
            && self.owner(sysid) != Some(index)
        {
            self.claim_sysid(sysid, index, datagram, now);
        }
        if self.fcu != Some(index) {
            self.claim_fcu(index, datagram, now);
        }
        Origin::Vehicle
    }

    #[cold]
    fn meet(&mut self, from: SocketAddr, datagram: &[u8], now: Instant) -> Origin {
        // Not even remembered, so that strangers cannot push out vehicles.
        if self.mavlink && !holds_mavlink(datagram) {
            return Origin::Foreign;
        }
        let new = Sender { heard: now, evidence: Evidence::Unknown, is_station: false };
        let index = if self.senders.len() < MAX_SENDERS {
            self.addrs.push(from);
            self.senders.push(new);
            self.senders.len() - 1
        } else {
            let others = self.senders.iter().enumerate().filter(|(index, _)| self.fcu != Some(*index));
            let Some((index, _)) = others.min_by_key(|(_, sender)| sender.heard) else {
                return Origin::Vehicle;
            };
            self.disown(index);
            if let (Some(addr), Some(sender)) =
                (self.addrs.get_mut(self.endpoints + index), self.senders.get_mut(index))
            {
                *addr = from;
                *sender = new;
            }
            index
        };
        debug!(rule = %self.name, %from, "new sender");
        self.hear(index, datagram, now)
    }

    /// Looks at what a sender that is not known for an autopilot sends; false when it has no business here.
    fn judge(&mut self, index: usize, datagram: &[u8]) -> bool {
        let is_fcu = self.fcu == Some(index);
        let Some(sender) = self.senders.get_mut(index) else { return true };
        let new = if self.mavlink { evidence_anywhere(datagram) } else { evidence(datagram) };
        if new == Evidence::Unknown && self.mavlink && !is_fcu && !sender.speaks_mavlink() {
            return false;
        }
        let is_news = match new {
            Evidence::Unknown => false,
            Evidence::Mavlink => !sender.speaks_mavlink(),
            Evidence::Autopilot | Evidence::Station => new != sender.evidence,
        };
        if is_news {
            self.settle(index, new);
        }
        true
    }

    fn settle(&mut self, index: usize, new: Evidence) {
        let Some(sender) = self.senders.get_mut(index) else { return };
        let was_silent = !sender.speaks_mavlink();
        sender.evidence = new;
        sender.is_station = false;
        if was_silent && self.fcu == Some(index) {
            self.mavlink = true;
            if let Some(addr) = self.fcu() {
                info!(rule = %self.name, %addr, "flight controller found");
            }
        }
        let autopilot_known = self.senders.iter().any(|s| s.evidence == Evidence::Autopilot);
        if !autopilot_known {
            return;
        }
        // With an autopilot at hand, whoever says that it is a station is one; before, the first sender had to do.
        for index in 0..self.senders.len() {
            let Some(sender) = self.senders.get_mut(index) else { continue };
            if sender.evidence == Evidence::Station && !sender.is_station {
                sender.is_station = true;
                if self.fcu == Some(index) {
                    self.fcu = None;
                }
                self.disown(index);
                if let Some(addr) = self.addr(index) {
                    info!(rule = %self.name, %addr, "heard as a ground station beside the endpoints");
                }
            }
        }
    }

    fn claim_sysid(&mut self, sysid: u8, index: usize, datagram: &[u8], now: Instant) {
        if self.owner(sysid).is_some_and(|old| !self.replaces(index, old, now)) || !holds_mavlink(datagram) {
            return;
        }
        if let Some(owner) = self.owners.get_mut(usize::from(sysid)) {
            *owner = u16::try_from(index).ok();
        }
        self.count_targets();
    }

    fn claim_fcu(&mut self, index: usize, datagram: &[u8], now: Instant) {
        if self.fcu.is_some_and(|old| !self.replaces(index, old, now))
            || self.mavlink && !holds_mavlink(datagram)
        {
            return;
        }
        let old = self.fcu();
        self.fcu = Some(index);
        self.mavlink |= self.senders.get(index).is_some_and(Sender::speaks_mavlink);
        self.count_targets();
        let Some(addr) = self.addr(index) else { return };
        match (old, self.mavlink) {
            (None, true) => info!(rule = %self.name, %addr, "flight controller found"),
            (None, false) => info!(rule = %self.name, %addr, "route source found"),
            (Some(old), true) => info!(rule = %self.name, %addr, %old, "flight controller moved"),
            (Some(old), false) => info!(rule = %self.name, %addr, %old, "route source moved"),
        }
    }

    /// True when `new` may take the place of `old`: an autopilot at once from a sender that is none, and nobody else from
    /// an autopilot; among equals, silence decides.
    fn replaces(&self, new: usize, old: usize, now: Instant) -> bool {
        let is_autopilot =
            |index: usize| self.senders.get(index).is_some_and(|s| s.evidence == Evidence::Autopilot);
        match (is_autopilot(new), is_autopilot(old)) {
            (true, false) => true,
            (false, true) => false,
            _ => self.gives_way(old, new, now),
        }
    }

    /// True when the silence of `old` lets `new` take its place.
    fn gives_way(&self, old: usize, new: usize, now: Instant) -> bool {
        let (Some(old_addr), Some(new_addr)) = (self.addr(old), self.addr(new)) else { return true };
        let enough = if old_addr.ip() == new_addr.ip() { SILENCE_SAME_HOST } else { SILENCE };
        self.senders.get(old).is_none_or(|old| now.saturating_duration_since(old.heard) >= enough)
    }

    fn disown(&mut self, index: usize) {
        for owner in &mut self.owners {
            if owner.map(usize::from) == Some(index) {
                *owner = None;
            }
        }
        self.count_targets();
    }

    fn count_targets(&mut self) {
        let mut targets = self.owners.iter().flatten().map(|owner| usize::from(*owner)).chain(self.fcu);
        let first = targets.next();
        self.several = targets.any(|target| Some(target) != first);
    }

    fn owner(&self, sysid: u8) -> Option<usize> {
        self.owners.get(usize::from(sysid)).copied().flatten().map(usize::from)
    }

    fn heard_owners(&self, now: Instant) -> impl Iterator<Item = usize> {
        let heard = move |index: &usize| {
            self.senders.get(*index).is_some_and(|s| now.saturating_duration_since(s.heard) < FORGOTTEN)
        };
        self.owners.iter().flatten().map(|owner| usize::from(*owner)).filter(heard)
    }

    fn addr(&self, sender: usize) -> Option<SocketAddr> {
        self.addrs.get(self.endpoints + sender).copied()
    }
}

#[cfg(test)]
#[path = "learn_tests.rs"]
mod tests;
