//! Ports and multicast groups. Source: rflysim spec 2.
//!
//! ```
//! use rostrans_rflysim::port;
//! assert_eq!(port::of_vehicle(port::TRUTH, 3), Some(30105));
//! ```

use std::net::Ipv4Addr;

/// The one multicast group.
pub const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 10);

/// Flight control, outside to CopterSim; two more for each vehicle.
pub const CONTROL: u16 = 20100;
/// Estimate of the autopilot, CopterSim to outside; two more for each vehicle.
pub const ESTIMATE: u16 = 20101;
/// Model inputs, outside to CopterSim; two more for each vehicle.
pub const MODEL: u16 = 30100;
/// Truth, CopterSim to outside; two more for each vehicle.
pub const TRUTH: u16 = 30101;
/// Controls of the autopilot, CopterSim to outside; two more for each vehicle.
pub const EXTENSION: u16 = 40101;
/// IMU, CopterSim to outside; one more for each vehicle.
pub const IMU: u16 = 31000;
/// Configuration of all CopterSims, by multicast.
pub const SETUP: u16 = 20002;
/// Time heartbeats, by multicast.
pub const TIME: u16 = 20005;
/// What RflySim3D tells of the scene, by multicast.
pub const SCENE: u16 = 20006;
/// Start signal between controllers, by multicast.
pub const START: u16 = 20007;
/// All RflySim3D of a network, by multicast.
pub const UE_NET: u16 = 20009;
/// RflySim3D; one more for each window.
pub const UE: u16 = 20010;
/// Image stream of a sensor that names no port; one more for each sensor.
pub const IMAGE: u16 = 9999;

/// The port of a vehicle in a series of steps of two; none above 65535 or for vehicle 0.
pub fn of_vehicle(base: u16, vehicle: u16) -> Option<u16> {
    base.checked_add(vehicle.checked_sub(1)?.checked_mul(2)?)
}
