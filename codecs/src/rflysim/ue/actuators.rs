//! Inputs of a blueprint: `Ue4ExtMsg`.

use rostrans_msgs::rflysim_msgs::msg::UeActuators;
use rostrans_rflysim::{Packet as _, ue::Ue4ExtMsg};

use super::{Packets, Refusal, To};

/// Source: rflysim spec 5.
pub(super) fn packets(actuators: &UeActuators) -> Result<Packets, Refusal> {
    let UeActuators { copter_id, runned_time, values, window } = *actuators;
    Ok((To::window(window), vec![Ue4ExtMsg { copter_id, runned_time, ext_act: values }.encode()]))
}
