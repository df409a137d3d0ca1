//! What each service asks of the vehicle.

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::codec::EncodeError;
use rostrans_msgs::mavros_msgs::srv::{
    CommandBoolRequest, CommandHomeRequest, CommandIntRequest, CommandLongRequest, CommandTOLLocalRequest,
    CommandTOLRequest, CommandTriggerControlRequest, CommandTriggerIntervalRequest,
    CommandVtolTransitionRequest, MessageIntervalRequest,
};

use crate::mavlink::transaction::Command;
use crate::mavlink::{
    dialect::{CommandInt, CommandLong},
    value::{to_f32, zero},
};

/// A command, whom it is for, and whether doing it twice is as good as once.
pub(super) struct Asked {
    pub(super) command: Command,
    /// For every system and component; nobody answers.
    pub(super) broadcast: bool,
    pub(super) repeat: bool,
}

impl Asked {
    fn of_vehicle(command: CommandLong) -> Self {
        Self { command: Command::Long(command), broadcast: false, repeat: true }
    }
}

/// Reads a request of the service with that index in the codec's list.
///
/// **Errors**: malformed CDR, or no such service.
pub(super) fn read(service: u8, request: &CdrBytes) -> Result<Asked, EncodeError> {
    Ok(match service {
        0 => long(&decode(request)?),
        1 => int(&decode(request)?),
        2 => Asked::of_vehicle(arming(&decode(request)?)),
        3 => Asked::of_vehicle(set_home(&decode(request)?)),
        4 => Asked::of_vehicle(takeoff(&decode(request)?)),
        5 => Asked::of_vehicle(land(&decode(request)?)),
        6 => Asked::of_vehicle(takeoff_local(&decode(request)?)),
        7 => Asked::of_vehicle(land_local(&decode(request)?)),
        8 => Asked { repeat: false, ..Asked::of_vehicle(trigger_control(&decode(request)?)) },
        9 => Asked::of_vehicle(trigger_interval(&decode(request)?)),
        10 => Asked::of_vehicle(vtol_transition(&decode(request)?)),
        11 => Asked::of_vehicle(message_interval(&decode(request)?)),
        12 => Asked::of_vehicle(CommandLong { command: GET_HOME_POSITION, ..zero() }),
        _ => return Err(EncodeError::Cdr("no such service")),
    })
}

fn decode<T: CdrDecode>(request: &CdrBytes) -> Result<T, EncodeError> {
    from_cdr(request).map_err(|_| EncodeError::Cdr("service request"))
}

/// What a command does is not known here, so it is never sent twice.
fn long(r: &CommandLongRequest) -> Asked {
    let command = CommandLong {
        command: r.command,
        confirmation: if r.broadcast { 0 } else { r.confirmation },
        param1: r.param1,
        param2: r.param2,
        param3: r.param3,
        param4: r.param4,
        param5: r.param5,
        param6: r.param6,
        param7: r.param7,
        ..zero()
    };
    Asked { command: Command::Long(command), broadcast: r.broadcast, repeat: false }
}

fn int(r: &CommandIntRequest) -> Asked {
    let command = CommandInt {
        frame: r.frame,
        command: r.command,
        current: r.current,
        autocontinue: r.autocontinue,
        param1: r.param1,
        param2: r.param2,
        param3: r.param3,
        param4: r.param4,
        x: r.x,
        y: r.y,
        z: r.z,
        ..zero()
    };
    Asked { command: Command::Int(command), broadcast: r.broadcast, repeat: false }
}

fn arming(r: &CommandBoolRequest) -> CommandLong {
    CommandLong { command: COMPONENT_ARM_DISARM, confirmation: 1, param1: flag(r.value), ..zero() }
}

fn set_home(r: &CommandHomeRequest) -> CommandLong {
    CommandLong {
        command: DO_SET_HOME,
        confirmation: 1,
        param1: flag(r.current_gps),
        param4: r.yaw,
        param5: r.latitude,
        param6: r.longitude,
        param7: r.altitude,
        ..zero()
    }
}

fn takeoff(r: &CommandTOLRequest) -> CommandLong {
    CommandLong { command: NAV_TAKEOFF, param1: r.min_pitch, ..land(r) }
}

fn land(r: &CommandTOLRequest) -> CommandLong {
    CommandLong {
        command: NAV_LAND,
        confirmation: 1,
        param4: r.yaw,
        param5: r.latitude,
        param6: r.longitude,
        param7: r.altitude,
        ..zero()
    }
}

fn takeoff_local(r: &CommandTOLLocalRequest) -> CommandLong {
    CommandLong { command: NAV_TAKEOFF_LOCAL, param1: r.min_pitch, param2: 0.0, ..land_local(r) }
}

/// The position goes as it is, in the vehicle's north, east, down; x and y change places, as in MAVROS.
fn land_local(r: &CommandTOLLocalRequest) -> CommandLong {
    CommandLong {
        command: NAV_LAND_LOCAL,
        confirmation: 1,
        param2: r.offset,
        param3: r.rate,
        param4: r.yaw,
        param5: to_f32(r.position.y),
        param6: to_f32(r.position.x),
        param7: to_f32(r.position.z),
        ..zero()
    }
}

fn trigger_control(r: &CommandTriggerControlRequest) -> CommandLong {
    CommandLong {
        command: DO_TRIGGER_CONTROL,
        confirmation: 1,
        param1: flag(r.trigger_enable),
        param2: flag(r.sequence_reset),
        param3: flag(r.trigger_pause),
        ..zero()
    }
}

fn trigger_interval(r: &CommandTriggerIntervalRequest) -> CommandLong {
    CommandLong {
        command: DO_SET_CAM_TRIGG_INTERVAL,
        confirmation: 1,
        param1: r.cycle_time,
        param2: r.integration_time,
        ..zero()
    }
}

fn vtol_transition(r: &CommandVtolTransitionRequest) -> CommandLong {
    CommandLong { command: DO_VTOL_TRANSITION, param1: r.state.into(), ..zero() }
}

/// A rate below 0 stops the message, 0 gives it the vehicle's own rate.
fn message_interval(r: &MessageIntervalRequest) -> CommandLong {
    let interval_us = match r.message_rate {
        rate if rate < 0.0 => -1.0,
        rate if rate > 0.0 => 1e6 / rate,
        _ => 0.0,
    };
    CommandLong {
        command: SET_MESSAGE_INTERVAL,
        param1: to_f32(r.message_id.into()),
        param2: interval_us,
        ..zero()
    }
}

fn flag(value: bool) -> f32 {
    f32::from(u8::from(value))
}

/// `MAV_CMD`.
const NAV_LAND: u16 = 21;
const NAV_TAKEOFF: u16 = 22;
const NAV_LAND_LOCAL: u16 = 23;
const NAV_TAKEOFF_LOCAL: u16 = 24;
const DO_SET_HOME: u16 = 179;
const DO_SET_CAM_TRIGG_INTERVAL: u16 = 214;
const COMPONENT_ARM_DISARM: u16 = 400;
const GET_HOME_POSITION: u16 = 410;
const SET_MESSAGE_INTERVAL: u16 = 511;
const DO_TRIGGER_CONTROL: u16 = 2003;
const DO_VTOL_TRANSITION: u16 = 3000;
