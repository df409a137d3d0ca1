//! `mavlink.estimator_status`.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_msgs::mavros_msgs::msg::EstimatorStatus as RosEstimatorStatus;

use super::{
    DecodeOnly,
    dialect::{EstimatorStatus, Message},
    relay::topic,
    ros,
    uas::MavContext,
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// The flags of ESTIMATOR_STATUS to `estimator_status`.
///
/// Source: MAVLink common, ESTIMATOR_STATUS (230), `ESTIMATOR_STATUS_FLAGS`.
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.estimator_status",
    doc: "what the estimator trusts",
    roles: &[Role::Decode],
    ports: &[topic::<RosEstimatorStatus>("estimator_status", Qos::latched(10))],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[EstimatorStatus::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID],
};

const ESTIMATOR_STATUS: Port = Port(0);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &INFO)?)?;
    Ok(Box::new(EstimatorDecoder { vehicle, status: RosEstimatorStatus::default() }))
}

struct EstimatorDecoder {
    vehicle: Vehicle,
    status: RosEstimatorStatus,
}

impl Decoder for EstimatorDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if packet.msgid != EstimatorStatus::ID || !out.wants(ESTIMATOR_STATUS) {
            return Ok(());
        }
        let flags = EstimatorStatus::decode(packet.payload).flags;
        let bit = |n: u32| flags >> n & 1 == 1;
        let stamp = out.stamp();
        let status = &mut self.status;
        ros::stamp(&mut status.header, stamp);
        status.attitude_status_flag = bit(0);
        status.velocity_horiz_status_flag = bit(1);
        status.velocity_vert_status_flag = bit(2);
        status.pos_horiz_rel_status_flag = bit(3);
        status.pos_horiz_abs_status_flag = bit(4);
        status.pos_vert_abs_status_flag = bit(5);
        status.pos_vert_agl_status_flag = bit(6);
        status.const_pos_mode_status_flag = bit(7);
        status.pred_pos_horiz_rel_status_flag = bit(8);
        status.pred_pos_horiz_abs_status_flag = bit(9);
        status.gps_glitch_status_flag = bit(10);
        status.accel_error_status_flag = bit(11);
        out.publish(ESTIMATOR_STATUS, stamp, status);
        Ok(())
    }
}
