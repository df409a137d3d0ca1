//! `mavlink.distance_sensor`: one range finder.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, EncodeError, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::TransformStamped, sensor_msgs::msg::Range, tf2_msgs::msg::TFMessage,
};

use super::orientation::Orientation;
use crate::{
    frames::Quaternion,
    mavlink::{
        DecodeOnly,
        dialect::{DistanceSensor, Message},
        parts::wxyz,
        relay::{Relay, TALKS, input, topic},
        ros,
        uas::MavContext,
        value::{time_boot_ms, to_f32, to_u8, to_u16},
        vehicle,
    },
    options::Options,
};

/// DISTANCE_SENSOR with one number to `range` and, if asked for, to a transform; or `send` to DISTANCE_SENSOR.
///
/// A link binds either: a number belongs to a sensor of the vehicle or to one beside it. Messages of another
/// orientation than the option's are left out. **Units**: metres, radians; the sensor's position and custom
/// orientation are relative to `base_frame_id`.
///
/// Source: MAVLink common, DISTANCE_SENSOR (132), `MAV_SENSOR_ORIENTATION`.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.distance_sensor",
    doc: "one range finder, from the vehicle or to it",
    ports: &[
        topic::<Range>("range", Qos::sensor_data()),
        topic::<TFMessage>("tf", Qos::reliable().with_depth(100)),
    ],
    inputs: &[input::<Range>("send", 5)],
    interest: Interest::Tags(SENSORS),
    options: &[
        vehicle::SYSID,
        ("id", "number of the sensor; default 0"),
        (
            "orientation",
            "MAV_SENSOR_ORIENTATION, e.g. PITCH_270 (downwards); default any, to the vehicle NONE",
        ),
        ("frame_id", "frame of the ranges; default distance_sensor"),
        ("field_of_view", "radians; default 0"),
        ("send_tf", "true publishes the sensor's place as a transform; default false"),
        ("base_frame_id", "frame of that place; default base_link"),
        ("x", "place of the sensor, metres; default 0"),
        ("y", "place of the sensor, metres; default 0"),
        ("z", "place of the sensor, metres; default 0"),
        ("covariance", "what is sent as covariance; default 0, which sends that of the last 50 ranges"),
        (
            "horizontal_fov_ratio",
            "times the field of view of a range is the horizontal one that is sent; default 1",
        ),
        (
            "vertical_fov_ratio",
            "times the field of view of a range is the vertical one that is sent; default 1",
        ),
        ("roll", "of the orientation CUSTOM, degrees; default 0"),
        ("pitch", "of the orientation CUSTOM, degrees; default 0"),
        ("yaw", "of the orientation CUSTOM, degrees; default 0"),
    ],
    ..TALKS
};

const SENSORS: &[u32] = &[DistanceSensor::ID];

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let id: u8 = options.int("id", 0, 0..=255)?;
    let orientation = orientation(options.text("orientation", "")?)?;
    let frame_id = options.text("frame_id", "distance_sensor")?;
    let range = Range {
        header: ros::header(frame_id),
        field_of_view: to_f32(options.number("field_of_view", 0.0)?),
        ..Range::default()
    };
    let is_ours = move |m: &DistanceSensor| m.id == id && orientation.is_none_or(|o| o.0 == m.orientation);
    let mut relay =
        Relay::new(cx, &INFO)?.tell_if(SENSORS, "range", range, move |m: &DistanceSensor, range, at| {
            ros::stamp(&mut range.header, at.ms(m.time_boot_ms));
            [range.min_range, range.max_range, range.range] =
                [m.min_distance, m.max_distance, m.current_distance].map(|cm| f32::from(cm) / 100.0);
            let known = match m.kind {
                LASER | UNKNOWN | RADAR => Some(Range::INFRARED),
                ULTRASOUND => Some(Range::ULTRASOUND),
                _ => None,
            };
            range.radiation_type = known.unwrap_or_default();
            known.is_some() && is_ours(m)
        });
    if options.flag("send_tf", false)? {
        let mut transform = TransformStamped {
            header: ros::header(options.text("base_frame_id", "base_link")?),
            child_frame_id: frame_id.to_owned(),
            ..TransformStamped::default()
        };
        let place = [options.signed("x", 0.0)?, options.signed("y", 0.0)?, options.signed("z", 0.0)?];
        transform.transform.translation = ros::vector3(place);
        let tf = TFMessage { transforms: vec![transform] };
        relay = relay.tell_if(SENSORS, "tf", tf, move |m: &DistanceSensor, tf, at| {
            let q = match Orientation(m.orientation) {
                Orientation::CUSTOM => Quaternion::from_wxyz(m.quaternion.map(f64::from)),
                orientation => orientation.rotation(),
            };
            for transform in &mut tf.transforms {
                ros::stamp(&mut transform.header, at.ms(m.time_boot_ms));
                transform.transform.rotation = ros::quaternion(q);
            }
            is_ours(m)
        });
    }
    let mut sender = Sender::new(id, orientation, &options)?;
    relay
        .hear(move |range: &Range, to| {
            if range.range.is_nan() {
                // 0 would be contact.
                return Err(EncodeError::OutOfRange("range"));
            }
            to.send(&sender.message(range));
            Ok(())
        })
        .done()
}

