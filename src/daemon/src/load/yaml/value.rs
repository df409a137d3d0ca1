//! Single values: what a key may hold, and what to say when it holds something else.

use std::{net::IpAddr, ops::RangeInclusive, time::Duration};

use rostrans_core::{
    rule::{Device, MavUrl, SerialSpec},
    text::excerpt,
    topic::{Durability, History, Liveliness, Qos, Reliability},
};
use serde_json::{Map, Number, Value};

use super::{
    fields::{Cx, Fields},
    tree::{Entry, Kind, Node},
};

/// A word or text.
pub(super) fn text<'n>(entry: &'n Entry, cx: &mut Cx<'_>) -> Option<&'n str> {
    match &entry.value.kind {
        Kind::Scalar { text, .. } => Some(text.trim()),
        Kind::List(_) | Kind::Map(_) => {
            let message = format!("'{}' must be a text, not {}", entry.key, entry.value.describe());
            cx.error(entry.line, message, format!("write '{}: ...' on one line", entry.key));
            None
        }
    }
}

/// `true` or `false`, in YAML's spellings and the older ones.
pub(super) fn boolean(entry: &Entry, cx: &mut Cx<'_>) -> Option<bool> {
    let parsed = rostrans_core::text::boolean(text(entry, cx)?);
    if parsed.is_none() {
        let message = format!("'{}' must be true or false, not {}", entry.key, entry.value.describe());
        cx.error(entry.line, message, format!("write '{}: true' or '{}: false'", entry.key, entry.key));
    }
    parsed
}

/// A whole number within bounds.
pub(super) fn int(entry: &Entry, range: RangeInclusive<u32>, cx: &mut Cx<'_>) -> Option<u32> {
    let number = text(entry, cx)?.parse().ok().filter(|number| range.contains(number));
    if number.is_none() {
        let message = format!(
            "'{}' must be a whole number from {} to {}, not {}",
            entry.key,
            range.start(),
            range.end(),
            entry.value.describe()
        );
        cx.error(entry.line, message, "");
    }
    number
}

/// Messages a second, with a fraction if need be; 0 stands for no limit.
pub(super) fn rate(entry: &Entry, cx: &mut Cx<'_>) -> Option<f64> {
    let in_range = |rate: &f64| *rate == 0.0 || (MIN_RATE..=MAX_RATE).contains(rate);
    let rate = text(entry, cx)?.parse().ok().filter(in_range);
    if rate.is_none() {
        let message = format!(
            "'{}' must be messages a second from {MIN_RATE} to {MAX_RATE}, or 0 for no limit, not {}",
            entry.key,
            entry.value.describe()
        );
        cx.error(entry.line, message, "");
    }
    rate
}

/// One message in a thousand seconds; whoever wants less wants none.
const MIN_RATE: f64 = 0.001;
/// More messages per second than any link carries.
const MAX_RATE: f64 = 1_000_000.0;

/// A port number.
pub(super) fn port(entry: &Entry, smallest: u16, cx: &mut Cx<'_>) -> Option<u16> {
    int(entry, u32::from(smallest)..=u32::from(u16::MAX), cx).and_then(|n| u16::try_from(n).ok())
}

/// An IPv4 or IPv6 address, or `localhost`.
pub(super) fn ip(entry: &Entry, cx: &mut Cx<'_>) -> Option<IpAddr> {
    let parsed = rostrans_core::text::ip(text(entry, cx)?);
    if parsed.is_none() {
        let message = format!("'{}' must be an IP address, not {}", entry.key, entry.value.describe());
        cx.error(entry.line, message, format!("write e.g. '{}: 192.168.1.10'", entry.key));
    }
    parsed
}

/// `/dev/ttyUSB0:921600`.
pub(super) fn serial(entry: &Entry, cx: &mut Cx<'_>) -> Option<SerialSpec> {
    match SerialSpec::parse(text(entry, cx)?, None) {
        Ok(spec) => Some(spec),
        Err(error) => {
            cx.error(entry.line, format!("'{}': {error}", entry.key), "");
            None
        }
    }
}

