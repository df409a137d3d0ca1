//! One pose: `SOut2SimulatorSimpleTime`, or `SOut2SimulatorSimple1` with a scale or on the ground.

use rostrans_msgs::rflysim_msgs::msg::UePose;
use rostrans_rflysim::{
    Packet as _,
    truth::SOut2SimulatorSimpleTime,
    ue::{AS_IS, FIT_GROUND, SOut2SimulatorSimple1},
};

use super::{
    Packets, Refusal, To,
    place::{single, to_ned},
};

/// The 112-byte packet has all rotors, the 52-byte one a scale and the ground.
///
/// Source: rflysim spec 5, 10.4.
pub(super) fn packets(pose: &UePose) -> Result<Packets, Refusal> {
    let (position, angles) = to_ned(&pose.pose)?;
    let scale = scale(pose)?;
    let packet = if scale == ONE && !pose.fit_ground {
        SOut2SimulatorSimpleTime {
            copter_id: pose.copter_id,
            vehicle_type: pose.vehicle_type,
            pos_gps_int: [0; 3],
            motor_rpms: pose.motor_rpms,
            vel_e: [0.0; 3],
            ang_euler: single(angles),
            pos_e: position,
            runned_time: -1.0,
        }
        .encode()
    } else {
        SOut2SimulatorSimple1 {
            checksum: checksum(pose),
            copter_id: pose.copter_id,
            vehicle_type: pose.vehicle_type,
            motor_rpm: mean_rpm(pose),
            pos_e: single(position),
            ang_euler: single(angles),
            scale,
        }
        .encode()
    };
    Ok((To::window(pose.window), vec![packet]))
}

/// The first field, which says whether the ground counts.
pub(super) fn checksum(pose: &UePose) -> u32 {
    if pose.fit_ground { FIT_GROUND } else { AS_IS }
}

/// **Errors**: a scale that is negative or not finite.
pub(super) fn scale(pose: &UePose) -> Result<[f32; 3], Refusal> {
    let scale = pose.scale;
    if !scale.iter().all(|factor| (0.0..=MAX_SCALE).contains(factor)) {
        return Err(Refusal::Field("a scale must be from 0 to 655.35"));
    }
    Ok(if scale == [0.0; 3] { ONE } else { scale })
}

/// Of the rotors that turn.
pub(super) fn mean_rpm(pose: &UePose) -> f32 {
    let (sum, count) = pose
        .motor_rpms
        .iter()
        .filter(|rpm| **rpm != 0.0)
        .fold((0.0, 0.0), |(sum, n), rpm| (sum + rpm, n + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

const ONE: [f32; 3] = [1.0; 3];
/// What the packets for many have room for.
const MAX_SCALE: f32 = 655.35;
