//! `mavlink.local_position`: pose and velocity in the local level frame.

use std::sync::Arc;

use rostrans_core::{
    clock::RosTime,
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::{
    geometry_msgs::msg::{
        AccelWithCovarianceStamped, PoseStamped, PoseWithCovarianceStamped, TwistStamped,
        TwistWithCovarianceStamped,
    },
    nav_msgs::msg::Odometry,
};

use super::{
    DecodeOnly,
    attitude::AttitudeTracker,
    dialect::{Attitude, AttitudeQuaternion, Heartbeat, LocalPositionNed, LocalPositionNedCov, Message},
    relay::topic,
    ros,
    tf::{self, Transform},
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::{
    frames::{Cov3, Enu, Ned},
    options::Options,
};

/// Position and velocity of the estimator to `local_position/*`.
///
/// Positions are ENU metres from the estimator's origin (not from home), attitude and body rates are those of
/// `imu/data`. `velocity_local` is ENU although its `frame_id` is `base_link` (programs depend on it;
/// `velocity_frame_id` changes it); `velocity_body` and the twist of `odom` are FLU. Covariances come from
/// LOCAL_POSITION_NED_COV and are rotated into the axes of the message that carries them: `pose_cov` and `accel`
/// ENU, `velocity_body_cov` and the twist of `odom` FLU. With `exact` only their diagonals are passed on, in NED.
/// With `tf_send` the pose is a transform on `/tf` as well.
///
/// Source: MAVLink common, LOCAL_POSITION_NED (32), LOCAL_POSITION_NED_COV (64), attitude from 30 and 31.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.local_position",
    doc: "pose, velocity and odometry in the local frame",
    roles: &[Role::Decode],
    ports: &[
        topic::<PoseStamped>("pose", Qos::sensor_data()),
        topic::<TwistStamped>("velocity_local", Qos::sensor_data()),
        topic::<TwistStamped>("velocity_body", Qos::sensor_data()),
        topic::<Odometry>("odom", Qos::sensor_data()),
        topic::<PoseWithCovarianceStamped>("pose_cov", Qos::sensor_data()),
        topic::<TwistWithCovarianceStamped>("velocity_body_cov", Qos::sensor_data()),
        topic::<AccelWithCovarianceStamped>("accel", Qos::sensor_data()),
        tf::PORT,
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        Attitude::ID,
        AttitudeQuaternion::ID,
        LocalPositionNed::ID,
        LocalPositionNedCov::ID,
    ]),
    cost: Cost::Inline,
    tick: None,
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        vehicle::EXACT,
        ("frame_id", "local frame; default map"),
        ("child_frame_id", "body frame; default base_link"),
        ("velocity_frame_id", "frame_id of velocity_local; default base_link, as in MAVROS"),
        tf::SEND,
        ("tf_frame_id", "parent of the transform; default map"),
    ],
};

const POSE: Port = Port(0);
const VELOCITY_LOCAL: Port = Port(1);
const VELOCITY_BODY: Port = Port(2);
const ODOM: Port = Port(3);
const POSE_COV: Port = Port(4);
const VELOCITY_BODY_COV: Port = Port(5);
const ACCEL: Port = Port(6);
const TF: Port = Port(7);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let local = ros::header(options.text("frame_id", "map")?);
    let body = ros::header(options.text("child_frame_id", "base_link")?);
    let tf_frame_id = options.text("tf_frame_id", "map")?;
    let transform = options.flag("tf_send", false)?.then(|| Transform::new(tf_frame_id, &body.frame_id));
    let velocity = ros::header(options.text("velocity_frame_id", "base_link")?);
    Ok(Box::new(LocalPositionDecoder {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        exact: options.flag("exact", false)?,
        attitude: AttitudeTracker::new(),
        plain_seen: false,
        cov_seen: false,
        pose: PoseStamped { header: local.clone(), ..PoseStamped::default() },
        velocity_local: TwistStamped { header: velocity, ..TwistStamped::default() },
        velocity_body: TwistStamped { header: body.clone(), ..TwistStamped::default() },
        odom: Odometry {
            header: local.clone(),
            child_frame_id: body.frame_id.clone(),
            ..Odometry::default()
        },
        pose_cov: PoseWithCovarianceStamped { header: local.clone(), ..PoseWithCovarianceStamped::default() },
        velocity_body_cov: TwistWithCovarianceStamped {
            header: body,
            ..TwistWithCovarianceStamped::default()
        },
        accel: AccelWithCovarianceStamped { header: local, ..AccelWithCovarianceStamped::default() },
        tf: transform,
    }))
}

