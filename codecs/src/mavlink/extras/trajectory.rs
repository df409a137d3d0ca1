//! `mavlink.trajectory`: the path ahead, and a planner's answer to it.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, EncodeError, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    mavros_msgs::msg::{PositionTarget, Trajectory},
    nav_msgs::msg::Path,
};

use crate::{
    frames::{Ned, swap_yaw},
    mavlink::{
        DecodeOnly,
        dialect::{
            Message, TrajectoryRepresentationBezier as Bezier, TrajectoryRepresentationWaypoints as Waypoints,
        },
        parts::{ned, point, rotation, xyz},
        relay::{Relay, TALKS, Wire, input, topic},
        ros,
        uas::MavContext,
        value::{time_usec, to_f32, to_f64s},
        vehicle,
    },
    options::Options,
};

/// TRAJECTORY_REPRESENTATION_WAYPOINTS to `trajectory/desired`; `trajectory/generated` and `trajectory/path` to
/// TRAJECTORY_REPRESENTATION_WAYPOINTS, or BEZIER when `type` says so.
///
/// **Frame**: ENU of the local frame, yaw from east; yaw rates go unchanged, as in MAVROS. Points that are not valid
/// are NaN. A path's first five poses are sent. With `exact` the yaw of a path is sent as counted from east and the
/// command of a point that is not valid is 0, as MAVROS does.
///
/// Source: MAVLink common, TRAJECTORY_REPRESENTATION_WAYPOINTS (332), TRAJECTORY_REPRESENTATION_BEZIER (333).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.trajectory",
    doc: "the vehicle's next waypoints, and a planner's answer",
    ports: &[topic::<Trajectory>("desired", Qos::reliable())],
    inputs: &[input::<Trajectory>("generated", 10), input::<Path>("path", 10)],
    interest: Interest::Tags(WAYPOINTS),
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TALKS
};

const WAYPOINTS: &[u32] = &[Waypoints::ID];

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let exact = Options::new(cx, &INFO)?.flag("exact", false)?;
    let trajectory = Trajectory { header: ros::header("local_origin"), ..Trajectory::default() };
    Relay::new(cx, &INFO)?
        .tell_if(WAYPOINTS, "desired", trajectory, |m: &Waypoints, trajectory, at| {
            ros::stamp(&mut trajectory.header, at.us(m.time_usec));
            desired(m, trajectory)
        })
        .hear(move |trajectory: &Trajectory, to| generated(trajectory, exact, to))
        .hear(move |path: &Path, to| {
            to.send(&waypoints_of(path, exact));
            Ok(())
        })
        .done()
}

/// False for more points than there are.
fn desired(m: &Waypoints, trajectory: &mut Trajectory) -> bool {
    let valid = usize::from(m.valid_points);
    trajectory.command = m.command;
    trajectory.point_valid = std::array::from_fn(|index| u8::from(index < valid));
    let points = [
        &mut trajectory.point_1,
        &mut trajectory.point_2,
        &mut trajectory.point_3,
        &mut trajectory.point_4,
        &mut trajectory.point_5,
    ];
    for (index, point) in points.into_iter().enumerate() {
        let at = |values: &[f32; 5]| values.get(index).copied().unwrap_or(f32::NAN);
        let enu = |x, y, z| Ned(to_f64s([at(x), at(y), at(z)])).to_enu().0;
        point.position = ros::point(enu(&m.pos_x, &m.pos_y, &m.pos_z));
        point.velocity = ros::vector3(enu(&m.vel_x, &m.vel_y, &m.vel_z));
        point.acceleration_or_force = ros::vector3(enu(&m.acc_x, &m.acc_y, &m.acc_z));
        point.yaw = to_f32(swap_yaw(at(&m.pos_yaw).into()));
        point.yaw_rate = at(&m.vel_yaw);
    }
    valid <= m.pos_x.len()
}

/// One point of WAYPOINTS; NaN is "not used".
#[derive(Clone, Copy)]
struct Point {
    position: [f32; 3],
    velocity: [f32; 3],
    acceleration: [f32; 3],
    yaw: f32,
    yaw_rate: f32,
    command: u16,
}

