//! `mavlink.hil`: a simulator in the vehicle's place.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::{
    HilActuatorControls as RosActuatorControls, HilControls as RosControls, HilGPS, HilSensor as RosSensor,
    HilStateQuaternion as RosState, OpticalFlowRad, RCIn,
};

use crate::{
    frames::{Enu, Flu},
    mavlink::{
        DecodeOnly,
        dialect::{
            HilActuatorControls, HilControls, HilGps, HilOpticalFlow, HilRcInputsRaw, HilSensor,
            HilStateQuaternion, Message,
        },
        parts::{attitude, frd, wxyz, xyz},
        relay::{Relay, TALKS, copy, input, topic},
        ros,
        uas::MavContext,
        value::{time_usec, to_e7, to_f32s, to_i16, to_i32, to_u16, zero},
        vehicle,
    },
    options::Options,
};

/// HIL_CONTROLS and HIL_ACTUATOR_CONTROLS to `hil/controls` and `hil/actuator_controls`; `hil/state`, `hil/gps`,
/// `hil/imu_ned`, `hil/optical_flow` and `hil/rc_inputs` to the vehicle.
///
/// **Units** on the ROS side: degrees, metres as they are meant for the vehicle, m/s, rad/s, m/s^2, tesla, pascal,
/// degrees Celsius. **Frame**: attitude FLU in ENU, velocity ENU, rates, accelerations and field FLU. With `exact`
/// `hil/state` has MAVROS's mistakes: rates with their axes swapped once more, accelerations in m/s^2 where MAVLink
/// wants 1/1000 g.
///
/// Source: MAVLink common, HIL_CONTROLS (91), HIL_ACTUATOR_CONTROLS (93), HIL_STATE_QUATERNION (115), HIL_GPS (113),
/// HIL_SENSOR (107), HIL_OPTICAL_FLOW (114), HIL_RC_INPUTS_RAW (92).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.hil",
    doc: "hardware in the loop: simulated sensors to the vehicle, its controls back",
    ports: &[
        topic::<RosControls>("controls", Qos::reliable()),
        topic::<RosActuatorControls>("actuator_controls", Qos::reliable()),
    ],
    inputs: &[
        input::<RosState>("state", 10),
        input::<HilGPS>("gps", 10),
        input::<RosSensor>("imu_ned", 10),
        input::<OpticalFlowRad>("optical_flow", 10),
        input::<RCIn>("rc_inputs", 10),
    ],
    interest: Interest::Tags(&[HilControls::ID, HilActuatorControls::ID]),
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let exact = Options::new(cx, &INFO)?.flag("exact", false)?;
    Relay::new(cx, &INFO)?
        .tell("controls", RosControls::default(), |m: &HilControls, controls, at| {
            ros::stamp(&mut controls.header, at.us(m.time_usec));
            copy!(m => controls; roll_ailerons, pitch_elevator, yaw_rudder, throttle, mode, nav_mode);
            copy!(m => controls; aux1, aux2, aux3, aux4);
        })
        .tell("actuator_controls", RosActuatorControls::default(), |m: &HilActuatorControls, controls, at| {
            ros::stamp(&mut controls.header, at.us(m.time_usec));
            copy!(m => controls; controls, mode, flags);
        })
        .hear(move |state: &RosState, to| {
            to.send(&state_of(state, exact));
            Ok(())
        })
        .hear(|gps: &HilGPS, to| {
            to.send(&gps_of(gps));
            Ok(())
        })
        .hear(|sensor: &RosSensor, to| {
            to.send(&sensor_of(sensor));
            Ok(())
        })
        .hear(|flow: &OpticalFlowRad, to| {
            to.send(&flow_of(flow));
            Ok(())
        })
        .hear(|rc: &RCIn, to| {
            to.send(&rc_of(rc));
            Ok(())
        })
        .done()
}

