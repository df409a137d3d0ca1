//! `mavlink.mount_control`: camera mounts of the first protocol.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::{Quaternion as RosQuaternion, Vector3Stamped},
    mavros_msgs::{
        msg::MountControl,
        srv::{MountConfigure, MountConfigureRequest},
    },
};

use crate::{
    frames::Quaternion,
    mavlink::{
        DecodeOnly,
        dialect::{CommandAck, CommandLong, Message, MountOrientation, MountStatus},
        relay::{Relay, TALKS, input, service, topic},
        ros,
        uas::MavContext,
        value::{to_f64s, zero},
        vehicle,
    },
    options::Options,
};

/// MOUNT_ORIENTATION and MOUNT_STATUS to `mount_control/orientation` and `mount_control/status`,
/// `mount_control/command` and the service `mount_control/configure` to commands.
///
/// **Frame**: MAVLink's axes (forward, right, down), as in MAVROS; radians. A command's numbers go as they are.
/// `frame_id` of the status is the number of the component it is meant for. Options turn what a mount reports the
/// wrong way round.
///
/// Source: MAVLink common, MOUNT_ORIENTATION (265), MAV_CMD_DO_MOUNT_CONTROL (205), MAV_CMD_DO_MOUNT_CONFIGURE (204);
/// ardupilotmega, MOUNT_STATUS (158).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.mount_control",
    doc: "camera mounts: where they point, and commands to them",
    ports: &[
        topic::<RosQuaternion>("orientation", Qos::reliable()),
        topic::<Vector3Stamped>("status", Qos::reliable()),
    ],
    inputs: &[input::<MountControl>("command", 10)],
    services: &[service::<MountConfigure>("configure")],
    interest: Interest::Tags(&[MountOrientation::ID, MountStatus::ID, CommandAck::ID]),
    options: &[
        vehicle::SYSID,
        ("negate_measured_roll", "true turns the measured roll; default false"),
        ("negate_measured_pitch", "true turns the measured pitch; default false"),
        ("negate_measured_yaw", "true turns the measured yaw; default false"),
    ],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let sign = |name: &str| Ok::<f64, CodecError>(if options.flag(name, false)? { -1.0 } else { 1.0 });
    let (roll_sign, pitch_sign, yaw_sign) =
        (sign("negate_measured_roll")?, sign("negate_measured_pitch")?, sign("negate_measured_yaw")?);
    let centidegrees = |m: &MountStatus| {
        [m.pointing_b, m.pointing_a, m.pointing_c].map(|angle| (f64::from(angle) / 100.0).to_radians())
    };
    Relay::new(cx, &INFO)?
        .tell("orientation", RosQuaternion::default(), move |m: &MountOrientation, orientation, _| {
            let [roll, pitch, yaw] = to_f64s([m.roll, m.pitch, m.yaw]).map(f64::to_radians);
            let q = Quaternion::from_rpy(roll_sign * roll, pitch_sign * pitch, yaw_sign * yaw);
            *orientation = ros::quaternion(q);
        })
        .tell("orientation", RosQuaternion::default(), move |m: &MountStatus, orientation, _| {
            let [roll, pitch, yaw] = centidegrees(m);
            *orientation = ros::quaternion(Quaternion::from_rpy(roll, pitch, yaw));
        })
        .tell("status", Vector3Stamped::default(), move |m: &MountStatus, status, at| {
            ros::stamp(&mut status.header, at.now());
            status.header.frame_id = m.target_component.to_string();
            status.vector = ros::vector3(centidegrees(m));
        })
        .hear(|mount: &MountControl, to| {
            let (target_system, target_component) = to.target();
            to.send(&CommandLong {
                param1: mount.pitch,
                param2: mount.roll,
                param3: mount.yaw,
                param4: mount.altitude,
                param5: mount.latitude,
                param6: mount.longitude,
                param7: mount.mode.into(),
                command: MAV_CMD_DO_MOUNT_CONTROL,
                target_system,
                target_component,
                confirmation: 0,
            });
            Ok(())
        })
        .command::<MountConfigure>(|request| Some(configure(request)))
        .done()
}

fn configure(request: &MountConfigureRequest) -> CommandLong {
    let flag = |on: bool| f32::from(u8::from(on));
    CommandLong {
        param1: request.mode.into(),
        param2: flag(request.stabilize_roll),
        param3: flag(request.stabilize_pitch),
        param4: flag(request.stabilize_yaw),
        param5: request.roll_input.into(),
        param6: request.pitch_input.into(),
        param7: request.yaw_input.into(),
        command: MAV_CMD_DO_MOUNT_CONFIGURE,
        ..zero()
    }
}

const MAV_CMD_DO_MOUNT_CONFIGURE: u16 = 204;
const MAV_CMD_DO_MOUNT_CONTROL: u16 = 205;
