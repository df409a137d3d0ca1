//! `mavlink.tf_static`: the vehicle's axes beside those of ROS.

use std::time::{Duration, Instant};

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{geometry_msgs::msg::TransformStamped, tf2_msgs::msg::TFMessage};

use crate::{
    frames::Quaternion,
    mavlink::{
        DecodeOnly,
        relay::{TELLS, topic},
        ros,
        uas::MavContext,
        vehicle,
    },
    options::Options,
};

/// Three fixed transforms to `/tf_static`, once: `map_ned` in `map`, `odom_ned` in `odom`, `base_link_frd` in
/// `base_link`.
///
/// Source: REP-103; what MAVROS publishes.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.tf_static",
    doc: "fixed transforms between the axes of MAVLink and ROS",
    ports: &[topic::<TFMessage>("tf_static", Qos::latched(1))],
    tick: Some(Duration::from_millis(500)),
    options: &[
        vehicle::SYSID,
        ("map_frame_id", "name of the map frame; default map"),
        ("odom_frame_id", "name of the odometry frame; default odom"),
        ("base_link_frame_id", "name of the body frame; default base_link"),
    ],
    ..TELLS
};

const TF_STATIC: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let between = |parent: &str, suffix: &str, rotation: Quaternion| {
        let mut transform = TransformStamped { header: ros::header(parent), ..TransformStamped::default() };
        transform.child_frame_id = format!("{parent}_{suffix}");
        transform.transform.rotation = ros::quaternion(rotation);
        transform
    };
    // The world side of no rotation at all, and half a turn about the forward axis.
    let ned = Quaternion::IDENTITY.swap_world();
    let frd = Quaternion::IDENTITY.swap_body();
    let transforms = vec![
        between(options.text("map_frame_id", "map")?, "ned", ned),
        between(options.text("odom_frame_id", "odom")?, "ned", ned),
        between(options.text("base_link_frame_id", "base_link")?, "frd", frd),
    ];
    Ok(Box::new(TfStatic { tf: TFMessage { transforms }, sent: false }))
}

struct TfStatic {
    tf: TFMessage,
    sent: bool,
}

impl Decoder for TfStatic {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn tick(&mut self, _: Instant, out: &mut Emit<'_>) {
        if self.sent {
            return;
        }
        self.sent = true;
        let stamp = out.stamp();
        for transform in &mut self.tf.transforms {
            ros::stamp(&mut transform.header, stamp);
        }
        out.publish(TF_STATIC, stamp, &self.tf);
    }
}
