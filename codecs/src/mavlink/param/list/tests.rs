use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);

/// Numbers that are the same for the same seed (xorshift).
struct Dice(u64);

impl Dice {
    fn percent(&mut self, percent: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % 100 < percent
    }
}

/// A vehicle that has `count` values, but none in the place `lacks`; a link with `loss` percent in both directions.
struct World {
    count: u16,
    lacks: Option<u16>,
    loss: u64,
    dice: Dice,
    now: Instant,
    /// Places that have come.
    here: Vec<bool>,
    asked: Vec<Ask>,
}

impl World {
    fn new(count: u16, loss: u64, seed: u64) -> Self {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let here = vec![false; count.into()];
        Self { count, lacks: None, loss, dice, now: Instant::now(), here, asked: Vec::new() }
    }

    /// Receives the list; how it ended and how long it took.
    fn run(&mut self) -> (End, Duration) {
        let begun = self.now;
        let mut asks = Vec::new();
        let mut listing = Listing::new(self.now, &mut asks);
        let mut coming = std::collections::BTreeSet::new();
        loop {
            for ask in asks.drain(..) {
                self.asked.push(ask);
                if self.dice.percent(self.loss) {
                    continue;
                }
                let places = match ask {
                    Ask::List => 0..self.count,
                    Ask::Place(place) => place..place + 1,
                };
                // One each 5 ms after 20 ms.
                for (later, place) in (4..).zip(places) {
                    if Some(place) != self.lacks && !self.dice.percent(self.loss) {
                        coming.insert((self.now + MS * 5 * later, place));
                    }
                }
            }
            let next = coming.first().copied().filter(|(at, _)| *at <= listing.next_due());
            let end = match next {
                Some((at, place)) => {
                    coming.remove(&(at, place));
                    self.now = self.now.max(at);
                    self.here[usize::from(place)] = true;
                    listing.heard(place, self.count, self.now, &mut asks)
                }
                None => {
                    self.now = self.now.max(listing.next_due());
                    listing.tick(self.now, &mut asks)
                }
            };
            if let Some(end) = end {
                return (end, self.now - begun);
            }
        }
    }
}

#[test]
fn whole_list_needs_one_request() {
    let mut world = World::new(1000, 0, 1);
    assert_eq!(world.run().0, End::Whole);
    assert_eq!(world.asked, [Ask::List]);
}

#[test]
fn thousand_values_come_over_a_link_that_loses() {
    let mut early = 0;
    for seed in 1..=200 {
        for loss in [10, 30] {
            let mut world = World::new(1000, loss, seed);
            let (end, took) = world.run();
            match end {
                End::Whole => assert!(world.here.iter().all(|here| *here)),
                // The list was asked for four times for nothing, or the last ones ten times.
                _ if loss == 30 => early += 1,
                end => panic!("seed {seed}: {end:?}"),
            }
            assert!(took < Duration::from_secs(30), "seed {seed}, loss {loss}: {took:?}");
        }
    }
    assert!(early <= 6, "{early} of 200 at 30 % loss");
}

#[test]
fn place_that_is_empty_is_given_up() {
    let mut world = World { lacks: Some(7), ..World::new(20, 0, 1) };
    let (end, took) = world.run();
    assert_eq!(end, End::Missing(1));
    assert_eq!(world.asked.len(), 1 + 10);
    assert!(took < Duration::from_secs(12));
}

#[test]
fn silent_vehicle_is_asked_four_times() {
    let mut world = World::new(10, 100, 1);
    assert_eq!(world.run(), (End::Silence, Duration::from_secs(4)));
    assert_eq!(world.asked, [Ask::List; 4]);
}

#[test]
fn vehicle_that_does_not_know_how_many_ends_with_a_silence() {
    let (now, mut asks) = (Instant::now(), Vec::new());
    let mut listing = Listing::new(now, &mut asks);
    assert_eq!(listing.heard(NO_INDEX, NO_INDEX, now, &mut asks), None);
    assert_eq!(listing.heard(3, NO_INDEX, now + MS * 500, &mut asks), None);
    assert_eq!(listing.tick(now + MS * 1499, &mut asks), None);
    assert_eq!(listing.tick(now + MS * 1500, &mut asks), Some(End::Whole));
}

#[test]
fn value_without_a_place_is_not_waited_for() {
    let (now, mut asks) = (Instant::now(), Vec::new());
    let mut listing = Listing::new(now, &mut asks);
    // As PX4's _HASH_CHECK.
    assert_eq!(listing.heard(NO_INDEX, 2, now, &mut asks), None);
    assert_eq!(listing.heard(1, 2, now, &mut asks), None);
    assert_eq!(listing.heard(1, 2, now, &mut asks), None);
    assert_eq!(listing.heard(0, 2, now, &mut asks), Some(End::Whole));
    assert_eq!(asks, [Ask::List]);
}

#[test]
fn vehicle_without_parameters_has_none() {
    let (now, mut asks) = (Instant::now(), Vec::new());
    let mut listing = Listing::new(now, &mut asks);
    assert_eq!(listing.heard(NO_INDEX, 0, now, &mut asks), Some(End::Whole));
}

#[test]
fn claim_of_many_values_ends_in_time_and_costs_a_bit_each() {
    let (mut now, mut asks) = (Instant::now(), Vec::new());
    let begun = now;
    let mut listing = Listing::new(now, &mut asks);
    assert_eq!(listing.heard(0, 65_534, now, &mut asks), None);
    let mut end = None;
    while end.is_none() {
        now = listing.next_due();
        end = listing.tick(now, &mut asks);
    }
    assert_eq!(end, Some(End::Missing(65_533)));
    assert!(now - begun <= LONGEST + WAIT);
    assert!(asks.len() < 30_000, "{}", asks.len());
}

proptest! {
    #[test]
    fn missing_places_are_what_was_not_taken(count in 0..500_u16, taken in proptest::collection::vec(0..600_u16, 0..600)) {
        let mut missing = Missing::new(count);
        let mut plain: std::collections::BTreeSet<u16> = (0..count).collect();
        for place in taken {
            prop_assert_eq!(missing.take(place), plain.remove(&place));
            prop_assert_eq!(missing.from(place), plain.range(place..).next().copied());
            prop_assert_eq!(missing.left as usize, plain.len());
        }
    }
}
