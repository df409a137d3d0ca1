//! A vehicle's state as MAVROS topics.

use std::sync::Arc;

use rostrans_core::{
    clock::RosTime,
    codec::{CodecError, DecodeError, Port, PortInfo},
    emit::Emit,
    throttle::LogThrottle,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{
    geometry_msgs::msg::{PoseStamped, TwistStamped},
    nav_msgs::msg::Odometry,
    rflysim_msgs::msg::SOut2Simulator,
    sensor_msgs::msg::{Imu, NavSatFix},
};

use super::{
    CraftContext,
    craft::{Craft, Seen},
    motion::Motion,
    sender::{Sender, Verdict},
};
use crate::{
    describe::topic,
    frames::{Enu, Frd, Ned},
    options::Options,
    ros,
};

/// Topics of a state; the ports of the codecs that read one.
pub(super) const PORTS: &[PortInfo] = &[
    topic::<PoseStamped>("pose", Qos::sensor_data()),
    topic::<TwistStamped>("velocity_local", Qos::sensor_data()),
    topic::<TwistStamped>("velocity_body", Qos::sensor_data()),
    topic::<Odometry>("odom", Qos::sensor_data()),
    topic::<NavSatFix>("global", Qos::sensor_data()),
    topic::<Imu>("imu", Qos::sensor_data()),
    topic::<SOut2Simulator>("out2sim", Qos::sensor_data()),
];

const POSE: Port = Port(0);
const VELOCITY_LOCAL: Port = Port(1);
const VELOCITY_BODY: Port = Port(2);
const ODOM: Port = Port(3);
const GLOBAL: Port = Port(4);
const IMU: Port = Port(5);
const OUT2SIM: Port = Port(6);

/// Options of those codecs.
pub(super) const OPTIONS: &[(&str, &str)] = &[
    super::CRAFT,
    ("frame_id", "local frame; default map"),
    ("child_frame_id", "body frame; default base_link"),
    ("odom_twist", "axes of the linear velocity in odom: world (ENU, default) or body (FLU)"),
    (
        "spawn",
        "x, y, z of the spawn point, m NED from the centre of the map, as text; default where it is first seen",
    ),
];

/// Publishes states.
///
/// Poses are ENU metres from the spawn point, attitudes FLU in ENU. `velocity_local` is ENU with body rates in FLU,
/// `velocity_body` FLU. The linear velocity in `odom` is ENU, as its users take it, or FLU with `odom_twist: body`.
/// What a packet lacks is not made up: rates are 0 with covariance -1, `imu` and `global` are not published.
///
/// Source: rflysim spec 10.1, 11.
pub(super) struct Telemetry {
    rule: Arc<str>,
    craft: Arc<Craft>,
    sender: Sender,
    second: LogThrottle,
    body_twist: bool,
    pose: PoseStamped,
    velocity_local: TwistStamped,
    velocity_body: TwistStamped,
    odom: Odometry,
    global: NavSatFix,
    imu: Imu,
    out2sim: SOut2Simulator,
    /// The simulation time of the last state.
    last_time: Option<f64>,
}

impl Telemetry {
    pub(super) fn new(cx: &CraftContext<'_>, options: &Options<'_>) -> Result<Self, CodecError> {
        let craft = &cx.craft;
        let local = ros::header(options.text("frame_id", "map")?);
        let body = ros::header(options.text("child_frame_id", "base_link")?);
        let body_twist = options.choice("odom_twist", &[("world", false), ("body", true)])?.unwrap_or(false);
        if let Some(spawn) = spawn(options.text("spawn", "")?)? {
            craft.spawned_at(spawn);
        }
        let mut global = NavSatFix { header: body.clone(), ..NavSatFix::default() };
        // A fix by GPS; a covariance that is not known.
        (global.status.status, global.status.service) = (0, 1);
        Ok(Self {
            rule: Arc::clone(&cx.codec.rule.rule_id.0),
            craft: Arc::clone(craft),
            sender: Sender::default(),
            second: LogThrottle::new(),
            body_twist,
            pose: PoseStamped { header: local.clone(), ..PoseStamped::default() },
            velocity_local: TwistStamped { header: local.clone(), ..TwistStamped::default() },
            velocity_body: TwistStamped { header: body.clone(), ..TwistStamped::default() },
            odom: Odometry { header: local, child_frame_id: body.frame_id.clone(), ..Odometry::default() },
            global,
            imu: Imu { header: body.clone(), ..Imu::default() },
            out2sim: SOut2Simulator { header: body, ..SOut2Simulator::default() },
            last_time: None,
        })
    }

    /// Checks who sent a state.
    ///
    /// **Errors**: another simulator's states are being published.
    pub(super) fn admit(&mut self, frame: &Frame<'_>) -> Result<(), DecodeError> {
        let Some(from) = frame.peer.addr() else { return Ok(()) };
        match self.sender.hears(from, frame.received) {
            Verdict::Known => Ok(()),
            Verdict::New => {
                self.craft.sent_by(from);
                Ok(())
            }
            Verdict::Second(first) => {
                if let Some(count) = self.second.event(frame.received) {
                    let rule = &self.rule;
                    tracing::warn!(
                        %rule, %first, second = %from, count,
                        "two simulators send this vehicle's state; the second is ignored while the first sends"
                    );
                }
                Err(DecodeError::SecondSender)
            }
        }
    }

    /// Publishes a true state, which is seen from the centre of the map.
    pub(super) fn truth(&mut self, motion: &Motion, out: &mut Emit<'_>) {
        let fresh = motion.time.zip(self.last_time).is_some_and(|(now, last)| now + RESTART < last);
        self.last_time = motion.time.or(self.last_time);
        // -1 is from a sender without a clock.
        if let Some(time) = motion.time.filter(|secs| *secs >= 0.0).and_then(RosTime::from_secs_f64) {
            out.simulated(time);
        }
        let [_, _, yaw] = motion.euler;
        let seen = Seen {
            at: out.received(),
            position: motion.position,
            velocity: motion.velocity.map(f64::from),
            yaw: f64::from(yaw),
        };
        self.craft.saw(&seen, fresh);
        let [x, y, z] = motion.position;
        let [sx, sy, sz] = self.craft.spawn().unwrap_or_default();
        self.publish(motion, [x - sx, y - sy, z - sz], out);
        if out.wants(OUT2SIM) {
            self.raw(motion, out);
        }
    }

    /// Publishes an estimate, which is seen from home.
    pub(super) fn estimate(&mut self, motion: &Motion, out: &mut Emit<'_>) {
        let [_, _, yaw] = motion.euler;
        let velocity = motion.velocity.map(f64::from);
        let seen = Seen { at: out.received(), position: motion.position, velocity, yaw: f64::from(yaw) };
        self.craft.saw(&seen, false);
        self.publish(motion, motion.position, out);
    }

    /// `local` is NED.
    fn publish(&mut self, motion: &Motion, local: [f64; 3], out: &mut Emit<'_>) {
        let stamp = out.stamp();
        let attitude = motion.attitude().swap_attitude();
        let Enu(position) = Ned(local).to_enu();
        let Enu(velocity) = Ned(motion.velocity.map(f64::from)).to_enu();
        let rates = motion.rates.map(|rates| Frd(rates.map(f64::from)).to_flu().0);
        let body = attitude.rotate_back(velocity);
        if out.wants(POSE) {
            ros::stamp(&mut self.pose.header, stamp);
            self.pose.pose.position = ros::point(position);
            self.pose.pose.orientation = ros::quaternion(attitude);
            out.publish(POSE, stamp, &self.pose);
        }
        for (port, linear) in [(VELOCITY_LOCAL, velocity), (VELOCITY_BODY, body)] {
            if out.wants(port) {
                let message =
                    if port == VELOCITY_LOCAL { &mut self.velocity_local } else { &mut self.velocity_body };
                ros::stamp(&mut message.header, stamp);
                message.twist.linear = ros::vector3(linear);
                message.twist.angular = ros::vector3(rates.unwrap_or_default());
                out.publish(port, stamp, message);
            }
        }
        if out.wants(ODOM) {
            ros::stamp(&mut self.odom.header, stamp);
            self.odom.pose.pose.position = ros::point(position);
            self.odom.pose.pose.orientation = ros::quaternion(attitude);
            self.odom.twist.twist.linear = ros::vector3(if self.body_twist { body } else { velocity });
            self.odom.twist.twist.angular = ros::vector3(rates.unwrap_or_default());
            // Rates nobody told: the variances of the last three axes say so.
            let unknown = if rates.is_some() { 0.0 } else { -1.0 };
            for axis in [21, 28, 35] {
                if let Some(variance) = self.odom.twist.covariance.get_mut(axis) {
                    *variance = unknown;
                }
            }
            out.publish(ODOM, stamp, &self.odom);
        }
        if let Some([latitude, longitude, altitude]) = motion.gps
            && out.wants(GLOBAL)
        {
            ros::stamp(&mut self.global.header, stamp);
            (self.global.latitude, self.global.longitude, self.global.altitude) =
                (latitude, longitude, altitude);
            out.publish(GLOBAL, stamp, &self.global);
        }
        if let Some((acceleration, rates)) = motion.acceleration.zip(rates)
            && out.wants(IMU)
        {
            ros::stamp(&mut self.imu.header, stamp);
            self.imu.orientation = ros::quaternion(attitude);
            self.imu.angular_velocity = ros::vector3(rates);
            self.imu.linear_acceleration = ros::vector3(Frd(acceleration.map(f64::from)).to_flu().0);
            out.publish(IMU, stamp, &self.imu);
        }
    }

    /// The packet itself; what it lacks is NaN.
    fn raw(&mut self, motion: &Motion, out: &mut Emit<'_>) {
        let stamp: RosTime = out.stamp();
        let raw = &mut self.out2sim;
        ros::stamp(&mut raw.header, stamp);
        (raw.copter_id, raw.vehicle_type) = (motion.copter_id, motion.vehicle_type);
        (raw.vel_e, raw.ang_euler, raw.motor_rpms) = (motion.velocity, motion.euler, motion.rpm);
        raw.ang_quatern = motion.quaternion.unwrap_or_else(|| {
            #[expect(clippy::cast_possible_truncation, reason = "components are within 1")]
            motion.attitude().to_wxyz().map(|n| n as f32)
        });
        raw.acc_b = motion.acceleration.unwrap_or([f32::NAN; 3]);
        raw.rate_b = motion.rates.unwrap_or([f32::NAN; 3]);
        raw.runned_time = motion.time.unwrap_or(-1.0);
        raw.pos_e = motion.position;
        raw.pos_gps = motion.gps.unwrap_or([f64::NAN; 3]);
        out.publish(OUT2SIM, stamp, raw);
    }
}

/// A simulation whose time goes back by more seconds has started anew; less is disorder on the way.
const RESTART: f64 = 1.0;

/// Three numbers.
fn spawn(text: &str) -> Result<Option<[f64; 3]>, CodecError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.ok().and_then(|numbers| <[f64; 3]>::try_from(numbers).ok()) {
        Some(spawn) if spawn.iter().all(|n| n.is_finite()) => Ok(Some(spawn)),
        _ => Err(CodecError::Option {
            option: "spawn".to_owned(),
            problem: format!("'{text}' is not three numbers separated by commas, such as 10,20,-0.5"),
        }),
    }
}
