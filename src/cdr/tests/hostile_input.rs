//! Bytes from outside never panic and never allocate out of proportion.
//!
//! One test only: the counting allocator counts for the whole process.

use std::alloc::System;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rostrans_cdr::fuzzing;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A `String` is 24 octets in memory and 4 on the wire; `Vec<Vec<String>>` may reserve at two levels.
const MAX_GROWTH: usize = 32;

#[test]
fn any_bytes_are_read_or_refused_within_bounds() {
    let header = prop_oneof![Just([0_u8, 0]), Just([0, 1]), Just([0, 6]), Just([0, 7]), any::<[u8; 2]>()];
    // Small numbers make lengths that fit, so that reading gets somewhere.
    let octet = any::<u8>().prop_map(|octet| match octet {
        0..150 => 0,
        150..220 => octet % 8,
        220.. => octet,
    });
    let input = (header, prop::collection::vec(octet, 0..200))
        .prop_map(|(header, body)| [&header[..], &[0, 0], &body].concat());
    let mut runner = TestRunner::new(Config { cases: 4000, failure_persistence: None, ..Config::default() });
    runner
        .run(&input, |data| {
            for read in [fuzzing::reader, fuzzing::decode, fuzzing::ros1_reader] {
                let region = Region::new(COUNTED);
                read(&data);
                let allocated = region.change().bytes_allocated;
                prop_assert!(allocated <= MAX_GROWTH * data.len() * 4, "{allocated} for {}", data.len());
            }
            Ok(())
        })
        .unwrap();
}
