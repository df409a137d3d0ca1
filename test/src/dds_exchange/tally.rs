//! What one subscription has received.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::plan::Kind;

/// Counts the samples of one subscription by their numbers.
pub(crate) struct Tally {
    kind: Arc<Kind>,
    count: u64,
    /// Differs from what was sent in more than its number.
    bad: u64,
    /// Number not above the last one.
    repeated: u64,
    /// Numbers jumped over.
    missing: u64,
    first: Option<u32>,
    last: Option<u32>,
}

impl Tally {
    pub(crate) fn new(kind: Arc<Kind>) -> Self {
        Self { kind, count: 0, bad: 0, repeated: 0, missing: 0, first: None, last: None }
    }

    /// Takes one sample into account.
    pub(crate) fn add(&mut self, data: &[u8]) {
        match (self.kind.read(data), self.last) {
            (None, _) => self.bad += 1,
            (Some(number), Some(last)) if number <= last => self.repeated += 1,
            (Some(number), last) => {
                self.missing += last.map_or(0, |last| u64::from(number - last - 1));
                self.first = self.first.or(Some(number));
                self.last = Some(number);
                self.count += 1;
            }
        }
    }

    /// Adds the counters to a row of a report.
    pub(crate) fn report(&self, row: &mut Value) {
        for (key, value) in [
            ("count", json!(self.count)),
            ("first", json!(self.first)),
            ("last", json!(self.last)),
            ("missing", json!(self.missing)),
            ("repeated", json!(self.repeated)),
            ("bad", json!(self.bad)),
        ] {
            row[key] = value;
        }
    }
}
