//! IMU samples on request, and the time heartbeat.

packet! {
    /// Asks CopterSim for a sensor, to the 30100-series. Source: rflysim spec 8.1.
    SensorReqCopterSim: 36 bytes, magic 12345 as u16;
    /// 0 for the IMU.
    sensor_type: u16,
    /// Samples a second.
    update_freq: u16,
    /// Where to send them: 31000 + vehicle number - 1.
    port: u16,
    /// Address to send them to; 127.0.0.1 means to the sender of the request.
    ip: [u8; 4],
    /// Not used for the IMU.
    params: [f32; 6],
}

packet! {
    /// An IMU sample, to 31000 + vehicle number - 1. Source: rflysim spec 8.1.
    ImuDataCopter: 40 bytes, magic 1_234_567_898 as u32;
    /// Counts up.
    seq: i32,
    /// Seconds since the simulation began.
    timestmp: f64,
    /// Specific force, m/s², FRD.
    acc: [f32; 3],
    /// Body rates, rad/s, FRD.
    rate: [f32; 3],
}

packet! {
    /// Time heartbeat, multicast to 224.0.0.10:20005 and to who asked. Source: rflysim spec 8.2.
    RflyTimeStmp: 32 bytes, magic 123_456_789 as u32;
    /// Vehicle number, from 1.
    copter_id: i32,
    /// When the simulation began: ms since 1970 by the clock of the simulator's computer.
    sys_start_time: i64,
    /// Now, by the same clock.
    sys_current_time: i64,
    /// Counts up.
    heart_count: i64,
}

packet! {
    /// Asks CopterSim to send its [`RflyTimeStmp`] here, to the 30100-series. Source: rflysim spec 4.2.
    HeartbeatRequest: 8 bytes, magic 123_450 as u32;
    /// 90 or 91.
    code: i32,
}
