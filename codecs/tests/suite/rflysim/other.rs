use std::time::Duration;

use rostrans_rflysim::{
    Packet,
    event::{CopterSimCrash, OutCopterStruct, Px4ExtMsg, Ue4CmdGps},
    imu::{ImuDataCopter, SensorReqCopterSim},
};
use serde_json::json;

use super::state;
use crate::support::{Bench, PEER, assert_close, assert_has, numbers};

#[test]
fn collisions_origin_and_model_outputs_have_topics() {
    let mut event = Bench::new("coptersim.event", json!({}));
    event.frame(&CopterSimCrash { copter_id: 1, target_id: 4 }.encode()).unwrap();
    assert_eq!(event.only("collision")["data"], 4);
    let origin = Ue4CmdGps { copter_id: 1, origin: [40.0, 116.0, 50.0] };
    event.frame(&origin.encode()).unwrap();
    event.frame(&origin.encode()).unwrap();
    let want = json!({"latitude": 40.0, "longitude": 116.0, "altitude": 50.0});
    assert_has(&event.only("gp_origin")["position"], &want);
    let mut data = [0.0; 32];
    data[31] = 2.5;
    event.frame(&OutCopterStruct { copter_id: 1, data }.encode()).unwrap();
    assert_eq!(event.only("model_outputs")["data"][31], 2.5);
    // The state on the same port is for another codec.
    event.frame(&state().encode()).unwrap();
    assert!(event.frame(&[1, 2, 3]).is_err());

    let mut ext = Bench::new("coptersim.px4ext", json!({}));
    let controls = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    ext.frame(&Px4ExtMsg { copter_id: 1, runned_time: 1.0, controls }.encode()).unwrap();
    assert_eq!(ext.only("controls")["data"], json!(controls));
}

#[test]
fn imu_is_asked_for_until_it_comes_and_when_it_stops() {
    let options = json!({"rate": 100, "reply_ip": "192.168.1.5"});
    let mut imu = Bench::with_target("coptersim.imu", options, PEER);
    imu.pass(Duration::from_millis(4500));
    let asked = imu.sent();
    assert_eq!(asked.len(), 3, "at the start and every two seconds");
    assert_eq!(asked[0].0, Some(PEER));
    let request = SensorReqCopterSim::decode(&asked[0].1).unwrap();
    // The source of the bench's rule is port 14540.
    assert_eq!((request.update_freq, request.port, request.ip), (100, 14_540, [192, 168, 1, 5]));

    let sample = ImuDataCopter { seq: 42, timestmp: 3.25, acc: [0.1, -0.2, -9.8], rate: [0.01, 0.02, -0.03] };
    imu.frame(&sample.encode()).unwrap();
    let message = imu.only("imu");
    assert_close(numbers(&message["linear_acceleration"], ["x", "y", "z"]), [0.1, 0.2, 9.8], 1e-6);
    assert_close(numbers(&message["angular_velocity"], ["x", "y", "z"]), [0.01, -0.02, 0.03], 1e-6);
    assert_eq!(
        (&message["orientation_covariance"][0], &message["header"]["frame_id"]),
        (&json!(-1.0), &json!("imu"))
    );
    imu.pass(Duration::from_millis(1900));
    assert_eq!(imu.sent().len(), 0, "while samples come");
    imu.pass(Duration::from_millis(500));
    assert_eq!(imu.sent().len(), 1, "they stopped");
}
