//! A participant that hears what was said in a recorded network.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::limits;
use crate::config::IpFamily;
use crate::discovery::{BUILTIN_ENDPOINTS, ParticipantData};
use crate::endpoint::{EndpointQos, EndpointSpec, History};
use crate::guid::Guid;
use crate::state::{Core, CoreConfig, Inbox, LocalAddr, Locals, Network, Outbox, Reach};
use crate::wire::{PARTICIPANT, Prefix};

/// What the recorded participants write and read.
const TOPICS: [(&str, &str); 4] = [
    ("rt/chatter", "std_msgs::msg::dds_::String_"),
    ("rt/big", "sensor_msgs::msg::dds_::Image_"),
    ("rq/setRequest", "std_srvs::srv::dds_::SetBool_Request_"),
    ("rr/setReply", "std_srvs::srv::dds_::SetBool_Response_"),
];

/// Turns of the timers after each datagram; more means that a timer fires and does nothing.
const TURNS: u32 = 2_000;

/// Plays a recording to a participant that takes the place of one of those recorded.
///
/// **Layout**: its GUID prefix (12 bytes), then datagrams: place of the sender (u8), length (u16, little endian), and the
/// whole datagram. 7 ms pass after each.
///
/// **Panics**: the participant keeps more than its limits allow, or its timers never come to rest.
pub fn network(data: &[u8]) {
    let Some((prefix, mut rest)) = data.split_first_chunk() else { return };
    let mut now = Instant::now();
    let mut core = participant(*prefix, now);
    let (mut out, mut inbox) = (Outbox::default(), Inbox::default());
    while let Some(([place, a, b], after)) = rest.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([*a, *b])).min(after.len());
        let (datagram, after) = after.split_at(len);
        rest = after;
        core.handle(datagram, address(*place, 7411), now, &mut out, &mut inbox);
        core.flush(now, &mut out);
        pass(&mut core, &mut now, Duration::from_millis(7), &mut out, &mut inbox);
        assert!(core.is_bounded(), "state exceeds its limits");
    }
    pass(&mut core, &mut now, Duration::from_secs(3), &mut out, &mut inbox);
    core.close(now, &mut out);
}

/// Lets time pass as the shell does: from one timer to the next.
fn pass(core: &mut Core, now: &mut Instant, span: Duration, out: &mut Outbox, inbox: &mut Inbox) {
    let end = *now + span;
    for turn in 0.. {
        *now = core.poll_timeout().clamp(*now, end);
        core.poll(*now, out, inbox);
        core.landed();
        out.clear();
        inbox.samples.clear();
        inbox.events.clear();
        if *now == end {
            return;
        }
        assert!(turn < TURNS, "timers do not come to rest");
    }
}

fn address(place: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 77, 0, place)), port)
}

/// A participant with a reader and a writer on each topic, none of which asks more than those recorded offer.
fn participant(prefix: Prefix, now: Instant) -> Core {
    let own = Reach { metatraffic: vec![address(9, 7410)], user: vec![address(9, 7411)] };
    let local = [address(9, 0).ip(), IpAddr::from([0xfd77, 0, 0, 0, 0, 0, 0, 9])];
    let local = local.map(|ip| LocalAddr { ip, prefix_len: 24, index: 2 });
    let config = CoreConfig {
        data: ParticipantData {
            guid: Guid { prefix, entity: PARTICIPANT },
            metatraffic: Vec::new(),
            user: Vec::new(),
            lease: Duration::from_secs(20),
            builtin: BUILTIN_ENDPOINTS,
            user_data: Vec::new(),
            receive_buffer: 0,
        },
        network: Network {
            own,
            announce_to: vec![address(1, 7410), address(2, 7410)],
            local: Locals::new(IpFamily::Both, local.to_vec()),
            ..Network::default()
        },
        match_own: false,
        limits: limits(),
        pace_bytes_per_s: 200_000_000,
    };
    let mut core = Core::new(config, Arc::default(), now);
    let mut out = Outbox::default();
    for (topic, type_name) in TOPICS {
        let spec = EndpointSpec {
            topic: topic.into(),
            type_name: type_name.into(),
            qos: EndpointQos { reliable: true, history: History::KeepLast(4), ..EndpointQos::DEFAULT },
            ..EndpointSpec::default()
        };
        core.create_writer(spec.clone(), now, &mut out);
        core.create_reader(spec, Arc::new(drop), now, &mut out);
    }
    core
}
