//! Endpoints of the RTPS engine with any QoS, driven by a test.
//!
//! The commands on stdin and the events on stdout are those of `test/peers/qos_peer.py`.

use std::{
    collections::BTreeMap,
    io::{BufRead, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use rostrans_adapter_dds::Discovery;
use rostrans_rtps::{
    EndpointQos, EndpointSpec, Event, Guid, History, Liveliness, Ownership, Participant, ParticipantConfig,
    Reader, Sample, Writer,
};
use serde_json::{Value, json};

fn main() -> Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    let discovery = Discovery::from_env(|name| std::env::var(name).ok())
        .map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let participant = Participant::new(ParticipantConfig {
        domain: discovery.domain,
        range: discovery.range,
        ..ParticipantConfig::default()
    })?;
    let names = Arc::new(Names::default());
    let told = Arc::clone(&names);
    participant.on_event(Arc::new(move |event| told.tell(event)));
    let mut probe = Probe { participant, names, writers: BTreeMap::new(), readers: BTreeMap::new() };
    say(&json!({ "event": "ready" }));
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        probe.obey(&command).with_context(|| command.to_string())?;
    }
    Ok(())
}

struct Probe {
    participant: Participant,
    names: Arc<Names>,
    writers: BTreeMap<String, Writer>,
    readers: BTreeMap<String, Reader>,
}

impl Probe {
    fn obey(&mut self, command: &Value) -> Result<()> {
        let text = |key| command.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = text("id").to_owned();
        let number = |key| command.get(key).and_then(Value::as_u64).with_context(|| format!("no '{key}'"));
        match text("do") {
            "pub" => {
                let mut names = self.names.lock();
                let writer = self.participant.create_writer(spec(text("topic"), command.get("qos"))?)?;
                names.insert(writer.guid(), Told::new(&id));
                drop(names);
                self.writers.insert(id.clone(), writer);
                say(&json!({ "event": "made", "id": id }));
            }
            "sub" => {
                let name = id.clone();
                let sink = move |sample: Sample| {
                    say(&json!({ "event": "sample", "id": name, "text": read_text(&sample.payload) }));
                };
                let mut names = self.names.lock();
                let reader = self
                    .participant
                    .create_reader(spec(text("topic"), command.get("qos"))?, Arc::new(sink))?;
                names.insert(reader.guid(), Told::new(&id));
                drop(names);
                self.readers.insert(id.clone(), reader);
                say(&json!({ "event": "made", "id": id }));
            }
            "write" => drop(self.writer(&id)?.write(&cdr_text(text("text")))?),
            "stream" => {
                let (count, period) = (number("count")?, Duration::from_millis(number("period_ms")?));
                let start = std::time::Instant::now();
                for n in 0..count {
                    self.writer(&id)?.write(&cdr_text(&n.to_string()))?;
                    let next = start + period * u32::try_from(n + 1)?;
                    std::thread::park_timeout(next.saturating_duration_since(std::time::Instant::now()));
                }
                say(&json!({ "event": "streamed", "id": id }));
            }
            "assert" if id.is_empty() => self.participant.assert_liveliness(),
            "assert" => self.writer(&id)?.assert_liveliness()?,
            "matched" => {
                let readers = self.readers.get(&id).map(Reader::matched);
                let count = readers.or_else(|| self.writers.get(&id).map(Writer::matched));
                say(&json!({ "event": "matched", "id": id, "count": count }));
            }
            "drop" => {
                self.writers.remove(&id);
                self.readers.remove(&id);
                say(&json!({ "event": "dropped", "id": id }));
            }
            other => bail!("unknown command '{other}'"),
        }
        Ok(())
    }

    fn writer(&self, id: &str) -> Result<&Writer> {
        self.writers.get(id).with_context(|| format!("no publisher '{id}'"))
    }
}

/// What endpoints are called, and what they have been told.
#[derive(Default)]
struct Names(Mutex<BTreeMap<Guid, Told>>);

