//! Inputs of the simulation model, outside to CopterSim, 30100-series.

packet! {
    /// Command to the comprehensive model; [`crate::command`] has the bits. Source: rflysim spec 4.2, 4.3.
    PX4SILIntFloat: 120 bytes, magic 1_234_567_897 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Command bits, offboard bits, airframe...
    in_sil_ints: [i32; 8],
    /// Position, velocity, acceleration, attitude, rates, thrust...
    in_sil_floats: [f32; 20],
}

packet! {
    /// [`PX4SILIntFloat`] as doubles. Source: rflysim spec 4.2.
    DllInDoubCtrls: 232 bytes, magic 1_234_567_897 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// The 8 integers, then the 20 floats.
    in_sil: [f64; 28],
}

packet! {
    /// One of five more inputs of the form of [`PX4SILIntFloat`]. Source: rflysim spec 4.2.
    InCtrlExt: 120 bytes, any of [
        1_234_567_801, 1_234_567_802, 1_234_567_803, 1_234_567_804, 1_234_567_805,
        1_234_567_901, 1_234_567_902, 1_234_567_903, 1_234_567_904, 1_234_567_905,
    ];
    /// 1234567800 + number of the input; 100 more means "keep, do not apply yet".
    checksum: u32,
    /// Vehicle number, from 1.
    copter_id: i32,
    /// As in [`PX4SILIntFloat`].
    ints: [i32; 8],
    /// As in [`PX4SILIntFloat`].
    floats: [f32; 20],
}

packet! {
    /// [`InCtrlExt`] as doubles. Source: rflysim spec 4.2.
    InCtrlExtDouble: 232 bytes, any of [
        1_234_567_801, 1_234_567_802, 1_234_567_803, 1_234_567_804, 1_234_567_805,
        1_234_567_901, 1_234_567_902, 1_234_567_903, 1_234_567_904, 1_234_567_905,
    ];
    /// As in [`InCtrlExt`].
    checksum: u32,
    /// Vehicle number, from 1.
    copter_id: i32,
    /// The 8 integers, then the 20 floats.
    values: [f64; 28],
}

packet! {
    /// Faults; the port says which vehicle. Source: rflysim spec 4.2.
    PX4ModelInParams: 264 bytes, magic 1_234_567_891 as u32;
    /// Which of the values are set.
    bitmask: u32,
    /// Meaning by model.
    values: [f64; 32],
}

packet! {
    /// Initial parameters; the port says which vehicle. Source: rflysim spec 4.2.
    PX4InitInParams: 264 bytes, magic 1_234_567_892 as u32;
    /// Which of the values are set.
    bitmask: u32,
    /// Meaning by model.
    values: [f64; 32],
}

packet! {
    /// Parameters that may change in flight. Source: rflysim spec 4.2.
    PX4DynModiParams: 528 bytes, magic 1_234_567_893 as u32;
    /// Vehicle number; -1 from some senders, the port says which.
    copter_id: i32,
    /// Which of the values are set.
    bitmask: u64,
    /// Meaning by model.
    values: [f64; 64],
}

packet! {
    /// Values from the scene. Source: rflysim spec 4.2.
    UEToCopterDataD: 264 bytes, magic 1_234_567_899 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Meaning by model.
    values: [f64; 32],
}

packet! {
    /// uORB-like data for the firmware. Source: rflysim spec 4.2.
    PX4UorbRflyCtrl: 80 bytes, magic 1_234_567_896 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Meaning by firmware.
    modes: u32,
    /// Meaning by firmware.
    flags: u32,
    /// Meaning by firmware.
    data: [f32; 16],
}

packet! {
    /// Distances around a vehicle, from RflySim3D in its physics mode. Source: rflysim spec 4.2.
    Ue4RayTraceDrone: 60 bytes, magic 1_234_567_890 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Size of the vehicle, m.
    size: f32,
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Distances front, back, left, right, up, down, m.
    ray: [f32; 6],
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
}

packet! {
    /// Collision data. Source: rflysim spec 4.2.
    Ue4Coll20d: 88 bytes, magic 1_234_567_880 as u32;
    /// Vehicle number; -1 from the vendor's sender, the port says which.
    copter_id: i32,
    /// Meaning by model.
    data: [f32; 20],
}

packet! {
    /// Terrain data: 15 values, 5 spare. Source: rflysim spec 4.2.
    TerrIn15d: 88 bytes, magic 1_234_567_881 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Meaning by model; the last five are spare.
    data: [f32; 20],
}
