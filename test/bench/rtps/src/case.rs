//! What is measured.

use crate::payload::Kind;

/// Who reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// A second process of the same engine.
    Same,
    /// rclpy on Fast DDS with its default socket buffers.
    FastDds,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// For `--cases`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) kind: Kind,
    pub(crate) topics: usize,
    /// Messages a second on each topic; 0 is as many as the engine takes.
    pub(crate) rate: f64,
    pub(crate) reliable: bool,
    pub(crate) keep_all: bool,
    pub(crate) peer: Peer,
    /// All topics are written at the same moments instead of in turns.
    pub(crate) together: bool,
}

const BASE: Case = Case {
    id: "",
    title: "",
    kind: Kind::Image,
    topics: 1,
    rate: 30.0,
    reliable: true,
    keep_all: false,
    peer: Peer::Same,
    together: false,
};

pub(crate) const CASES: [Case; 11] = [
    Case { id: "imu", title: "Imu, 324 B at 1 kHz, reliable", kind: Kind::Imu, rate: 1000.0, ..BASE },
    Case {
        id: "kb-be",
        title: "1 kB at full speed, best effort",
        kind: Kind::Kilobyte,
        rate: 0.0,
        reliable: false,
        ..BASE
    },
    Case {
        id: "kb-rel",
        title: "1 kB at full speed, reliable, keep all",
        kind: Kind::Kilobyte,
        rate: 0.0,
        keep_all: true,
        ..BASE
    },
    Case {
        id: "fast-rel",
        title: "Image, 2.76 MB at 30 Hz, reliable, to an untuned Fast DDS reader",
        peer: Peer::FastDds,
        ..BASE
    },
    Case {
        id: "fast-be",
        title: "Image, 2.76 MB at 30 Hz, best effort, to an untuned Fast DDS reader",
        peer: Peer::FastDds,
        reliable: false,
        ..BASE
    },
    Case { id: "image-rel", title: "Image, 2.76 MB at 30 Hz, reliable", ..BASE },
    Case { id: "image-be", title: "Image, 2.76 MB at 30 Hz, best effort", reliable: false, ..BASE },
    Case { id: "four-rel", title: "4 x Image at 30 Hz in turns, reliable", topics: 4, ..BASE },
    Case {
        id: "four-be",
        title: "4 x Image at 30 Hz in turns, best effort",
        topics: 4,
        reliable: false,
        ..BASE
    },
    Case {
        id: "four-once",
        title: "4 x Image at 30 Hz written at the same moments, reliable",
        topics: 4,
        together: true,
        ..BASE
    },
    Case {
        id: "four-fast",
        title: "4 x Image at 15 Hz in turns, reliable, to an untuned Fast DDS reader",
        topics: 4,
        rate: 15.0,
        peer: Peer::FastDds,
        ..BASE
    },
];

impl Case {
    /// Whether this engine has a row in this case: the tuned Cyclone differs from the other with big messages only.
    pub(crate) fn is_for(&self, engine: &str) -> bool {
        engine != "cyclone64k" || self.kind == Kind::Image
    }
}
