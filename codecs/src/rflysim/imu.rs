//! `coptersim.imu`: IMU samples, which CopterSim sends to who asks for them.

use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    rule::{Source, Target},
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::sensor_msgs::msg::Imu;
use rostrans_rflysim::{
    Packet as _,
    imu::{ImuDataCopter, SensorReqCopterSim},
};

use super::{CraftContext, Described, TELLS, motion::error};
use crate::{describe::topic, frames::Frd, options::Options, ros};

/// Asks every two seconds until samples come, and again when they stop. Orientation is not measured: its covariance is -1.
///
/// Source: rflysim spec 8.1; ports 31000, 31001...
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "coptersim.imu",
    doc: "IMU samples from CopterSim (port 31000 and on), asked for at the link's target",
    ports: &[topic::<Imu>("imu", Qos::sensor_data())],
    tick: Some(Duration::from_millis(500)),
    options: &[
        super::CRAFT,
        ("frame_id", "frame of the IMU; default imu"),
        ("rate", "samples a second to ask for; default 200"),
        ("reply_ip", "IPv4 address that samples shall go to; default 127.0.0.1, the sender of the request"),
    ],
    ..TELLS
};

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(&cx.codec, &INFO)?;
    let mut imu = Imu { header: ros::header(options.text("frame_id", "imu")?), ..Imu::default() };
    imu.orientation_covariance = [-1.0; 9];
    imu.angular_velocity_covariance = [0.001, 0.0, 0.0, 0.0, 0.001, 0.0, 0.0, 0.0, 0.001];
    let ip = options.text("reply_ip", "127.0.0.1")?;
    let ip: Ipv4Addr = ip.parse().map_err(|_| CodecError::Option {
        option: "reply_ip".to_owned(),
        problem: format!("'{ip}' is not an IPv4 address such as 192.168.1.10"),
    })?;
    let port = match &cx.codec.rule.source {
        Source::Udp(bind) => bind.addr.port(),
        _ => 0,
    };
    let request = SensorReqCopterSim {
        sensor_type: 0,
        update_freq: options.int("rate", 200, 1..=1000)?,
        port,
        ip: ip.octets(),
        params: [0.0; 6],
    };
    let target = match cx.codec.link.target {
        Some(Target::Udp(target)) => Some(target),
        _ => None,
    };
    Ok(Box::new(ImuDecoder { imu, request: request.encode(), target, heard: None, asked: None }))
}

struct ImuDecoder {
    imu: Imu,
    request: Vec<u8>,
    target: Option<std::net::SocketAddr>,
    heard: Option<Instant>,
    asked: Option<Instant>,
}

impl Decoder for ImuDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let sample = ImuDataCopter::decode(frame.bytes).map_err(error)?;
        self.heard = Some(frame.received);
        if !sample.acc.iter().chain(&sample.rate).all(|n| n.is_finite()) {
            return Err(DecodeError::OutOfRange("acc or rate"));
        }
        if out.wants(Port(0)) {
            let stamp = out.stamp();
            ros::stamp(&mut self.imu.header, stamp);
            self.imu.linear_acceleration = ros::vector3(Frd(sample.acc.map(f64::from)).to_flu().0);
            self.imu.angular_velocity = ros::vector3(Frd(sample.rate.map(f64::from)).to_flu().0);
            out.publish(Port(0), stamp, &self.imu);
        }
        Ok(())
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        let since = |at: Option<Instant>| at.is_none_or(|at| now.saturating_duration_since(at) >= AGAIN);
        if self.target.is_some() && since(self.heard) && since(self.asked) {
            self.asked = Some(now);
            out.send_to(&self.request, self.target);
        }
    }
}

/// How long to wait for samples before asking again.
const AGAIN: Duration = Duration::from_secs(2);
