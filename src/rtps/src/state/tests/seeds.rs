//! Thousands of random networks.
//!
//! A run that fails prints the command that repeats it. More runs than the default:
//!
//! ```text
//! ROSTRANS_SIM_RUNS=20000 ROSTRANS_SIM_FROM=5000 cargo test -p rostrans-rtps --lib state::tests::seeds
//! ```
//!
//! `ROSTRANS_SIM_TRACE=1` with one seed prints what happens, `=2` every datagram as well.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::world::{Family, World};

/// Failures after which a campaign ends.
const ENOUGH: usize = 8;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn campaign(family: Family, name: &str, runs: u64) {
    let seeds = match number("ROSTRANS_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let from = number("ROSTRANS_SIM_FROM").unwrap_or(0);
            from..from + number("ROSTRANS_SIM_RUNS").unwrap_or(runs)
        }
    };
    let (mut failed, mut datagrams, mut delivered, start) = (Vec::new(), 0, 0, Instant::now());
    for seed in seeds.clone() {
        match catch_unwind(AssertUnwindSafe(|| World::new(family, seed).run())) {
            Ok(outcome) => {
                datagrams += outcome.datagrams;
                delivered += outcome.delivered;
            }
            Err(_) => {
                eprintln!(
                    "repeat: ROSTRANS_SIM_SEED={seed} cargo test -p rostrans-rtps --lib {name} -- --nocapture"
                );
                failed.push(seed);
            }
        }
        if failed.len() == ENOUGH {
            break;
        }
    }
    eprintln!("{name}: {seeds:?}, {datagrams} datagrams, {delivered} samples, {:?}", start.elapsed());
    assert!(failed.is_empty(), "seeds {failed:?} failed");
}

#[test]
fn bad_links_lose_no_reliable_sample() {
    campaign(Family::Links, "bad_links_lose_no_reliable_sample", 1000);
}

#[test]
fn outages_are_made_up_for() {
    campaign(Family::Outages, "outages_are_made_up_for", 800);
}

#[test]
fn coming_and_going_disturbs_nobody() {
    campaign(Family::Churn, "coming_and_going_disturbs_nobody", 800);
}

#[test]
fn big_samples_arrive_whole() {
    campaign(Family::Big, "big_samples_arrive_whole", 150);
}

#[test]
fn other_ways_to_put_it_are_understood() {
    campaign(Family::Foreign, "other_ways_to_put_it_are_understood", 300);
}

#[test]
fn everything_at_once_is_survived() {
    campaign(Family::All, "everything_at_once_is_survived", 400);
}

#[test]
fn a_seed_gives_the_same_run_every_time() {
    for seed in 0..12 {
        let run = || World::new(Family::All, seed).run();
        assert_eq!(run(), run(), "seed {seed}");
    }
}
