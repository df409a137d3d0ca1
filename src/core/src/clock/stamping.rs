//! Which stamps messages leave with: policies, and where in a sample stamps are.

use std::time::Duration;

use rostrans_cdr::HEADER_LEN;
use rostrans_schema::{FieldType, TypeName, TypeRegistry, definition::Arity};

use super::RosTime;

/// What `header.stamp` becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampPolicy {
    /// The time of measurement where the sender tells it, else that of receipt.
    Source,
    /// The time of receipt.
    Receive,
    /// The time of publication.
    Now,
    /// What the sender wrote, unchecked and whatever the clock does.
    Passthrough,
    /// Zero.
    None,
}

/// What to do with a stamp outside its [`Window`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Implausible {
    /// Stamp with the time of receipt.
    #[default]
    Receive,
    /// Drop the message.
    Drop,
    /// Leave it.
    Keep,
}

/// Which times of measurement are plausible beside the time of receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// How far a stamp may be behind.
    pub max_age: Duration,
    /// How far it may be ahead.
    pub max_ahead: Duration,
    /// What to do with others.
    pub implausible: Implausible,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(10),
            max_ahead: Duration::from_secs(1),
            implausible: Implausible::default(),
        }
    }
}

/// How the messages of a rule are stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamping {
    /// What stamps become.
    pub policy: StampPolicy,
    /// Checks stamps of [`StampPolicy::Source`].
    pub window: Option<Window>,
}

impl Stamping {
    /// As the codec does it, unchecked.
    pub const AS_IS: Self = Self { policy: StampPolicy::Source, window: None };

    /// A policy with the usual check.
    pub fn new(policy: StampPolicy) -> Self {
        Self { policy, window: (policy == StampPolicy::Source).then(Window::default) }
    }

    /// Whether messages leave only while the clock has a time.
    pub fn is_gated(self) -> bool {
        !matches!(self.policy, StampPolicy::Passthrough | StampPolicy::None)
    }

    /// What the times of receipt and publication make of stamps; `None` when all stay.
    pub(crate) fn fix(self, received: RosTime, now: impl FnOnce() -> RosTime) -> Option<Fix> {
        let all = |to| Some(Fix { to, window: None });
        match self.policy {
            StampPolicy::Passthrough => None,
            StampPolicy::Receive => all(received),
            StampPolicy::Now => all(now()),
            StampPolicy::None => all(RosTime::default()),
            StampPolicy::Source => Some(Fix { to: received, window: Some(self.window?) }),
        }
    }
}

/// What stamps of one message become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fix {
    /// What those become that change.
    pub(crate) to: RosTime,
    /// Those within it stay.
    window: Option<Window>,
}

/// What one stamp becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It stays.
    Keep,
    /// The time of receipt or whatever the policy says; not because of the stamp.
    Set,
    /// It is implausible.
    Implausible(Implausible),
}

impl Fix {
    /// What a stamp of `stamp` becomes.
    pub(crate) fn judge(&self, stamp: RosTime) -> Judged {
        let Some(window) = self.window else { return Judged::Set };
        if stamp == RosTime::default() {
            // Nobody has told the time of measurement.
            return Judged::Set;
        }
        let ns = |duration: Duration| RosTime::of_ns(duration.as_nanos()).ns;
        let oldest = self.to.ns.saturating_sub(ns(window.max_age));
        let newest = self.to.ns.saturating_add(ns(window.max_ahead));
        if (oldest..=newest).contains(&stamp.ns) {
            Judged::Keep
        } else {
            Judged::Implausible(window.implausible)
        }
    }
}

/// Where in samples of a type stamps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamped {
    /// Nowhere.
    #[default]
    No,
    /// In the `std_msgs/Header` it begins with.
    Header,
    /// In each transform of a `tf2_msgs/TFMessage`.
    Transforms,
}

impl Stamped {
    /// Where stamps of a message type are.
    pub fn of(types: &TypeRegistry, name: &TypeName) -> Self {
        let Ok(message) = types.message(name) else { return Self::No };
        let first = message.shape().fields().first();
        match first.map(|field| (&field.field_type, field.arity)) {
            Some((FieldType::Message(shape), Arity::One)) if is(shape.name(), "std_msgs", "Header") => {
                Self::Header
            }
            Some((FieldType::Message(shape), Arity::Sequence(_)))
                if is(shape.name(), "geometry_msgs", "TransformStamped")
                    && message.shape().fields().len() == 1 =>
            {
                Self::Transforms
            }
            _ => Self::No,
        }
    }

