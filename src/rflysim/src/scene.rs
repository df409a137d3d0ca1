//! What RflySim3D tells of the scene, 224.0.0.10:20006.
//!
//! Unit and frame of the positions and angles of [`CameraData`], [`CoptReqData`] and [`ObjReqData`] are not documented; they
//! are taken for metres and radians in NED from the centre of the map. Old versions have no quaternion.

use crate::Text;

packet! {
    /// A camera. Source: rflysim spec 6.1.
    CameraData: 72 bytes, magic 1_234_567_891 as u32;
    /// Number of the sensor.
    seq_id: i32,
    /// Type of the sensor.
    type_id: i32,
    /// Rows.
    data_height: i32,
    /// Columns.
    data_width: i32,
    /// Horizontal field of view, degrees.
    camera_fov: f32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// w, x, y, z.
    ang_quat: [f32; 4],
    /// Seconds since the simulation began.
    timestmp: f64,
}

packet! {
    /// [`CameraData`] of old versions. Source: rflysim spec 6.1.
    CameraDataOld: 56 bytes, magic 1_234_567_891 as u32;
    /// Number of the sensor.
    seq_id: i32,
    /// Type of the sensor.
    type_id: i32,
    /// Rows.
    data_height: i32,
    /// Columns.
    data_width: i32,
    /// Horizontal field of view, degrees.
    camera_fov: f32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// Seconds since the simulation began.
    timestmp: f64,
}

packet! {
    /// A vehicle and the box around it. Source: rflysim spec 6.2.
    CoptReqData: 80 bytes, magic 1_234_567_891 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// w, x, y, z.
    ang_quat: [f32; 4],
    /// Centre of the box.
    box_origin: [f32; 3],
    /// Half its size.
    box_extent: [f32; 3],
    /// Seconds since the simulation began.
    timestmp: f64,
}

packet! {
    /// [`CoptReqData`] of old versions. Source: rflysim spec 6.2.
    CoptReqDataOld: 64 bytes, magic 1_234_567_891 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// Centre of the box.
    box_origin: [f32; 3],
    /// Half its size.
    box_extent: [f32; 3],
    /// Seconds since the simulation began.
    timestmp: f64,
}

packet! {
    /// An object of the scene and the box around it. Source: rflysim spec 6.3.
    ObjReqData: 112 bytes, magic 1_234_567_891 as u32;
    /// Number of the request.
    seq_id: i32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// w, x, y, z.
    ang_quat: [f32; 4],
    /// Centre of the box.
    box_origin: [f32; 3],
    /// Half its size.
    box_extent: [f32; 3],
    /// Seconds since the simulation began.
    timestmp: f64,
    /// Name of the object.
    obj_name: Text<32>,
}

packet! {
    /// [`ObjReqData`] of old versions. Source: rflysim spec 6.3.
    ObjReqDataOld: 96 bytes, magic 1_234_567_891 as u32;
    /// Number of the request.
    seq_id: i32,
    /// Position.
    pos_ue: [f32; 3],
    /// Roll, pitch, yaw.
    ang_euler: [f32; 3],
    /// Centre of the box.
    box_origin: [f32; 3],
    /// Half its size.
    box_extent: [f32; 3],
    /// Seconds since the simulation began.
    timestmp: f64,
    /// Name of the object.
    obj_name: Text<32>,
}

packet! {
    /// State and collision of a vehicle: at each change of `crash_type` and about once a second. Source: rflysim spec 6.4.
    ReqVeCrashData: 160 bytes, magic 1_234_567_897 as u32;
    /// Vehicle number.
    copter_id: i32,
    /// Class of the 3D model.
    vehicle_type: i32,
    /// -2 ground, -1 a static object, 0 none, else the vehicle it ran into.
    crash_type: i32,
    /// Seconds since the simulation began.
    runned_time: f64,
    /// Velocity, m/s, NED.
    vel_e: [f32; 3],
    /// Position, m, NED, from the centre of the map.
    pos_e: [f32; 3],
    /// Where it hit.
    crash_pos: [f32; 3],
    /// Where the other is.
    target_pos: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_euler: [f32; 3],
    /// Rotor speeds, revolutions a minute.
    motor_rpms: [f32; 8],
    /// Distances front, back, left, right, up, down, m.
    ray: [f32; 6],
    /// Name of what it hit; the wire has 20 bytes where a comment of the vendor says 16.
    crashed_name: Text<20>,
}