fn state_of(state: &RosState, exact: bool) -> HilStateQuaternion {
    let mut m: HilStateQuaternion = zero();
    m.time_usec = time_usec(&state.header);
    m.attitude_quaternion = wxyz(attitude(&state.orientation));
    let rates = Flu(xyz(&state.angular_velocity)).to_frd().0;
    let rates = if exact { Enu(rates).to_ned().0 } else { rates };
    [m.rollspeed, m.pitchspeed, m.yawspeed] = to_f32s(rates);
    m.lat = to_e7(state.geo.latitude);
    m.lon = to_e7(state.geo.longitude);
    m.alt = to_i32(state.geo.altitude * 1e3);
    m.ind_airspeed = to_u16(f64::from(state.ind_airspeed) * 1e2);
    m.true_airspeed = to_u16(f64::from(state.true_airspeed) * 1e2);
    let velocity = Enu(xyz(&state.linear_velocity)).to_ned().0;
    [m.vx, m.vy, m.vz] = velocity.map(|v| to_i16(v * 1e2));
    let unit = if exact { 1.0 } else { MILLI_G };
    [m.xacc, m.yacc, m.zacc] = Flu(xyz(&state.linear_acceleration)).to_frd().0.map(|a| to_i16(a / unit));
    m
}

fn gps_of(gps: &HilGPS) -> HilGps {
    let mut m: HilGps = zero();
    m.time_usec = time_usec(&gps.header);
    copy!(gps => m; fix_type, satellites_visible);
    m.lat = to_e7(gps.geo.latitude);
    m.lon = to_e7(gps.geo.longitude);
    m.alt = to_i32(gps.geo.altitude * 1e3);
    [m.eph, m.epv, m.vel, m.cog] = [gps.eph, gps.epv, gps.vel, gps.cog].map(|v| v.saturating_mul(100));
    [m.vn, m.ve, m.vd] = [gps.vn, gps.ve, gps.vd].map(|v| v.saturating_mul(100));
    m
}

fn sensor_of(sensor: &RosSensor) -> HilSensor {
    let mut m: HilSensor = zero();
    m.time_usec = time_usec(&sensor.header);
    [m.xacc, m.yacc, m.zacc] = frd(xyz(&sensor.acc));
    [m.xgyro, m.ygyro, m.zgyro] = frd(xyz(&sensor.gyro));
    [m.xmag, m.ymag, m.zmag] = frd(xyz(&sensor.mag).map(|tesla| tesla * GAUSS_PER_TESLA));
    m.abs_pressure = sensor.abs_pressure / PASCAL_PER_HPA;
    m.diff_pressure = sensor.diff_pressure / PASCAL_PER_HPA;
    copy!(sensor => m; pressure_alt, temperature, fields_updated);
    m
}

fn flow_of(flow: &OpticalFlowRad) -> HilOpticalFlow {
    HilOpticalFlow {
        time_usec: time_usec(&flow.header),
        integration_time_us: flow.integration_time_us,
        integrated_x: flow.integrated_x,
        integrated_y: -flow.integrated_y,
        integrated_xgyro: flow.integrated_xgyro,
        integrated_ygyro: -flow.integrated_ygyro,
        integrated_zgyro: -flow.integrated_zgyro,
        time_delta_distance_us: flow.time_delta_distance_us,
        distance: flow.distance,
        temperature: flow.temperature.saturating_mul(100),
        sensor_id: SENSOR_ID,
        quality: flow.quality,
    }
}

fn rc_of(rc: &RCIn) -> HilRcInputsRaw {
    let channel = |number: usize| rc.channels.get(number - 1).copied().unwrap_or(u16::MAX);
    HilRcInputsRaw {
        time_usec: time_usec(&rc.header),
        chan1_raw: channel(1),
        chan2_raw: channel(2),
        chan3_raw: channel(3),
        chan4_raw: channel(4),
        chan5_raw: channel(5),
        chan6_raw: channel(6),
        chan7_raw: channel(7),
        chan8_raw: channel(8),
        chan9_raw: channel(9),
        chan10_raw: channel(10),
        chan11_raw: channel(11),
        chan12_raw: channel(12),
        rssi: rc.rssi,
    }
}

/// 1/1000 of standard gravity in m/s^2.
const MILLI_G: f64 = 9.806_65e-3;
const GAUSS_PER_TESLA: f64 = 1e4;
const PASCAL_PER_HPA: f32 = 100.0;
/// What MAVROS calls the simulated flow sensor.
const SENSOR_ID: u8 = 127;
