//! Sensors and cameras of the vehicle: vibration, range finder, terrain, camera triggers and pictures.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    mavros_msgs::msg::{
        CamIMUStamp, CameraImageCaptured as RosImageCaptured, TerrainReport as RosTerrainReport,
        Vibration as RosVibration,
    },
    sensor_msgs::msg::Range,
};

use crate::{
    frames::{Ned, Quaternion},
    mavlink::{
        DecodeOnly,
        dialect::{CameraImageCaptured, CameraTrigger, Message, Rangefinder, TerrainReport, Vibration},
        relay::{Relay, TELLS, copy, topic},
        ros,
        uas::MavContext,
        value::{set_text, to_f32, to_f64s},
        vehicle,
    },
    options::Options,
};

/// VIBRATION to `vibration/raw/vibration`: m/s^2, with its axes swapped like those of a vector, as in MAVROS.
///
/// Source: MAVLink common, VIBRATION (241).
pub(super) const VIBRATION: DecodeOnly = DecodeOnly::new(&VIBRATION_INFO, vibration);

const VIBRATION_INFO: CodecInfo = CodecInfo {
    name: "mavlink.vibration",
    doc: "vibration and clipping of the accelerometers",
    ports: &[topic::<RosVibration>("vibration", Qos::reliable())],
    interest: Interest::Tags(&[Vibration::ID]),
    options: &[vehicle::SYSID, ("frame_id", "frame of the message; default base_link")],
    ..TELLS
};

fn vibration(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let frame_id = Options::new(cx, &VIBRATION_INFO)?.text("frame_id", "base_link")?;
    let vibration = RosVibration { header: ros::header(frame_id), ..RosVibration::default() };
    Relay::new(cx, &VIBRATION_INFO)?
        .tell("vibration", vibration, |m: &Vibration, vibration, at| {
            ros::stamp(&mut vibration.header, at.us(m.time_usec));
            let swapped = Ned(to_f64s([m.vibration_x, m.vibration_y, m.vibration_z])).to_enu();
            vibration.vibration = ros::vector3(swapped.0);
            vibration.clipping = [m.clipping_0, m.clipping_1, m.clipping_2].map(|count| to_f32(count.into()));
        })
        .done()
}

/// ArduPilot's RANGEFINDER to `rangefinder/rangefinder`: metres, downwards.
///
/// Source: ardupilotmega, RANGEFINDER (173).
pub(super) const RANGEFINDER: DecodeOnly = DecodeOnly::new(&RANGEFINDER_INFO, rangefinder);

const RANGEFINDER_INFO: CodecInfo = CodecInfo {
    name: "mavlink.rangefinder",
    doc: "range finder of ArduPilot",
    ports: &[topic::<Range>("rangefinder", Qos::reliable())],
    interest: Interest::Tags(&[Rangefinder::ID]),
    ..TELLS
};

fn rangefinder(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let range = Range {
        header: ros::header("/rangefinder"),
        radiation_type: Range::INFRARED,
        max_range: 1000.0,
        ..Range::default()
    };
    Relay::new(cx, &RANGEFINDER_INFO)?
        .tell("rangefinder", range, |m: &Rangefinder, range, at| {
            ros::stamp(&mut range.header, at.now());
            range.range = m.distance;
        })
        .done()
}

/// TERRAIN_REPORT to `terrain/report`: degrees, metres.
///
/// Source: MAVLink common, TERRAIN_REPORT (136).
pub(super) const TERRAIN: DecodeOnly = DecodeOnly::new(&TERRAIN_INFO, terrain);

const TERRAIN_INFO: CodecInfo = CodecInfo {
    name: "mavlink.terrain",
    doc: "terrain below the vehicle, from its map",
    ports: &[topic::<RosTerrainReport>("report", Qos::reliable())],
    interest: Interest::Tags(&[TerrainReport::ID]),
    ..TELLS
};

fn terrain(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let report = RosTerrainReport { header: ros::header("terrain"), ..RosTerrainReport::default() };
    Relay::new(cx, &TERRAIN_INFO)?
        .tell("report", report, |m: &TerrainReport, report, at| {
            ros::stamp(&mut report.header, at.now());
            report.latitude = ros::degrees(m.lat);
            report.longitude = ros::degrees(m.lon);
            copy!(m => report; spacing, terrain_height, current_height, pending, loaded);
        })
        .done()
}

/// CAMERA_TRIGGER to `cam_imu_sync/cam_imu_stamp`: the moment of each picture, on the ROS clock.
///
/// Source: MAVLink common, CAMERA_TRIGGER (112).
pub(super) const CAM_IMU_SYNC: DecodeOnly = DecodeOnly::new(&CAM_IMU_SYNC_INFO, cam_imu_sync);

const CAM_IMU_SYNC_INFO: CodecInfo = CodecInfo {
    name: "mavlink.cam_imu_sync",
    doc: "moments at which the vehicle triggered its camera",
    ports: &[topic::<CamIMUStamp>("cam_imu_stamp", Qos::reliable())],
    interest: Interest::Tags(&[CameraTrigger::ID]),
    ..TELLS
};

fn cam_imu_sync(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &CAM_IMU_SYNC_INFO)?
        .tell("cam_imu_stamp", CamIMUStamp::default(), |m: &CameraTrigger, trigger, at| {
            let stamp = at.us(m.time_usec);
            trigger.frame_stamp.sec = stamp.sec();
            trigger.frame_stamp.nanosec = stamp.nanosec();
            // The number wraps as MAVROS's does.
            trigger.frame_seq_id = m.seq.cast_signed();
        })
        .done()
}

/// CAMERA_IMAGE_CAPTURED to `camera/image_captured`: degrees, metres above the ellipsoid; MAVLink's attitude.
///
/// Source: MAVLink common, CAMERA_IMAGE_CAPTURED (263).
pub(super) const CAMERA: DecodeOnly = DecodeOnly::new(&CAMERA_INFO, camera);

const CAMERA_INFO: CodecInfo = CodecInfo {
    name: "mavlink.camera",
    doc: "pictures that were taken",
    ports: &[topic::<RosImageCaptured>("image_captured", Qos::reliable())],
    interest: Interest::Tags(&[CameraImageCaptured::ID]),
    ..TELLS
};

fn camera(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &CAMERA_INFO)?
        .tell("image_captured", RosImageCaptured::default(), |m: &CameraImageCaptured, image, at| {
            ros::stamp(&mut image.header, at.ms(m.time_boot_ms));
            image.orientation = ros::quaternion(Quaternion::from_wxyz(m.q.map(f64::from)));
            image.geo.latitude = ros::degrees(m.lat);
            image.geo.longitude = ros::degrees(m.lon);
            image.geo.altitude = ros::metres(m.alt) + at.uas.undulation();
            image.relative_alt = to_f32(ros::metres(m.relative_alt));
            copy!(m => image; image_index, capture_result);
            set_text(&mut image.file_url, &m.file_url);
        })
        .done()
}
