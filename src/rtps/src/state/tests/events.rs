//! What happens to a random network while samples are written.

use std::collections::BTreeSet;

use super::link::Place;
use super::sim::PLACES;
use super::world::{Family, MS, World};

/// What can happen besides a write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Create,
    Remove,
    Join,
    Leave,
    Crash,
    Move,
    Cut,
    OneWay,
    Pause,
    Mend,
}

impl Event {
    /// What happens in runs of a family.
    pub(super) fn of(family: Family) -> &'static [Self] {
        const ALL: &[Event] = &[
            Event::Create,
            Event::Remove,
            Event::Join,
            Event::Leave,
            Event::Crash,
            Event::Move,
            Event::Cut,
            Event::OneWay,
            Event::Pause,
            Event::Mend,
        ];
        match family {
            Family::Links | Family::Big | Family::Foreign => &[],
            Family::Churn => &ALL[..6],
            Family::Outages => &ALL[6..],
            Family::All => ALL,
        }
    }
}

impl World {
    pub(super) fn happen(&mut self, event: Event) {
        let alive = self.alive();
        let node = alive[self.rng.pick(alive.len())];
        let place = self.net.nodes[node].place;
        self.tell(|| format!("{event:?} {node} at {place}"));
        match event {
            Event::Create if self.net.nodes[node].paused.is_none() => self.create(node),
            Event::Remove => self.remove(),
            Event::Join => self.join(),
            Event::Leave if alive.len() > 2 => self.leave(node),
            Event::Crash if alive.len() > 2 => self.crash(node),
            Event::Move if self.net.nodes[node].paused.is_none() => self.move_away(node),
            Event::Create | Event::Move | Event::Leave | Event::Crash => {}
            Event::Cut => {
                let group: BTreeSet<Place> = (0..PLACES).filter(|_| self.rng.below(2) == 0).collect();
                let both = self.rng.below(3) > 0;
                for (a, b) in (0..PLACES).flat_map(|a| (0..PLACES).map(move |b| (a, b))) {
                    let apart = group.contains(&a) && !group.contains(&b);
                    if apart || (both && !group.contains(&a) && group.contains(&b)) {
                        self.net.faults.cuts.insert((a, b));
                    }
                }
                // Some outlast the lease.
                if self.rng.below(3) == 0 {
                    let span = self.lease.mul_f64(0.5) + self.lease.mul_f64(0.01) * self.rng.percent();
                    self.net.run(span);
                    self.net.faults.cuts.clear();
                }
            }
            Event::OneWay => {
                let to = self.rng.pick(PLACES);
                let loss = 20 + self.rng.below(81);
                self.net.faults.one_way.insert((place, to), loss);
            }
            Event::Pause => {
                self.book.lock().unwrap().delays = true;
                let span = [MS(self.rng.below(300)), MS(self.rng.below(4000)), self.lease.mul_f64(1.2)];
                self.net.nodes[node].paused = Some(self.net.now + span[self.rng.pick(3)]);
            }
            Event::Mend => self.mend(),
        }
    }

    pub(super) fn mend(&mut self) {
        self.net.faults.cuts.clear();
        self.net.faults.one_way.clear();
    }

    fn remove(&mut self) {
        let book = self.book.lock().unwrap();
        let all = book.writers.iter().map(|w| (true, w)).chain(book.readers.iter().map(|r| (false, r)));
        let all: Vec<_> = all.filter(|(_, e)| e.alive).map(|(is, e)| (is, e.node, e.guid)).collect();
        drop(book);
        if all.is_empty() {
            return;
        }
        let (is_writer, node, guid) = all[self.rng.pick(all.len())];
        if self.net.nodes[node].paused.is_some() {
            return;
        }
        let mut book = self.book.lock().unwrap();
        let book = &mut *book;
        book.writers
            .iter_mut()
            .chain(&mut book.readers)
            .filter(|e| e.guid == guid)
            .for_each(|e| e.alive = false);
        self.net.act(node, |core, now, out| {
            if is_writer {
                core.remove_writer(guid.entity, now, out);
            } else {
                core.remove_reader(guid.entity, now, out);
            }
        });
        book.rematch(node, &self.net.nodes[node].core);
    }

    /// A free place, mostly one where another node was before.
    fn free_place(&mut self) -> Option<Place> {
        let taken: Vec<_> = self.net.nodes.iter().filter(|n| n.alive).map(|n| n.place).collect();
        let free: Vec<Place> = (0..PLACES).filter(|p| !taken.contains(p)).collect();
        (!free.is_empty()).then(|| free[self.rng.pick(free.len().min(2))])
    }

    /// Other addresses for the same participant.
    fn move_away(&mut self, node: usize) {
        let Some(place) = self.free_place() else { return };
        self.net.move_to(node, place);
    }

    fn join(&mut self) {
        let Some(place) = self.free_place() else { return };
        self.net.add(place);
        let node = self.net.nodes.len() - 1;
        for _ in 0..self.rng.below(4) {
            self.create(node);
        }
    }

    pub(super) fn forget(&mut self, node: usize) {
        self.net.nodes[node].alive = false;
        let mut book = self.book.lock().unwrap();
        let book = &mut *book;
        book.writers
            .iter_mut()
            .chain(&mut book.readers)
            .filter(|e| e.node == node)
            .for_each(|e| e.alive = false);
    }

    pub(super) fn leave(&mut self, node: usize) {
        if self.net.nodes[node].paused.is_some() {
            return;
        }
        self.net.act(node, |core, now, out| core.close(now, out).len());
        self.forget(node);
    }

    fn crash(&mut self, node: usize) {
        let place = self.net.nodes[node].place;
        self.forget(node);
        if self.rng.below(2) == 0 {
            // Restarted with the same addresses.
            let wait = MS(self.rng.below(1500));
            self.net.run(wait);
            self.net.add(place);
            let node = self.net.nodes.len() - 1;
            for _ in 0..1 + self.rng.below(3) {
                self.create(node);
            }
        }
    }
}
