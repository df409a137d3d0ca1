//! `mavlink.gimbal_control`: gimbals of the second protocol.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::TransformStamped,
    mavros_msgs::{
        msg::{
            GimbalDeviceAttitudeStatus as RosAttitudeStatus, GimbalDeviceInformation as RosDeviceInformation,
            GimbalDeviceSetAttitude as RosDeviceSetAttitude,
            GimbalManagerInformation as RosManagerInformation,
            GimbalManagerSetAttitude as RosManagerSetAttitude, GimbalManagerSetPitchyaw as RosSetPitchyaw,
            GimbalManagerStatus as RosManagerStatus,
        },
        srv::{
            GimbalGetInformation, GimbalManagerCameraTrack, GimbalManagerCameraTrackRequest as Track,
            GimbalManagerConfigure, GimbalManagerConfigureRequest as Configure, GimbalManagerPitchyaw,
            GimbalManagerPitchyawRequest as Pitchyaw, GimbalManagerSetRoi, GimbalManagerSetRoiRequest as Roi,
        },
    },
    tf2_msgs::msg::TFMessage,
};

use crate::{
    frames::Quaternion,
    mavlink::{
        DecodeOnly,
        dialect::{
            CommandAck, CommandLong, GimbalDeviceAttitudeStatus, GimbalDeviceInformation,
            GimbalDeviceSetAttitude, GimbalManagerInformation, GimbalManagerSetAttitude,
            GimbalManagerSetPitchyaw, GimbalManagerStatus, Message,
        },
        parts::{rotation, wxyz},
        relay::{At, Relay, TALKS, Wire, copy, input, service, topic},
        ros,
        uas::MavContext,
        value::{set_text, to_f32, zero},
        vehicle,
    },
    options::Options,
};

/// GIMBAL_* messages to and from `gimbal_control/device/*` and `gimbal_control/manager/*`; its services are commands,
/// answered with the vehicle's result.
///
/// **Frame**: MAVLink's axes (forward, right, down), as in MAVROS; `frame_id` is an option, `base_link_frd` without
/// it; so is the transform from there to `gimbal_<target component>`. Setpoints name the component they go to.
/// `manager/set_manual_control` sends what `manager/set_pitchyaw` sends, as in MAVROS.
///
/// Source: MAVLink common, GIMBAL_MANAGER_INFORMATION (280), _STATUS (281), _SET_ATTITUDE (282), _SET_PITCHYAW (287),
/// GIMBAL_DEVICE_INFORMATION (283), _SET_ATTITUDE (284), _ATTITUDE_STATUS (285); commands below.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.gimbal_control",
    doc: "gimbals and gimbal managers, both ways",
    ports: &[
        topic::<RosAttitudeStatus>("device_attitude_status", Qos::reliable()),
        topic::<RosManagerStatus>("manager_status", Qos::reliable()),
        topic::<RosManagerInformation>("manager_info", Qos::reliable()),
        topic::<RosDeviceInformation>("device_info", Qos::reliable()),
        topic::<TFMessage>("tf", Qos::reliable().with_depth(100)),
    ],
    inputs: &[
        input::<RosDeviceSetAttitude>("device_set_attitude", 10),
        input::<RosManagerSetAttitude>("manager_set_attitude", 10),
        input::<RosSetPitchyaw>("manager_set_pitchyaw", 10),
        input::<RosSetPitchyaw>("manager_set_manual_control", 10),
    ],
    services: &[
        service::<GimbalGetInformation>("device_get_info"),
        service::<GimbalGetInformation>("manager_get_info"),
        service::<GimbalManagerConfigure>("manager_configure"),
        service::<GimbalManagerPitchyaw>("manager_pitchyaw"),
        service::<GimbalManagerSetRoi>("manager_set_roi"),
        service::<GimbalManagerCameraTrack>("manager_camera_track"),
    ],
    interest: Interest::Tags(&[
        GimbalDeviceAttitudeStatus::ID,
        GimbalManagerStatus::ID,
        GimbalManagerInformation::ID,
        GimbalDeviceInformation::ID,
        CommandAck::ID,
    ]),
    options: &[
        vehicle::SYSID,
        ("frame_id", "frame of the messages; default base_link_frd"),
        ("tf_send", "true publishes the gimbal's attitude as a transform; default false"),
        ("tf_frame_id", "frame that the gimbal hangs in; default base_link_frd"),
    ],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let relay = Relay::new(cx, &INFO)?;
    let header = ros::header(options.text("frame_id", "base_link_frd")?);
    let status = RosAttitudeStatus { header: header.clone(), ..RosAttitudeStatus::default() };
    let manager = RosManagerStatus { header: header.clone(), ..RosManagerStatus::default() };
    let manager_info = RosManagerInformation { header: header.clone(), ..RosManagerInformation::default() };
    let device_info = RosDeviceInformation { header, ..RosDeviceInformation::default() };
    let relay = if options.flag("tf_send", false)? {
        let frame_id = options.text("tf_frame_id", "base_link_frd")?;
        let transform = TransformStamped { header: ros::header(frame_id), ..TransformStamped::default() };
        relay.tell("tf", TFMessage { transforms: vec![transform] }, transform_of)
    } else {
        relay
    };
    let relay = relay
        .tell("device_attitude_status", status, |m: &GimbalDeviceAttitudeStatus, status, at| {
            ros::stamp(&mut status.header, at.ms(m.time_boot_ms));
            copy!(m => status; target_system, target_component, flags, failure_flags);
            copy!(m => status; angular_velocity_x, angular_velocity_y, angular_velocity_z);
            status.q = ros::quaternion(Quaternion::from_wxyz(m.q.map(f64::from)));
        })
        .tell("manager_status", manager, |m: &GimbalManagerStatus, status, at| {
            ros::stamp(&mut status.header, at.ms(m.time_boot_ms));
            copy!(m => status; flags, gimbal_device_id);
            status.sysid_primary = m.primary_control_sysid;
            status.compid_primary = m.primary_control_compid;
            status.sysid_secondary = m.secondary_control_sysid;
            status.compid_secondary = m.secondary_control_compid;
        })
        .tell("manager_info", manager_info, |m: &GimbalManagerInformation, info, at| {
            ros::stamp(&mut info.header, at.ms(m.time_boot_ms));
            copy!(m => info; cap_flags, gimbal_device_id, roll_min, roll_max, pitch_min, pitch_max, yaw_min, yaw_max);
        })
        .tell("device_info", device_info, |m: &GimbalDeviceInformation, info, at| {
            ros::stamp(&mut info.header, at.ms(m.time_boot_ms));
            set_text(&mut info.vendor_name, &m.vendor_name);
            set_text(&mut info.model_name, &m.model_name);
            set_text(&mut info.custom_name, &m.custom_name);
            copy!(m => info; firmware_version, hardware_version, uid, custom_cap_flags);
            copy!(m => info; roll_min, roll_max, pitch_min, pitch_max, yaw_min, yaw_max);
            info.cap_flags = m.cap_flags.into();
        });
    services(setpoints(relay)).done()
}