#[derive(Default)]
struct Told {
    id: String,
    total: u64,
    not_alive: Vec<Guid>,
}

impl Told {
    fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }
}

impl Names {
    /// Held while an endpoint is made, so that it has a name before it has something to say.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Guid, Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event) {
        let mut names = self.lock();
        let (Event::DeadlineMissed { endpoint: ours, .. }
        | Event::LivelinessChanged { reader: ours, .. }
        | Event::LivelinessLost { writer: ours }
        | Event::IncompatibleQos { endpoint: ours, .. }
        | Event::SamplesLost { reader: ours, .. }) = event;
        let Some(told) = names.get_mut(ours) else { return };
        let line = match event {
            Event::DeadlineMissed { count, .. } => {
                told.total += count;
                json!({ "event": "deadline", "id": told.id, "total": told.total })
            }
            Event::LivelinessChanged { writer, alive, .. } => {
                told.not_alive.retain(|guid| guid != writer);
                if !alive {
                    told.not_alive.push(*writer);
                }
                json!({ "event": "liveliness", "id": told.id, "now": alive, "not_alive": told.not_alive.len() })
            }
            Event::LivelinessLost { .. } => {
                told.total += 1;
                json!({ "event": "lost", "id": told.id, "total": told.total })
            }
            Event::IncompatibleQos { policies, .. } => {
                let names: Vec<_> = policies.iter().map(|p| p.name()).collect();
                json!({ "event": "incompatible", "id": told.id, "policy": names.join(" ") })
            }
            Event::SamplesLost { count, .. } => {
                json!({ "event": "missing", "id": told.id, "count": count })
            }
        };
        say(&line);
    }
}

fn spec(topic: &str, qos: Option<&Value>) -> Result<EndpointSpec> {
    let get = |key| qos.and_then(|q| q.get(key));
    let flag = |key, default| get(key).and_then(Value::as_bool).unwrap_or(default);
    let period = |key| get(key).and_then(Value::as_u64).map(Duration::from_millis);
    let liveliness = match get("liveliness").and_then(Value::as_str).unwrap_or("automatic") {
        "automatic" => Liveliness::Automatic,
        "manual_by_participant" => Liveliness::ManualByParticipant,
        "manual_by_topic" => Liveliness::ManualByTopic,
        other => bail!("unknown liveliness '{other}'"),
    };
    let ownership = match get("strength").and_then(Value::as_i64) {
        Some(strength) => Ownership::Exclusive { strength: i32::try_from(strength)? },
        None => Ownership::Shared,
    };
    let depth = get("depth").and_then(Value::as_u64).unwrap_or(10);
    let partitions = get("partitions").and_then(Value::as_array).into_iter().flatten();
    Ok(EndpointSpec {
        topic: format!("rt{topic}"),
        type_name: "std_msgs::msg::dds_::String_".into(),
        qos: EndpointQos {
            reliable: flag("reliable", true),
            transient_local: flag("latched", false),
            history: match flag("keep_all", false) {
                true => History::KeepAll { bytes: 16 << 20 },
                false => History::KeepLast(u32::try_from(depth)?),
            },
            max_blocking: Duration::ZERO,
            deadline: period("deadline_ms"),
            lifespan: period("lifespan_ms"),
            liveliness,
            liveliness_lease: period("lease_ms"),
            ownership,
        },
        partitions: partitions.filter_map(Value::as_str).map(str::to_owned).collect(),
        user_data: Vec::new(),
    })
}

/// A `std_msgs/msg/String` in CDR.
fn cdr_text(text: &str) -> Bytes {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(u32::try_from(text.len() + 1).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.push(0);
    bytes.into()
}

fn read_text(payload: &[u8]) -> String {
    let text = payload.get(8..).unwrap_or_default();
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    String::from_utf8_lossy(text.get(..end).unwrap_or_default()).into_owned()
}

/// Prints one event; stdout may be gone when the test has ended.
fn say(event: &Value) {
    writeln!(std::io::stdout().lock(), "{event}").unwrap_or_default();
}
