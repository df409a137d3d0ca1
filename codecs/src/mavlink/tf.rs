//! Poses as transforms on `/tf`.

use rostrans_core::{
    clock::RosTime,
    codec::{Port, PortInfo},
    emit::Emit,
    topic::Qos,
};
use rostrans_msgs::{geometry_msgs::msg::TransformStamped, tf2_msgs::msg::TFMessage};

use super::{relay::topic, ros};
use crate::frames::Quaternion;

/// Port of codecs that publish a transform.
pub(super) const PORT: PortInfo = topic::<TFMessage>("tf", Qos::reliable().with_depth(100));

/// Option of codecs that publish their pose as a transform when asked to.
pub(super) const SEND: (&str, &str) = ("tf_send", "true publishes the pose as a transform; default false");

/// One transform from a frame to another.
pub(super) struct Transform(TFMessage);

impl Transform {
    pub(super) fn new(frame_id: &str, child_frame_id: &str) -> Self {
        let transform = TransformStamped {
            header: ros::header(frame_id),
            child_frame_id: child_frame_id.to_owned(),
            ..TransformStamped::default()
        };
        Self(TFMessage { transforms: vec![transform] })
    }

    /// Publishes where the child is in its parent, metres.
    pub(super) fn publish(
        &mut self,
        port: Port,
        stamp: RosTime,
        position: [f64; 3],
        orientation: Quaternion,
        out: &mut Emit<'_>,
    ) {
        if !out.wants(port) {
            return;
        }
        for transform in &mut self.0.transforms {
            ros::stamp(&mut transform.header, stamp);
            transform.transform.translation = ros::vector3(position);
            transform.transform.rotation = ros::quaternion(orientation);
        }
        out.publish(port, stamp, &self.0);
    }
}
