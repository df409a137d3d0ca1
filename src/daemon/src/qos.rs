//! A QoS as text.

use std::fmt::Write as _;

use rostrans_core::topic::{Durability, History, Liveliness, Qos, Reliability};

/// As in a rule file; reads back to the same.
pub(crate) fn to_yaml(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::BestEffort => "best_effort",
        Reliability::Reliable => "reliable",
    };
    let durability = match qos.durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
    };
    let mut text = format!("{{reliability: {reliability}, durability: {durability}, depth: {}", qos.depth);
    if qos.history == History::KeepAll {
        text += ", history: keep_all";
    }
    if qos.liveliness == Liveliness::ManualByTopic {
        text += ", liveliness: manual_by_topic";
    }
    for (key, period) in [
        ("deadline", qos.deadline),
        ("lifespan", qos.lifespan),
        ("liveliness_lease_duration", qos.liveliness_lease),
    ] {
        if let Some(period) = period {
            write!(text, ", {key}: {period:?}").unwrap_or_default();
        }
    }
    text + "}"
}

/// For the table of topics: what is not the default, in a few words.
pub(crate) fn in_words(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::BestEffort => "best effort",
        Reliability::Reliable => "reliable",
    };
    let mut text = match (qos.durability, qos.history) {
        (Durability::Volatile, History::KeepLast) => reliability.to_owned(),
        (Durability::Volatile, History::KeepAll) => format!("{reliability}, keep all"),
        (Durability::TransientLocal, History::KeepLast) => format!("{reliability}, latched {}", qos.depth),
        (Durability::TransientLocal, History::KeepAll) => format!("{reliability}, latched, keep all"),
    };
    let periods =
        [("deadline", qos.deadline), ("lifespan", qos.lifespan), ("liveliness lease", qos.liveliness_lease)];
    for (what, period) in periods {
        text.extend(period.map(|period| format!(", {what} {period:?}")));
    }
    text
}
