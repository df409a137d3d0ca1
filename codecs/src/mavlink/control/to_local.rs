//! `mavlink.setpoint_global_to_local`: a goal on the globe as a local setpoint.

use std::sync::Arc;

use rostrans_cdr::from_cdr;
use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Port, Sample},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{RosType, geographic_msgs::msg::GeoPoseStamped};

use super::{
    frame::{MAV_FRAME, MavFrame},
    position::{IGNORE_ACCELERATION, IGNORE_VELOCITY, IGNORE_YAW_RATE},
};
use crate::{
    frames::Geodetic,
    mavlink::{
        DecodeOnly,
        dialect::SetPositionTargetLocalNed,
        parts::rotation,
        relay::{TALKS, input},
        uas::{MavContext, Talker, Uas},
        value::{stamp_ns, time_boot_ms, to_f32, zero},
        vehicle,
    },
    options::Options,
};

/// `setpoint_position/global_to_local`: the way from the vehicle's position on the globe to the goal, added to its local
/// position. Degrees; metres above the ellipsoid, as `global_position/global`. A goal whose stamp in milliseconds is not
/// later than the one before is left out, and so are all until both positions are known. They come from the codecs of
/// `global_position` and `local_position`, which must not be filtered away.
///
/// Source: MAVLink common, SET_POSITION_TARGET_LOCAL_NED (84), GLOBAL_POSITION_INT (33), LOCAL_POSITION_NED (32).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.setpoint_global_to_local",
    doc: "goals on the globe as local setpoints",
    inputs: &[input::<GeoPoseStamped>("global_to_local", 5)],
    options: &[vehicle::SYSID, MAV_FRAME],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let options = Options::new(cx, &INFO)?;
    Ok(Box::new(ToLocal {
        frame: MavFrame::of(&options)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        last_ms: 0,
    }))
}

struct ToLocal {
    frame: MavFrame,
    uas: Arc<Uas>,
    talker: Talker,
    /// Stamp of the latest goal; the 32 bits that are sent would start anew every 50 days.
    last_ms: i64,
}

impl Decoder for ToLocal {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, _: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let goal: GeoPoseStamped =
            from_cdr(&sample.payload).map_err(|_| EncodeError::Cdr(GeoPoseStamped::TYPE))?;
        let (Some(here), Some(local)) = (self.uas.global(), self.uas.local()) else {
            return Err(EncodeError::OutOfRange("goal before the vehicle's position is known"));
        };
        let at = stamp_ns(&goal.header) / 1_000_000;
        if at <= self.last_ms {
            return Ok(());
        }
        self.last_ms = at;
        let position = &goal.pose.position;
        let there = Geodetic {
            latitude_deg: position.latitude,
            longitude_deg: position.longitude,
            height_m: position.altitude,
        };
        let [dx, dy, dz] = there.relative_to(here).0;
        let [x, y, z] = local.0;
        let [x, y, z] = self.frame.vector([x + dx, y + dy, z + dz]);
        let setpoint = SetPositionTargetLocalNed {
            time_boot_ms: time_boot_ms(&goal.header),
            target_system: self.uas.target_system(),
            target_component: self.uas.target_component(),
            coordinate_frame: self.frame.0,
            type_mask: IGNORE_VELOCITY | IGNORE_ACCELERATION | IGNORE_YAW_RATE,
            x,
            y,
            z,
            yaw: to_f32(self.frame.yaw_of(rotation(&goal.pose.orientation))),
            ..zero()
        };
        self.talker.send(&setpoint, out);
        Ok(())
    }
}
