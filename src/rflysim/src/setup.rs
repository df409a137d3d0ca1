//! Configuration, outside to CopterSim.

use crate::{Pad, Text};

packet! {
    /// Moves or reconfigures a vehicle; to 224.0.0.10:20002 or unicast. Source: rflysim spec 4.5.
    ReCopterSimMsg: 48 bytes, magic 1_234_567 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Above 0: send data to my address.
    is_req_ip: i8,
    /// 1: x, y, yaw; 2: set the GPS origin (latitude, longitude in `xy`, altitude in `yaw`); 3: GPS position; 0 or less: off.
    is_xy_yaw: i8,
    /// Above 0: z, roll, pitch.
    is_zrp: i8,
    /// UDP mode; negative keeps it.
    udp_mode: i8,
    /// Not used.
    spare: Pad<4>,
    /// z in m, roll and pitch in degrees.
    z_roll_pitch: [f32; 3],
    /// Yaw, degrees.
    yaw: f32,
    /// x, y in m, NED.
    xy: [f64; 2],
}

packet! {
    /// Changes model or map; to 224.0.0.10:20002 or unicast. Source: rflysim spec 4.5.
    CptSimCmd: 64 bytes, magic 1_234_567_895 as u32;
    /// Vehicle number; -1 all, 0 none.
    copter_id: i32,
    /// 1: change the DLL; 2: change the map.
    flag: i32,
    /// Which; negative goes by name.
    index: i32,
    /// Name of the DLL or map.
    name: Text<48>,
}

packet! {
    /// Tells other controllers to begin, 224.0.0.10:20007. Source: rflysim spec 4.5.
    StartSignal: 12 bytes, magic 1_234_567_890 as u32;
    /// Not 0: begin.
    is_start: i32,
    /// Vehicle number; -1 all.
    copter_id: i32,
}

packet! {
    /// Anything, to any port (50000 by default). Source: rflysim spec 4.5.
    CustomData: 136 bytes, magic 123_456 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Meaning by program.
    data: [f64; 16],
}