    /// The places of the stamps in `sample`: 8 bytes each, seconds and nanoseconds.
    ///
    /// A sample that ends too soon, or is no XCDR1, has no more of them.
    pub(crate) fn sites(self, sample: &[u8]) -> Sites {
        let mut sites = Sites { stamped: self, left: 0, at: HEADER_LEN, little: false };
        let Some(&[0, order @ (0 | 1)]) = sample.first_chunk::<2>() else { return sites };
        sites.little = order == 1;
        sites.left = match self {
            Self::No => 0,
            Self::Header => 1,
            Self::Transforms => sites.length(sample).unwrap_or(0),
        };
        sites
    }
}

fn is(name: &TypeName, package: &str, short: &str) -> bool {
    name.package() == package && name.short() == short
}

/// Bytes of a stamp.
const STAMP: usize = 8;

/// Walks over the stamps of a sample, which may change on the way.
pub(crate) struct Sites {
    stamped: Stamped,
    left: usize,
    at: usize,
    little: bool,
}

impl Sites {
    /// The place of the next stamp.
    pub(crate) fn next(&mut self, sample: &[u8]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let found = match self.stamped {
            Stamped::Transforms => self.transform(sample),
            Stamped::Header => Some(self.at).filter(|at| at + STAMP <= sample.len()),
            Stamped::No => None,
        };
        if found.is_none() {
            self.left = 0;
        }
        found
    }

    /// Steps over a `TransformStamped`; gives the place of its stamp.
    ///
    /// **Layout**: stamp, `header.frame_id`, `child_frame_id`, then seven 64-bit numbers.
    fn transform(&mut self, sample: &[u8]) -> Option<usize> {
        self.align(4, sample)?;
        let stamp = self.at;
        self.skip(STAMP, sample)?;
        for _ in 0..2 {
            let text = self.length(sample)?;
            self.skip(text, sample)?;
        }
        self.align(8, sample)?;
        self.skip(7 * 8, sample)?;
        Some(stamp)
    }

    fn length(&mut self, sample: &[u8]) -> Option<usize> {
        self.align(4, sample)?;
        let bytes = *sample.get(self.at..)?.first_chunk::<4>()?;
        self.at += 4;
        let length = if self.little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        usize::try_from(length).ok()
    }

    fn align(&mut self, to: usize, sample: &[u8]) -> Option<()> {
        let body = self.at.checked_sub(HEADER_LEN)?;
        self.skip(body.next_multiple_of(to) - body, sample)
    }

    fn skip(&mut self, bytes: usize, sample: &[u8]) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|at| *at <= sample.len())?;
        Some(())
    }
}

/// The stamp at a place that [`Sites::next`] gave.
pub(crate) fn read(sample: &[u8], at: usize) -> RosTime {
    let Some((sec, rest)) = sample.get(at..).and_then(<[u8]>::split_first_chunk::<4>) else {
        return RosTime::default();
    };
    let nanosec = *rest.first_chunk::<4>().unwrap_or(&[0; 4]);
    if sample.get(1) == Some(&1) {
        RosTime::new(i32::from_le_bytes(*sec), u32::from_le_bytes(nanosec))
    } else {
        RosTime::new(i32::from_be_bytes(*sec), u32::from_be_bytes(nanosec))
    }
}

