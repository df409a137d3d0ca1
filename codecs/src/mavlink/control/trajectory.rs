//! `mavlink.setpoint_trajectory`: the points of a trajectory, each at its time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::{CdrBytes, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Port, Sample},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    geometry_msgs::msg::{Point, Pose, PoseStamped, Transform},
    nav_msgs::msg::Path,
    std_srvs::srv::{Trigger, TriggerResponse},
    trajectory_msgs::msg::{MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint},
};

use super::{
    frame::{MAV_FRAME, MavFrame},
    position::{IGNORE_ACCELERATION, IGNORE_POSITION, IGNORE_VELOCITY, IGNORE_YAW, IGNORE_YAW_RATE},
};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::SetPositionTargetLocalNed,
        parts::{rotation, xyz},
        relay::{TALKS, input, service, topic},
        ros,
        uas::{MavContext, Talker, Uas},
        value::{duration, ms_of, stamp_ns, to_f32, zero},
        vehicle,
    },
    options::Options,
};

/// `setpoint_trajectory/local`: each point is sent when its `time_from_start` has passed since the trajectory came; the
/// whole is published on `setpoint_trajectory/desired`. A new trajectory or `setpoint_trajectory/reset` ends the old one.
/// The first joint counts; what a point lacks is masked out.
///
/// **Frame**: as `setpoint_position`; the yaw rate anticlockwise. In exact mode the yaw rate keeps its sign and the
/// stamps are those of sending, as in MAVROS.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_trajectory",
    doc: "trajectories, point by point",
    ports: &[topic::<Path>("desired", Qos::sensor_data())],
    inputs: &[input::<MultiDOFJointTrajectory>("local", 5)],
    services: &[service::<Trigger>("reset")],
    options: &[
        vehicle::SYSID,
        vehicle::EXACT,
        MAV_FRAME,
        ("frame_id", "frame of the published path; default map"),
    ],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let header = ros::header(options.text("frame_id", "map")?);
    Ok(Box::new(Player {
        exact: options.flag("exact", false)?,
        frame: MavFrame::of(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        path: Path { header, ..Path::default() },
        running: None,
    }))
}

struct Player {
    exact: bool,
    frame: MavFrame,
    uas: Arc<Uas>,
    talker: Talker,
    path: Path,
    running: Option<Running>,
}

struct Running {
    points: Vec<MultiDOFJointTrajectoryPoint>,
    next: usize,
    began: Instant,
    /// Of the trajectory, nanoseconds.
    stamp_ns: i64,
}

impl Running {
    fn due(&self) -> Option<Instant> {
        Some(self.began + from_start(self.points.get(self.next)?))
    }
}

impl Decoder for Player {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, _: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let trajectory: MultiDOFJointTrajectory =
            from_cdr(&sample.payload).map_err(|_| EncodeError::Cdr(MultiDOFJointTrajectory::TYPE))?;
        if out.wants(Port(0)) {
            let stamp = out.stamp();
            ros::stamp(&mut self.path.header, stamp);
            self.path.poses.clear();
            self.path
                .poses
                .extend(trajectory.points.iter().filter_map(|p| Some(pose(p.transforms.first()?))));
            out.publish(Port(0), stamp, &self.path);
        }
        self.running = Some(Running {
            stamp_ns: stamp_ns(&trajectory.header),
            points: trajectory.points,
            next: 0,
            began: out.received(),
        });
        self.play(out.received(), out);
        Ok(())
    }

    fn call(&mut self, _: Port, call: CallId, _: &CdrBytes, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        self.running = None;
        out.answer(call, &TriggerResponse { success: true, ..TriggerResponse::default() });
        Ok(())
    }

    fn next_due(&self) -> Option<Instant> {
        self.running.as_ref()?.due()
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        self.play(now, out);
    }
}

impl Player {
    /// Sends what is due. Of points whose time has passed only the last counts.
    fn play(&mut self, now: Instant, out: &mut Emit<'_>) {
        let Some(running) = &mut self.running else { return };
        let mut due = None;
        while running.due().is_some_and(|at| at <= now) {
            due = running.points.get(running.next).cloned();
            running.next += 1;
        }
        let stamp_ns = if self.exact { out.stamp().ns } else { running.stamp_ns };
        if running.next >= running.points.len() {
            self.running = None;
        }
        if let Some(point) = due {
            let from_start = if self.exact { 0 } else { from_start(&point).as_nanos() };
            let at = stamp_ns.saturating_add(i64::try_from(from_start).unwrap_or(i64::MAX));
            self.talker.send(&self.setpoint(&point, ms_of(at)), out);
        }
    }

    fn setpoint(&self, point: &MultiDOFJointTrajectoryPoint, time_boot_ms: u32) -> SetPositionTargetLocalNed {
        let mut m = SetPositionTargetLocalNed {
            time_boot_ms,
            target_system: self.uas.target_system(),
            target_component: self.uas.target_component(),
            coordinate_frame: self.frame.0,
            ..zero()
        };
        match point.transforms.first() {
            Some(transform) => {
                [m.x, m.y, m.z] = self.frame.vector(xyz(&transform.translation));
                m.yaw = to_f32(self.frame.yaw_of(rotation(&transform.rotation)));
            }
            None => m.type_mask |= IGNORE_POSITION | IGNORE_YAW,
        }
        match point.velocities.first() {
            Some(velocity) => {
                [m.vx, m.vy, m.vz] = self.frame.vector(xyz(&velocity.linear));
                let sign = if self.exact { 1.0 } else { -1.0 };
                m.yaw_rate = to_f32(sign * velocity.angular.z);
            }
            None => m.type_mask |= IGNORE_VELOCITY | IGNORE_YAW_RATE,
        }
        match point.accelerations.first() {
            Some(acceleration) => {
                [m.afx, m.afy, m.afz] = self.frame.vector(xyz(&acceleration.linear));
            }
            None => m.type_mask |= IGNORE_ACCELERATION,
        }
        m
    }
}

fn from_start(point: &MultiDOFJointTrajectoryPoint) -> Duration {
    duration(&point.time_from_start)
}

fn pose(transform: &Transform) -> PoseStamped {
    let at = &transform.translation;
    let position = Point { x: at.x, y: at.y, z: at.z };
    PoseStamped { pose: Pose { position, orientation: transform.rotation }, ..PoseStamped::default() }
}
