//! Bytes between flight controllers and ground stations, unchanged.
//!
//! ```text
//! FCU --> source socket --> every endpoint        endpoint --> source socket --> FCU
//! FCU --> serial port   --> every endpoint        endpoint --> upstream socket --> serial port
//! ```
//!
//! Who is who, for a UDP source:
//!
//! - A sender whose address is a configured endpoint is that **endpoint**. Its bytes go to the FCU, to no other endpoint.
//! - Any other sender is a **vehicle**: its bytes go to every endpoint. The first one is **the FCU**, where bytes of the
//!   endpoints go. Another address takes its place when it has been silent for 5 s, or for 1 s when only the port
//!   changed (a simulator that was started again).
//! - A ground station may answer from another port than the one it listens on. A sender that is no endpoint but says in
//!   MAVLink that it is a **station** (a HEARTBEAT of type GCS, or component 190) is heard as an endpoint once an
//!   autopilot is known. It gets nothing sent but by its endpoint.
//! - Other protocols pass as well, until the FCU has sent valid MAVLink. From then on only a datagram that holds a valid
//!   frame makes its sender a vehicle, moves the FCU or claims a system id. Other datagrams of unknown senders are
//!   **foreign**: counted, and sent to nobody. What the FCU, a known vehicle, a station or an endpoint sends is not
//!   looked at for this.
//! - Once the FCU has shown to be an **autopilot** (component 1, or a HEARTBEAT that names one), only another autopilot
//!   takes its place, however long it is silent: a companion computer or a camera of the same system never does. An
//!   autopilot takes the place of an FCU that is none at once. The same holds for the vehicle of a system id.
//! - Several vehicles on one port are told apart by MAVLink system id: a frame for one system goes to the vehicle it is
//!   for, a frame for all goes to all, anything else goes to the FCU. With a single vehicle, or without MAVLink, no byte
//!   is looked at for this.
//!
//! Datagrams are sent on as they came, whatever they hold and however large. Bytes of a serial port are cut into
//! datagrams between MAVLink frames, so that no frame is torn; bytes that are no MAVLink are sent on too. What reaches
//! the upstream socket from no endpoint's address and without MAVLink is foreign, whatever the port gave so far.
//!
//! Where one side is no UDP address (TCP, a serial port, a socket of its own), a [`Hub`] joins the two devices.
//!
//! A datagram that the kernel has no room for is dropped and counted. Bytes for a serial port that is slower than the
//! endpoints wait in the socket's buffer; while the port is away they are dropped.

use std::{io, net::SocketAddr, sync::Arc};

use tracing::{info, warn};

mod evidence;
mod fanout;
mod hub;
mod learn;
mod serial;
mod stats;
mod udp;

pub use self::hub::{Hub, StationSide, VehicleSide};
pub use self::stats::{EndpointSnapshot, FlowSnapshot, RouteSnapshot, RouteStats};
pub(crate) use self::{
    learn::{Learner, Origin},
    serial::SerialRoute,
    udp::UdpRoute,
};

/// A byte route.
#[derive(Clone, Debug)]
pub struct RouteConfig {
    /// Name in log lines: the rule's id.
    pub name: Arc<str>,
    /// Where vehicles' bytes go. Unicast, broadcast or multicast.
    pub endpoints: Vec<SocketAddr>,
    /// For a serial source: the UDP address that endpoints answer to. Without it the route is one-way.
    pub upstream: Option<SocketAddr>,
}

#[cold]
fn log_refusal(rule: &str, endpoint: Option<SocketAddr>, error: &io::Error, count: u64) {
    match endpoint {
        Some(endpoint) => warn!(%rule, %endpoint, %error, count, "datagrams for an endpoint lost"),
        None => warn!(%rule, %error, count, "datagrams for the flight controller lost"),
    }
}

#[cold]
fn log_foreign(rule: &str, from: SocketAddr, count: u64) {
    info!(%rule, %from, count, "datagrams without MAVLink from an unknown sender dropped");
}
