//! What happens to our endpoints, in words for the log: missed deadlines, publishers that are not alive, lost messages.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rostrans_core::{
    throttle::SUMMARY_INTERVAL,
    topic::{Qos, Reliability, TopicSpec},
};
use rostrans_rtps::{Event, Guid};
use tokio::sync::Notify;

/// Collects the engine's events and lets each kind of each endpoint through at most once in [`SUMMARY_INTERVAL`].
#[derive(Default)]
pub(crate) struct Complaints {
    state: Mutex<State>,
    /// Something was heard.
    pub(crate) news: Notify,
}

#[derive(Default)]
struct State {
    /// Our endpoints.
    topics: HashMap<Guid, (String, Qos)>,
    heard: BTreeMap<(Guid, Guid, What), Heard>,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// Nothing came (or went) within the deadline.
    Deadline,
    /// A publisher is not alive.
    Dead,
    /// It is alive again.
    Revived,
    /// A publisher of ours was silent for its lease.
    Silent,
    /// Messages that never reached us.
    Lost,
}

#[derive(Default)]
struct Heard {
    count: u64,
    told: Option<Instant>,
}

/// Kinds of complaints remembered at one time; more are left to the counters.
const MAX_HEARD: usize = 1024;

impl Complaints {
    /// Names an endpoint until the guard is dropped.
    pub(crate) fn watch(self: &Arc<Self>, endpoint: Guid, topic: &TopicSpec) -> Watched {
        self.lock().topics.insert(endpoint, (topic.name.to_string(), topic.qos));
        Watched { complaints: Arc::clone(self), endpoint }
    }

    /// Takes an event of the engine.
    pub(crate) fn hear(&self, event: &Event) {
        let (what, ours, theirs, count) = match event {
            Event::DeadlineMissed { endpoint, count } => (What::Deadline, endpoint, &Guid::UNKNOWN, *count),
            Event::LivelinessChanged { reader, writer, alive: true } => (What::Revived, reader, writer, 1),
            Event::LivelinessChanged { reader, writer, alive: false } => (What::Dead, reader, writer, 1),
            Event::LivelinessLost { writer } => (What::Silent, writer, &Guid::UNKNOWN, 1),
            Event::SamplesLost { reader, writer, count } => (What::Lost, reader, writer, *count),
            // The graph has these, and tells them while they last.
            Event::IncompatibleQos { .. } => return,
        };
        let mut state = self.lock();
        let key = (*ours, *theirs, what);
        if !state.topics.contains_key(ours)
            || (state.heard.len() >= MAX_HEARD && !state.heard.contains_key(&key))
        {
            return;
        }
        state.heard.entry(key).or_default().count += count;
        drop(state);
        self.news.notify_one();
    }

    /// The complaints to tell now, and when to look again if nothing new is heard.
    pub(crate) fn due(&self, now: Instant) -> (Vec<Complaint>, Option<Instant>) {
        let (mut due, mut next) = (Vec::new(), None);
        let mut state = self.lock();
        let State { topics, heard } = &mut *state;
        heard.retain(|(ours, theirs, what), heard| {
            let Some((topic, qos)) = topics.get(ours) else { return false };
            let ready = heard.told.map_or(now, |at| at + SUMMARY_INTERVAL);
            if ready > now {
                next = Some(next.map_or(ready, |at: Instant| at.min(ready)));
                return true;
            }
            if heard.count == 0 {
                return false;
            }
            due.push(Complaint {
                what: *what,
                topic: topic.clone(),
                qos: *qos,
                ours: *ours,
                theirs: *theirs,
                count: std::mem::take(&mut heard.count),
                peers: Vec::new(),
            });
            heard.told = Some(now);
            let again = now + SUMMARY_INTERVAL;
            next = Some(next.map_or(again, |at: Instant| at.min(again)));
            true
        });
        (due, next)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps an endpoint's name known.
pub(crate) struct Watched {
    complaints: Arc<Complaints>,
    endpoint: Guid,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.complaints.lock().topics.remove(&self.endpoint);
    }
}

/// Something to tell people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) what: What,
    topic: String,
    qos: Qos,
    pub(crate) ours: Guid,
    /// The other side, when it is one.
    pub(crate) theirs: Guid,
    /// How many times.
    count: u64,
    /// The nodes on the other side, as far as they are known.
    pub(crate) peers: Vec<String>,
}

