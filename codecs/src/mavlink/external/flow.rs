//! `mavlink.px4flow` and `mavlink.optical_flow`: how the ground moves below the vehicle.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::{
    geometry_msgs::msg::Vector3,
    mavros_msgs::msg::{OpticalFlow as RosOpticalFlow, OpticalFlowRad as RosFlowRad},
    sensor_msgs::msg::{Range, Temperature},
};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{Message, OpticalFlow, OpticalFlowRad},
        relay::{Relay, TALKS, copy, input, topic},
        ros,
        uas::MavContext,
        value::{time_usec, to_f32, to_i16, zero},
        vehicle,
    },
    options::Options,
};

const FRAME_ID: &str = "frame of the messages; default is the name of the sensor";
const FOV: (&str, &str) = ("ranger_fov", "field of view of its range finder in radians; default 0.119428926");
const MIN: (&str, &str) = ("ranger_min_range", "shortest distance it measures in metres; default 0.3");
const MAX: (&str, &str) = ("ranger_max_range", "longest distance it measures in metres; default 5");

/// The range finder of a flow sensor.
fn ranger(options: &Options<'_>, frame_id: &str, radiation_type: u8) -> Result<Range, CodecError> {
    Ok(Range {
        header: ros::header(frame_id),
        radiation_type,
        field_of_view: to_f32(options.number("ranger_fov", 0.119_428_926)?),
        min_range: to_f32(options.number("ranger_min_range", 0.3)?),
        max_range: to_f32(options.number("ranger_max_range", 5.0)?),
        ..Range::default()
    })
}

/// OPTICAL_FLOW_RAD to `px4flow/raw/optical_flow_rad`, `ground_distance` and `temperature`; `px4flow/raw/send` to
/// OPTICAL_FLOW_RAD.
///
/// **Frame**: FLU on the ROS side; radians, metres, degrees Celsius.
///
/// Source: MAVLink common, OPTICAL_FLOW_RAD (106).
pub(super) const PX4FLOW: DecodeOnly = DecodeOnly::new(&PX4FLOW_INFO, px4flow);

const PX4FLOW_INFO: CodecInfo = CodecInfo {
    name: "mavlink.px4flow",
    doc: "optical flow in radians, both ways",
    ports: &[
        topic::<RosFlowRad>("optical_flow_rad", Qos::reliable()),
        topic::<Range>("ground_distance", Qos::reliable()),
        topic::<Temperature>("temperature", Qos::reliable()),
    ],
    inputs: &[input::<RosFlowRad>("send", 1)],
    interest: Interest::Tags(&[OpticalFlowRad::ID]),
    options: &[vehicle::SYSID, ("frame_id", FRAME_ID), FOV, MIN, MAX],
    ..TALKS
};

fn px4flow(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &PX4FLOW_INFO)?;
    let frame_id = options.text("frame_id", "px4flow")?;
    let header = ros::header(frame_id);
    let flow = RosFlowRad { header: header.clone(), ..RosFlowRad::default() };
    let range = ranger(&options, frame_id, Range::ULTRASOUND)?;
    let temperature = Temperature { header, ..Temperature::default() };
    Relay::new(cx, &PX4FLOW_INFO)?
        .tell("optical_flow_rad", flow, |m: &OpticalFlowRad, flow, at| {
            ros::stamp(&mut flow.header, at.us(m.time_usec));
            copy!(m => flow; integration_time_us, integrated_x, integrated_xgyro, quality);
            copy!(m => flow; time_delta_distance_us, distance);
            flow.integrated_y = -m.integrated_y;
            flow.integrated_ygyro = -m.integrated_ygyro;
            flow.integrated_zgyro = -m.integrated_zgyro;
            flow.temperature = to_i16(f64::from(m.temperature) / 100.0);
        })
        .tell("ground_distance", range, |m: &OpticalFlowRad, range, at| {
            ros::stamp(&mut range.header, at.us(m.time_usec));
            range.range = m.distance;
        })
        .tell("temperature", temperature, |m: &OpticalFlowRad, temperature, at| {
            ros::stamp(&mut temperature.header, at.us(m.time_usec));
            temperature.temperature = f64::from(m.temperature) / 100.0;
        })
        .hear(|flow: &RosFlowRad, to| {
            let mut m: OpticalFlowRad = zero();
            m.time_usec = time_usec(&flow.header);
            copy!(flow => m; integration_time_us, integrated_x, integrated_xgyro, quality);
            copy!(flow => m; time_delta_distance_us, distance);
            m.integrated_y = -flow.integrated_y;
            m.integrated_ygyro = -flow.integrated_ygyro;
            m.integrated_zgyro = -flow.integrated_zgyro;
            m.temperature = flow.temperature.saturating_mul(100);
            to.send(&m);
            Ok(())
        })
        .done()
}

