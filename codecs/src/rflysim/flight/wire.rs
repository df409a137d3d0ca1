//! Commands as datagrams.

use rostrans_rflysim::{
    Packet as _,
    command::Command,
    control::{InOffboardShortData, Mode},
};

/// Which packets CopterSim is flown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// `PX4SILIntFloat`, for models without PX4; any UDP mode. Positions from the spawn point.
    Dll,
    /// The same, with positions from the centre of the map.
    DllMap,
    /// `inOffboardShortData`, for UDP mode 1.
    Simple,
}

/// The datagram, or what cannot be said in this form.
pub(super) fn datagram(
    wire: Wire,
    command: &Command,
    copter_id: i32,
    spawn: Option<[f64; 3]>,
) -> Result<Vec<u8>, &'static str> {
    match wire {
        Wire::Dll => Ok(command.packet(copter_id).encode()),
        Wire::DllMap => {
            let command = match *command {
                Command::Position { position: [x, y, z], yaw, local: true } => {
                    let [sx, sy, sz] = spawn.ok_or("where the vehicle was spawned is not known yet")?;
                    let sum = |a: f32, b: f64| {
                        #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
                        let sum = (f64::from(a) + b) as f32;
                        sum
                    };
                    Command::Position { position: [sum(x, sx), sum(y, sy), sum(z, sz)], yaw, local: false }
                }
                other => other,
            };
            Ok(command.packet(copter_id).encode())
        }
        Wire::Simple => simple(command),
    }
}

/// A NaN leaves a channel free.
fn simple(command: &Command) -> Result<Vec<u8>, &'static str> {
    let free = f32::NAN;
    let (mode, controls) = match *command {
        Command::Disarm => (Mode::Arm, [0.0; 4]),
        Command::Arm => (Mode::Arm, [1.0, 0.0, 0.0, 0.0]),
        Command::Position { position: [x, y, z], yaw, local: true } => {
            (Mode::PositionNed, [x, y, z, yaw.unwrap_or(free)])
        }
        Command::Position { local: false, .. } => return Err("positions on the map"),
        Command::VelocityNed { velocity: [x, y, z], yaw_rate } => {
            (Mode::VelocityNed, [x, y, z, yaw_rate.unwrap_or(free)])
        }
        Command::VelocityFrd { velocity: [x, y, z], yaw_rate } => {
            (Mode::VelocityFrd, [x, y, z, yaw_rate.unwrap_or(free)])
        }
        Command::Acceleration { acceleration: [x, y, z] } => (Mode::AccelerationNed, [x, y, z, 0.0]),
        Command::TakeOff { z } => (Mode::TakeOff, [0.0, 0.0, z, 0.0]),
        Command::VelocityYaw { .. } => return Err("a velocity with a yaw; use a yaw rate"),
        Command::Attitude { .. } | Command::Rates { .. } => return Err("attitudes and body rates"),
        Command::Land { .. } | Command::Return { .. } => return Err("landing and returning"),
    };
    Ok(InOffboardShortData { ctrl_mode: mode as i32, controls }.encode())
}
