//! `mavlink.wheel_odometry`: how far and how fast wheels turn.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::WheelOdomStamped;

use crate::mavlink::{
    DecodeOnly,
    dialect::{Message, Rpm, WheelDistance},
    relay::{Relay, TELLS, topic},
    ros,
    uas::MavContext,
};

/// RPM to `wheel_odometry/rpm`, WHEEL_DISTANCE to `wheel_odometry/distance`: one number for each wheel, in turns a
/// minute and metres.
///
/// Source: ardupilotmega, RPM (226); MAVLink common, WHEEL_DISTANCE (9000).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.wheel_odometry",
    doc: "how far and how fast wheels turn",
    ports: &[
        topic::<WheelOdomStamped>("rpm", Qos::reliable()),
        topic::<WheelOdomStamped>("distance", Qos::reliable()),
    ],
    interest: Interest::Tags(&[Rpm::ID, WheelDistance::ID]),
    ..TELLS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &INFO)?
        .tell("rpm", WheelOdomStamped::default(), |m: &Rpm, wheels, at| {
            ros::stamp(&mut wheels.header, at.now());
            wheels.data.clear();
            wheels.data.extend([m.rpm1, m.rpm2].map(f64::from));
        })
        .tell("distance", WheelOdomStamped::default(), |m: &WheelDistance, wheels, at| {
            ros::stamp(&mut wheels.header, at.us(m.time_usec));
            wheels.data.clear();
            wheels.data.extend(m.distance.iter().take(m.count.into()));
        })
        .done()
}
