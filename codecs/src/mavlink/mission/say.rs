//! The protocol's messages on their way out.

use rostrans_core::emit::Emit;

use super::{
    item::{self, Place},
    task::Say,
};
use crate::mavlink::{
    dialect::{
        MissionAck, MissionClearAll, MissionCount, MissionRequest, MissionRequestInt, MissionRequestList,
        MissionSetCurrent, MissionWritePartialList,
    },
    uas::{Talker, Uas},
};

/// Sends a message about one plan (`MAV_MISSION_TYPE`) to the vehicle.
pub(super) fn send(talker: &mut Talker, uas: &Uas, mission_type: u8, say: Say, out: &mut Emit<'_>) {
    let (target_system, target_component) = (uas.target_system(), uas.target_component());
    let place = |seq| Place { system: target_system, component: target_component, plan: mission_type, seq };
    match say {
        Say::RequestList => {
            talker.send(&MissionRequestList { target_system, target_component, mission_type }, out)
        }
        Say::Request { seq, int: true } => {
            talker.send(&MissionRequestInt { seq, target_system, target_component, mission_type }, out)
        }
        Say::Request { seq, int: false } => {
            talker.send(&MissionRequest { seq, target_system, target_component, mission_type }, out)
        }
        Say::Ack(kind) => {
            let ack = MissionAck { target_system, target_component, kind, mission_type, opaque_id: 0 };
            talker.send(&ack, out)
        }
        Say::Count(count) => {
            let count = MissionCount { count, target_system, target_component, mission_type, opaque_id: 0 };
            talker.send(&count, out)
        }
        Say::WritePartialList { start, end } => {
            let list = MissionWritePartialList {
                start_index: i16::try_from(start).unwrap_or(i16::MAX),
                end_index: i16::try_from(end).unwrap_or(i16::MAX),
                target_system,
                target_component,
                mission_type,
            };
            talker.send(&list, out)
        }
        Say::Item { seq, item, int: true } => talker.send(&item::to_int(&item, place(seq)), out),
        Say::Item { seq, item, int: false } => talker.send(&item::to_float(&item, place(seq)), out),
        Say::ClearAll => talker.send(&MissionClearAll { target_system, target_component, mission_type }, out),
        Say::SetCurrent(seq) => talker.send(&MissionSetCurrent { seq, target_system, target_component }, out),
    };
}
