//! What the generated messages promise.

use bytes::BytesMut;
use rostrans_cdr::{CdrError, from_cdr, to_cdr};
use rostrans_msgs::{
    RosService, RosType,
    builtin_interfaces::msg::Time,
    geometry_msgs::msg::Quaternion,
    mavros_msgs,
    sensor_msgs::msg::{BatteryState, Imu, NavSatStatus},
    std_msgs, std_srvs,
};

#[test]
fn fields_are_aligned_from_the_body_start() {
    let header = std_msgs::msg::Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: "ab".into() };
    let bytes = to_cdr(&header, &mut BytesMut::new());
    assert_eq!(&bytes[..], b"\0\x01\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0ab\0");

    let mut imu = Imu { header, ..Imu::default() };
    imu.orientation.x = 1.0;
    let bytes = to_cdr(&imu, &mut BytesMut::new());
    // Header 15 octets, one of padding, then 37 doubles.
    assert_eq!(bytes.len(), 4 + 16 + 37 * 8);
    assert_eq!(bytes[20..28], 1.0_f64.to_le_bytes());
    assert_eq!(from_cdr::<Imu>(&bytes), Ok(imu));
}

#[test]
fn defaults_follow_the_definition() {
    assert_eq!(Quaternion::default(), Quaternion { x: 0.0, y: 0.0, z: 0.0, w: 1.0 });
    assert_eq!(Imu::default().orientation.w, 1.0);
    assert_eq!(NavSatStatus::default().status, -2);
}

#[test]
fn constants_keep_name_and_type() {
    assert_eq!(BatteryState::POWER_SUPPLY_STATUS_CHARGING, 1_u8);
    assert_eq!(NavSatStatus::STATUS_NO_FIX, -1_i8);
    assert_eq!(mavros_msgs::msg::State::MODE_PX4_OFFBOARD, "OFFBOARD");
}

#[test]
fn empty_message_has_one_octet() {
    let bytes = to_cdr(&std_srvs::srv::TriggerRequest {}, &mut BytesMut::new());
    assert_eq!(&bytes[..], [0, 1, 0, 0, 0]);
    assert_eq!(from_cdr(&bytes), Ok(std_srvs::srv::TriggerRequest {}));
    let none = from_cdr::<std_srvs::srv::TriggerRequest>(&bytes[..4]);
    assert_eq!(none, Err(CdrError::Truncated { at: 0, need: 1, have: 0 }));
}

#[test]
fn names_and_services_are_known() {
    fn request_of<S: RosService>() -> &'static str {
        S::Request::TYPE
    }
    assert_eq!(Imu::TYPE, "sensor_msgs/msg/Imu");
    assert_eq!(mavros_msgs::srv::CommandBool::TYPE, "mavros_msgs/srv/CommandBool");
    assert_eq!(request_of::<mavros_msgs::srv::CommandBool>(), "mavros_msgs/srv/CommandBool_Request");
}

#[test]
fn sequence_longer_than_its_bound_is_refused() {
    let mut mavlink = mavros_msgs::msg::Mavlink { payload64: vec![0; 33], ..Default::default() };
    let bytes = to_cdr(&mavlink, &mut BytesMut::new());
    assert_eq!(from_cdr::<mavros_msgs::msg::Mavlink>(&bytes).as_ref(), Ok(&mavlink));
    mavlink.payload64.push(0);
    let bytes = to_cdr(&mavlink, &mut BytesMut::new());
    let refused = from_cdr::<mavros_msgs::msg::Mavlink>(&bytes);
    assert!(matches!(refused, Err(CdrError::Bound { len: 34, bound: 33, .. })), "{refused:?}");
}
