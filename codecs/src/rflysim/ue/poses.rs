//! Many poses: `Multi3DData2New` for up to 20, `Multi3DData100New` for more.

use rostrans_msgs::rflysim_msgs::msg::{UePose, UePoses};
use rostrans_rflysim::{
    Packet as _,
    ue::{AS_IS, Multi3DData2New, Multi3DData100New},
};

use super::{
    Packets, Refusal, To,
    place::{single, to_ned},
    pose::{checksum, mean_rpm, scale},
};

/// As few datagrams as there can be: hundreds, and the rest. Whether the ground counts, and the window, are the first pose's.
///
/// Source: rflysim spec 5.
pub(super) fn packets(poses: &UePoses) -> Result<Packets, Refusal> {
    let Some(first) = poses.poses.first() else { return Ok((To::All, Vec::new())) };
    let checksum = if first.fit_ground { checksum(first) } else { AS_IS };
    let packets = poses.poses.chunks(100).map(|chunk| packet(chunk, checksum)).collect::<Result<_, _>>()?;
    Ok((To::window(first.window), packets))
}

fn packet(poses: &[UePose], checksum: u32) -> Result<Vec<u8>, Refusal> {
    let placed = poses.iter().map(Placed::new).collect::<Result<Vec<_>, _>>()?;
    if placed.len() <= 20 {
        let mut packet = Multi3DData2New {
            checksum,
            copter_ids: [0; 20],
            vehicle_types: [0; 20],
            pos_e: [[0.0; 3]; 20],
            ang_euler: [[0.0; 3]; 20],
            scale: [[0; 3]; 20],
            motor_rpms: [[0.0; 8]; 20],
        };
        fill(&mut packet.copter_ids, &placed, |one| one.id);
        fill(&mut packet.vehicle_types, &placed, |one| one.kind);
        fill(&mut packet.pos_e, &placed, |one| one.position);
        fill(&mut packet.ang_euler, &placed, |one| one.angles);
        fill(&mut packet.scale, &placed, |one| one.scale);
        fill(&mut packet.motor_rpms, &placed, |one| one.rpms);
        return Ok(packet.encode());
    }
    let mut packet = Multi3DData100New {
        checksum,
        copter_ids: [0; 100],
        vehicle_types: [0; 100],
        pos_e: [[0.0; 3]; 100],
        ang_euler: [[0.0; 3]; 100],
        scale: [[0; 3]; 100],
        motor_rpm: [0.0; 100],
    };
    fill(&mut packet.copter_ids, &placed, |one| one.id);
    fill(&mut packet.vehicle_types, &placed, |one| one.kind);
    fill(&mut packet.pos_e, &placed, |one| one.position);
    fill(&mut packet.ang_euler, &placed, |one| one.angles);
    fill(&mut packet.scale, &placed, |one| one.scale);
    fill(&mut packet.motor_rpm, &placed, |one| one.rpm);
    Ok(packet.encode())
}

fn fill<T>(fields: &mut [T], placed: &[Placed], get: impl Fn(&Placed) -> T) {
    fields.iter_mut().zip(placed).for_each(|(field, one)| *field = get(one));
}

/// A pose as the packets have it.
struct Placed {
    id: u16,
    kind: u16,
    position: [f32; 3],
    angles: [f32; 3],
    /// Hundredths.
    scale: [u16; 3],
    rpm: f32,
    rpms: [f32; 8],
}

impl Placed {
    /// **Errors**: a number without room in 16 bits, a value that is not finite.
    fn new(pose: &UePose) -> Result<Self, Refusal> {
        let (position, angles) = to_ned(&pose.pose)?;
        Ok(Self {
            id: u16::try_from(pose.copter_id)
                .ok()
                .filter(|id| *id > 0)
                .ok_or(Refusal::Field("copter_id of many poses must be from 1 to 65535"))?,
            kind: u16::try_from(pose.vehicle_type)
                .map_err(|_| Refusal::Field("vehicle_type of many poses must be from 0 to 65535"))?,
            position: single(position),
            angles: single(angles),
            scale: scale(pose)?.map(hundredths),
            rpm: mean_rpm(pose),
            rpms: pose.motor_rpms,
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be 0 to 655.35 before"
)]
fn hundredths(factor: f32) -> u16 {
    (factor * 100.0).round() as u16
}