impl Complaint {
    /// Whether nothing is wrong or nothing else was promised: best effort may lose.
    pub(crate) fn is_minor(&self) -> bool {
        match self.what {
            What::Lost => self.qos.reliability == Reliability::BestEffort,
            What::Revived => true,
            What::Deadline | What::Dead | What::Silent => false,
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = |period: Option<Duration>| period.unwrap_or_default();
        let peers = if self.peers.is_empty() { "a node".to_owned() } else { self.peers.join(", ") };
        write!(f, "topic '{}': ", self.topic)?;
        match self.what {
            What::Deadline if self.ours.is_reader() => {
                write!(f, "nothing from {peers} within the deadline of {:?}", period(self.qos.deadline))?;
            }
            What::Deadline => {
                write!(f, "nothing was published within the deadline of {:?}", period(self.qos.deadline))?;
            }
            What::Dead => write!(f, "its publisher {peers} is not alive any more")?,
            What::Revived => write!(f, "its publisher {peers} is alive again")?,
            What::Silent => {
                let lease = period(self.qos.liveliness_lease);
                write!(f, "nothing was published for its liveliness lease of {lease:?}")?;
            }
            What::Lost if self.count == 1 => return write!(f, "a message from {peers} was lost"),
            What::Lost => return write!(f, "{} messages from {peers} were lost", self.count),
        }
        if self.count > 1 {
            write!(f, ", {} times in {:?}", self.count, SUMMARY_INTERVAL)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rostrans_core::topic::TopicName;
    use rostrans_schema::TypeName;

    use super::*;

    fn guid(kind: u8) -> Guid {
        Guid { prefix: [1; 12], entity: [0, 0, 1, kind] }
    }

    fn watched(complaints: &Arc<Complaints>, endpoint: Guid) -> Watched {
        let qos = Qos {
            deadline: Some(Duration::from_millis(100)),
            liveliness_lease: Some(Duration::from_secs(1)),
            ..Qos::sensor_data()
        };
        let msg_type = TypeName::message("std_msgs/String").unwrap();
        complaints.watch(endpoint, &TopicSpec { name: TopicName::parse("/x").unwrap(), msg_type, qos })
    }

    #[test]
    fn a_flood_is_one_line_at_once_and_one_per_interval() {
        let complaints = Arc::<Complaints>::default();
        let _watched = watched(&complaints, guid(4));
        let start = Instant::now();
        let mut told = Vec::new();
        for tenth in 0..=250 {
            complaints.hear(&Event::DeadlineMissed { endpoint: guid(4), count: 1 });
            let (due, next) = complaints.due(start + Duration::from_millis(tenth * 100));
            told.extend(due.into_iter().map(|c| (tenth, c.count)));
            assert!(next.is_some());
        }
        assert_eq!(told, [(0, 1), (100, 100), (200, 100)]);
        let (due, next) = complaints.due(start + Duration::from_secs(60));
        assert_eq!((due.len(), next), (1, Some(start + Duration::from_secs(70))));
        assert_eq!(complaints.due(start + Duration::from_secs(80)), (Vec::new(), None));
    }

    #[test]
    fn strangers_and_endpoints_that_are_gone_are_not_told() {
        let complaints = Arc::<Complaints>::default();
        let watched = watched(&complaints, guid(3));
        let lost = Event::LivelinessLost { writer: guid(3) };
        complaints.hear(&lost);
        drop(watched);
        complaints.hear(&lost);
        assert_eq!(complaints.due(Instant::now()), (Vec::new(), None));
    }

    #[test]
    fn text_says_what_and_how_often() {
        let complaints = Arc::<Complaints>::default();
        let _watched = [guid(3), guid(4)].map(|endpoint| watched(&complaints, endpoint));
        let (reader, writer) = (guid(4), Guid { prefix: [9; 12], ..guid(3) });
        for event in [
            Event::DeadlineMissed { endpoint: guid(3), count: 1 },
            Event::DeadlineMissed { endpoint: reader, count: 12 },
            Event::LivelinessChanged { reader, writer, alive: false },
            Event::LivelinessChanged { reader, writer, alive: true },
            Event::LivelinessLost { writer: guid(3) },
            Event::SamplesLost { reader, writer, count: 3 },
        ] {
            complaints.hear(&event);
        }
        let (due, _) = complaints.due(Instant::now());
        let text = |c: Complaint| Complaint { peers: vec!["/talker".into()], ..c }.to_string();
        let lines: Vec<_> = due.into_iter().map(text).collect();
        assert_eq!(
            lines,
            [
                "topic '/x': nothing was published within the deadline of 100ms",
                "topic '/x': nothing was published for its liveliness lease of 1s",
                "topic '/x': nothing from /talker within the deadline of 100ms, 12 times in 10s",
                "topic '/x': its publisher /talker is not alive any more",
                "topic '/x': its publisher /talker is alive again",
                "topic '/x': 3 messages from /talker were lost",
            ]
        );
    }
}