struct LocalPositionDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    exact: bool,
    attitude: AttitudeTracker,
    /// LOCAL_POSITION_NED was seen: `pose` and `velocity_body` come from it.
    plain_seen: bool,
    /// LOCAL_POSITION_NED_COV was seen: `odom` comes from it.
    cov_seen: bool,
    pose: PoseStamped,
    velocity_local: TwistStamped,
    velocity_body: TwistStamped,
    odom: Odometry,
    pose_cov: PoseWithCovarianceStamped,
    velocity_body_cov: TwistWithCovarianceStamped,
    accel: AccelWithCovarianceStamped,
    tf: Option<Transform>,
}

impl Decoder for LocalPositionDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.attitude.forget_source();
            self.plain_seen = false;
            self.cov_seen = false;
        }
        match packet.msgid {
            LocalPositionNed::ID => self.plain(&LocalPositionNed::decode(packet.payload), out),
            LocalPositionNedCov::ID => {
                self.with_covariance(&LocalPositionNedCov::decode(packet.payload), out)
            }
            _ => {
                self.attitude.update(&packet);
            }
        }
        Ok(())
    }
}

impl LocalPositionDecoder {
    fn plain(&mut self, m: &LocalPositionNed, out: &mut Emit<'_>) {
        self.plain_seen = true;
        let motion = Motion {
            stamp: self.uas.stamp_ms(m.time_boot_ms, out.stamp()),
            position: Ned([m.x, m.y, m.z].map(f64::from)).to_enu(),
            velocity: Ned([m.vx, m.vy, m.vz].map(f64::from)).to_enu(),
        };
        self.uas.set_local(motion.position);
        self.publish_pose(&motion, out);
        self.publish_velocity_body(&motion, out);
        if out.wants(VELOCITY_LOCAL) {
            let stamp = motion.stamp;
            ros::stamp(&mut self.velocity_local.header, stamp);
            self.velocity_local.twist.linear = ros::vector3(motion.velocity.0);
            let rates = self.attitude.orientation.rotate(self.attitude.rates.0);
            self.velocity_local.twist.angular = ros::vector3(rates);
            out.publish(VELOCITY_LOCAL, stamp, &self.velocity_local);
        }
        if !self.cov_seen {
            self.publish_odom(&motion, [0.0; 36], [0.0; 36], out);
        }
    }

    fn with_covariance(&mut self, m: &LocalPositionNedCov, out: &mut Emit<'_>) {
        self.cov_seen = true;
        let motion = Motion {
            stamp: self.uas.stamp_us(m.time_usec, out.stamp()),
            position: Ned([m.x, m.y, m.z].map(f64::from)).to_enu(),
            velocity: Ned([m.vx, m.vy, m.vz].map(f64::from)).to_enu(),
        };
        if !self.plain_seen {
            self.publish_pose(&motion, out);
            self.publish_velocity_body(&motion, out);
        }
        let [position, velocity, acceleration] = blocks(&m.covariance);
        let none = Cov3::default();
        let (position, velocity, acceleration) = if self.exact {
            (position.only_diagonal(), velocity.only_diagonal(), acceleration.only_diagonal())
        } else {
            let body = velocity.swap_level().into_body(self.attitude.orientation);
            (position.swap_level(), body, acceleration.swap_level())
        };
        let (pose, twist) = (position.to_6x6(none), velocity.to_6x6(none));
        self.publish_odom(&motion, pose, twist, out);
        let stamp = motion.stamp;
        if out.wants(POSE_COV) {
            ros::stamp(&mut self.pose_cov.header, stamp);
            self.pose_cov.pose.pose.position = ros::point(motion.position.0);
            self.pose_cov.pose.pose.orientation = ros::quaternion(self.attitude.orientation);
            self.pose_cov.pose.covariance = pose;
            out.publish(POSE_COV, stamp, &self.pose_cov);
        }
        if out.wants(VELOCITY_BODY_COV) {
            ros::stamp(&mut self.velocity_body_cov.header, stamp);
            self.velocity_body_cov.twist.twist.linear = ros::vector3(self.in_body(motion.velocity));
            self.velocity_body_cov.twist.twist.angular = ros::vector3(self.attitude.rates.0);
            self.velocity_body_cov.twist.covariance = twist;
            out.publish(VELOCITY_BODY_COV, stamp, &self.velocity_body_cov);
        }
        if out.wants(ACCEL) {
            ros::stamp(&mut self.accel.header, stamp);
            let linear = Ned([m.ax, m.ay, m.az].map(f64::from)).to_enu();
            self.accel.accel.accel.linear = ros::vector3(linear.0);
            self.accel.accel.covariance = acceleration.to_6x6(none);
            out.publish(ACCEL, stamp, &self.accel);
        }
    }

