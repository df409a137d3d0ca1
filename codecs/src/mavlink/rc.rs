//! `mavlink.rc`: remote control inputs and servo outputs.

use std::sync::Arc;

use rostrans_core::{
    codec::{CodecError, CodecInfo, Cost, DecodeError, Decoder, Interest, Port, Role},
    emit::Emit,
    topic::Qos,
    transport::{Frame, Framing},
};
use rostrans_mavlink::Version;
use rostrans_msgs::mavros_msgs::msg::{RCIn, RCOut};

use super::{
    DecodeOnly,
    dialect::{Heartbeat, Message, RcChannels, RcChannelsRaw, ServoOutputRaw},
    relay::topic,
    ros,
    uas::{MavContext, Uas},
    vehicle::{self, Vehicle},
};
use crate::options::Options;

/// RC channels to `rc/in`, servo outputs to `rc/out`; pulse widths in microseconds.
///
/// Messages for a higher `port` extend the list; it starts anew when the connection comes or goes. RC_CHANNELS_RAW
/// counts only until RC_CHANNELS was seen.
///
/// Source: MAVLink common, RC_CHANNELS (65), RC_CHANNELS_RAW (35), SERVO_OUTPUT_RAW (36).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.rc",
    doc: "remote control inputs and servo outputs",
    roles: &[Role::Decode],
    ports: &[topic::<RCIn>("in", Qos::reliable()), topic::<RCOut>("out", Qos::reliable())],
    inputs: &[],
    services: &[],
    framing: Framing::Mavlink,
    interest: Interest::Tags(&[Heartbeat::ID, RcChannelsRaw::ID, ServoOutputRaw::ID, RcChannels::ID]),
    cost: Cost::Inline,
    tick: None,
    options: &[vehicle::SYSID, vehicle::COMPID, vehicle::CONN_TIMEOUT],
};

const IN: Port = Port(0);
const OUT: Port = Port(1);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &INFO)?)?;
    Ok(Box::new(RcDecoder {
        vehicle,
        uas: Arc::clone(&cx.uas),
        channels_seen: false,
        rc_in: RCIn::default(),
        rc_out: RCOut::default(),
    }))
}

struct RcDecoder {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    channels_seen: bool,
    rc_in: RCIn,
    rc_out: RCOut,
}

impl Decoder for RcDecoder {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        if self.vehicle.connection_changed(&packet, frame.received) {
            self.channels_seen = false;
            self.rc_in.channels.clear();
            self.rc_out.channels.clear();
        }
        match packet.msgid {
            RcChannels::ID => {
                self.channels_seen = true;
                let m = RcChannels::decode(packet.payload);
                let all = channels(&m);
                let used = all.get(..usize::from(m.chancount)).unwrap_or(&all);
                self.rc_in.channels.clear();
                self.rc_in.channels.extend_from_slice(used);
                self.publish_in(m.time_boot_ms, m.rssi, out);
            }
            RcChannelsRaw::ID if !self.channels_seen => {
                let m = RcChannelsRaw::decode(packet.payload);
                store(&mut self.rc_in.channels, m.port, &raw_channels(&m));
                self.publish_in(m.time_boot_ms, m.rssi, out);
            }
            ServoOutputRaw::ID => {
                let m = ServoOutputRaw::decode(packet.payload);
                let all = outputs(&m);
                let count = if packet.version == Version::V2 { 16 } else { 8 };
                store(&mut self.rc_out.channels, m.port, all.get(..count).unwrap_or(&all));
                if out.wants(OUT) {
                    let stamp = self.uas.stamp_us(m.time_usec.into(), out.stamp());
                    ros::stamp(&mut self.rc_out.header, stamp);
                    out.publish(OUT, stamp, &self.rc_out);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl RcDecoder {
    fn publish_in(&mut self, time_boot_ms: u32, rssi: u8, out: &mut Emit<'_>) {
        if out.wants(IN) {
            let stamp = self.uas.stamp_ms(time_boot_ms, out.stamp());
            ros::stamp(&mut self.rc_in.header, stamp);
            self.rc_in.rssi = rssi;
            out.publish(IN, stamp, &self.rc_in);
        }
    }
}

/// Puts `values` at `port` times their number; what lies before is 0 until it is heard.
fn store(list: &mut Vec<u16>, port: u8, values: &[u16]) {
    let start = usize::from(port) * values.len();
    let end = start + values.len();
    if list.len() < end {
        list.resize(end, 0);
    }
    if let Some(slots) = list.get_mut(start..end) {
        slots.copy_from_slice(values);
    }
}

fn channels(m: &RcChannels) -> [u16; 18] {
    [
        m.chan1_raw,
        m.chan2_raw,
        m.chan3_raw,
        m.chan4_raw,
        m.chan5_raw,
        m.chan6_raw,
        m.chan7_raw,
        m.chan8_raw,
        m.chan9_raw,
        m.chan10_raw,
        m.chan11_raw,
        m.chan12_raw,
        m.chan13_raw,
        m.chan14_raw,
        m.chan15_raw,
        m.chan16_raw,
        m.chan17_raw,
        m.chan18_raw,
    ]
}

fn raw_channels(m: &RcChannelsRaw) -> [u16; 8] {
    [m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw, m.chan5_raw, m.chan6_raw, m.chan7_raw, m.chan8_raw]
}

fn outputs(m: &ServoOutputRaw) -> [u16; 16] {
    [
        m.servo1_raw,
        m.servo2_raw,
        m.servo3_raw,
        m.servo4_raw,
        m.servo5_raw,
        m.servo6_raw,
        m.servo7_raw,
        m.servo8_raw,
        m.servo9_raw,
        m.servo10_raw,
        m.servo11_raw,
        m.servo12_raw,
        m.servo13_raw,
        m.servo14_raw,
        m.servo15_raw,
        m.servo16_raw,
    ]
}
