//! What the examples share: three ROS message types as raw CDR, and waiting.
#![expect(dead_code, reason = "each example uses its part")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rostrans_rtps::{DiscoveryRange, ParticipantConfig};

/// A message type the examples can write and read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// std_msgs/msg/String, "number stamp".
    Text,
    /// sensor_msgs/msg/Imu.
    Imu,
    /// sensor_msgs/msg/Image, 1280x720 rgb8.
    Image,
}

const PIXELS: usize = 1280 * 720 * 3;

impl Kind {
    /// The type with this name on the command line.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        match name {
            "string" => Ok(Self::Text),
            "imu" => Ok(Self::Imu),
            "image" => Ok(Self::Image),
            _ => Err(format!("unknown kind '{name}'; use string, imu or image")),
        }
    }

    /// Its DDS type name.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Text => "std_msgs::msg::dds_::String_",
            Self::Imu => "sensor_msgs::msg::dds_::Imu_",
            Self::Image => "sensor_msgs::msg::dds_::Image_",
        }
    }

    /// Sample number `seq`, stamped now.
    pub(crate) fn build(self, seq: u64) -> Vec<u8> {
        let now = wall_ns();
        let mut w = Cdr(vec![0, 1, 0, 0]);
        if self == Self::Text {
            w.string(&format!("{seq} {now}"));
            return w.0;
        }
        w.u32(u32::try_from(now / 1_000_000_000).unwrap_or(0));
        w.u32(u32::try_from(now % 1_000_000_000).unwrap_or(0));
        w.string("frame");
        match self {
            Self::Text => {}
            Self::Imu => (0..37).for_each(|i| w.f64(f64::from(i))),
            Self::Image => {
                w.u32(720);
                w.u32(1280);
                w.string("rgb8");
                w.0.push(0);
                w.u32(1280 * 3);
                w.u32(2_764_800);
                let fill = u8::try_from(seq % 251).unwrap_or(0);
                w.0.resize(w.0.len() + PIXELS, fill);
            }
        }
        w.0
    }

    /// The stamp in a sample.
    pub(crate) fn stamp_ns(self, cdr: &[u8]) -> Option<i64> {
        let word = |at: usize| Some(u32::from_le_bytes(cdr.get(at..at + 4)?.try_into().ok()?));
        if self == Self::Text {
            let len = usize::try_from(word(4)?).ok()?;
            let text = std::str::from_utf8(cdr.get(8..(8 + len).checked_sub(1)?)?).ok()?;
            return text.split_whitespace().nth(1)?.parse().ok();
        }
        Some(i64::from(word(4)?) * 1_000_000_000 + i64::from(word(8)?))
    }
}

struct Cdr(Vec<u8>);

impl Cdr {
    fn align(&mut self, to: usize) {
        let body = self.0.len() - 4;
        self.0.resize(4 + body.next_multiple_of(to), 0);
    }

    fn u32(&mut self, value: u32) {
        self.align(4);
        self.0.extend(value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.align(8);
        self.0.extend(value.to_le_bytes());
    }

    fn string(&mut self, text: &str) {
        self.u32(u32::try_from(text.len() + 1).unwrap_or(0));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }
}

/// Domain and range of the environment.
pub(crate) fn config() -> ParticipantConfig {
    let domain = std::env::var("ROS_DOMAIN_ID").ok().and_then(|d| d.parse().ok()).unwrap_or(0);
    let subnet = std::env::var("ROS_AUTOMATIC_DISCOVERY_RANGE").is_ok_and(|range| range == "SUBNET");
    let range = if subnet { DiscoveryRange::Subnet } else { DiscoveryRange::Localhost };
    ParticipantConfig { domain, range, ..Default::default() }
}

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(0)
}

/// Waits until `done` or the deadline; true when done.
pub(crate) fn wait_until(deadline: Instant, done: impl Fn() -> bool) -> bool {
    loop {
        if done() {
            return true;
        }
        let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
        std::thread::park_timeout(left.min(Duration::from_millis(5)));
    }
}
