//! RflySim3D: `rflysim3d.commands` and what it tells of its scene.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::{
    codec::{
        Codec, CodecContext, CodecError, CodecInfo, Cost, DecodeError, Decoder, EncodeError, Interest, Port,
        Sample,
    },
    emit::Emit,
    rule::Target,
    throttle::LogThrottle,
    transport::Frame,
};
use rostrans_msgs::{
    RosType,
    rflysim_msgs::msg::{UeActuators, UeAttach, UeLabel, UePose, UePoses, UeRequest},
    std_msgs::msg::String as Text,
};
use rostrans_rflysim::port;

use super::TELLS;
use crate::{describe::input, options::Options};

mod actuators;
mod attach;
mod console;
mod crash;
mod label;
mod place;
mod pose;
mod poses;
mod request;
mod scene;

/// All codecs of RflySim3D.
pub(super) fn codecs() -> impl Iterator<Item = Arc<dyn Codec>> {
    [CODEC, scene::CODEC, crash::CODEC].into_iter().map(|codec| Arc::new(codec) as Arc<dyn Codec>)
}

/// A codec that is a description and a decoder.
#[derive(Clone, Copy)]
struct Described {
    info: &'static CodecInfo,
    build: fn(&CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError>,
}

impl Codec for Described {
    fn info(&self) -> &'static CodecInfo {
        self.info
    }

    fn decoder(&self, cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
        (self.build)(cx)
    }
}

/// Topics to the packets of RflySim3D: window `w` is sent to on the target's port + `w`, `cmd_net` goes to `net`.
///
/// A message names its window, -1 stands for all; a text in `cmd` begins with `@w ` for one window.
///
/// Source: rflysim spec 5 and 6, 10.4.
const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "rflysim3d.commands",
    doc: "commands, poses, labels and requests to the windows of RflySim3D (port 20010 and on)",
    inputs: &[
        input::<Text>("cmd", 100),
        input::<Text>("cmd_net", 100),
        input::<UePose>("pose", 100),
        input::<UePoses>("poses", 10),
        input::<UeLabel>("label", 100),
        input::<UeAttach>("attach", 100),
        input::<UeActuators>("ext_act", 100),
        input::<UeRequest>("request", 100),
    ],
    interest: Interest::Tags(&[]),
    cost: Cost::Queued,
    tick: Some(Duration::from_secs(1)),
    options: &[
        ("windows", "windows of RflySim3D, 1 or more; default 1"),
        ("net", "where cmd_net goes; default 224.0.0.10:20009"),
    ],
    ports: &[],
    ..TELLS
};

/// Windows that have a port of their own below the 20100-series.
const MAX_WINDOWS: u16 = 64;

fn build(cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let wrong = |option: &str, problem: String| CodecError::Option { option: option.to_owned(), problem };
    let options = Options::new(cx, &INFO)?;
    let windows = options.int("windows", 1, 1..=MAX_WINDOWS)?;
    let net = options.text("net", "")?;
    let net = match net.is_empty() {
        true => (port::GROUP, port::UE_NET).into(),
        false => net.parse().map_err(|_| wrong("net", format!("'{net}' is not an address and a port")))?,
    };
    let Some(Target::Udp(first)) = cx.link.target else {
        return Err(wrong("udp_dst_ip", "missing: where RflySim3D runs".to_owned()));
    };
    if first.port().checked_add(windows - 1).is_none() {
        return Err(wrong("udp_dst_port", format!("there is no port for window {}", windows - 1)));
    }
    Ok(Box::new(Commands {
        rule: Arc::clone(&cx.rule.rule_id.0),
        windows,
        first,
        net,
        refused: LogThrottle::new(),
        told: None,
    }))
}

struct Commands {
    rule: Arc<str>,
    windows: u16,
    /// Of window 0.
    first: SocketAddr,
    net: SocketAddr,
    refused: LogThrottle,
    /// The last refusal, for the log.
    told: Option<Refusal>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// Every window.
    All,
    Window(u16),
    /// All of a network.
    Net,
}

impl To {
    /// The field `window` of a message.
    fn window(number: i8) -> Self {
        u16::try_from(number).map_or(Self::All, Self::Window)
    }
}

/// Why a message is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    #[error("malformed CDR: {0}")]
    Cdr(&'static str),
    #[error("window {0} is not there; windows count from 0, and ue3d_count says how many there are")]
    NoWindow(u16),
    #[error("{what} has {len} bytes, and there is room for {room}")]
    TooLong { what: &'static str, len: usize, room: usize },
    #[error("{0}")]
    Field(&'static str),
}

/// What a message becomes: where to, and the datagrams.
type Packets = (To, Vec<Vec<u8>>);

impl Decoder for Commands {
    fn decode(&mut self, _: &Frame<'_>, _: &mut Emit<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn sample(&mut self, input: Port, sample: &Sample, out: &mut Emit<'_>) -> Result<(), EncodeError> {
        let sent = packets(input, &sample.payload).and_then(|(to, packets)| self.send(to, &packets, out));
        match sent {
            Ok(()) => Ok(()),
            Err(Refusal::Cdr(kind)) => Err(EncodeError::Cdr(kind)),
            Err(refusal) => {
                if let Some(count) = self.refused.event(out.received()) {
                    tracing::warn!(rule = %self.rule, count, "not sent to RflySim3D: {refusal}");
                }
                self.told = Some(refusal);
                Err(EncodeError::OutOfRange("of a message to RflySim3D"))
            }
        }
    }

    fn tick(&mut self, now: Instant, _: &mut Emit<'_>) {
        if let Some(count) = self.refused.due(now)
            && let Some(refusal) = self.told.take()
        {
            tracing::warn!(rule = %self.rule, count, "not sent to RflySim3D: {refusal}");
        }
    }
}

impl Commands {
    fn send(&self, to: To, packets: &[Vec<u8>], out: &mut Emit<'_>) -> Result<(), Refusal> {
        let windows = match to {
            To::Net => {
                packets.iter().for_each(|packet| out.send_to(packet, Some(self.net)));
                return Ok(());
            }
            To::All => 0..self.windows,
            To::Window(window) if window < self.windows => window..window + 1,
            To::Window(window) => return Err(Refusal::NoWindow(window)),
        };
        for window in windows {
            let at = SocketAddr::new(self.first.ip(), self.first.port().saturating_add(window));
            packets.iter().for_each(|packet| out.send_to(packet, Some(at)));
        }
        Ok(())
    }
}

/// The packets of a message.
fn packets(input: Port, bytes: &CdrBytes) -> Result<Packets, Refusal> {
    match input.0 {
        0 => console::local(&read::<Text>(bytes)?.data),
        1 => console::net(&read::<Text>(bytes)?.data),
        2 => pose::packets(&read(bytes)?),
        3 => poses::packets(&read(bytes)?),
        4 => label::packets(&read(bytes)?),
        5 => attach::packets(&read(bytes)?),
        6 => actuators::packets(&read(bytes)?),
        _ => request::packets(&read(bytes)?),
    }
}

fn read<M: CdrDecode + RosType>(bytes: &CdrBytes) -> Result<M, Refusal> {
    from_cdr(bytes).map_err(|_| Refusal::Cdr(M::TYPE))
}
