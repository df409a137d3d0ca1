//! `mavlink.imu`: attitude and inertial, magnetic and pressure sensors.

use std::sync::Arc;

use rostrans_core::{
    clock::RosTime,
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Packet;
use rostrans_msgs::sensor_msgs::msg::{FluidPressure, Imu, MagneticField, Temperature};

use super::{
    DecodeOnly,
    attitude::AttitudeTracker,
    dialect::{
        Attitude, AttitudeQuaternion, Heartbeat, HighresImu, Message, RawImu, ScaledImu, ScaledPressure,
    },
    mode,
    relay::topic,
    ros,
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::{
    frames::{Cov3, Flu, Frd},
    options::Options,
};

/// Sensors to `imu/*`.
///
/// `data` is FLU in ENU with rates in rad/s and acceleration in m/s². `data_raw` comes from HIGHRES_IMU, else
/// SCALED_IMU, else RAW_IMU. `mag` is in tesla, pressures in pascal, temperatures in °C. Until a raw sample came,
/// element 0 of the acceleration covariance of `data` is -1.
///
/// With `exact`, `mag` of SCALED_IMU and RAW_IMU is 1e10 times too large and pressures of HIGHRES_IMU are in hPa.
///
/// Source: MAVLink common, ATTITUDE (30), ATTITUDE_QUATERNION (31), SCALED_IMU (26), RAW_IMU (27),
/// SCALED_PRESSURE (29), HIGHRES_IMU (105); REP-103.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.imu",
    doc: "attitude, rates, acceleration, magnetic field, pressures, temperatures",
    roles: &[Role::Decode],
    ports: &[
        topic::<Imu>("data", Qos::sensor_data()),
        topic::<Imu>("data_raw", Qos::sensor_data()),
        topic::<MagneticField>("mag", Qos::sensor_data()),
        topic::<FluidPressure>("static_pressure", Qos::sensor_data()),
        topic::<FluidPressure>("diff_pressure", Qos::sensor_data()),
        topic::<Temperature>("temperature_imu", Qos::sensor_data()),
        topic::<Temperature>("temperature_baro", Qos::sensor_data()),
    ],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[
        Heartbeat::ID,
        ScaledImu::ID,
        RawImu::ID,
        ScaledPressure::ID,
        Attitude::ID,
        AttitudeQuaternion::ID,
        HighresImu::ID,
    ]),
    cost: Cost::Inline,
    tick: None,
    options: &[
        vehicle::SYSID,
        vehicle::COMPID,
        vehicle::CONN_TIMEOUT,
        vehicle::EXACT,
        ("frame_id", "frame of all messages; default base_link"),
        ("orientation_stdev", "standard deviation in rad, 0 is unknown; default 1.0"),
        ("angular_velocity_stdev", "standard deviation in rad/s; default 0.000349066 (0.02 deg/s)"),
        ("linear_acceleration_stdev", "standard deviation in m/s^2; default 0.0003"),
        ("magnetic_stdev", "standard deviation in tesla; default 0 (unknown)"),
    ],
};

const DATA: Port = Port(0);
const DATA_RAW: Port = Port(1);
const MAG: Port = Port(2);
const STATIC_PRESSURE: Port = Port(3);
const DIFF_PRESSURE: Port = Port(4);
const TEMPERATURE_IMU: Port = Port(5);
const TEMPERATURE_BARO: Port = Port(6);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    let header = ros::header(options.text("frame_id", "base_link")?);
    let cov = |name, default| Ok(Cov3::from_stdev(options.number(name, default)?).0);
    let angular_velocity_covariance = cov("angular_velocity_stdev", 0.02_f64.to_radians())?;
    let linear_acceleration_covariance = cov("linear_acceleration_stdev", 0.0003)?;
    let mut unknown = linear_acceleration_covariance;
    unknown[0] = -1.0;
    let data = Imu {
        header: header.clone(),
        orientation_covariance: cov("orientation_stdev", 1.0)?,
        angular_velocity_covariance,
        linear_acceleration_covariance: unknown,
        ..Imu::default()
    };
    let data_raw = Imu {
        header: header.clone(),
        orientation: rostrans_msgs::geometry_msgs::msg::Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 0.0 },
        orientation_covariance: Cov3::from_stdev(0.0).0,
        angular_velocity_covariance,
        linear_acceleration_covariance,
        ..Imu::default()
    };
    Ok(Box::new(ImuDecoder {
        vehicle: Vehicle::new(&options)?,
        uas: Arc::clone(&cx.uas),
        exact: options.flag("exact", false)?,
        attitude: AttitudeTracker::new(),
        source: RawSource::None,
        data,
        data_raw,
        mag: MagneticField {
            header: header.clone(),
            magnetic_field_covariance: cov("magnetic_stdev", 0.0)?,
            ..MagneticField::default()
        },
        pressure: FluidPressure { header: header.clone(), ..FluidPressure::default() },
        temperature: Temperature { header, ..Temperature::default() },
    }))
}

