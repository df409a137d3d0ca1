//! Small packets, CopterSim to outside.

packet! {
    /// GPS position of the centre of the map, 30101-series. Source: rflysim spec 3.7.
    Ue4CmdGps: 32 bytes, magic 1_234_567_890 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Latitude and longitude in degrees, altitude in metres up.
    origin: [f64; 3],
}

packet! {
    /// A vehicle hit something; 30101-series, and 20006 from RflySim3D. Source: rflysim spec 3.7.
    CopterSimCrash: 12 bytes, magic 1_234_567_890 as u32;
    /// The vehicle.
    copter_id: i32,
    /// The vehicle it ran into; negative when it was none.
    target_id: i32,
}

packet! {
    /// Values the user's model puts out, 30101-series. Source: rflysim spec 3.7.
    OutCopterStruct: 264 bytes, magic 1_234_567_890 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Meaning by model.
    data: [f64; 32],
}

packet! {
    /// Controls from the autopilot, 40101-series. Source: rflysim spec 3.7.
    Px4ExtMsg: 48 bytes, magic 1_234_567_898 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// Seconds since the simulation began.
    runned_time: f64,
    /// Meaning by firmware.
    controls: [f32; 8],
}

packet! {
    /// State of the estimator, multicast to 224.0.0.10:20009. Source: rflysim spec 3.8, one reader only.
    ///
    /// The first field is not checked by the one program known to read it.
    Ue4EkfInit: 12 bytes, any of [];
    /// Not fixed.
    checksum: u32,
    /// Vehicle number, from 1.
    copter_id: i32,
    /// 0 while it initialises, 1 with a 3D fix.
    init_code: i32,
}
