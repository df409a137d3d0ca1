//! Entry points for fuzzers: any input must return, not panic, and allocate no more than a small multiple of it.

use crate::{CdrReader, Ros1Reader, from_cdr};

/// Reads `data` with a mix of accesses that `data` itself chooses.
pub fn reader(data: &[u8]) {
    let Ok(mut reader) = CdrReader::new(data) else { return };
    for op in data.iter().rev() {
        let ok = match op % 8 {
            0 => reader.number::<u8>().is_ok(),
            1 => reader.number::<u16>().is_ok(),
            2 => reader.number::<f64>().is_ok(),
            3 => reader.str().is_ok(),
            4 => reader.wide_string().is_ok(),
            5 => reader.bool().is_ok(),
            6 => reader.number::<u32>().is_ok_and(|n| reader.number_vec::<f64>(n as usize).is_ok()),
            _ => reader.collection_header().is_ok(),
        };
        if !ok {
            return;
        }
    }
}

/// Decodes `data` as nested sequences.
pub fn decode(data: &[u8]) {
    let strings = from_cdr::<Vec<Vec<String>>>(data).map(|v| v.len());
    let numbers = from_cdr::<Vec<[f64; 3]>>(data).map(|v| v.len());
    let bools = from_cdr::<Vec<bool>>(data).map(|v| v.len());
    for len in [strings, numbers, bools].into_iter().flatten() {
        assert!(len <= data.len(), "more elements than octets");
    }
}

/// Reads `data` as ROS 1 fields that `data` itself chooses.
pub fn ros1_reader(data: &[u8]) {
    let mut reader = Ros1Reader::new(data);
    for op in data.iter().rev() {
        let ok = match op % 4 {
            0 => reader.number::<u16>().is_ok(),
            1 => reader.number::<f64>().is_ok(),
            2 => reader.str().is_ok(),
            _ => reader.length(8).is_ok_and(|n| reader.bytes(8 * n).is_ok()),
        };
        if !ok {
            return;
        }
    }
}