impl Point {
    const UNUSED: Self = Self {
        position: [f32::NAN; 3],
        velocity: [f32::NAN; 3],
        acceleration: [f32::NAN; 3],
        yaw: f32::NAN,
        yaw_rate: f32::NAN,
        command: NO_COMMAND,
    };

    fn of(target: &PositionTarget) -> Self {
        let (p, v, a) = (&target.position, &target.velocity, &target.acceleration_or_force);
        Self {
            position: ned(point(p)),
            velocity: ned(xyz(v)),
            acceleration: ned(xyz(a)),
            yaw: to_f32(swap_yaw(target.yaw.into())),
            yaw_rate: target.yaw_rate,
            command: NO_COMMAND,
        }
    }
}

fn assemble(time_usec: u64, valid_points: u8, points: [Point; 5]) -> Waypoints {
    Waypoints {
        time_usec,
        pos_x: points.map(|p| p.position[0]),
        pos_y: points.map(|p| p.position[1]),
        pos_z: points.map(|p| p.position[2]),
        vel_x: points.map(|p| p.velocity[0]),
        vel_y: points.map(|p| p.velocity[1]),
        vel_z: points.map(|p| p.velocity[2]),
        acc_x: points.map(|p| p.acceleration[0]),
        acc_y: points.map(|p| p.acceleration[1]),
        acc_z: points.map(|p| p.acceleration[2]),
        pos_yaw: points.map(|p| p.yaw),
        vel_yaw: points.map(|p| p.yaw_rate),
        command: points.map(|p| p.command),
        valid_points,
    }
}

fn generated(trajectory: &Trajectory, exact: bool, to: &mut Wire<'_, '_>) -> Result<(), EncodeError> {
    let t = trajectory;
    let valid = |index: usize| t.point_valid.get(index).is_some_and(|valid| *valid != 0);
    let unused = Point { command: if exact { 0 } else { NO_COMMAND }, ..Point::UNUSED };
    let targets = [&t.point_1, &t.point_2, &t.point_3, &t.point_4, &t.point_5];
    let points: [Point; 5] = std::array::from_fn(|index| match targets.get(index) {
        Some(target) if valid(index) => Point::of(target),
        _ => unused,
    });
    let (time_usec, valid_points) = (time_usec(&t.header), (0..5).map(|index| u8::from(valid(index))).sum());
    match t.r#type {
        Trajectory::MAV_TRAJECTORY_REPRESENTATION_WAYPOINTS => {
            to.send(&assemble(time_usec, valid_points, points));
        }
        Trajectory::MAV_TRAJECTORY_REPRESENTATION_BEZIER => to.send(&Bezier {
            time_usec,
            pos_x: points.map(|p| p.position[0]),
            pos_y: points.map(|p| p.position[1]),
            pos_z: points.map(|p| p.position[2]),
            delta: std::array::from_fn(|index| match t.time_horizon.get(index) {
                Some(horizon) if valid(index) => *horizon,
                _ => f32::NAN,
            }),
            pos_yaw: points.map(|p| p.yaw),
            valid_points,
        }),
        _ => return Err(EncodeError::OutOfRange("type")),
    }
    Ok(())
}

fn waypoints_of(path: &Path, exact: bool) -> Waypoints {
    let points: [Point; 5] = std::array::from_fn(|index| {
        let Some(pose) = path.poses.get(index).map(|stamped| &stamped.pose) else { return Point::UNUSED };
        let (p, q) = (&pose.position, &pose.orientation);
        let [_, _, yaw] = rotation(q).to_rpy();
        let yaw = to_f32(if exact { yaw } else { swap_yaw(yaw) });
        Point { position: ned(point(p)), yaw, ..Point::UNUSED }
    });
    let valid_points = u8::try_from(path.poses.len().min(points.len())).unwrap_or_default();
    assemble(time_usec(&path.header), valid_points, points)
}

/// `command` of a point that is not one of a mission.
const NO_COMMAND: u16 = u16::MAX;
