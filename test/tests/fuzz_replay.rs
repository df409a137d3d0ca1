//! Every fuzz target on its corpus and on seeded mutations of it, on a stable toolchain.
//!
//! A failing input is printed as hex; put it into `fuzz/corpus/<target>/` to keep it.

#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

/// Mutations of each corpus file, and as many inputs of random bytes.
const ROUNDS: usize = 400;

#[test]
fn corpus_and_its_mutations_harm_no_parser() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, _) in targets::TARGETS {
        let mut seeds: Vec<Vec<u8>> = fs::read_dir(corpus.join(name))
            .map(|dir| dir.flatten().filter_map(|file| fs::read(file.path()).ok()).collect())
            .unwrap_or_default();
        seeds.sort();
        seeds.push(Vec::new());
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for seed in &seeds {
            attempt(name, seed);
            for _ in 0..ROUNDS {
                attempt(name, &mutate(seed, &mut random));
            }
        }
        for _ in 0..ROUNDS {
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

/// Flips, overwrites, cuts, doubles: one to four changes.
fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(data.len().max(1));
        match random.below(6) {
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
