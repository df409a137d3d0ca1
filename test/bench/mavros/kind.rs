//! The messages of a vehicle.

/// One kind of message.
pub(crate) struct Kind {
    pub(crate) msgid: u32,
    crc_extra: u8,
    len: usize,
    clock: Clock,
    /// Where the number of the message goes.
    number: Number,
    /// What the fields before the number may not be, for the message to mean anything.
    floats: &'static [(usize, f32)],
    /// Messages a second in the PX4-like mix at scale 1.
    pub(crate) mix_hz: f64,
    /// A topic that each of them is published on, below the vehicle's prefix, and its type.
    pub(crate) topic: (&'static str, &'static str),
}

/// The time since boot, at the front.
enum Clock {
    Ms,
    Us,
    None,
}

enum Number {
    Float(usize),
    Int(usize),
    None,
}

/// The PX4-like mix sends all but the last, at their own rates; the fleet all but HEARTBEAT at one rate.
pub(crate) const KINDS: [Kind; 11] = [
    Kind {
        msgid: 0,
        crc_extra: 50,
        len: 9,
        clock: Clock::None,
        number: Number::None,
        floats: &[],
        mix_hz: 1.0,
        topic: ("state", "mavros_msgs/msg/State"),
    },
    Kind {
        msgid: 31,
        crc_extra: 246,
        len: 32,
        clock: Clock::Ms,
        number: Number::Float(20),
        floats: &[(4, 0.9833), (8, 0.0343), (12, 0.1060), (16, 0.1436), (28, 0.03)],
        mix_hz: 100.0,
        topic: ("imu/data", "sensor_msgs/msg/Imu"),
    },
    Kind {
        msgid: 105,
        crc_extra: 93,
        len: 62,
        clock: Clock::Us,
        number: Number::Float(20),
        floats: &[(8, 0.1), (12, -0.2), (16, -9.8), (44, 957.3), (56, 36.5)],
        mix_hz: 100.0,
        topic: ("imu/data_raw", "sensor_msgs/msg/Imu"),
    },
    Kind {
        msgid: 32,
        crc_extra: 185,
        len: 28,
        clock: Clock::Ms,
        number: Number::Float(4),
        floats: &[(8, 2.0), (12, -3.0), (24, 0.3)],
        mix_hz: 50.0,
        topic: ("local_position/pose", "geometry_msgs/msg/PoseStamped"),
    },
    Kind {
        msgid: 33,
        crc_extra: 104,
        len: 28,
        clock: Clock::Ms,
        number: Number::Int(16),
        floats: &[],
        mix_hz: 50.0,
        topic: ("global_position/rel_alt", "std_msgs/msg/Float64"),
    },
    Kind {
        msgid: 74,
        crc_extra: 20,
        len: 20,
        clock: Clock::None,
        number: Number::Float(0),
        floats: &[(4, 5.0), (8, 489.4)],
        mix_hz: 20.0,
        topic: ("vfr_hud", "mavros_msgs/msg/VfrHud"),
    },
    Kind {
        msgid: 141,
        crc_extra: 47,
        len: 32,
        clock: Clock::Us,
        number: Number::Float(8),
        floats: &[(12, 489.4), (28, 1.0)],
        mix_hz: 20.0,
        topic: ("altitude", "mavros_msgs/msg/Altitude"),
    },
    Kind {
        msgid: 65,
        crc_extra: 118,
        len: 42,
        clock: Clock::Ms,
        number: Number::None,
        floats: &[],
        mix_hz: 10.0,
        topic: ("rc/in", "mavros_msgs/msg/RCIn"),
    },
    Kind {
        msgid: 24,
        crc_extra: 24,
        len: 30,
        clock: Clock::Us,
        number: Number::None,
        floats: &[],
        mix_hz: 10.0,
        topic: ("global_position/raw/fix", "sensor_msgs/msg/NavSatFix"),
    },
    Kind {
        msgid: 1,
        crc_extra: 124,
        len: 31,
        clock: Clock::None,
        number: Number::None,
        floats: &[],
        mix_hz: 2.0,
        topic: ("sys_status", "mavros_msgs/msg/SysStatus"),
    },
    Kind {
        msgid: 230,
        crc_extra: 163,
        len: 42,
        clock: Clock::Us,
        number: Number::None,
        floats: &[(8, 0.1), (36, 0.5)],
        mix_hz: 0.0,
        topic: ("estimator_status", "mavros_msgs/msg/EstimatorStatus"),
    },
];

impl Kind {
    pub(crate) fn is_heartbeat(&self) -> bool {
        self.msgid == 0
    }

    /// Appends the frame of message `number`, `since_boot_us` after the vehicle's start.
    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        from: rostrans_mavlink::Sender,
        number: u32,
        since_boot_us: u64,
    ) {
        let mut payload = [0_u8; 64];
        // No trailing zeros: frames have their full length.
        payload[self.len - 2..self.len].fill(3);
        let mut put = |at: usize, bytes: &[u8]| payload[at..at + bytes.len()].copy_from_slice(bytes);
        match self.clock {
            Clock::Ms => {
                let ms = u32::try_from(since_boot_us / 1000).unwrap_or(u32::MAX);
                put(0, &ms.to_le_bytes());
            }
            Clock::Us => put(0, &since_boot_us.to_le_bytes()),
            Clock::None => {}
        }
        self.floats.iter().for_each(|(at, value)| put(*at, &value.to_le_bytes()));
        match self.number {
            #[expect(clippy::cast_precision_loss, reason = "runs are shorter than 2^24 messages")]
            Number::Float(at) => put(at, &(number as f32).to_le_bytes()),
            Number::Int(at) => put(at, &number.to_le_bytes()),
            Number::None => {}
        }
        if self.is_heartbeat() {
            // A PX4 quadrotor, active.
            put(0, &[0, 0, 4, 3, 2, 12, 209, 4, 3]);
        }
        rostrans_mavlink::write_v2(out, from, self.msgid, &payload[..self.len], self.crc_extra)
            .expect("invariant: a table of short messages");
    }
}
