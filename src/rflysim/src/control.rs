//! Flight control, outside to CopterSim, 20100-series.

use crate::Pad;

packet! {
    /// Control in UDP mode `UDP_Simple`. Source: rflysim spec 4.1.
    ///
    /// A NaN leaves its channel free. PX4 wants at least two a second.
    InOffboardShortData: 24 bytes, magic 1_234_567_890 as u32;
    /// What the numbers are: [`Mode`].
    ctrl_mode: i32,
    /// By mode.
    controls: [f32; 4],
}

/// Values of [`InOffboardShortData::ctrl_mode`] whose meaning is certain; 4, 7, 8 and 13 contradict themselves.
///
/// z is positive down, so 5 m above the ground is -5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Mode {
    /// vx, vy, vz in m/s NED; yaw rate in rad/s.
    VelocityNed = 0,
    /// vx, vy, vz in m/s FRD; yaw rate in rad/s.
    VelocityFrd = 1,
    /// x, y, z in m NED from home; yaw in rad.
    PositionNed = 2,
    /// x, y, z in m FRD; yaw in rad.
    PositionFrd = 3,
    /// ax, ay, az in m/s² NED.
    AccelerationNed = 6,
    /// 1 arms, 0 disarms.
    Arm = 9,
    /// Cruise speed in m/s, loiter radius in m; the other one is 0.
    FixedWing = 10,
    /// x, y, z of the point to take off to, m NED from home.
    TakeOff = 11,
}

packet! {
    /// Control in UDP mode `UDP_Full`, `inHILCMDData` in a `netDataShortShort`. Source: rflysim spec 4.1.
    InHilCmdData: 120 bytes, any of [];
    /// 3.
    tg: i32,
    /// Bytes of the payload, 80.
    len: i32,
    /// Milliseconds since the sender started.
    time_boot_ms: u32,
    /// Vehicle number, from 1.
    copter_id: u32,
    /// MAVLink's POSITION_TARGET_TYPEMASK: bits set are ignored.
    type_mask: u32,
    /// MAVLink's MAV_FRAME: 1 LOCAL_NED, 8 BODY_NED, 5 GLOBAL_INT.
    coordinate_frame: u32,
    /// Position, m.
    pos: [f32; 3],
    /// Velocity, m/s.
    vel: [f32; 3],
    /// Acceleration, m/s².
    acc: [f32; 3],
    /// Yaw, rad.
    yaw: f32,
    /// Yaw rate, rad/s.
    yawrate: f32,
    /// Not used.
    spare: Pad<52>,
}

/// [`InHilCmdData::tg`] and [`InHilCmdData::len`].
pub const FULL_COMMAND: [i32; 2] = [3, 80];

packet! {
    /// Restarts a vehicle; sent to the broadcast address, 20100-series. Source: rflysim spec 4.1.
    Reinit: 8 bytes, magic 987_654_321 as u32;
    /// -1 by default; its unit is not documented.
    delay: i32,
}