/// OPTICAL_FLOW to `optical_flow/raw/optical_flow` and `ground_distance`; `optical_flow/raw/send` to OPTICAL_FLOW.
///
/// **Frame**: FLU on the ROS side; MAVLink's units.
///
/// Source: MAVLink common, OPTICAL_FLOW (100).
pub(super) const OPTICAL_FLOW: DecodeOnly = DecodeOnly::new(&OPTICAL_FLOW_INFO, optical_flow);

const OPTICAL_FLOW_INFO: CodecInfo = CodecInfo {
    name: "mavlink.optical_flow",
    doc: "optical flow in pixels, both ways",
    ports: &[
        topic::<RosOpticalFlow>("optical_flow", Qos::reliable()),
        topic::<Range>("ground_distance", Qos::reliable()),
    ],
    inputs: &[input::<RosOpticalFlow>("send", 1)],
    interest: Interest::Tags(&[OpticalFlow::ID]),
    options: &[vehicle::SYSID, ("frame_id", FRAME_ID), FOV, MIN, MAX],
    ..TALKS
};

fn optical_flow(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &OPTICAL_FLOW_INFO)?;
    let frame_id = options.text("frame_id", "optical_flow")?;
    let flow = RosOpticalFlow { header: ros::header(frame_id), ..RosOpticalFlow::default() };
    let range = ranger(&options, frame_id, Range::INFRARED)?;
    let flu = |x: f64, y: f64| Vector3 { x, y: -y, z: 0.0 };
    Relay::new(cx, &OPTICAL_FLOW_INFO)?
        .tell("optical_flow", flow, move |m: &OpticalFlow, flow, at| {
            ros::stamp(&mut flow.header, at.us(m.time_usec));
            flow.flow = flu(m.flow_x.into(), m.flow_y.into());
            flow.flow_comp_m = flu(m.flow_comp_m_x.into(), m.flow_comp_m_y.into());
            flow.flow_rate = flu(m.flow_rate_x.into(), m.flow_rate_y.into());
            copy!(m => flow; quality, ground_distance);
        })
        .tell("ground_distance", range, |m: &OpticalFlow, range, at| {
            ros::stamp(&mut range.header, at.us(m.time_usec));
            range.range = m.ground_distance;
        })
        .hear(|flow: &RosOpticalFlow, to| {
            let mut m: OpticalFlow = zero();
            m.time_usec = time_usec(&flow.header);
            (m.flow_x, m.flow_y) = (to_i16(flow.flow.x), to_i16(-flow.flow.y));
            (m.flow_comp_m_x, m.flow_comp_m_y) = (to_f32(flow.flow_comp_m.x), to_f32(-flow.flow_comp_m.y));
            (m.flow_rate_x, m.flow_rate_y) = (to_f32(flow.flow_rate.x), to_f32(-flow.flow_rate.y));
            copy!(flow => m; quality, ground_distance);
            to.send(&m);
            Ok(())
        })
        .done()
}
