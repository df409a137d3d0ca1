//! Two values side by side.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::meant::Meant;

/// Collects differences that are not meant.
pub(crate) struct Differences {
    meant: Vec<&'static Meant>,
    /// Entries of `meant` that applied.
    used: BTreeSet<usize>,
    stimulus: String,
    /// Clocks are synchronised: stamps are compared.
    synchronised: bool,
    wrong: Vec<String>,
    compared: usize,
}

impl Differences {
    pub(crate) fn new(meant: &[&'static [Meant]]) -> Self {
        let meant = meant.iter().flat_map(|list| list.iter()).collect();
        Self {
            meant,
            used: BTreeSet::new(),
            stimulus: String::new(),
            synchronised: false,
            wrong: Vec::new(),
            compared: 0,
        }
    }

    /// What follows is about this stimulus.
    pub(crate) fn stimulus(&mut self, name: &str, synchronised: bool) {
        name.clone_into(&mut self.stimulus);
        self.synchronised = synchronised;
    }

    /// Compares a published message.
    pub(crate) fn message(&mut self, topic: &str, got: &Value, want: &Value) {
        self.compare(topic, got, want);
    }

    /// Compares a response.
    pub(crate) fn response(&mut self, got: &Value, want: &Value) {
        self.compare("response", got, want);
    }

    /// Compares two frames in words.
    pub(crate) fn frame(&mut self, got: &str, want: &str) {
        let name = got.split(' ').next().unwrap_or_default().to_owned();
        self.compare(&name, &fields(got), &fields(want));
    }

    /// Nothing came where MAVROS published or sent something.
    pub(crate) fn missing(&mut self, what: &str) {
        let name = what.split(' ').next().unwrap_or_default();
        self.report(name, "missing", &format!("missing {what}"));
    }

    /// A topic that is not offered at all.
    pub(crate) fn absent(&mut self, topic: &str) {
        self.report(topic, "absent", &format!("topic {topic} is not offered"));
    }

    /// Something came that MAVROS did not publish or send.
    pub(crate) fn surplus(&mut self, what: &str, value: &Value) {
        self.report(what, "surplus", &format!("{what} that MAVROS does not have: {value}"));
    }

    /// Fails if anything was wrong.
    pub(crate) fn finish(self) {
        let mut wrong = self.wrong;
        let unused = self.meant.iter().enumerate().filter(|(index, _)| !self.used.contains(index));
        wrong.extend(unused.map(|(_, m)| format!("no longer differs: {m:?}")));
        assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
        assert!(self.compared > 6000, "compared {} values", self.compared);
    }

    fn report(&mut self, what: &str, path: &str, text: &str) {
        let mut is_meant = false;
        for (index, m) in self.meant.iter().enumerate() {
            if self.stimulus.starts_with(m.0) && what.starts_with(m.1) && path.starts_with(m.2) {
                self.used.insert(index);
                is_meant = true;
            }
        }
        if !is_meant {
            self.wrong.push(format!("{}: {text}", self.stimulus));
        }
    }

    fn compare(&mut self, what: &str, got: &Value, want: &Value) {
        let mut todo = vec![(String::new(), got, want)];
        while let Some((path, got, want)) = todo.pop() {
            let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            match (got, want) {
                (Value::Object(got), Value::Object(want)) if !is_quaternion(want) => {
                    for (name, value) in got {
                        match want.get(name) {
                            Some(Value::Object(stamp)) if stamp.contains_key("nanosec") => {
                                let late = seconds(value) - seconds(&want[name]);
                                if self.synchronised && late.abs() > STAMP_TOLERANCE_S {
                                    self.differ(what, &join(name), value, &want[name]);
                                }
                            }
                            Some(other) => todo.push((join(name), value, other)),
                            None => self.differ(what, &join(name), value, &Value::Null),
                        }
                    }
                    for name in want.keys().filter(|name| !got.contains_key(*name)) {
                        self.differ(what, &join(name), &Value::Null, &want[name]);
                    }
                }
                (Value::Array(q), Value::Array(r)) if is_rotation(&path, r) => {
                    self.compared += 1;
                    let dot: f64 =
                        q.iter().zip(r).map(|(a, b)| a.as_f64().unwrap() * b.as_f64().unwrap()).sum();
                    if (dot.abs() - 1.0).abs() > 1e-6 {
                        self.differ(what, &path, got, want);
                    }
                }
                (Value::Array(got), Value::Array(want)) if got.len() == want.len() => {
                    for (index, (got, want)) in got.iter().zip(want).enumerate() {
                        todo.push((format!("{path}[{index}]"), got, want));
                    }
                }
                _ => {
                    self.compared += 1;
                    if !same(&path, got, want) {
                        self.differ(what, &path, got, want);
                    }
                }
            }
        }
    }

    fn differ(&mut self, what: &str, path: &str, got: &Value, want: &Value) {
        self.report(what, path, &format!("{what} {path}: {got}, MAVROS {want}"));
    }
}

/// The fields of `Name { a: 1, b: [2.0, NaN] }`.
fn fields(text: &str) -> Value {
    let Some((_, inner)) = text.split_once('{') else { return json!(text) };
    let inner = inner.trim_end_matches('}').trim().trim_end_matches(',');
    let mut object = Map::new();
    let mut rest = inner;
    while let Some((name, tail)) = rest.split_once(": ") {
        let end = if tail.starts_with('[') {
            tail.find(']').unwrap() + 1
        } else {
            tail.find(',').unwrap_or(tail.len())
        };
        let (value, tail) = tail.split_at(end);
        let value =
            value.replace("NaN", "\"NaN\"").replace("-inf", "\"-Infinity\"").replace("inf", "\"Infinity\"");
        object.insert(name.trim().to_owned(), serde_json::from_str(&value).unwrap_or_else(|_| json!(value)));
        rest = tail.trim_start_matches(',').trim_start();
    }
    Value::Object(object)
}

fn seconds(stamp: &Value) -> f64 {
    stamp["sec"].as_f64().unwrap() + stamp["nanosec"].as_f64().unwrap() / 1e9
}

/// The recording's processes took their time.
const STAMP_TOLERANCE_S: f64 = 0.02;

/// MAVLink's quaternions; their sign says nothing.
fn is_rotation(path: &str, values: &[Value]) -> bool {
    path == "q" && values.len() == 4
}

fn is_quaternion(object: &Map<String, Value>) -> bool {
    object.len() == 4 && object.contains_key("w")
}

fn same(path: &str, got: &Value, want: &Value) -> bool {
    if let (Some(got), Some(want)) = (got.as_object(), want.as_object()) {
        let component = |q: &Map<String, Value>, name: &str| q[name].as_f64().unwrap();
        let dot: f64 = ["w", "x", "y", "z"].iter().map(|n| component(got, n) * component(want, n)).sum();
        let norm: f64 = ["w", "x", "y", "z"].iter().map(|n| component(want, n).powi(2)).sum();
        return (dot.abs() - norm).abs() < 1e-6;
    }
    match (got.as_f64(), want.as_f64()) {
        (Some(got), Some(want)) => {
            // The recording has a grid for the geoid; ours comes from the receiver.
            let tolerance = match want.abs() {
                // Metres on topics, millimetres in messages.
                size if path.ends_with("altitude") && size > 1e4 => 200.0,
                size if path.ends_with("altitude") && size > 1e2 => 0.2,
                size => 2e-6 * size.max(1.0),
            };
            (got - want).abs() <= tolerance
        }
        _ => got == want || (got == "NaN" && want == "nan"),
    }
}