    fn publish_pose(&mut self, motion: &Motion, out: &mut Emit<'_>) {
        if let Some(tf) = &mut self.tf {
            tf.publish(TF, motion.stamp, motion.position.0, self.attitude.orientation, out);
        }
        if out.wants(POSE) {
            let stamp = motion.stamp;
            ros::stamp(&mut self.pose.header, stamp);
            self.pose.pose.position = ros::point(motion.position.0);
            self.pose.pose.orientation = ros::quaternion(self.attitude.orientation);
            out.publish(POSE, stamp, &self.pose);
        }
    }

    fn publish_velocity_body(&mut self, motion: &Motion, out: &mut Emit<'_>) {
        if out.wants(VELOCITY_BODY) {
            let stamp = motion.stamp;
            ros::stamp(&mut self.velocity_body.header, stamp);
            self.velocity_body.twist.linear = ros::vector3(self.in_body(motion.velocity));
            self.velocity_body.twist.angular = ros::vector3(self.attitude.rates.0);
            out.publish(VELOCITY_BODY, stamp, &self.velocity_body);
        }
    }

    fn publish_odom(&mut self, motion: &Motion, pose: [f64; 36], twist: [f64; 36], out: &mut Emit<'_>) {
        if out.wants(ODOM) {
            let stamp = motion.stamp;
            ros::stamp(&mut self.odom.header, stamp);
            self.odom.pose.pose.position = ros::point(motion.position.0);
            self.odom.pose.pose.orientation = ros::quaternion(self.attitude.orientation);
            self.odom.pose.covariance = pose;
            self.odom.twist.twist.linear = ros::vector3(self.in_body(motion.velocity));
            self.odom.twist.twist.angular = ros::vector3(self.attitude.rates.0);
            self.odom.twist.covariance = twist;
            out.publish(ODOM, stamp, &self.odom);
        }
    }

    fn in_body(&self, velocity: Enu<[f64; 3]>) -> [f64; 3] {
        self.attitude.orientation.rotate_back(velocity.0)
    }
}

/// Where it is and how fast it goes, and when.
struct Motion {
    /// One for all messages of a frame, so that they can be matched by it.
    stamp: RosTime,
    position: Enu<[f64; 3]>,
    velocity: Enu<[f64; 3]>,
}

/// The position, velocity and acceleration blocks of a 9x9 upper triangle, row-major.
fn blocks(triangle: &[f32; 45]) -> [Cov3; 3] {
    // Index of the diagonal element of rows 0, 3 and 6, and elements in that row from the diagonal on.
    [(0, 9), (24, 6), (39, 3)].map(|(first, row): (usize, usize)| {
        let at = |i: usize| triangle.get(first + i).copied().map_or(0.0, f64::from);
        let (second, third) = (row, 2 * row - 1);
        let ([xx, xy, xz], [yy, yz], zz) = ([at(0), at(1), at(2)], [at(second), at(second + 1)], at(third));
        Cov3([xx, xy, xz, xy, yy, yz, xz, yz, zz])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangle_is_cut_into_its_diagonal_blocks() {
        let mut triangle = [0.0; 45];
        let mut index = 0;
        for row in 0..9_u8 {
            for column in row..9 {
                triangle[index] = f32::from(row * 10 + column);
                index += 1;
            }
        }
        let [position, velocity, acceleration] = blocks(&triangle);
        assert_eq!(position.0, [0.0, 1.0, 2.0, 1.0, 11.0, 12.0, 2.0, 12.0, 22.0]);
        assert_eq!(velocity.0, [33.0, 34.0, 35.0, 34.0, 44.0, 45.0, 35.0, 45.0, 55.0]);
        assert_eq!(acceleration.0, [66.0, 67.0, 68.0, 67.0, 77.0, 78.0, 68.0, 78.0, 88.0]);
    }
}
