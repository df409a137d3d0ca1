//! `mavlink.landing_target`: where the vehicle shall land.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::{Pose, PoseStamped, TransformStamped, Vector3Stamped},
    mavros_msgs::msg::LandingTarget as RosLandingTarget,
    tf2_msgs::msg::TFMessage,
};

use crate::{
    frames::{Ned, Quaternion},
    mavlink::{
        DecodeOnly,
        control::frame,
        dialect::{LandingTarget, Message},
        parts::{attitude, frd, ned, point, rotation, wxyz},
        relay::{Relay, TALKS, input, topic},
        ros,
        uas::MavContext,
        value::{time_usec, to_f32, to_f64s},
        vehicle,
    },
    options::Options,
};

/// LANDING_TARGET to `landing_target/pose_in`, `lt_marker` and, unless it is switched off, `/tf`; `landing_target/pose`
/// and `landing_target/raw` to LANDING_TARGET.
///
/// **Frame**: ENU on the ROS side. Of a pose, the angles are those between straight down and the target, towards the
/// first and second axis; sizes are angles too. A raw target has its pose turned when `frame` is LOCAL_NED (1) or
/// BODY_FRD (12), in others it is not valid. A pose with the stamp of the one before is left out. `pose` is the
/// target with the number at the end of `frame_id`.
///
/// Source: MAVLink common, LANDING_TARGET (149).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.landing_target",
    doc: "landing targets, both ways",
    ports: &[
        topic::<PoseStamped>("pose_in", Qos::sensor_data()),
        topic::<Vector3Stamped>("lt_marker", Qos::sensor_data()),
        topic::<TFMessage>("tf_out", Qos::reliable().with_depth(100)),
    ],
    inputs: &[input::<PoseStamped>("pose", 10), input::<RosLandingTarget>("raw", 10)],
    interest: Interest::Tags(&[LandingTarget::ID]),
    options: &[
        vehicle::SYSID,
        ("frame_id", "frame of the target, with its number at the end; default landing_target_1"),
        ("mav_frame", "MAV_FRAME of the pose; default LOCAL_NED"),
        (
            "land_target_type",
            "LIGHT_BEACON, RADIO_BEACON, VISION_FIDUCIAL or VISION_OTHER; default VISION_FIDUCIAL",
        ),
        ("target_size_x", "size of the target in metres; default 1"),
        ("target_size_y", "size of the target in metres; default 1"),
        ("tf_send", "true publishes the target as a transform; default true"),
        ("tf_child_frame_id", "child frame of the transform; default camera_center"),
    ],
    ..TALKS
};

/// What is the same in every pose that is sent.
#[derive(Clone, Copy)]
struct Target {
    number: u8,
    frame: u8,
    kind: u8,
    size_m: [f64; 2],
}

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let frame_id = options.text("frame_id", "landing_target_1")?;
    let size_m = [options.number("target_size_x", 1.0)?, options.number("target_size_y", 1.0)?];
    let target = Target {
        number: number_of(frame_id),
        frame: options.choice("mav_frame", frame::NAMES)?.unwrap_or_default(),
        kind: options.choice("land_target_type", TYPES)?.unwrap_or_default(),
        size_m,
    };
    let pose_in = PoseStamped { header: ros::header(frame_id), ..PoseStamped::default() };
    let mut marker = Vector3Stamped { header: ros::header(frame_id), ..Vector3Stamped::default() };
    [marker.vector.x, marker.vector.y] = size_m;
    let mut relay = Relay::new(cx, &INFO)?
        .tell("pose_in", pose_in, |m: &LandingTarget, pose, at| {
            ros::stamp(&mut pose.header, at.us(m.time_usec));
            pose.pose = pose_of(m);
        })
        .tell("lt_marker", marker, |m: &LandingTarget, marker, at| {
            ros::stamp(&mut marker.header, at.us(m.time_usec));
        });
    if options.flag("tf_send", true)? {
        let child_frame_id = options.text("tf_child_frame_id", "camera_center")?.to_owned();
        let transform = TransformStamped { child_frame_id, ..TransformStamped::default() };
        let tf = TFMessage { transforms: vec![transform] };
        relay = relay.tell("tf_out", tf, |m: &LandingTarget, tf, at| {
            for transform in &mut tf.transforms {
                ros::stamp(&mut transform.header, at.us(m.time_usec));
                transform.header.frame_id = format!("landing_target_{}", m.target_num);
                let Pose { position, orientation } = pose_of(m);
                transform.transform.translation = ros::vector3(point(&position));
                transform.transform.rotation = orientation;
            }
        });
    }
    let mut last = None;
    relay
        .hear(move |pose: &PoseStamped, to| {
            let stamp = Some(time_usec(&pose.header));
            if last != stamp {
                last = stamp;
                to.send(&of_pose(pose, target));
            }
            Ok(())
        })
        .hear(|raw: &RosLandingTarget, to| {
            to.send(&of_raw(raw));
            Ok(())
        })
        .done()
}

