//! The same state in the packets of all generations.

use rostrans_rflysim::{
    Packet as _,
    model::{DllInDoubCtrls, PX4SILIntFloat},
    truth::{
        NetDataShort, OLD_PAYLOAD, SOut2Simulator, SOut2SimulatorSimpleTime, SimpleTimeV0, SimpleTimeV1,
    },
};

/// Which generation of truth packets is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packets {
    /// 168 bytes.
    Full,
    /// 112 bytes.
    Simple,
    /// 200 bytes.
    Old,
    /// 104 bytes.
    V1,
    /// 88 bytes.
    V0,
    /// One after the other.
    Mixed,
}

impl Packets {
    /// Their names on the command line.
    pub const NAMES: [(&str, Self); 6] = [
        ("full", Self::Full),
        ("simple", Self::Simple),
        ("old", Self::Old),
        ("v1", Self::V1),
        ("v0", Self::V0),
        ("mixed", Self::Mixed),
    ];
}

/// A truth packet of a generation.
pub(crate) fn truth_as(packets: Packets, t: &SOut2Simulator, count: u64) -> Vec<u8> {
    #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
    let place = t.pos_e.map(|n| n as f32);
    let SOut2Simulator { copter_id, vehicle_type, motor_rpms, vel_e, ang_euler, pos_e, runned_time, .. } = *t;
    match packets {
        Packets::Full => t.encode(),
        Packets::Simple => {
            let [lat, lon, alt] = t.pos_gps;
            #[expect(clippy::cast_possible_truncation, reason = "degrees and metres fit")]
            let pos_gps_int = [(lat * 1e7) as i32, (lon * 1e7) as i32, (alt * 1e3) as i32];
            SOut2SimulatorSimpleTime {
                copter_id,
                vehicle_type,
                pos_gps_int,
                motor_rpms,
                vel_e,
                ang_euler,
                pos_e,
                runned_time,
            }
            .encode()
        }
        Packets::Old => NetDataShort {
            tg: -1,
            len: OLD_PAYLOAD,
            copter_id,
            vehicle_type,
            runned_time,
            vel_e,
            pos_e: place,
            ang_euler,
            ang_quatern: t.ang_quatern,
            motor_rpms,
            acc_b: t.acc_b,
            rate_b: t.rate_b,
            pos_gps: t.pos_gps,
            ..NetDataShort::default()
        }
        .encode(),
        Packets::V1 => SimpleTimeV1 {
            copter_id,
            vehicle_type,
            motor_rpms,
            vel_e,
            ang_euler,
            pos_e,
            runned_time,
            ..SimpleTimeV1::default()
        }
        .encode(),
        Packets::V0 => {
            SimpleTimeV0 { copter_id, vehicle_type, motor_rpms, pos_e: place, vel_e, ang_euler, runned_time }
                .encode()
        }
        Packets::Mixed => {
            let all = [Packets::Full, Packets::Simple, Packets::Old, Packets::V1, Packets::V0];
            let turn = usize::try_from(count % 5).unwrap_or_default();
            truth_as(all.get(turn).copied().unwrap_or(Packets::Full), t, count)
        }
    }
}

/// A command of doubles as one of integers and floats.
pub(crate) fn singles(packet: &DllInDoubCtrls) -> PX4SILIntFloat {
    let mut out = PX4SILIntFloat { copter_id: packet.copter_id, ..PX4SILIntFloat::default() };
    let (ints, floats) = packet.in_sil.split_at(8);
    #[expect(clippy::cast_possible_truncation, reason = "they stand for integers and floats")]
    {
        out.in_sil_ints.iter_mut().zip(ints).for_each(|(to, from)| *to = *from as i32);
        out.in_sil_floats.iter_mut().zip(floats).for_each(|(to, from)| *to = *from as f32);
    }
    out
}
