//! `mavlink.gps_status` and `mavlink.gps_rtk`: receivers in detail, and corrections for them.

use rostrans_core::{
    codec::{CodecError, CodecInfo, Decoder, EncodeError, Interest},
    topic::Qos,
};
use rostrans_msgs::mavros_msgs::msg::{GPSRAW, GPSRTK, RTCM, RTKBaseline};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{Gps2Raw, Gps2Rtk, GpsRawInt, GpsRtcmData, GpsRtk, Message},
        relay::{Relay, TALKS, TELLS, Wire, copy, input, topic},
        ros,
        uas::MavContext,
        value::zero,
        vehicle,
    },
    options::Options,
};

/// GPS_RAW_INT and GPS2_RAW to `gpsstatus/gps1/raw` and `gps2/raw`, GPS_RTK and GPS2_RTK to `gps1/rtk` and `gps2/rtk`.
///
/// **Units**: MAVLink's whole numbers: 1e-7 degrees, mm, cm/s, 0.01 degrees. The baseline's `frame_id` is `earth` for
/// ECEF and `map` for NED. With `exact` the baseline's stamp takes milliseconds for seconds, as MAVROS does.
///
/// Source: MAVLink common, GPS_RAW_INT (24), GPS2_RAW (124), GPS_RTK (127), GPS2_RTK (128).
pub(super) const STATUS: DecodeOnly = DecodeOnly::new(&STATUS_INFO, status);

const STATUS_INFO: CodecInfo = CodecInfo {
    name: "mavlink.gps_status",
    doc: "two satellite receivers in detail, and their RTK baselines",
    ports: &[
        topic::<GPSRAW>("gps1_raw", Qos::reliable()),
        topic::<GPSRAW>("gps2_raw", Qos::reliable()),
        topic::<GPSRTK>("gps1_rtk", Qos::reliable()),
        topic::<GPSRTK>("gps2_rtk", Qos::reliable()),
    ],
    interest: Interest::Tags(&[GpsRawInt::ID, Gps2Raw::ID, GpsRtk::ID, Gps2Rtk::ID]),
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TELLS
};

/// What both receivers tell.
macro_rules! receiver {
    ($m:expr => $raw:expr, $at:expr) => {
        ros::stamp(&mut $raw.header, $at.us($m.time_usec));
        copy!($m => $raw; fix_type, lat, lon, alt, eph, epv, vel, cog, satellites_visible);
        copy!($m => $raw; alt_ellipsoid, h_acc, v_acc, vel_acc, yaw);
        // Degrees times 1e5: far from the sign bit.
        $raw.hdg_acc = i32::try_from($m.hdg_acc).unwrap_or(i32::MAX);
    };
}

fn status(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let per_ms = if Options::new(cx, &STATUS_INFO)?.flag("exact", false)? { 1000 } else { 1 };
    let raw = GPSRAW { header: ros::header("/wgs84"), ..GPSRAW::default() };
    let first = GPSRAW { dgps_numch: u8::MAX, dgps_age: u32::MAX, ..raw.clone() };
    let mut relay = Relay::new(cx, &STATUS_INFO)?
        .tell("gps1_raw", first, |m: &GpsRawInt, raw, at| {
            receiver!(m => raw, at);
        })
        .tell("gps2_raw", raw, |m: &Gps2Raw, raw, at| {
            receiver!(m => raw, at);
            copy!(m => raw; dgps_numch, dgps_age);
        });
    // The two messages have one layout.
    for (msgids, topic) in [(const { &[GpsRtk::ID] }, "gps1_rtk"), (const { &[Gps2Rtk::ID] }, "gps2_rtk")] {
        relay = relay.tell_if(msgids, topic, GPSRTK::default(), move |m: &GpsRtk, rtk, at| {
            ros::stamp(&mut rtk.header, at.ms(m.time_last_baseline_ms.wrapping_mul(per_ms)));
            rtk.header.frame_id.clear();
            rtk.header.frame_id.push_str(match m.baseline_coords_type {
                ECEF => "earth",
                NED => "map",
                _ => "unknown",
            });
            // MAVROS's field is signed; weeks have been below 32768 since 1980 and will be until 2608.
            rtk.wn = i16::try_from(m.wn).unwrap_or(i16::MAX);
            copy!(m => rtk; rtk_receiver_id, tow, rtk_health, rtk_rate, nsats, accuracy, iar_num_hypotheses);
            (rtk.baseline_a, rtk.baseline_b, rtk.baseline_c) =
                (m.baseline_a_mm, m.baseline_b_mm, m.baseline_c_mm);
            true
        });
    }
    relay.done()
}

