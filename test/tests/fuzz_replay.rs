//! Every fuzz target on its corpus and on seeded mutations of it, on a stable toolchain.
//!
//! A failing input is printed as hex; put it into `fuzz/corpus/<target>/` to keep it. A longer run, of some targets:
//!
//! ```text
//! ROSTRANS_FUZZ_SEED=7 ROSTRANS_FUZZ_ROUNDS=20000 ROSTRANS_FUZZ_TARGET=rtps cargo test -p rostrans-test --test fuzz_replay
//! ```

#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// Mutations of each corpus file, and as many inputs of random bytes; fewer of big files.
const ROUNDS: usize = 400;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn corpus_and_its_mutations_harm_no_parser() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let only = std::env::var("ROSTRANS_FUZZ_TARGET").unwrap_or_default();
    let rounds = setting("ROSTRANS_FUZZ_ROUNDS").map_or(ROUNDS, |n| usize::try_from(n).unwrap_or(ROUNDS));
    for (name, _) in targets::TARGETS.iter().filter(|(name, _)| name.starts_with(&only)) {
        let mut seeds: Vec<Vec<u8>> = fs::read_dir(corpus.join(name))
            .map(|dir| dir.flatten().filter_map(|file| fs::read(file.path()).ok()).collect())
            .unwrap_or_default();
        seeds.sort();
        seeds.push(Vec::new());
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ setting("ROSTRANS_FUZZ_SEED").unwrap_or(0));
        for seed in &seeds {
            attempt(name, seed);
            for _ in 0..rounds / (1 + seed.len() / 2_000) {
                attempt(name, &mutate(seed, &mut random));
            }
        }
        for _ in 0..rounds {
            let len = random.below(600);
            let noise: Vec<u8> = (0..len).map(|_| random.byte()).collect();
            attempt(name, &noise);
        }
    }
}

fn attempt(name: &str, input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| targets::run(name, input))) {
        let hex: String = input.iter().map(|b| format!("{b:02x}")).collect();
        eprintln!("target {name}, input {hex}");
        std::panic::resume_unwind(panic);
    }
}

/// Flips, overwrites, cuts, doubles: one to four changes, more of big inputs. Only the first few change the length, as what
/// follows in a sequence would be out of step.
fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    for change in 0..=random.below(3 + seed.len() / 500) {
        let at = random.below(data.len().max(1));
        let kinds = if change < 4 && seed.len() < 2_000 || change == 0 { 0..6 } else { 3..6 };
        match kinds.start + random.below(kinds.len()) {
            0 => data.truncate(at),
            1 => data.extend_from_within(..at.min(data.len())),
            2 => data.insert(at.min(data.len()), random.byte()),
            kind => {
                if let Some(byte) = data.get_mut(at) {
                    *byte = match kind {
                        3 => 0xFF,
                        4 => *byte ^ (1 << random.below(8)),
                        _ => random.byte(),
                    };
                }
            }
        }
    }
    data
}

/// xorshift64*: the same inputs in every run.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D).to_be_bytes()[0]
    }

    fn below(&mut self, bound: usize) -> usize {
        let number = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]);
        usize::try_from(number).unwrap_or(0) % bound.max(1)
    }
}