/// From the frame that the gimbal hangs in to the gimbal, which has its component's number in its name.
fn transform_of(m: &GimbalDeviceAttitudeStatus, tf: &mut TFMessage, at: &At<'_>) {
    for transform in &mut tf.transforms {
        ros::stamp(&mut transform.header, at.ms(m.time_boot_ms));
        transform.child_frame_id = format!("gimbal_{}", m.target_component);
        transform.transform.rotation = ros::quaternion(Quaternion::from_wxyz(m.q.map(f64::from)));
    }
}

fn setpoints(relay: Relay) -> Relay {
    relay
        .hear(|set: &RosDeviceSetAttitude, to| {
            let mut m: GimbalDeviceSetAttitude = zero();
            copy!(set => m; target_system, target_component, flags);
            copy!(set => m; angular_velocity_x, angular_velocity_y, angular_velocity_z);
            m.q = wxyz(rotation(&set.q));
            to.send(&m);
            Ok(())
        })
        .hear(|set: &RosManagerSetAttitude, to| {
            let mut m: GimbalManagerSetAttitude = zero();
            copy!(set => m; target_system, target_component, flags, gimbal_device_id);
            copy!(set => m; angular_velocity_x, angular_velocity_y, angular_velocity_z);
            m.q = wxyz(rotation(&set.q));
            to.send(&m);
            Ok(())
        })
        .hear(|set, to| {
            set_pitchyaw(set, to);
            Ok(())
        })
        .hear(|set, to| {
            set_pitchyaw(set, to);
            Ok(())
        })
}

fn set_pitchyaw(set: &RosSetPitchyaw, to: &mut Wire<'_, '_>) {
    let mut m: GimbalManagerSetPitchyaw = zero();
    copy!(set => m; target_system, target_component, flags, gimbal_device_id, pitch, yaw, pitch_rate, yaw_rate);
    to.send(&m);
}