/// `None` for any.
fn orientation(text: &str) -> Result<Option<Orientation>, CodecError> {
    if text.is_empty() {
        return Ok(None);
    }
    let unknown = || CodecError::Option {
        option: "orientation".to_owned(),
        problem: format!("'{text}' is no MAV_SENSOR_ORIENTATION; write e.g. PITCH_270"),
    };
    Orientation::parse(text).map(Some).ok_or_else(unknown)
}

/// A sensor beside the vehicle.
struct Sender {
    id: u8,
    orientation: Orientation,
    quaternion: [f32; 4],
    /// 0 for that of the last ranges.
    covariance: u8,
    fov_ratios: [f32; 2],
    /// Metres, the oldest overwritten first.
    last: Vec<f32>,
    next: usize,
}

impl Sender {
    fn new(id: u8, orientation: Option<Orientation>, options: &Options<'_>) -> Result<Self, CodecError> {
        let angle = |name| Ok::<f64, CodecError>(options.signed(name, 0.0)?.to_radians());
        let custom = Quaternion::from_rpy(angle("roll")?, angle("pitch")?, angle("yaw")?);
        let ratio = |name| Ok::<f32, CodecError>(to_f32(options.number(name, 1.0)?));
        Ok(Self {
            id,
            orientation: orientation.unwrap_or(Orientation(0)),
            quaternion: if orientation == Some(Orientation::CUSTOM) { wxyz(custom) } else { [0.0; 4] },
            covariance: options.int("covariance", 0, 0..=255)?,
            fov_ratios: [ratio("horizontal_fov_ratio")?, ratio("vertical_fov_ratio")?],
            last: Vec::with_capacity(RANGES),
            next: 0,
        })
    }

    fn message(&mut self, range: &Range) -> DistanceSensor {
        let [min_distance, max_distance, current_distance] =
            [range.min_range, range.max_range, range.range].map(|metres| to_u16(f64::from(metres) * 100.0));
        let covariance = if self.covariance > 0 { self.covariance } else { self.variance(range.range) };
        let [horizontal, vertical] = self.fov_ratios;
        DistanceSensor {
            time_boot_ms: time_boot_ms(&range.header),
            min_distance,
            max_distance,
            current_distance,
            kind: if range.radiation_type == Range::ULTRASOUND { ULTRASOUND } else { LASER },
            id: self.id,
            orientation: self.orientation.0,
            covariance,
            horizontal_fov: range.field_of_view * horizontal,
            vertical_fov: range.field_of_view * vertical,
            quaternion: self.quaternion,
            signal_quality: 0,
        }
    }

    /// The variance of the last ranges in square metres, times 100, as MAVROS sends it.
    ///
    /// An infinite range (REP-117: nothing near, or too near to tell) has no part in it.
    fn variance(&mut self, range: f32) -> u8 {
        if range.is_infinite() {
            return self.spread();
        }
        if self.last.len() < RANGES {
            self.last.push(range);
        } else if let Some(oldest) = self.last.get_mut(self.next) {
            *oldest = range;
            self.next = (self.next + 1) % RANGES;
        }
        self.spread()
    }

    fn spread(&self) -> u8 {
        if self.last.is_empty() {
            return 0;
        }
        let mean_of = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / self.last.len() as f64;
        let mean = mean_of(&mut self.last.iter().map(|range| f64::from(*range)));
        let variance = mean_of(&mut self.last.iter().map(|range| (f64::from(*range) - mean).powi(2)));
        to_u8(variance * 100.0)
    }
}

/// Ranges of which the variance is taken.
const RANGES: usize = 50;
/// `MAV_DISTANCE_SENSOR`.
const LASER: u8 = 0;
const ULTRASOUND: u8 = 1;
const RADAR: u8 = 3;
const UNKNOWN: u8 = 4;
