//! `rflysim3d.crash`: state and collisions of one vehicle.

use rostrans_core::{
    codec::{CodecContext, CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{rflysim_msgs::msg::CrashData, std_msgs::msg::Int32};
use rostrans_rflysim::{Kind, Packet as _, Series, detect, event::CopterSimCrash, scene::ReqVeCrashData};

use super::{Described, TELLS, place::Frame as Axes, scene::MAP};
use crate::{describe::topic, frames::Ned, options::Options, rflysim::motion::error, ros};

/// `reqVeCrashData` and `CopterSimCrash` of the vehicle that the option names; those of others are left to other links.
///
/// Source: rflysim spec 6.4, 6.5; 224.0.0.10:20006.
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "rflysim3d.crash",
    doc: "a vehicle's state and collisions as RflySim3D reports them (224.0.0.10:20006)",
    ports: &[topic::<CrashData>("crash", Qos::reliable()), topic::<Int32>("collision", Qos::reliable())],
    options: &[("copter_id", "number of the vehicle, 1 or more; default 1")],
    ..TELLS
};

const CRASH: Port = Port(0);
const COLLISION: Port = Port(1);

fn build(cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let copter_id = Options::new(cx, &INFO)?.int("copter_id", 1, 1..=i32::MAX)?;
    Ok(Box::new(Crash { copter_id }))
}

struct Crash {
    copter_id: i32,
}

impl Decoder for Crash {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let stamp = out.stamp();
        match detect(Series::Scene, frame.bytes) {
            Some(Kind::ReqVeCrashData) => {
                let p = ReqVeCrashData::decode(frame.bytes).map_err(error)?;
                if p.copter_id != self.copter_id || !out.wants(CRASH) {
                    return Ok(());
                }
                let axes = Axes::Ned;
                let mut header = ros::header(MAP);
                ros::stamp(&mut header, stamp);
                let message = CrashData {
                    header,
                    copter_id: p.copter_id,
                    vehicle_type: p.vehicle_type,
                    crash_type: p.crash_type,
                    runned_time: p.runned_time,
                    pose: axes.pose(p.pos_e, p.ang_euler, None),
                    velocity: ros::vector3(Ned(p.vel_e.map(f64::from)).to_enu().0),
                    crash_position: axes.point(p.crash_pos),
                    target_position: axes.point(p.target_pos),
                    motor_rpms: p.motor_rpms,
                    ray: p.ray,
                    crashed_name: p.crashed_name.text().into_owned(),
                };
                out.publish(CRASH, stamp, &message);
            }
            Some(Kind::CopterSimCrash) => {
                let p = CopterSimCrash::decode(frame.bytes).map_err(error)?;
                if p.copter_id == self.copter_id {
                    out.publish(COLLISION, stamp, &Int32 { data: p.target_id });
                }
            }
            Some(_) => {}
            None => return Err(DecodeError::BadMagic),
        }
        Ok(())
    }
}
