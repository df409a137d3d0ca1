//! The autopilot's estimate, CopterSim to outside, 20101-series.

packet! {
    /// Estimate in UDP mode `UDP_Full`, `outHILStateData` in a `netDataShortShort`. Source: rflysim spec 3.4.
    ///
    /// There is no magic number: `len` is 112, or 120 as one page of the manual has it.
    OutHilStateData: 120 bytes, any of [];
    /// -1, or the vehicle it crashed into.
    tg: i32,
    /// Bytes of the payload.
    len: i32,
    /// Milliseconds since the autopilot booted.
    time_boot_ms: u32,
    /// Vehicle number, from 1.
    copter_id: u32,
    /// Latitude and longitude in 1e-7 degrees, altitude in mm up.
    gps_pos: [i32; 3],
    /// Velocity, cm/s, NED.
    gps_vel: [i32; 3],
    /// Home: latitude and longitude in 1e-7 degrees, altitude in mm up.
    gps_home: [i32; 3],
    /// Height above home, mm up.
    relative_alt: i32,
    /// Heading; its scale is not known (the manual says 1e-3, MAVLink's field of that name has 1e-2 degrees).
    hdg: i32,
    /// Satellites in view.
    satellites_visible: i32,
    /// GPS fix as in MAVLink's GPS_FIX_TYPE; 3 is a 3D fix.
    fix_type: i32,
    /// Reserved by the vendor.
    resrve_init: i32,
    /// Roll, pitch, yaw, rad.
    ang_eular: [f32; 3],
    /// Position, m, NED, from home.
    local_pos: [f32; 3],
    /// Velocity, m/s, NED.
    local_vel: [f32; 3],
    /// Horizontal accuracy, m.
    pos_horiz_accuracy: f32,
    /// Vertical accuracy, m.
    pos_vert_accuracy: f32,
    /// Above 0.5 the EKF has a 3D fix.
    resrve_float: f32,
}

/// What [`OutHilStateData::len`] may be.
pub const FULL_PAYLOADS: [i32; 2] = [112, 120];

packet! {
    /// Estimate in UDP mode `UDP_Simple`; it carries no time. Source: rflysim spec 3.5.
    OutHilStateShort: 52 bytes, any of [1_234_567_890, 1_234_567_891, 1_234_567_892];
    /// What it is: [`STATE`], [`EKF_FIXED`] or [`CRASHED`].
    checksum: u32,
    /// Home: latitude and longitude in 1e-7 degrees, altitude in mm up. In a crash notice the second is the vehicle it
    /// ran into.
    gps_home: [i32; 3],
    /// Roll, pitch, yaw, rad.
    ang_eular: [f32; 3],
    /// Position, m, NED, from home.
    local_pos: [f32; 3],
    /// Velocity, m/s, NED.
    local_vel: [f32; 3],
}

/// A state, in [`OutHilStateShort::checksum`].
pub const STATE: u32 = 1_234_567_890;
/// The EKF has a 3D fix.
pub const EKF_FIXED: u32 = 1_234_567_891;
/// The vehicle crashed.
pub const CRASHED: u32 = 1_234_567_892;