/// The number at the end of a name; 0 for none and for one above 255.
fn number_of(name: &str) -> u8 {
    let digits = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    name.get(digits..).and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn pose_of(m: &LandingTarget) -> Pose {
    Pose {
        position: ros::point(Ned(to_f64s([m.x, m.y, m.z])).to_enu().0),
        orientation: ros::quaternion(Quaternion::from_wxyz(m.q.map(f64::from)).swap_attitude()),
    }
}

fn of_pose(stamped: &PoseStamped, target: Target) -> LandingTarget {
    let [x, y, z] = ned(point(&stamped.pose.position));
    let distance = x.hypot(y).hypot(z);
    let size = |metres: f64| to_f32(2.0 * (metres / 2.0).atan2(distance.into()));
    let [size_x, size_y] = target.size_m.map(size);
    LandingTarget {
        time_usec: time_usec(&stamped.header),
        angle_x: x.atan2(z),
        angle_y: y.atan2(z),
        distance,
        size_x,
        size_y,
        target_num: target.number,
        frame: target.frame,
        x,
        y,
        z,
        q: wxyz(attitude(&stamped.pose.orientation)),
        kind: target.kind,
        position_valid: 1,
    }
}

fn of_raw(raw: &RosLandingTarget) -> LandingTarget {
    let (p, o) = (point(&raw.pose.position), &raw.pose.orientation);
    let (position, q, valid) = match raw.frame {
        LOCAL_NED => (ned(p), attitude(o), true),
        BODY_FRD => (frd(p), rotation(o).swap_body(), true),
        _ => ([0.0; 3], Quaternion::IDENTITY, false),
    };
    let ([x, y, z], [angle_x, angle_y], [size_x, size_y]) = (position, raw.angle, raw.size);
    LandingTarget {
        time_usec: time_usec(&raw.header),
        angle_x,
        angle_y,
        distance: raw.distance,
        size_x,
        size_y,
        target_num: raw.target_num,
        frame: raw.frame,
        x,
        y,
        z,
        q: wxyz(q),
        kind: raw.r#type,
        position_valid: u8::from(valid),
    }
}

/// `LANDING_TARGET_TYPE`; the first is the default.
const TYPES: &[(&str, u8)] =
    &[("VISION_FIDUCIAL", 2), ("LIGHT_BEACON", 0), ("RADIO_BEACON", 1), ("VISION_OTHER", 3)];
/// `MAV_FRAME`.
const LOCAL_NED: u8 = 1;
const BODY_FRD: u8 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_a_target_is_the_one_at_the_end_of_its_frame() {
        let numbers = ["landing_target_1", "landing_target_12", "pad", "pad_300", "7"].map(number_of);
        assert_eq!(numbers, [1, 12, 0, 0, 7]);
    }
}