/// Writes a stamp to such a place.
pub(crate) fn write(sample: &mut [u8], at: usize, time: RosTime) {
    let little = sample.get(1) == Some(&1);
    let (sec, nanosec) = (time.sec(), time.nanosec());
    let (sec, nanosec) = if little {
        (sec.to_le_bytes(), nanosec.to_le_bytes())
    } else {
        (sec.to_be_bytes(), nanosec.to_be_bytes())
    };
    if let Some(place) = sample.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<STAMP>) {
        let (first, second) = place.split_at_mut(4);
        first.copy_from_slice(&sec);
        second.copy_from_slice(&nanosec);
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn places(stamped: Stamped, sample: &[u8]) -> Vec<usize> {
        let mut sites = stamped.sites(sample);
        std::iter::from_fn(|| sites.next(sample)).collect()
    }

    #[test]
    fn headers_and_transforms_are_found_by_type() {
        let types = TypeRegistry::bundled();
        let of = |name| Stamped::of(&types, &TypeName::message(name).unwrap());
        assert_eq!(of("sensor_msgs/msg/Imu"), Stamped::Header);
        assert_eq!(of("tf2_msgs/msg/TFMessage"), Stamped::Transforms);
        assert_eq!(of("std_msgs/msg/String"), Stamped::No);
        assert_eq!(of("std_msgs/msg/Header"), Stamped::No, "a header is not stamped, it is a stamp");
        assert_eq!(of("not_there/msg/Imu"), Stamped::No);
    }

    #[test]
    fn stamps_of_all_transforms_are_found_and_written() {
        let types = TypeRegistry::bundled();
        let message = types.message(&TypeName::message("tf2_msgs/msg/TFMessage").unwrap()).unwrap();
        let transform = |sec: i32, frame: &str| json!({"header": {"stamp": {"sec": sec, "nanosec": 7}, "frame_id": frame}, "child_frame_id": "base"});
        let all = json!({"transforms": [transform(1, "m"), transform(2, "map"), transform(3, "")]});
        let sample = message.json_to_cdr(&all, &mut BytesMut::new()).unwrap();
        let found = places(Stamped::Transforms, &sample);
        let seconds: Vec<i32> = found.iter().map(|at| read(&sample, *at).sec()).collect();
        assert_eq!(seconds, [1, 2, 3]);
        let mut changed = sample.to_vec();
        found.iter().for_each(|at| write(&mut changed, *at, RosTime::new(40, 5)));
        let back = message.cdr_to_json(&changed).unwrap();
        for (index, frame) in ["m", "map", ""].into_iter().enumerate() {
            let transform = &back["transforms"][index];
            assert_eq!(transform["header"]["stamp"], json!({"sec": 40, "nanosec": 5}));
            assert_eq!(transform["header"]["frame_id"], json!(frame));
        }
        assert_eq!(places(Stamped::Transforms, sample.get(..sample.len() - 1).unwrap()).len(), 2);
    }

    #[test]
    fn both_byte_orders_read_back() {
        for order in [0, 1] {
            let mut sample = vec![0, order, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
            assert_eq!(places(Stamped::Header, &sample), [4]);
            write(&mut sample, 4, RosTime::new(12, 470_000_000));
            assert_eq!(read(&sample, 4), RosTime::new(12, 470_000_000), "{order}");
        }
        assert_eq!(places(Stamped::Header, &[0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).len(), 0, "PL_CDR");
        assert_eq!(places(Stamped::Header, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]).len(), 0, "too short");
    }

    #[test]
    fn stamps_outside_the_window_are_implausible() {
        let at = |ms: i64| RosTime { ns: ms * 1_000_000 };
        let fix = Stamping::new(StampPolicy::Source).fix(at(100_000), RosTime::default).unwrap();
        let receive = Judged::Implausible(Implausible::Receive);
        for (stamp, judged) in [
            (at(90_000), Judged::Keep),
            (at(89_999), receive),
            (at(101_000), Judged::Keep),
            (at(101_001), receive),
            (RosTime::new(1_790_000_000, 0), receive),
            (RosTime::default(), Judged::Set),
        ] {
            assert_eq!(fix.judge(stamp), judged, "{stamp:?}");
        }
        assert_eq!(Stamping::AS_IS.fix(at(1), RosTime::default), None);
        let now = Stamping::new(StampPolicy::Now).fix(at(1), || at(2)).unwrap();
        assert_eq!((now.to, now.judge(at(1))), (at(2), Judged::Set));
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked_without_panic(
            mut sample in prop::collection::vec(prop_oneof![Just(0_u8), Just(1_u8), any::<u8>()], 0..200),
        ) {
            for stamped in [Stamped::No, Stamped::Header, Stamped::Transforms] {
                let len = sample.len();
                for at in places(stamped, &sample) {
                    prop_assert!(at + STAMP <= len);
                    let _stamp = read(&sample, at);
                    write(&mut sample, at, RosTime::new(1, 2));
                    prop_assert_eq!(read(&sample, at), RosTime::new(1, 2));
                }
            }
        }
    }
}
