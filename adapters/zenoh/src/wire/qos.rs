//! The QoS of an endpoint as one field of its token.
//!
//! ```text
//! reliability : durability : history,depth : deadline s,ns : lifespan s,ns : liveliness,lease s,lease ns
//! ::,10:,:,:,,       reliable, volatile, keep last 10
//! 2:1:,1:,:,:,,      best effort, transient local, keep last 1
//! ```
//!
//! A value that is left out is the default: reliable, volatile, keep last 42, no deadline, no lifespan, automatic
//! liveliness with no lease.
//!
//! Source: `rmw_zenoh_cpp/src/detail/liveliness_utils.cpp`.

use std::time::Duration;

use rostrans_core::topic::{Durability, History, Liveliness, Qos, Reliability};

/// Writes it; the depth always, the rest unless it is the default.
pub fn write(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::Reliable => "",
        Reliability::BestEffort => "2",
    };
    let durability = match qos.durability {
        Durability::Volatile => "",
        Durability::TransientLocal => "1",
    };
    let history = match qos.history {
        History::KeepLast => "",
        History::KeepAll => "2",
    };
    let liveliness = match qos.liveliness {
        Liveliness::Automatic => "",
        Liveliness::ManualByTopic => "3",
    };
    format!(
        "{reliability}:{durability}:{history},{}:{}:{}:{liveliness},{}",
        qos.depth,
        period(qos.deadline),
        period(qos.lifespan),
        period(qos.liveliness_lease)
    )
}

/// Seconds and nanoseconds; nothing of either for ever, and for what no other node could tell from it.
fn period(period: Option<Duration>) -> String {
    match period {
        Some(period) if is_finite(period) => format!("{},{}", period.as_secs(), period.subsec_nanos()),
        _ => ",".to_owned(),
    }
}

/// ROS says "for ever" by the longest time it has, 2^63 - 1 ns, or by none at all.
fn is_finite(period: Duration) -> bool {
    !period.is_zero() && period.as_secs() < FOREVER_S
}

const FOREVER_S: u64 = 9_223_372_036;

/// Reads it; a depth beyond 65 535 becomes that.
///
/// Returns `None` when parts are missing, not numbers, or no policies.
pub fn parse(text: &str) -> Option<Qos> {
    let mut parts = text.split(':');
    let mut part = || parts.next();
    // 0 is "what the system does by default", which is the default.
    let reliability = match part()? {
        "" | "0" | "1" => Reliability::Reliable,
        "2" => Reliability::BestEffort,
        _ => return None,
    };
    let durability = match part()? {
        "" | "0" | "2" => Durability::Volatile,
        "1" => Durability::TransientLocal,
        _ => return None,
    };
    let (history, depth) = part()?.split_once(',')?;
    let history = match history {
        "" | "0" | "1" => History::KeepLast,
        "2" => History::KeepAll,
        _ => return None,
    };
    let depth = if depth.is_empty() { DEFAULT_DEPTH } else { depth.parse::<u64>().ok()? };
    let (deadline, lifespan) = (parse_period(part()?)?, parse_period(part()?)?);
    let (liveliness, lease) = part()?.split_once(',')?;
    let liveliness = match liveliness {
        // By node is no longer in ROS; what it promises beyond automatic cannot be told here.
        "" | "0" | "1" | "2" => Liveliness::Automatic,
        "3" => Liveliness::ManualByTopic,
        _ => return None,
    };
    let qos = Qos {
        reliability,
        durability,
        history,
        depth: u16::try_from(depth).unwrap_or(u16::MAX),
        deadline,
        lifespan,
        liveliness,
        liveliness_lease: parse_period(lease)?,
    };
    parts.next().is_none().then_some(qos)
}

const DEFAULT_DEPTH: u64 = 42;

fn parse_period(text: &str) -> Option<Option<Duration>> {
    let (s, ns) = text.split_once(',')?;
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let (s, ns) = (number(s)?, number(ns)?);
    let ns = u32::try_from(ns).ok().filter(|ns| *ns < 1_000_000_000)?;
    Some(Some(Duration::new(s, ns)).filter(|period| is_finite(*period)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn common_profiles_are_written_as_rmw_zenoh_does() {
        let timed = Qos {
            deadline: Some(Duration::from_millis(1500)),
            lifespan: Some(Duration::from_secs(2)),
            liveliness: Liveliness::ManualByTopic,
            liveliness_lease: Some(Duration::new(3, 4)),
            history: History::KeepAll,
            ..Qos::latched(1)
        };
        for (qos, text) in [
            (Qos::reliable(), "::,10:,:,:,,"),
            (Qos::sensor_data(), "2::,5:,:,:,,"),
            (Qos::latched(1), ":1:,1:,:,:,,"),
            (timed, ":1:2,1:1,500000000:2,0:3,3,4"),
        ] {
            assert_eq!(write(qos), text);
            assert_eq!(parse(text), Some(qos));
        }
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        let default = Qos::reliable().with_depth(42);
        for text in ["::,:,:,:,,", "0:2:1,42:0,0:9223372036,854775807:1,,", "1:0:0,:,:,:2,,0"] {
            assert_eq!(parse(text), Some(default), "{text}");
        }
        assert_eq!(parse("::,70000:,:,:,,"), Some(default.with_depth(u16::MAX)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "::",
            "::,10:,:,",
            "::10:,:,:,,",
            "3::,10:,:,:,,",
            ":3:,10:,:,:,,",
            "::3,10:,:,:,,",
            "::,x:,:,:,,",
            "::,-1:,:,:,,",
            "::,10:,1000000000:,:,,",
            "::,10:,:,:4,,",
            "::,10:,:,:,,:",
            "::,10:1:,:,,",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9:,x-]{0,40}") {
            if let Some(qos) = parse(&text) {
                prop_assert_eq!(parse(&write(qos)), Some(qos));
            }
        }
    }
}
