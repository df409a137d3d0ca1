//! Entry points for fuzzers: any bytes into every codec.

use std::{
    net::SocketAddr,
    sync::{Arc, LazyLock},
    time::Instant,
};

use bytes::{Bytes, BytesMut};
use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{PublishError, Publisher},
    clock::{RosTime, Stamped, SystemClock},
    codec::{CodecContext, Decoder, FrameOut, Interest, Role, Sample},
    diag::Origin,
    emit::{Emit, Outlet},
    registry::CodecRegistry,
    rule::{Direction, ForwardRule, LinkConfig},
    stats::LinkStats,
    topic::{Qos, ServiceSpec, TopicName, TopicSpec},
    transport::{ByteSink, Frame, Peer, SendError},
};
use rostrans_schema::{TypeName, TypeRegistry};

/// Frames and ticks into every decoder, frames into every exchange and caller.
///
/// The bytes are one frame for each codec as they are, and for MAVLink also the payload of each message it wants.
pub fn decode(bytes: &[u8]) {
    let world = &*WORLD;
    for codec in world.codecs.iter() {
        let info = codec.info();
        let rule = world.rule(info.name);
        let Some(link) = rule.links.first() else { continue };
        let cx = CodecContext { rule: &rule, link, types: &world.types };
        let frame = frame(bytes);
        if let Ok(mut decoder) = codec.decoder(&cx) {
            let mut outlets: Vec<Option<Outlet>> = info.ports.iter().map(|_| Some(outlet())).collect();
            let (mut pool, stats) = (BytesMut::new(), LinkStats::default());
            let mut run = |decoder: &mut dyn Decoder, frame: &Frame<'_>| {
                let at = frame.received;
                let (pool, peer) = (&mut pool, Some(frame.peer));
                let mut out = Emit::new(&mut outlets, pool, Some(&Nowhere), peer, &SystemClock, at, &stats);
                decoder.decode(frame, &mut out).ok();
                decoder.tick(at, &mut out);
            };
            run(&mut *decoder, &frame);
            if let Interest::Tags(ids) = info.interest {
                for id in ids {
                    let packet = packet(*id, bytes);
                    run(&mut *decoder, &self::frame(&packet));
                }
            }
        }
        if info.roles.contains(&Role::Exchange)
            && let Ok(mut exchange) = codec.exchange(&cx)
        {
            exchange.response(&frame).ok();
        }
        if info.roles.contains(&Role::Caller)
            && let Ok(mut caller) = codec.caller(&cx)
        {
            caller.request(&frame).ok();
        }
    }
}

/// A sample into every encoder, exchange and caller.
pub fn encode(bytes: &[u8]) {
    let world = &*WORLD;
    let Some(payload) = CdrBytes::new(Bytes::copy_from_slice(bytes)) else { return };
    let sample = Sample { payload: payload.clone(), stamp: RosTime::default() };
    for codec in world.codecs.iter() {
        let rule = world.rule(codec.info().name);
        let Some(link) = rule.links.first() else { continue };
        let cx = CodecContext { rule: &rule, link, types: &world.types };
        let mut out = FrameOut::new();
        if let Ok(mut encoder) = codec.encoder(&cx) {
            encoder.encode(&sample, &mut out).ok();
        }
        if let Ok(mut exchange) = codec.exchange(&cx) {
            exchange.request(&payload, &mut out).ok();
        }
        if let Ok(mut caller) = codec.caller(&cx) {
            caller.response(Ok(&payload), &mut out).ok();
        }
    }
}

struct World {
    codecs: CodecRegistry,
    types: Arc<TypeRegistry>,
    topic: Option<TopicSpec>,
    service: Option<ServiceSpec>,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let name = TopicName::parse("/fuzz").ok();
    let topic = |name: TopicName| {
        let msg_type = TypeName::message("sensor_msgs/msg/JointState").ok()?;
        Some(TopicSpec { name, msg_type, qos: Qos::reliable() })
    };
    let service = |name: TopicName| {
        Some(ServiceSpec { name, srv_type: TypeName::service("mavros_msgs/srv/WaypointPush").ok()? })
    };
    World {
        codecs: crate::builtin(),
        types: Arc::new(TypeRegistry::bundled()),
        topic: name.clone().and_then(topic),
        service: name.and_then(service),
    }
});

impl World {
    fn rule(&self, codec: &str) -> ForwardRule {
        let mut link = LinkConfig::new("fuzz", Some(codec.into()), Origin::Default);
        link.topic.clone_from(&self.topic);
        link.service.clone_from(&self.service);
        let rule = ForwardRule::new("fuzz", Direction::UdpToRostopic, Origin::Default);
        ForwardRule { links: vec![link], ..rule }
    }
}

fn frame(bytes: &[u8]) -> Frame<'_> {
    Frame { bytes, peer: Peer::Serial, received: Instant::now(), tag: None, sender: None }
}

/// A MAVLink 2 frame of system 1, component 1; empty when the payload is too long.
fn packet(msgid: u32, payload: &[u8]) -> BytesMut {
    let mut frame = BytesMut::new();
    let from = rostrans_mavlink::Sender { seq: 0, sysid: 1, compid: 1 };
    match rostrans_mavlink::write_v2(&mut frame, from, msgid, payload, 0) {
        Ok(_) => frame,
        Err(_) => BytesMut::new(),
    }
}

fn outlet() -> Outlet {
    Outlet { publisher: Arc::new(Nowhere), stamped: Stamped::No, latched: true, limiter: None }
}

/// Takes everything.
struct Nowhere;

impl Publisher for Nowhere {
    fn publish(&self, _: RosTime, _: &CdrBytes) -> Result<(), PublishError> {
        Ok(())
    }

    fn matched(&self) -> usize {
        1
    }
}

impl ByteSink for Nowhere {
    fn try_send(&self, _: &[u8], _: Option<SocketAddr>) -> Result<(), SendError> {
        Ok(())
    }
}
