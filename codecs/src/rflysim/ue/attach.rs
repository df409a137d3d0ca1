//! Vehicles attached to others: `VehicleAttatch25`.

use rostrans_msgs::rflysim_msgs::msg::UeAttach;
use rostrans_rflysim::{Packet as _, ue::VehicleAttatch25};

use super::{Packets, Refusal, To};

/// Source: rflysim spec 5.
pub(super) fn packets(attach: &UeAttach) -> Result<Packets, Refusal> {
    let count = attach.copter_ids.len();
    if attach.attach_ids.len() != count || attach.types.len() != count {
        return Err(Refusal::Field("copter_ids, attach_ids and types must have one length"));
    }
    if attach.types.iter().any(|kind| *kind > UeAttach::POSITION_ATTITUDE) {
        return Err(Refusal::Field("types of an attachment must be from 0 to 3"));
    }
    let mut packet = VehicleAttatch25 { copter_ids: [0; 25], attatch_ids: [0; 25], attatch_types: [0; 25] };
    if count > packet.copter_ids.len() {
        return Err(Refusal::Field("at most 25 vehicles are attached by one message"));
    }
    packet.copter_ids.iter_mut().zip(&attach.copter_ids).for_each(|(to, from)| *to = *from);
    packet.attatch_ids.iter_mut().zip(&attach.attach_ids).for_each(|(to, from)| *to = *from);
    packet.attatch_types.iter_mut().zip(&attach.types).for_each(|(to, from)| *to = i32::from(*from));
    Ok((To::window(attach.window), vec![packet.encode()]))
}
