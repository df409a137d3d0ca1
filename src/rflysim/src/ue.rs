//! Commands and poses, outside to RflySim3D: port 20010 + window, or 224.0.0.10:20009 for all of a network.
//!
//! Truth packets ([`crate::truth`]) are poses here, with the full model; [`crate::truth::SOut2SimulatorSimpleTime`] is what
//! one vehicle should be sent with. Scale has no dimension.

use crate::Text;

packet! {
    /// A short console command, at most 51 bytes. Source: rflysim spec 5.
    Ue4Cmd0: 56 bytes, magic 1_234_567_890 as u32;
    /// The command.
    cmd: Text<52>,
}

packet! {
    /// A console command of at most 249 bytes. Source: rflysim spec 5.
    Ue4Cmd: 256 bytes, magic 1_234_567_890 as u32;
    /// The command.
    cmd: Text<252>,
}

/// Longest text of [`Ue4Cmd`], bytes: the vendor's programs send no longer one.
pub const CMD_MAX: usize = 249;

packet! {
    /// A console command to all of a network, at most 91 bytes. Source: rflysim spec 5.
    Ue4CmdNet: 96 bytes, magic 1_234_567_897 as u32;
    /// The command.
    cmd: Text<92>,
}

packet! {
    /// A text at a vehicle. Source: rflysim spec 5.
    CopterMsg: 152 bytes, magic 1_234_567_899 as u32;
    /// Vehicle number; 0 or less: all.
    copter_id: i32,
    /// Negative appends a line (5 at most), 0 is the line with the number, 1 to 5 replace one.
    disp_flag: i32,
    /// Red, green, blue, 0 to 255.
    rgb: [i32; 3],
    /// Seconds; 0 for ever; negative removes the line, or all of them with a negative `disp_flag`.
    disp_time: f32,
    /// Size of the letters.
    font_size: f32,
    /// The text.
    text: Text<120>,
}

packet! {
    /// Attaches vehicles to others. Source: rflysim spec 5.
    VehicleAttatch25: 304 bytes, magic 1_234_567_892 as u32;
    /// Who is attached; 0 is not used.
    copter_ids: [i32; 25],
    /// To whom.
    attatch_ids: [i32; 25],
    /// 0 off, 1 position, 2 position and yaw, 3 position and attitude.
    attatch_types: [i32; 25],
}

packet! {
    /// Pose of a vehicle. Source: rflysim spec 5.
    SOut2SimulatorSimple: 40 bytes, any of [1_234_567_890, 1_234_567_891];
    /// [`AS_IS`] or [`FIT_GROUND`].
    checksum: u32,
    /// Vehicle number.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Mean rotor speed, revolutions a minute.
    motor_rpm: f32,
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
}

packet! {
    /// Pose of a vehicle with its scale. Source: rflysim spec 5.
    SOut2SimulatorSimple1: 52 bytes, any of [1_234_567_890, 1_234_567_891];
    /// [`AS_IS`] or [`FIT_GROUND`].
    checksum: u32,
    /// Vehicle number.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// Mean rotor speed, revolutions a minute.
    motor_rpm: f32,
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Along x, y, z.
    scale: [f32; 3],
}

/// `checksum` of a pose: where it says.
pub const AS_IS: u32 = 1_234_567_890;
/// `checksum` of a pose: on the ground below or above it.
pub const FIT_GROUND: u32 = 1_234_567_891;

packet! {
    /// Inputs of a blueprint. Source: rflysim spec 5.
    Ue4ExtMsg: 144 bytes, magic 1_234_567_894 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Seconds since the simulation began.
    runned_time: f64,
    /// Meaning by blueprint.
    ext_act: [f64; 16],
}

packet! {
    /// [`Ue4ExtMsg`] of old versions, with floats. Source: rflysim spec 5.
    Ue4ExtMsgFloat: 80 bytes, magic 1_234_567_894 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Seconds since the simulation began.
    runned_time: f64,
    /// Meaning by blueprint.
    ext_act: [f32; 16],
}

packet! {
    /// Poses of up to 100 vehicles. Source: rflysim spec 5.
    Multi3DData100New: 3804 bytes, any of [1_234_567_890, 1_234_567_891];
    /// [`AS_IS`] or [`FIT_GROUND`].
    checksum: u32,
    /// Vehicle numbers; 0 is not used.
    copter_ids: [u16; 100],
    /// Classes of the 3D models.
    vehicle_types: [u16; 100],
    /// Positions, m, NED, from the centre of the map.
    pos_e: [[f32; 3]; 100],
    /// Roll, pitch, yaw, rad.
    ang_euler: [[f32; 3]; 100],
    /// Scales along x, y, z, hundredths.
    scale: [[u16; 3]; 100],
    /// Mean rotor speeds, revolutions a minute.
    motor_rpm: [f32; 100],
}

packet! {
    /// Poses of up to 20 vehicles with all their rotors. Source: rflysim spec 5.
    Multi3DData2New: 1324 bytes, any of [1_234_567_890, 1_234_567_891];
    /// [`AS_IS`] or [`FIT_GROUND`].
    checksum: u32,
    /// Vehicle numbers; 0 is not used.
    copter_ids: [u16; 20],
    /// Classes of the 3D models.
    vehicle_types: [u16; 20],
    /// Positions, m, NED, from the centre of the map.
    pos_e: [[f32; 3]; 20],
    /// Roll, pitch, yaw, rad.
    ang_euler: [[f32; 3]; 20],
    /// Scales along x, y, z, hundredths.
    scale: [[u16; 3]; 20],
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [[f32; 8]; 20],
}
