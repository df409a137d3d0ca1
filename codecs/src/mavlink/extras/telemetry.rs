//! What a vehicle tells besides its state: wind, navigation, radio, events, sticks and actuators.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::TwistWithCovarianceStamped,
    mavros_msgs::msg::{
        ActuatorControl, ManualControl as RosManualControl, NavControllerOutput as RosNavControllerOutput,
        RadioStatus as RosRadioStatus, StatusEvent,
    },
};

use crate::{
    frames::Ned,
    mavlink::{
        DecodeOnly,
        dialect::{
            ActuatorControlTarget, Event, ManualControl, Message, NavControllerOutput, Radio, RadioStatus,
            Wind, WindCov,
        },
        relay::{Relay, TELLS, copy, topic},
        ros,
        uas::MavContext,
        value::to_f64s,
    },
};

/// WIND_COV or ArduPilot's WIND to `wind_estimation`: where the air moves, ENU, m/s.
///
/// WIND_COV's "variances" are put in as they are, as in MAVROS, although they are standard deviations; from WIND the
/// covariance is unknown (-1).
///
/// Source: MAVLink common, WIND_COV (231); ardupilotmega, WIND (168), whose direction is where wind comes from.
pub(super) const WIND: DecodeOnly = DecodeOnly::new(&WIND_INFO, wind);

const WIND_INFO: CodecInfo = CodecInfo {
    name: "mavlink.wind",
    doc: "wind at the vehicle",
    ports: &[topic::<TwistWithCovarianceStamped>("wind_estimation", Qos::sensor_data())],
    interest: Interest::Tags(&[WindCov::ID, Wind::ID]),
    ..TELLS
};

fn wind(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let mut unknown = TwistWithCovarianceStamped::default();
    unknown.twist.covariance[0] = -1.0;
    Relay::new(cx, &WIND_INFO)?
        .tell("wind_estimation", TwistWithCovarianceStamped::default(), |m: &WindCov, wind, at| {
            ros::stamp(&mut wind.header, at.us(m.time_usec));
            let speed = Ned(to_f64s([m.wind_x, m.wind_y, m.wind_z])).to_enu();
            wind.twist.twist.linear = ros::vector3(speed.0);
            wind.twist.covariance[0] = f64::from(m.var_horiz);
            wind.twist.covariance[14] = f64::from(m.var_vert);
        })
        .tell("wind_estimation", unknown, |m: &Wind, wind, at| {
            ros::stamp(&mut wind.header, at.now());
            let (east, north) = (f64::from(m.direction) + 180.0).to_radians().sin_cos();
            let speed = f64::from(m.speed);
            wind.twist.twist.linear = ros::vector3([speed * east, speed * north, -f64::from(m.speed_z)]);
        })
        .done()
}

/// NAV_CONTROLLER_OUTPUT to `nav_controller_output/output`: degrees, metres, m/s.
///
/// Source: MAVLink common, NAV_CONTROLLER_OUTPUT (62).
pub(super) const NAV_CONTROLLER_OUTPUT: DecodeOnly = DecodeOnly::new(&NAV_INFO, nav_controller_output);

const NAV_INFO: CodecInfo = CodecInfo {
    name: "mavlink.nav_controller_output",
    doc: "what the navigation controller wants, and its errors",
    ports: &[topic::<RosNavControllerOutput>("output", Qos::reliable())],
    interest: Interest::Tags(&[NavControllerOutput::ID]),
    ..TELLS
};

fn nav_controller_output(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &NAV_INFO)?
        .tell("output", RosNavControllerOutput::default(), |m: &NavControllerOutput, nav, at| {
            ros::stamp(&mut nav.header, at.now());
            copy!(m => nav; nav_roll, nav_pitch, nav_bearing, target_bearing, wp_dist, alt_error, aspd_error, xtrack_error);
        })
        .done()
}

/// RADIO_STATUS, or RADIO of older modems until one came, to `radio_status`.
///
/// The modem is a system of its own (51, component 68), so messages of any system count. The dBm values are those of
/// a SiK modem.
///
/// Source: MAVLink common, RADIO_STATUS (109); ardupilotmega, RADIO (166), which has the same layout.
pub(super) const RADIO: DecodeOnly = DecodeOnly::new(&RADIO_INFO, radio).hearing_all();

const RADIO_INFO: CodecInfo = CodecInfo {
    name: "mavlink.radio",
    doc: "a telemetry modem's signal, noise and errors",
    ports: &[topic::<RosRadioStatus>("radio_status", Qos::sensor_data())],
    interest: Interest::Tags(RADIOS),
    options: &[],
    ..TELLS
};

