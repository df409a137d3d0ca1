//! Vision sensors: requests to RflySim3D, the header of image fragments, and the heads of what they carry.

use crate::{Packet as _, Pad, WireError};

packet! {
    /// Request for a sensor, first generation. Source: rflysim spec 7.1, "A".
    VisionSensorReqOld: 92 bytes, magic 12345 as u16;
    /// Number of the sensor.
    seq_id: u16,
    /// Type of the sensor.
    type_id: u16,
    /// Vehicle it is on, or the sensor it is attached to.
    target_copter: u16,
    /// 0 centre, 1 bottom, 2 fixed on the ground, 3 position only, 4 attached to another sensor.
    target_mount_type: u16,
    /// Columns.
    data_width: u16,
    /// Rows.
    data_height: u16,
    /// Frames a second.
    data_check_freq: u16,
    /// Transport, four bytes of the address, port, two reserved.
    send_protocol: [u16; 8],
    /// Horizontal field of view, degrees.
    camera_fov: f32,
    /// Where it is on the vehicle, m, FRD.
    sensor_pos: [f32; 3],
    /// Roll, pitch, yaw, degrees.
    sensor_ang_eular: [f32; 3],
    /// By type.
    other_params: [f32; 8],
}

packet! {
    /// Request for a sensor. Source: rflysim spec 7.1, "B".
    VisionSensorReq: 144 bytes, magic 12345 as u16;
    /// Number of the sensor.
    seq_id: u16,
    /// Type of the sensor.
    type_id: u16,
    /// Vehicle it is on, or the sensor it is attached to.
    target_copter: u16,
    /// 0 centre, 1 bottom, 2 fixed on the ground, 3 position only, 4 attached to another sensor.
    target_mount_type: u16,
    /// Columns.
    data_width: u16,
    /// Rows.
    data_height: u16,
    /// Frames a second.
    data_check_freq: u16,
    /// Transport, four bytes of the address, port, two reserved.
    send_protocol: [u16; 8],
    /// Horizontal field of view, degrees.
    camera_fov: f32,
    /// Where it is on the vehicle, m, FRD.
    sensor_pos: [f32; 3],
    /// Above 0.5 the quaternion counts, not the angles.
    eular_or_quat: f32,
    /// Roll, pitch, yaw, degrees.
    sensor_ang_eular: [f32; 3],
    /// w, x, y, z.
    sensor_ang_quat: [f32; 4],
    /// By type.
    other_params: [f32; 16],
}

packet! {
    /// Change of a sensor, and its state back from RflySim3D. Source: rflysim spec 7.1, "C", and 9.
    VisionSensorReqNew: 148 bytes, magic 12346 as u16;
    /// Number of the sensor.
    seq_id: u16,
    /// Which fields count; bit 7 is `sensor_ang_eular`.
    bitmask: u32,
    /// Type of the sensor.
    type_id: u16,
    /// Vehicle it is on, or the sensor it is attached to.
    target_copter: u16,
    /// 0 centre, 1 bottom, 2 fixed on the ground, 3 position only, 4 attached to another sensor.
    target_mount_type: u16,
    /// Columns.
    data_width: u16,
    /// Rows.
    data_height: u16,
    /// Frames a second.
    data_check_freq: u16,
    /// Transport, four bytes of the address, port, two reserved.
    send_protocol: [u16; 8],
    /// Horizontal field of view, degrees.
    camera_fov: f32,
    /// Where it is on the vehicle, m, FRD.
    sensor_pos: [f32; 3],
    /// Above 0.5 the quaternion counts, not the angles.
    eular_or_quat: f32,
    /// Roll, pitch, yaw, degrees.
    sensor_ang_eular: [f32; 3],
    /// w, x, y, z.
    sensor_ang_quat: [f32; 4],
    /// By type.
    other_params: [f32; 16],
}

packet! {
    /// Header of a fragment without frame number. Source: rflysim spec 7.3, "v1".
    FragmentV1: 24 bytes, magic 1_234_567_890 as u32;
    /// Bytes of the datagram, this header included.
    pkg_len: i32,
    /// Number of the fragment, from 0.
    pkg_id: i32,
    /// Fragments of the frame.
    pkg_num: i32,
    /// Seconds since the simulation began.
    time: f64,
}

