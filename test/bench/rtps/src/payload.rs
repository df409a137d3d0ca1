//! The messages that are carried: raw CDR with a stamp in front and a number at the end.

use std::time::{SystemTime, UNIX_EPOCH};

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// sensor_msgs/msg/Imu, 324 bytes.
    Imu,
    /// 1,024 bytes of no ROS type.
    Kilobyte,
    /// sensor_msgs/msg/Image, 1280x720 rgb8, 2.76 MB.
    Image,
}

const PIXELS: usize = 1280 * 720 * 3;

impl Kind {
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        match name {
            "imu" => Ok(Self::Imu),
            "kilobyte" => Ok(Self::Kilobyte),
            "image" => Ok(Self::Image),
            _ => Err(format!("unknown kind '{name}'; use imu, kilobyte or image")),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Imu => "imu",
            Self::Kilobyte => "kilobyte",
            Self::Image => "image",
        }
    }

    /// Its DDS type name.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Imu => "sensor_msgs::msg::dds_::Imu_",
            Self::Kilobyte => "bench::msg::dds_::Kilobyte_",
            Self::Image => "sensor_msgs::msg::dds_::Image_",
        }
    }

    /// A message of this kind, encapsulation header included, not yet stamped.
    pub(crate) fn build(self) -> Vec<u8> {
        let mut cdr = vec![0, 1, 0, 0];
        cdr.extend([0; 8]);
        match self {
            Self::Kilobyte => cdr.resize(1024, 0x5a),
            Self::Imu => {
                string(&mut cdr, "frame");
                align(&mut cdr, 8);
                (0..37).for_each(|n| cdr.extend(f64::from(n).to_le_bytes()));
            }
            Self::Image => {
                string(&mut cdr, "frame");
                align(&mut cdr, 4);
                cdr.extend(720_u32.to_le_bytes());
                cdr.extend(1280_u32.to_le_bytes());
                string(&mut cdr, "rgb8");
                cdr.push(0);
                align(&mut cdr, 4);
                cdr.extend(3840_u32.to_le_bytes());
                cdr.extend((PIXELS as u32).to_le_bytes());
                cdr.resize(cdr.len() + PIXELS, 0x5a);
            }
        }
        cdr
    }
}

fn string(cdr: &mut Vec<u8>, text: &str) {
    align(cdr, 4);
    cdr.extend((text.len() as u32 + 1).to_le_bytes());
    cdr.extend(text.as_bytes());
    cdr.push(0);
}

fn align(cdr: &mut Vec<u8>, to: usize) {
    cdr.resize(4 + (cdr.len() - 4).next_multiple_of(to), 0);
}

/// Stamps a message now and numbers it.
pub(crate) fn mark(cdr: &mut [u8], number: u64) {
    let now = wall_ns();
    let end = cdr.len() - 8;
    cdr[end..].copy_from_slice(&number.to_le_bytes());
    cdr[4..8].copy_from_slice(&((now / 1_000_000_000) as u32).to_le_bytes());
    cdr[8..12].copy_from_slice(&((now % 1_000_000_000) as u32).to_le_bytes());
}

/// Stamp in nanoseconds since 1970 and number of a message without its encapsulation header.
pub(crate) fn read(body: &[u8]) -> Option<(i64, u64)> {
    let word = |at: usize| Some(u32::from_le_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let number = body.last_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))?;
    Some((i64::from(word(0)?) * 1_000_000_000 + i64::from(word(4)?), number))
}

pub(crate) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_sizes_of_their_types_and_keep_their_number() {
        for (kind, len) in [(Kind::Imu, 324), (Kind::Kilobyte, 1024), (Kind::Image, 2_764_852)] {
            let mut cdr = kind.build();
            let before = wall_ns();
            mark(&mut cdr, 77);
            let (stamp, number) = read(&cdr[4..]).unwrap();
            assert_eq!((cdr.len(), number), (len, 77));
            assert!(stamp >= before && stamp <= wall_ns());
        }
    }
}
