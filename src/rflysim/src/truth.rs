//! The true state of a vehicle, CopterSim to outside, 30101-series; RflySim3D takes the same packets as poses.
//!
//! Which of them a simulator sends depends on its version and mode, and may change while it runs.

use crate::Pad;

packet! {
    /// Full truth. Source: rflysim spec 3.1.
    ///
    /// Whether `acc_b` contains gravity is not documented.
    SOut2Simulator: 168 bytes, magic 123_456_789 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Class of the 3D model; 3 is a quadrotor.
    vehicle_type: i32,
    /// Reserved by the vendor.
    reserv: i32,
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Attitude w, x, y, z.
    ang_quatern: [f32; 4],
    /// Rotor speeds, revolutions a minute; other actuators have their own unit.
    motor_rpms: [f32; 8],
    /// Acceleration, m/s², FRD.
    acc_b: [f32; 3],
    /// Body rates, rad/s, FRD.
    rate_b: [f32; 3],
    /// Seconds since the simulation began; -1 from a sender without a clock.
    runned_time: f64,
    /// Position, m, NED, from the centre of the map.
    pos_e: [f64; 3],
    /// Latitude and longitude in degrees, altitude in metres up.
    pos_gps: [f64; 3],
}

packet! {
    /// Reduced truth: no quaternion, acceleration or rates. Source: rflysim spec 3.2.
    SOut2SimulatorSimpleTime: 112 bytes, magic 1_234_567_891 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Latitude and longitude in 1e-7 degrees, altitude in mm up.
    pos_gps_int: [i32; 3],
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [f32; 8],
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Position, m, NED, from the centre of the map.
    pos_e: [f64; 3],
    /// Seconds since the simulation began; -1 from a sender without a clock.
    runned_time: f64,
}

packet! {
    /// Truth of old versions, `SOut2SimulatorOld` in a `netDataShort`. Source: rflysim spec 3.3.
    NetDataShort: 200 bytes, any of [];
    /// The vehicle it ran into if not negative; 2 when sent to RflySim3D.
    tg: i32,
    /// Bytes of the payload, 152; there is no magic number but this.
    len: i32,
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Seconds since the simulation began.
    runned_time: f64,
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Attitude w, x, y, z.
    ang_quatern: [f32; 4],
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [f32; 8],
    /// Acceleration, m/s², FRD.
    acc_b: [f32; 3],
    /// Body rates, rad/s, FRD.
    rate_b: [f32; 3],
    /// Alignment.
    pad: Pad<4>,
    /// Latitude and longitude in degrees, altitude in metres up.
    pos_gps: [f64; 3],
    /// The packet is longer than its payload.
    spare: Pad<40>,
}

/// The payload length in [`NetDataShort::len`].
pub const OLD_PAYLOAD: i32 = 152;

packet! {
    /// Simple truth of old versions, with position as doubles. Source: rflysim spec 3.3, "SimpleTime v1".
    SimpleTimeV1: 104 bytes, magic 1_234_567_890 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [f32; 8],
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Alignment.
    pad: Pad<4>,
    /// Position, m, NED, from the centre of the map.
    pos_e: [f64; 3],
    /// Seconds since the simulation began.
    runned_time: f64,
}

packet! {
    /// Simple truth of the oldest versions: position before velocity. Source: rflysim spec 3.3, "SimpleTime v0".
    SimpleTimeV0: 88 bytes, magic 1_234_567_890 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [f32; 8],
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Seconds since the simulation began.
    runned_time: f64,
}
