//! `mavlink.odometry` and `mavlink.odometry_out`: pose and velocity at once, both ways.
//!
//! Two codecs, so that what vehicles send at 30 Hz and more is decoded where it arrives.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    text::excerpt,
    topic::Qos,
};
use rostrans_msgs::nav_msgs::msg::Odometry as RosOdometry;

use crate::{
    frames::{Cov6, Frd, Ned, Quaternion},
    mavlink::{
        DecodeOnly,
        dialect::{Message, Odometry},
        parts::{attitude, frd, ned, point, wxyz, xyz},
        relay::{Relay, TALKS, TELLS, input, topic},
        ros,
        uas::MavContext,
        value::{time_usec, to_f64s},
        vehicle,
    },
    options::Options,
};

/// ODOMETRY to `odometry/in`: pose FLU in ENU, twist FLU.
///
/// Source: MAVLink common, ODOMETRY (331).
pub(super) const IN: DecodeOnly = DecodeOnly::new(&IN_INFO, build_in);

const IN_INFO: CodecInfo = CodecInfo {
    name: "mavlink.odometry",
    doc: "odometry of the vehicle",
    ports: &[topic::<RosOdometry>("in", Qos::reliable())],
    interest: Interest::Tags(&[Odometry::ID]),
    options: &[vehicle::SYSID, FRAME_ID, CHILD_FRAME_ID],
    ..TELLS
};

const FRAME_ID: (&str, &str) = ("frame_id", "frame of the pose; default odom");
const CHILD_FRAME_ID: (&str, &str) = ("child_frame_id", "frame of the twist; default base_link");

/// The options `frame_id` and `child_frame_id`.
fn frames<'a>(options: &Options<'a>) -> Result<(&'a str, &'a str), CodecError> {
    Ok((options.text("frame_id", "odom")?, options.text("child_frame_id", "base_link")?))
}

fn build_in(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &IN_INFO)?;
    let (frame_id, child_frame_id) = frames(&options)?;
    let odometry = RosOdometry {
        header: ros::header(frame_id),
        child_frame_id: child_frame_id.to_owned(),
        ..RosOdometry::default()
    };
    Relay::new(cx, &IN_INFO)?
        .tell("in", odometry, |m: &Odometry, odometry, at| {
            ros::stamp(&mut odometry.header, at.us(m.time_usec));
            let (pose, twist) = (&mut odometry.pose, &mut odometry.twist);
            pose.pose.position = ros::point(Ned(to_f64s([m.x, m.y, m.z])).to_enu().0);
            let q = Quaternion::from_wxyz(m.q.map(f64::from)).swap_attitude();
            pose.pose.orientation = ros::quaternion(q);
            pose.covariance = Cov6::from_upper(m.pose_covariance).swap_level().0;
            twist.twist.linear = ros::vector3(Frd(to_f64s([m.vx, m.vy, m.vz])).to_flu().0);
            let rates = Frd(to_f64s([m.rollspeed, m.pitchspeed, m.yawspeed])).to_flu();
            twist.twist.angular = ros::vector3(rates.0);
            twist.covariance = Cov6::from_upper(m.velocity_covariance).swap_body().0;
        })
        .done()
}

/// `odometry/out` to ODOMETRY.
///
/// **Frame**: the vehicle gets LOCAL_FRD and BODY_FRD. Both sides are turned by the fixed rotations, and so a sample
/// must be in the frame `odom` or `map` (or the one of the option) and its child `base_link` (or that of the option);
/// others are refused.
///
/// Source: MAVLink common, ODOMETRY (331).
pub(super) const OUT: DecodeOnly = DecodeOnly::new(&OUT_INFO, build_out);

const OUT_INFO: CodecInfo = CodecInfo {
    name: "mavlink.odometry_out",
    doc: "odometry for the vehicle",
    inputs: &[input::<RosOdometry>("out", 1)],
    options: &[vehicle::SYSID, FRAME_ID, CHILD_FRAME_ID],
    ..TALKS
};

fn build_out(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &OUT_INFO)?;
    let (frame_id, child_frame_id) = frames(&options)?;
    let (frame_id, child_frame_id) = (frame_id.to_owned(), child_frame_id.to_owned());
    Relay::new(cx, &OUT_INFO)?
        .hear(move |odometry: &RosOdometry, to| {
            let frame = odometry.header.frame_id.as_str();
            if frame != frame_id && !matches!(frame, "odom" | "map") {
                let words = format_args!(
                    "pose in frame '{}', wanted is 'odom', 'map'{}; it cannot be transformed",
                    excerpt(frame),
                    if matches!(&*frame_id, "odom" | "map") {
                        String::new()
                    } else {
                        format!(" or '{frame_id}'")
                    }
                );
                return Err(to.refuse("header.frame_id", words));
            }
            if odometry.child_frame_id != child_frame_id {
                let frame = excerpt(&odometry.child_frame_id);
                let words = format_args!(
                    "twist in frame '{frame}', wanted is '{child_frame_id}'; it cannot be transformed"
                );
                return Err(to.refuse("child_frame_id", words));
            }
            to.send(&odometry_of(odometry));
            Ok(())
        })
        .done()
}

fn odometry_of(odometry: &RosOdometry) -> Odometry {
    let (pose, twist) = (&odometry.pose, &odometry.twist);
    let [x, y, z] = ned(point(&pose.pose.position));
    let [vx, vy, vz] = frd(xyz(&twist.twist.linear));
    let [rollspeed, pitchspeed, yawspeed] = frd(xyz(&twist.twist.angular));
    Odometry {
        time_usec: time_usec(&odometry.header),
        x,
        y,
        z,
        q: wxyz(attitude(&pose.pose.orientation)),
        vx,
        vy,
        vz,
        rollspeed,
        pitchspeed,
        yawspeed,
        pose_covariance: Cov6(pose.covariance).swap_level().to_upper(),
        velocity_covariance: Cov6(twist.covariance).swap_body().to_upper(),
        frame_id: LOCAL_FRD,
        child_frame_id: BODY_FRD,
        reset_counter: 0,
        estimator_type: MAV_ESTIMATOR_TYPE_VISION,
        quality: 0,
    }
}

/// `MAV_FRAME`.
const LOCAL_FRD: u8 = 20;
const BODY_FRD: u8 = 12;
const MAV_ESTIMATOR_TYPE_VISION: u8 = 2;