packet! {
    /// Header of a fragment. Source: rflysim spec 7.3, "v2".
    FragmentV2: 32 bytes, magic 1_234_567_893 as u32;
    /// Bytes of the datagram, this header included.
    pkg_len: i32,
    /// Number of the fragment, from 0.
    pkg_id: i32,
    /// Fragments of the frame.
    pkg_num: i32,
    /// Number of the frame.
    frame_id: i32,
    /// Reserved by the vendor.
    reserved: Pad<4>,
    /// Seconds since the simulation began.
    time: f64,
}

/// A fragment of a frame: its header in the terms of [`FragmentV2`], and the bytes behind it.
///
/// **Errors**: too short, another magic number, or a length that is not that of the datagram.
pub fn fragment(datagram: &[u8]) -> Result<(FragmentV2, &[u8]), WireError> {
    let short = WireError::Length { packet: FragmentV1::NAME, need: FragmentV1::LEN, have: datagram.len() };
    let (head, body) =
        match datagram.split_at_checked(FragmentV2::LEN).map(|(h, b)| (FragmentV2::decode(h), b)) {
            Some((Ok(head), body)) => (head, body),
            _ => {
                let (head, body) = datagram.split_at_checked(FragmentV1::LEN).ok_or(short)?;
                let FragmentV1 { pkg_len, pkg_id, pkg_num, time } = FragmentV1::decode(head)?;
                (FragmentV2 { pkg_len, pkg_id, pkg_num, frame_id: 0, reserved: Pad, time }, body)
            }
        };
    match usize::try_from(head.pkg_len) {
        Ok(len) if len == datagram.len() => Ok((head, body)),
        len => Err(WireError::Length {
            packet: FragmentV2::NAME,
            need: len.unwrap_or_default(),
            have: datagram.len(),
        }),
    }
}

packet! {
    /// Head of a lidar's payload, types 20 to 23; points follow. Source: rflysim spec 7.5.
    LidarHead: 36 bytes, any of [];
    /// The vehicle that carries it.
    copter_id: i32,
    /// 0 the sensor's frame, 1 the world's.
    axis_type: i32,
    /// Position, m.
    position: [f32; 3],
    /// Roll, pitch, yaw, rad.
    ang_eular: [f32; 3],
    /// Points that follow.
    points: i32,
}

/// The points behind a [`LidarHead`] as the wire has them: x, y, z in `range / 32767` m, and the label.
///
/// **Errors**: other bytes than the head promises.
pub fn lidar(payload: &[u8]) -> Result<(LidarHead, impl Iterator<Item = [i16; 4]>), WireError> {
    let wrong = |need| WireError::Length { packet: LidarHead::NAME, need, have: payload.len() };
    let (head, body) = payload.split_at_checked(LidarHead::LEN).ok_or_else(|| wrong(LidarHead::LEN))?;
    let head = LidarHead::decode(head)?;
    let (points, rest) = body.as_chunks::<8>();
    if usize::try_from(head.points) != Ok(points.len()) || !rest.is_empty() {
        let count = usize::try_from(head.points).unwrap_or_default();
        return Err(wrong(LidarHead::LEN.saturating_add(count.saturating_mul(8))));
    }
    let point =
        |&[a, b, c, d, e, f, g, h]: &[u8; 8]| [[a, b], [c, d], [e, f], [g, h]].map(i16::from_le_bytes);
    Ok((head, points.iter().map(point)))
}

packet! {
    /// Payload of the distance sensor, type 5. Source: rflysim spec 7.7.
    DistanceSensor: 56 bytes, any of [];
    /// Distance, m.
    distance: f32,
    /// The vehicle it hit.
    copter_id: i32,
    /// Where the ray begins, m.
    ray_start: [f32; 3],
    /// Roll, pitch, yaw.
    ang: [f32; 3],
    /// Where it hit, m.
    impact_point: [f32; 3],
    /// Centre of the box it hit, m.
    box_ori: [f32; 3],
}

packet! {
    /// One detected box, type 30; a count of type i32 comes before all. Source: rflysim spec 7.7.
    Detection: 24 bytes, any of [];
    /// The vehicle.
    id: i32,
    /// 0 to 1.
    credibility: f32,
    /// Left, pixels.
    min_x: f32,
    /// Top, pixels.
    min_y: f32,
    /// Right, pixels.
    max_x: f32,
    /// Bottom, pixels.
    max_y: f32,
}

packet! {
    /// Head of a sensor's shared memory; the data follow. Source: rflysim spec 7.9.
    SharedHead: 9 bytes, any of [];
    /// 2 written, 3 being read, 4 read.
    flag: u8,
    /// Seconds since the simulation began; not aligned.
    time: f64,
}