/// The best source of raw samples seen since the connection came or went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RawSource {
    None,
    Scaled,
    Highres,
}

struct ImuDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    exact: bool,
    attitude: AttitudeTracker,
    source: RawSource,
    data: Imu,
    data_raw: Imu,
    mag: MagneticField,
    pressure: FluidPressure,
    temperature: Temperature,
}

impl Decoder for ImuDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.attitude.forget_source();
            self.source = RawSource::None;
        }
        match packet.msgid {
            AttitudeQuaternion::ID | Attitude::ID => self.attitude(&packet, out),
            HighresImu::ID => self.highres(&HighresImu::decode(packet.payload), out),
            ScaledImu::ID => self.scaled(&ScaledImu::decode(packet.payload), out),
            RawImu::ID => self.raw(&RawImu::decode(packet.payload), out),
            ScaledPressure::ID => self.scaled_pressure(&ScaledPressure::decode(packet.payload), out),
            _ => {}
        }
        Ok(())
    }
}

impl ImuDecoder {
    fn attitude(&mut self, packet: &Packet<'_>, out: &mut Emit<'_>) {
        if !self.attitude.update(packet) || !out.wants(DATA) {
            return;
        }
        let stamp = self.uas.stamp_ms(self.attitude.time_boot_ms, out.stamp());
        ros::stamp(&mut self.data.header, stamp);
        self.data.orientation = ros::quaternion(self.attitude.orientation);
        self.data.angular_velocity = ros::vector3(self.attitude.rates.0);
        out.publish(DATA, stamp, &self.data);
    }

    fn highres(&mut self, m: &HighresImu, out: &mut Emit<'_>) {
        self.source = RawSource::Highres;
        let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
        let updated = |bits: u16| m.fields_updated & bits != 0;
        if updated(0x3f) {
            let rates = Frd([m.xgyro, m.ygyro, m.zgyro].map(f64::from));
            let acceleration = Frd([m.xacc, m.yacc, m.zacc].map(f64::from));
            self.publish_raw(stamp, rates.to_flu(), acceleration.to_flu(), out);
        }
        if updated(0x1c0) {
            self.publish_mag(stamp, Frd([m.xmag, m.ymag, m.zmag].map(|gauss| f64::from(gauss) * 1e-4)), out);
        }
        let hectopascal = if self.exact { 1.0 } else { 100.0 };
        if updated(0x200) {
            self.publish_pressure(STATIC_PRESSURE, stamp, f64::from(m.abs_pressure) * hectopascal, out);
        }
        if updated(0x400) {
            self.publish_pressure(DIFF_PRESSURE, stamp, f64::from(m.diff_pressure) * hectopascal, out);
        }
        if updated(0x1000) {
            self.publish_temperature(TEMPERATURE_IMU, stamp, f64::from(m.temperature), out);
        }
    }

    fn scaled(&mut self, m: &ScaledImu, out: &mut Emit<'_>) {
        if self.source > RawSource::Scaled {
            return;
        }
        self.source = RawSource::Scaled;
        let stamp = self.uas.stamp_ms(m.time_boot_ms, out.stamp());
        let rates = Frd([m.xgyro, m.ygyro, m.zgyro].map(|mrad| f64::from(mrad) * 1e-3));
        let acceleration = Frd([m.xacc, m.yacc, m.zacc].map(|mg| f64::from(mg) * MILLI_G));
        self.publish_raw(stamp, rates.to_flu(), acceleration.to_flu(), out);
        self.publish_milligauss(stamp, [m.xmag, m.ymag, m.zmag], out);
    }

