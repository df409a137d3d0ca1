//! What a companion computer tells the vehicle: processes, its own load, its modem, tunes, tunnelled bytes.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, EncodeError, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::{
    CellularStatus as RosCellularStatus, CompanionProcessStatus, OnboardComputerStatus as RosComputerStatus,
    PlayTuneV2 as RosPlayTune, Tunnel as RosTunnel,
};

use crate::mavlink::{
    DecodeOnly,
    dialect::{CellularStatus, Heartbeat, Message, OnboardComputerStatus, PlayTuneV2, Tunnel},
    relay::{Relay, TALKS, copy, input, topic},
    uas::MavContext,
    value::{chars_nul, time_usec, zero},
};

/// `companion_process/status` to HEARTBEAT, from the component it names: how PX4 learns of a process such as an
/// obstacle avoidance.
///
/// Source: MAVLink common, HEARTBEAT (0).
pub(super) const PROCESS: DecodeOnly = DecodeOnly::new(&PROCESS_INFO, process);

const PROCESS_INFO: CodecInfo = CodecInfo {
    name: "mavlink.companion_process",
    doc: "states of companion processes, to the vehicle",
    inputs: &[input::<CompanionProcessStatus>("status", 10)],
    ..TALKS
};

fn process(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &PROCESS_INFO)?
        .hear(|status: &CompanionProcessStatus, to| {
            let heartbeat = Heartbeat {
                custom_mode: 0,
                kind: MAV_TYPE_ONBOARD_CONTROLLER,
                autopilot: MAV_AUTOPILOT_PX4,
                base_mode: MAV_MODE_FLAG_CUSTOM_MODE_ENABLED,
                system_status: status.state,
                mavlink_version: 3,
            };
            to.send_as(status.component, &heartbeat);
            Ok(())
        })
        .done()
}

const MAV_TYPE_ONBOARD_CONTROLLER: u8 = 18;
const MAV_AUTOPILOT_PX4: u8 = 12;
const MAV_MODE_FLAG_CUSTOM_MODE_ENABLED: u8 = 1;

/// `onboard_computer/status` to ONBOARD_COMPUTER_STATUS, from the component it names; numbers as they are.
///
/// Source: MAVLink common, ONBOARD_COMPUTER_STATUS (390).
pub(super) const COMPUTER: DecodeOnly = DecodeOnly::new(&COMPUTER_INFO, computer);

const COMPUTER_INFO: CodecInfo = CodecInfo {
    name: "mavlink.onboard_computer",
    doc: "load of a companion computer, to the vehicle",
    inputs: &[input::<RosComputerStatus>("status", 10)],
    ..TALKS
};

fn computer(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &COMPUTER_INFO)?
        .hear(|status: &RosComputerStatus, to| {
            let mut m: OnboardComputerStatus = zero();
            m.time_usec = time_usec(&status.header);
            m.kind = status.r#type;
            copy!(status => m; uptime, cpu_cores, cpu_combined, gpu_cores, gpu_combined, temperature_board);
            copy!(status => m; temperature_core, fan_speed, ram_usage, ram_total, storage_type, storage_usage);
            copy!(status => m; storage_total, link_type, link_tx_rate, link_rx_rate, link_tx_max, link_rx_max);
            to.send_as(status.component, &m);
            Ok(())
        })
        .done()
}

/// `cellular_status/status` to CELLULAR_STATUS; numbers as they are.
///
/// Source: MAVLink common, CELLULAR_STATUS (334).
pub(super) const CELLULAR: DecodeOnly = DecodeOnly::new(&CELLULAR_INFO, cellular);

const CELLULAR_INFO: CodecInfo = CodecInfo {
    name: "mavlink.cellular_status",
    doc: "a modem's state, to the vehicle",
    inputs: &[input::<RosCellularStatus>("status", 1)],
    ..TALKS
};

fn cellular(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &CELLULAR_INFO)?
        .hear(|status: &RosCellularStatus, to| {
            let mut m: CellularStatus = zero();
            m.kind = status.r#type;
            copy!(status => m; status, failure_reason, quality, mcc, mnc, lac);
            to.send(&m);
            Ok(())
        })
        .done()
}

/// `play_tune` to PLAY_TUNE_V2; a tune has at most 247 bytes.
///
/// Source: MAVLink common, PLAY_TUNE_V2 (400).
pub(super) const TUNE: DecodeOnly = DecodeOnly::new(&TUNE_INFO, tune);

const TUNE_INFO: CodecInfo = CodecInfo {
    name: "mavlink.play_tune",
    doc: "tunes for the vehicle to play",
    inputs: &[input::<RosPlayTune>("play_tune", 1)],
    ..TALKS
};

fn tune(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &TUNE_INFO)?
        .hear(|tune: &RosPlayTune, to| {
            let (target_system, target_component) = to.target();
            let (format, tune) = (tune.format.into(), chars_nul(&tune.tune));
            to.send(&PlayTuneV2 { format, target_system, target_component, tune });
            Ok(())
        })
        .done()
}

/// TUNNEL to `tunnel/out`, and `tunnel/in` to TUNNEL, to the component it names.
///
/// Bytes behind `payload_length` are zero; a length above 128 is refused.
///
/// Source: MAVLink common, TUNNEL (385).
pub(super) const TUNNEL: DecodeOnly = DecodeOnly::new(&TUNNEL_INFO, tunnel);

const TUNNEL_INFO: CodecInfo = CodecInfo {
    name: "mavlink.tunnel",
    doc: "bytes to and from components behind the vehicle",
    ports: &[topic::<RosTunnel>("out", Qos::reliable())],
    inputs: &[input::<RosTunnel>("in", 10)],
    interest: Interest::Tags(TUNNELS),
    ..TALKS
};

const TUNNELS: &[u32] = &[Tunnel::ID];

/// The bytes that count; `None` for an impossible length.
fn used(payload: [u8; 128], length: u8) -> Option<[u8; 128]> {
    let mut used = payload;
    used.get_mut(length.into()..)?.fill(0);
    Some(used)
}

fn tunnel(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &TUNNEL_INFO)?
        .tell_if(TUNNELS, "out", RosTunnel::default(), |m: &Tunnel, tunnel, _| {
            let Some(payload) = used(m.payload, m.payload_length) else { return false };
            copy!(m => tunnel; target_system, target_component, payload_type, payload_length);
            tunnel.payload = payload;
            true
        })
        .hear(|tunnel: &RosTunnel, to| {
            let mut m: Tunnel = zero();
            copy!(tunnel => m; target_system, target_component, payload_type, payload_length);
            let payload = used(tunnel.payload, tunnel.payload_length);
            m.payload = payload.ok_or(EncodeError::OutOfRange("payload_length"))?;
            to.send(&m);
            Ok(())
        })
        .done()
}