fn services(relay: Relay) -> Relay {
    relay
        .command::<GimbalGetInformation>(|_| Some(request_message(GimbalDeviceInformation::ID)))
        .command::<GimbalGetInformation>(|_| Some(request_message(GimbalManagerInformation::ID)))
        .command::<GimbalManagerConfigure>(|request| Some(configure(request)))
        .command::<GimbalManagerPitchyaw>(|request| Some(pitchyaw(request)))
        .command::<GimbalManagerSetRoi>(set_roi)
        .command::<GimbalManagerCameraTrack>(camera_track)
}

fn request_message(msgid: u32) -> CommandLong {
    // The ids of these messages have three digits.
    CommandLong { param1: to_f32(msgid.into()), command: MAV_CMD_REQUEST_MESSAGE, ..zero() }
}

fn configure(request: &Configure) -> CommandLong {
    CommandLong {
        param1: request.sysid_primary.into(),
        param2: request.compid_primary.into(),
        param3: request.sysid_secondary.into(),
        param4: request.compid_secondary.into(),
        param7: request.gimbal_device_id.into(),
        command: MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE,
        ..zero()
    }
}

fn pitchyaw(request: &Pitchyaw) -> CommandLong {
    CommandLong {
        param1: request.pitch,
        param2: request.yaw,
        param3: request.pitch_rate,
        param4: request.yaw_rate,
        param5: to_f32(request.flags.into()),
        param7: request.gimbal_device_id.into(),
        command: MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW,
        ..zero()
    }
}

/// `None` for a mode that does not exist.
fn set_roi(request: &Roi) -> Option<CommandLong> {
    let gimbal = f32::from(request.gimbal_device_id);
    Some(match request.mode {
        Roi::ROI_MODE_LOCATION => CommandLong {
            param1: gimbal,
            param5: request.latitude,
            param6: request.longitude,
            param7: request.altitude,
            command: MAV_CMD_DO_SET_ROI_LOCATION,
            ..zero()
        },
        Roi::ROI_MODE_WP_NEXT_OFFSET => CommandLong {
            param1: gimbal,
            param5: request.pitch_offset,
            param6: request.roll_offset,
            param7: request.yaw_offset,
            command: MAV_CMD_DO_SET_ROI_WPNEXT_OFFSET,
            ..zero()
        },
        Roi::ROI_MODE_SYSID => CommandLong {
            param1: request.sysid.into(),
            param2: gimbal,
            command: MAV_CMD_DO_SET_ROI_SYSID,
            ..zero()
        },
        Roi::ROI_MODE_NONE => CommandLong { param1: gimbal, command: MAV_CMD_DO_SET_ROI_NONE, ..zero() },
        _ => return None,
    })
}

/// `None` for a mode that does not exist.
fn camera_track(request: &Track) -> Option<CommandLong> {
    Some(match request.mode {
        Track::CAMERA_TRACK_MODE_POINT => CommandLong {
            param1: request.x,
            param2: request.y,
            param3: request.radius,
            command: MAV_CMD_CAMERA_TRACK_POINT,
            ..zero()
        },
        Track::CAMERA_TRACK_MODE_RECTANGLE => CommandLong {
            param1: request.top_left_x,
            param2: request.top_left_y,
            param3: request.bottom_right_x,
            param4: request.bottom_right_y,
            command: MAV_CMD_CAMERA_TRACK_RECTANGLE,
            ..zero()
        },
        Track::CAMERA_TRACK_MODE_STOP_TRACKING => {
            CommandLong { command: MAV_CMD_CAMERA_STOP_TRACKING, ..zero() }
        }
        _ => return None,
    })
}

const MAV_CMD_DO_SET_ROI_LOCATION: u16 = 195;
const MAV_CMD_DO_SET_ROI_WPNEXT_OFFSET: u16 = 196;
const MAV_CMD_DO_SET_ROI_NONE: u16 = 197;
const MAV_CMD_DO_SET_ROI_SYSID: u16 = 198;
const MAV_CMD_REQUEST_MESSAGE: u16 = 512;
const MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW: u16 = 1000;
const MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE: u16 = 1001;
const MAV_CMD_CAMERA_TRACK_POINT: u16 = 2004;
const MAV_CMD_CAMERA_TRACK_RECTANGLE: u16 = 2005;
const MAV_CMD_CAMERA_STOP_TRACKING: u16 = 2010;