const RADIOS: &[u32] = &[RadioStatus::ID, Radio::ID];

fn radio(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let mut newer = false;
    let dbm = |rssi: u8| f32::from(rssi) / 1.9 - 127.0;
    Relay::new(cx, &RADIO_INFO)?
        .of_any()
        .tell_if(RADIOS, "radio_status", RosRadioStatus::default(), move |m: &RadioStatus, radio, at| {
            let is_newer = at.packet.msgid == RadioStatus::ID;
            newer |= is_newer;
            ros::stamp(&mut radio.header, at.now());
            copy!(m => radio; rssi, remrssi, txbuf, noise, remnoise, rxerrors, fixed);
            radio.rssi_dbm = dbm(m.rssi);
            radio.remrssi_dbm = dbm(m.remrssi);
            is_newer || !newer
        })
        .done()
}

/// EVENT to `status_event`.
///
/// `severity` is the external log level (the low four bits), `px4_id` the low 24 bits of the id; the texts belonging
/// to them are in PX4's metadata.
///
/// Source: MAVLink common, EVENT (410).
pub(super) const STATUS_EVENT: DecodeOnly = DecodeOnly::new(&EVENT_INFO, status_event);

const EVENT_INFO: CodecInfo = CodecInfo {
    name: "mavlink.status_event",
    doc: "events of PX4",
    ports: &[topic::<StatusEvent>("status_event", Qos::sensor_data())],
    interest: Interest::Tags(&[Event::ID]),
    ..TELLS
};

fn status_event(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &EVENT_INFO)?
        .tell("status_event", StatusEvent::default(), |m: &Event, event, at| {
            ros::stamp(&mut event.header, at.ms(m.event_time_boot_ms));
            event.severity = m.log_levels & 0x0f;
            event.px4_id = m.id & 0x00ff_ffff;
            copy!(m => event; arguments, sequence);
        })
        .done()
}

/// MANUAL_CONTROL to `manual_control/control`: sticks of -1 to 1 (thrust `z` of 0 to 1).
///
/// Source: MAVLink common, MANUAL_CONTROL (69).
pub(super) const MANUAL_CONTROL: DecodeOnly = DecodeOnly::new(&MANUAL_INFO, manual_control);

const MANUAL_INFO: CodecInfo = CodecInfo {
    name: "mavlink.manual_control_in",
    doc: "sticks and buttons, from the vehicle",
    ports: &[topic::<RosManualControl>("control", Qos::reliable())],
    interest: Interest::Tags(&[ManualControl::ID]),
    ..TELLS
};

fn manual_control(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    macro_rules! scaled {
        ($from:expr => $to:expr; $($axis:ident),+) => {$( $to.$axis = f32::from($from.$axis) / 1000.0; )+};
    }
    Relay::new(cx, &MANUAL_INFO)?
        .tell("control", RosManualControl::default(), |m: &ManualControl, control, at| {
            ros::stamp(&mut control.header, at.now());
            scaled!(m => control; x, y, z, r, s, t, aux1, aux2, aux3, aux4, aux5, aux6);
            copy!(m => control; buttons, buttons2, enabled_extensions);
        })
        .done()
}

/// ACTUATOR_CONTROL_TARGET of the autopilot itself to `target_actuator_control`: controls of -1 to 1.
///
/// Source: MAVLink common, ACTUATOR_CONTROL_TARGET (140).
pub(super) const ACTUATOR_TARGET: DecodeOnly = DecodeOnly::new(&ACTUATOR_INFO, actuator_target);

const ACTUATOR_INFO: CodecInfo = CodecInfo {
    name: "mavlink.actuator_target",
    doc: "what the autopilot tells its actuators",
    ports: &[topic::<ActuatorControl>("target_actuator_control", Qos::sensor_data())],
    interest: Interest::Tags(ACTUATORS),
    ..TELLS
};

const ACTUATORS: &[u32] = &[ActuatorControlTarget::ID];

fn actuator_target(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let actuators = ActuatorControl::default();
    Relay::new(cx, &ACTUATOR_INFO)?
        .tell_if(
            ACTUATORS,
            "target_actuator_control",
            actuators,
            |m: &ActuatorControlTarget, actuators, at| {
                ros::stamp(&mut actuators.header, at.us(m.time_usec));
                actuators.group_mix = m.group_mlx;
                actuators.controls = m.controls;
                at.packet.compid == at.uas.target_component()
            },
        )
        .done()
}