/// `gps_rtk/send_rtcm` to GPS_RTCM_DATA, GPS_RTK to `gps_rtk/rtk_baseline`.
///
/// An RTCM message of up to 180 bytes goes in one frame, one of up to 720 in numbered fragments. When the last
/// fragment is full and a fifth could follow, an empty one marks the end, which MAVROS forgets (`exact` does too).
///
/// Source: MAVLink common, GPS_RTCM_DATA (233), GPS_RTK (127).
pub(super) const RTK: DecodeOnly = DecodeOnly::new(&RTK_INFO, rtk);

const RTK_INFO: CodecInfo = CodecInfo {
    name: "mavlink.gps_rtk",
    doc: "RTCM corrections to the vehicle, and the RTK baseline",
    ports: &[topic::<RTKBaseline>("rtk_baseline", Qos::reliable().with_depth(1))],
    inputs: &[input::<RTCM>("send_rtcm", 10)],
    interest: Interest::Tags(&[GpsRtk::ID]),
    options: &[vehicle::SYSID, vehicle::EXACT],
    ..TALKS
};

fn rtk(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let exact = Options::new(cx, &RTK_INFO)?.flag("exact", false)?;
    let per_ms = if exact { 1000 } else { 1 };
    let mut seq = 0_u8;
    Relay::new(cx, &RTK_INFO)?
        .tell("rtk_baseline", RTKBaseline::default(), move |m: &GpsRtk, baseline, at| {
            ros::stamp(&mut baseline.header, at.ms(m.time_last_baseline_ms.wrapping_mul(per_ms)));
            copy!(m => baseline; time_last_baseline_ms, rtk_receiver_id, wn, tow, rtk_health, rtk_rate, nsats);
            copy!(m => baseline; baseline_coords_type, baseline_a_mm, baseline_b_mm, baseline_c_mm);
            copy!(m => baseline; accuracy, iar_num_hypotheses);
        })
        .hear(move |rtcm: &RTCM, to| {
            send_rtcm(&rtcm.data, seq, !exact, to)?;
            seq = (seq + 1) % SEQUENCES;
            Ok(())
        })
        .done()
}

/// Sends one RTCM message; `mark_end` where the receiver could wait for one more fragment.
fn send_rtcm(data: &[u8], seq: u8, mark_end: bool, to: &mut Wire<'_, '_>) -> Result<(), EncodeError> {
    let mut frame: GpsRtcmData = zero();
    let room = frame.data.len();
    if data.len() > FRAGMENTS * room {
        return Err(EncodeError::OutOfRange("data"));
    }
    let fragmented = data.len() > room;
    let empty_end =
        fragmented && mark_end && data.len().is_multiple_of(room) && data.len() < FRAGMENTS * room;
    let end: &[&[u8]] = if data.is_empty() || empty_end { &[&[]] } else { &[] };
    let fragments = data.chunks(room).chain(end.iter().copied());
    for (index, part) in (0_u8..).zip(fragments) {
        frame.flags = u8::from(fragmented) | index << 1 | seq << 3;
        frame.len = u8::try_from(part.len()).unwrap_or(u8::MAX);
        frame.data.fill(0);
        frame.data.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
        to.send(&frame);
    }
    Ok(())
}

/// Frames an RTCM message may take.
const FRAGMENTS: usize = 4;
/// Sequence numbers of RTCM messages, five bits.
const SEQUENCES: u8 = 32;
/// `RTK_BASELINE_COORDINATE_SYSTEM`.
const ECEF: u8 = 0;
const NED: u8 = 1;
