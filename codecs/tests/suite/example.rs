//! `docs/extending.md` is true.

use rostrans_core::codec::DecodeError;
use serde_json::json;

use crate::support::{Bench, assert_close, hex, numbers};

const PAGE: &str = include_str!("../../../docs/extending.md");

/// The first fenced block of a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn page_shows_the_code_that_is_built() {
    assert_eq!(block("rust"), include_str!("../../src/example/my_codec.rs"));
    assert!(include_str!("../../src/lib.rs").contains(block("rust,ignore").trim().trim_end_matches(',')));
}

#[test]
fn datagram_of_the_page_becomes_its_point() {
    let datagram = hex(&block("hex").split_whitespace().collect::<String>());
    let mut bench = Bench::new("my_codec", json!({"frame_id": "tracker"}));
    bench.frame(&datagram).unwrap();
    let point = bench.only("point");
    assert_close(numbers(&point["point"], ["x", "y", "z"]), [1.5, -2.0, 0.25], 0.0);
    assert_eq!(point["header"]["frame_id"], "tracker");

    assert_eq!(bench.frame(&datagram[..15]), Err(DecodeError::Truncated { need: 16, have: 15 }));
    assert_eq!(bench.frame(&[0; 16]), Err(DecodeError::BadMagic));
    let printf: String = datagram.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    assert!(PAGE.contains(&format!("printf '{printf}'")));
}