/// A connection URL; own ids are options of `mavlink.link`.
pub(super) fn url(entry: &Entry, cx: &mut Cx<'_>) -> Option<Device> {
    let text = text(entry, cx)?;
    match MavUrl::parse(text) {
        Ok(MavUrl { device, ids: None }) => Some(device),
        Ok(MavUrl { ids: Some(_), .. }) => {
            let help = "write 'own_sysid' and 'own_compid' under 'options' of the link 'mavlink.link'";
            cx.error(entry.line, format!("'ids=' in 'url' '{}'", excerpt(text)), help);
            None
        }
        Err(error) => {
            cx.error(entry.line, format!("invalid 'url' '{}': {}", excerpt(text), error.problem), error.help);
            None
        }
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(entry: &Entry, words: &[(&str, T)], cx: &mut Cx<'_>) -> Option<T> {
    let text = text(entry, cx)?;
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value);
    if found.is_none() {
        let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let help = rostrans_core::suggest::did_you_mean(
            text,
            all.iter().copied(),
            format!("write one of {}", all.join(", ")),
        );
        cx.error(entry.line, format!("unknown {} {}", entry.key, entry.value.describe()), help);
    }
    found
}

/// A period such as `100ms`, `0.5 s` or, in seconds, `0.5`.
pub(super) fn period(entry: &Entry, cx: &mut Cx<'_>) -> Option<Duration> {
    let text = text(entry, cx)?;
    let (number, nanoseconds) = ["ns", "us", "ms", "s"]
        .into_iter()
        .zip([1.0, 1e3, 1e6, 1e9])
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .unwrap_or((text, 1e9));
    let parsed = number.trim_end().parse::<f64>().ok().map(|n| n * nanoseconds);
    // Compared before the conversion, which takes no infinity.
    let possible = parsed.filter(|ns| (MIN_PERIOD_NS..=MAX_PERIOD_NS).contains(ns));
    if possible.is_none() {
        let problem = format!("{} is no period: {}", entry.key, entry.value.describe());
        cx.error(entry.line, problem, "write e.g. 100ms or 1.5s, from 1 ms to a year; leave it out for none");
    }
    possible.map(|ns| Duration::from_secs_f64(ns / 1e9))
}

const MIN_PERIOD_NS: f64 = 1e6;
const MAX_PERIOD_NS: f64 = 365.0 * 86_400.0 * 1e9;

/// `qos: sensor_data`, or a block of single policies that change `base`.
pub(super) fn qos(entry: &Entry, base: Qos, cx: &mut Cx<'_>) -> Qos {
    let presets =
        [("sensor_data", Qos::sensor_data()), ("reliable", Qos::reliable()), ("latched", Qos::latched(1))];
    if let Kind::Scalar { .. } = entry.value.kind {
        return choice(entry, &presets, cx).unwrap_or(base);
    }
    let Some(mut fields) = Fields::open(&entry.value, "'qos'", cx) else { return base };
    let mut qos = base;
    if let Some(entry) = fields.take("reliability") {
        let words = [("best_effort", Reliability::BestEffort), ("reliable", Reliability::Reliable)];
        qos.reliability = choice(entry, &words, cx).unwrap_or(qos.reliability);
    }
    if let Some(entry) = fields.take("durability") {
        let words = [("volatile", Durability::Volatile), ("transient_local", Durability::TransientLocal)];
        qos.durability = choice(entry, &words, cx).unwrap_or(qos.durability);
    }
    if let Some(entry) = fields.take("history") {
        let words = [("keep_last", History::KeepLast), ("keep_all", History::KeepAll)];
        qos.history = choice(entry, &words, cx).unwrap_or(qos.history);
    }
    if let Some(entry) = fields.take("depth") {
        let depth = int(entry, 1..=MAX_DEPTH, cx).and_then(|n| u16::try_from(n).ok());
        qos.depth = depth.unwrap_or(qos.depth);
    }
    if let Some(entry) = fields.take("liveliness") {
        let words = [("automatic", Liveliness::Automatic), ("manual_by_topic", Liveliness::ManualByTopic)];
        qos.liveliness = choice(entry, &words, cx).unwrap_or(qos.liveliness);
    }
    for (key, to) in [
        ("deadline", &mut qos.deadline),
        ("lifespan", &mut qos.lifespan),
        ("liveliness_lease_duration", &mut qos.liveliness_lease),
    ] {
        if let Some(entry) = fields.take(key) {
            *to = period(entry, cx).or(*to);
        }
    }
    fields.finish("'qos'", cx);
    qos
}

/// Samples a publisher may keep for late or slow readers.
const MAX_DEPTH: u32 = 10_000;

/// Any value, by the rules of the YAML 1.2 core schema.
pub(super) fn json(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar { text, quoted: true } => Value::String(text.clone()),
        Kind::Scalar { text, quoted: false } => plain(text),
        Kind::List(items) => Value::Array(items.iter().map(|item| json(item)).collect()),
        Kind::Map(entries) => Value::Object(object(entries)),
    }
}

/// A block as JSON object.
pub(in crate::load) fn object(entries: &[Entry]) -> Map<String, Value> {
    entries.iter().map(|entry| (entry.key.clone(), json(&entry.value))).collect()
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let based = |prefix, radix| text.strip_prefix(prefix).and_then(|t| u64::from_str_radix(t, radix).ok());
    if let Some(number) = based("0x", 16).or_else(|| based("0o", 8)) {
        return Value::from(number);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Value::from(number);
    }
    // Words such as 'inf' and 'nan' parse as floats in Rust but are text in YAML.
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && !text.ends_with(['f', 'F', 'n', 'N', 'y', 'Y']);
    let float = text.parse::<f64>().ok().filter(|_| numeric).and_then(Number::from_f64);
    float.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_follow_the_core_schema() {
        for (text, json) in [
            ("~", "null"),
            ("True", "true"),
            ("yes", "\"yes\""),
            ("12", "12"),
            ("-3", "-3"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("1.5e3", "1500.0"),
            (".5", "0.5"),
            ("inf", "\"inf\""),
            ("-inf", "\"-inf\""),
            ("1e999", "\"1e999\""),
            ("1.2.3", "\"1.2.3\""),
            ("base_link", "\"base_link\""),
        ] {
            assert_eq!(plain(text).to_string(), json, "{text}");
        }
    }
}
