//! `mavlink.setpoint_attitude`: an attitude or body rates, with a thrust from a topic of its own.

use std::{collections::VecDeque, sync::Arc};

use rostrans_cdr::{CdrDecode, from_cdr};
use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Port, Sample},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    geometry_msgs::msg::{PoseStamped, TwistStamped},
    mavros_msgs::msg::Thrust,
    std_msgs::msg::Header,
};

use crate::{
    frames::{Enu, Flu},
    mavlink::{
        DecodeOnly,
        dialect::SetAttitudeTarget,
        parts::{rotation, xyz},
        relay::{TALKS, input},
        uas::{MavContext, Talker, Uas},
        value::{stamp_ns, time_boot_ms, to_f32, to_f32s, zero},
        vehicle,
    },
    options::Options,
};

/// `setpoint_attitude/thrust` with `setpoint_attitude/cmd_vel` (body rates) or, with `use_quaternion`,
/// `setpoint_attitude/attitude`. A thrust and the rates or attitude whose stamp is nearest to its make one setpoint.
///
/// **Frame**: attitude FLU in ENU. Rates in radians a second: x and y change places and z its sign, as in MAVROS;
/// `rates_flu` takes them for what REP 103 says, FLU. Thrust 0 to 1, with `reverse_thrust` -1 to 1; others are refused.
///
/// Source: MAVLink common, SET_ATTITUDE_TARGET (82).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_attitude",
    doc: "attitudes or body rates, with thrust",
    inputs: &[
        input::<Thrust>("thrust", 10),
        input::<TwistStamped>("cmd_vel", 10),
        input::<PoseStamped>("attitude", 10),
    ],
    options: &[
        vehicle::SYSID,
        ("use_quaternion", "true takes attitudes, false body rates; default false"),
        ("reverse_thrust", "true allows a thrust below 0; default false"),
        ("rates_flu", "true takes body rates as forward, left, up; default false, as MAVROS"),
    ],
    ..TALKS
};

const THRUST: Port = Port(0);
const RATES: Port = Port(1);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(Pairing {
        rule: Arc::clone(&cx.rule.rule_id.0),
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        use_quaternion: options.flag("use_quaternion", false)?,
        lowest_thrust: if options.flag("reverse_thrust", false)? { -1.0 } else { 0.0 },
        rates_flu: options.flag("rates_flu", false)?,
        told: false,
        thrusts: VecDeque::new(),
        motions: VecDeque::new(),
    }))
}

struct Pairing {
    rule: Arc<str>,
    uas: Arc<Uas>,
    talker: Talker,
    use_quaternion: bool,
    lowest_thrust: f32,
    rates_flu: bool,
    /// The topic that is not looked at was mentioned.
    told: bool,
    thrusts: VecDeque<(i64, f32)>,
    motions: VecDeque<(i64, SetAttitudeTarget)>,
}

impl Decoder for Pairing {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let partner = match input {
            THRUST => {
                let thrust: Thrust = read(sample)?;
                if !(self.lowest_thrust..=1.0).contains(&thrust.thrust) {
                    return Err(EncodeError::OutOfRange("thrust"));
                }
                let at = stamp_ns(&thrust.header);
                let motion = nearest(&mut self.motions, at);
                if motion.is_none() {
                    push(&mut self.thrusts, at, thrust.thrust);
                }
                motion.map(|motion| SetAttitudeTarget { thrust: thrust.thrust, ..motion })
            }
            _ if (input == RATES) == self.use_quaternion => {
                self.tell_ignored();
                None
            }
            _ => {
                let (at, motion) = self.motion(input, sample)?;
                let thrust = nearest(&mut self.thrusts, at);
                if thrust.is_none() {
                    push(&mut self.motions, at, motion);
                }
                thrust.map(|thrust| SetAttitudeTarget { thrust, ..motion })
            }
        };
        if let Some(setpoint) = partner {
            let (target_system, target_component) = (self.uas.target_system(), self.uas.target_component());
            self.talker.send(&SetAttitudeTarget { target_system, target_component, ..setpoint }, out);
        }
        Ok(())
    }
}

impl Pairing {
    fn motion(&self, input: Port, sample: &Sample) -> Result<(i64, SetAttitudeTarget), EncodeError> {
        if input == RATES {
            let twist: TwistStamped = read(sample)?;
            let rates = xyz(&twist.twist.angular);
            let rates = if self.rates_flu { Flu(rates).to_frd().0 } else { Enu(rates).to_ned().0 };
            let [body_roll_rate, body_pitch_rate, body_yaw_rate] = to_f32s(rates);
            let motion = SetAttitudeTarget {
                type_mask: IGNORE_ATTITUDE,
                q: [1.0, 0.0, 0.0, 0.0],
                body_roll_rate,
                body_pitch_rate,
                body_yaw_rate,
                ..stamped(&twist.header)
            };
            return Ok((stamp_ns(&twist.header), motion));
        }
        let pose: PoseStamped = read(sample)?;
        let q = rotation(&pose.pose.orientation).swap_attitude().to_wxyz().map(to_f32);
        let motion = SetAttitudeTarget { type_mask: IGNORE_RATES, q, ..stamped(&pose.header) };
        Ok((stamp_ns(&pose.header), motion))
    }

    /// Says once which topic counts: with the parameter the other way round, nothing would move.
    fn tell_ignored(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let (heard, value) = if self.use_quaternion { ("cmd_vel", false) } else { ("attitude", true) };
        let rule = &self.rule;
        tracing::warn!(
            %rule,
            "setpoint_attitude/{heard} is ignored; set mavros_setpoint_attitude_use_quaternion={value} to use it"
        );
    }
}

fn stamped(header: &Header) -> SetAttitudeTarget {
    SetAttitudeTarget { time_boot_ms: time_boot_ms(header), ..zero() }
}

fn read<T: CdrDecode + RosType>(sample: &Sample) -> Result<T, EncodeError> {
    from_cdr(&sample.payload).map_err(|_| EncodeError::Cdr(T::TYPE))
}

/// Keeps the last few.
fn push<T>(queue: &mut VecDeque<(i64, T)>, at: i64, item: T) {
    if queue.len() == QUEUE {
        queue.pop_front();
    }
    queue.push_back((at, item));
}

/// Takes the item whose stamp is nearest, and forgets those before it.
fn nearest<T>(queue: &mut VecDeque<(i64, T)>, at: i64) -> Option<T> {
    let (index, _) = queue.iter().enumerate().min_by_key(|(_, (stamp, _))| stamp.abs_diff(at))?;
    queue.drain(..=index).next_back().map(|(_, item)| item)
}

/// Messages that wait for their partner, as in MAVROS.
const QUEUE: usize = 10;
/// `ATTITUDE_TARGET_TYPEMASK`.
const IGNORE_RATES: u8 = 7;
const IGNORE_ATTITUDE: u8 = 128;