    fn raw(&mut self, m: &RawImu, out: &mut Emit<'_>) {
        if self.source > RawSource::None {
            return;
        }
        let stamp = self.uas.stamp_us(m.time_usec, out.stamp());
        let rates = Frd([m.xgyro, m.ygyro, m.zgyro].map(|mrad| f64::from(mrad) * 1e-3));
        let unit = match self.vehicle.autopilot {
            mode::ARDUPILOT => MILLI_G,
            mode::PX4 => 1e-3,
            _ => 1.0,
        };
        let acceleration = Frd([m.xacc, m.yacc, m.zacc].map(|raw| f64::from(raw) * unit));
        self.publish_raw(stamp, rates.to_flu(), acceleration.to_flu(), out);
        if self.vehicle.autopilot != mode::ARDUPILOT {
            // Only ArduPilot says what its raw numbers mean.
            self.data.linear_acceleration = ros::vector3([0.0; 3]);
        }
        self.publish_milligauss(stamp, [m.xmag, m.ymag, m.zmag], out);
    }

    fn scaled_pressure(&mut self, m: &ScaledPressure, out: &mut Emit<'_>) {
        if self.source == RawSource::Highres {
            return;
        }
        let stamp = self.uas.stamp_ms(m.time_boot_ms, out.stamp());
        self.publish_temperature(TEMPERATURE_BARO, stamp, f64::from(m.temperature) / 100.0, out);
        self.publish_pressure(STATIC_PRESSURE, stamp, f64::from(m.press_abs) * 100.0, out);
        self.publish_pressure(DIFF_PRESSURE, stamp, f64::from(m.press_diff) * 100.0, out);
    }

    /// Publishes `data_raw` and keeps the acceleration for `data`.
    fn publish_raw(
        &mut self,
        stamp: RosTime,
        rates: Flu<[f64; 3]>,
        acceleration: Flu<[f64; 3]>,
        out: &mut Emit<'_>,
    ) {
        self.data.linear_acceleration = ros::vector3(acceleration.0);
        self.data.linear_acceleration_covariance = self.data_raw.linear_acceleration_covariance;
        if out.wants(DATA_RAW) {
            ros::stamp(&mut self.data_raw.header, stamp);
            self.data_raw.angular_velocity = ros::vector3(rates.0);
            self.data_raw.linear_acceleration = ros::vector3(acceleration.0);
            out.publish(DATA_RAW, stamp, &self.data_raw);
        }
    }

    fn publish_milligauss(&mut self, stamp: RosTime, field: [i16; 3], out: &mut Emit<'_>) {
        let tesla = if self.exact { 1e3 } else { 1e-7 };
        self.publish_mag(stamp, Frd(field.map(|mgauss| f64::from(mgauss) * tesla)), out);
    }

    fn publish_mag(&mut self, stamp: RosTime, tesla: Frd<[f64; 3]>, out: &mut Emit<'_>) {
        if out.wants(MAG) {
            ros::stamp(&mut self.mag.header, stamp);
            self.mag.magnetic_field = ros::vector3(tesla.to_flu().0);
            out.publish(MAG, stamp, &self.mag);
        }
    }

    fn publish_pressure(&mut self, port: Port, stamp: RosTime, pascal: f64, out: &mut Emit<'_>) {
        if out.wants(port) {
            ros::stamp(&mut self.pressure.header, stamp);
            self.pressure.fluid_pressure = pascal;
            out.publish(port, stamp, &self.pressure);
        }
    }

    fn publish_temperature(&mut self, port: Port, stamp: RosTime, celsius: f64, out: &mut Emit<'_>) {
        if out.wants(port) {
            ros::stamp(&mut self.temperature.header, stamp);
            self.temperature.temperature = celsius;
            out.publish(port, stamp, &self.temperature);
        }
    }
}

/// m/s² of a thousandth of standard gravity.
const MILLI_G: f64 = 9.80665e-3;
