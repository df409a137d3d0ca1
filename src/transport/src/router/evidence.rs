//! What a datagram's MAVLink frames say about its sender.
#![warn(clippy::indexing_slicing)]

use rostrans_mavlink::{Event, Packet, frames};

/// Who a sender is, as far as its bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// An autopilot: component 1, or a HEARTBEAT that names an autopilot.
    Autopilot,
    /// A ground station: component 190, or a HEARTBEAT of type GCS.
    Station,
    /// MAVLink that does not settle it.
    Mavlink,
    /// No MAVLink.
    Unknown,
}

/// Looks at the first frame; reads its checksum, so it is not for every datagram.
pub(crate) fn evidence(datagram: &[u8]) -> Evidence {
    let Some(Event::Packet(packet)) = frames(datagram).next() else { return Evidence::Unknown };
    of_packet(&packet)
}

/// Looks at every frame until one settles it, for datagrams that begin with other bytes or with a companion's frame.
pub(crate) fn evidence_anywhere(datagram: &[u8]) -> Evidence {
    let mut found = Evidence::Unknown;
    for event in frames(datagram) {
        let Event::Packet(packet) = event else { continue };
        match of_packet(&packet) {
            Evidence::Unknown => {}
            Evidence::Mavlink => found = Evidence::Mavlink,
            settled => return settled,
        }
    }
    found
}

fn of_packet(packet: &Packet<'_>) -> Evidence {
    if packet.checksum_ok() != Some(true) {
        return Evidence::Unknown;
    }
    if packet.msgid == HEARTBEAT
        && let by_heartbeat @ (Evidence::Autopilot | Evidence::Station) = of_heartbeat(packet)
    {
        return by_heartbeat;
    }
    match packet.compid {
        COMP_ID_AUTOPILOT1 => Evidence::Autopilot,
        COMP_ID_MISSIONPLANNER => Evidence::Station,
        _ => Evidence::Mavlink,
    }
}

fn of_heartbeat(packet: &Packet<'_>) -> Evidence {
    let byte = |at: usize| packet.payload.get(at).copied().unwrap_or(0);
    match (byte(4), byte(5)) {
        (MAV_TYPE_GCS, _) => Evidence::Station,
        (_, MAV_AUTOPILOT_INVALID) => Evidence::Mavlink,
        _ => Evidence::Autopilot,
    }
}

/// True when a datagram holds a frame whose checksum is right; reads the whole datagram if need be.
pub(crate) fn holds_mavlink(datagram: &[u8]) -> bool {
    let is_valid = |event| matches!(event, Event::Packet(packet) if packet.checksum_ok() == Some(true));
    frames(datagram).any(is_valid)
}

/// System id in the header of a datagram that looks like MAVLink; a single load, nothing is checked.
#[inline]
pub(crate) fn sysid(datagram: &[u8]) -> Option<u8> {
    match *datagram {
        [rostrans_mavlink::STX_V2, _, _, _, _, sysid, _, _, _, _, ..]
        | [rostrans_mavlink::STX_V1, _, _, sysid, _, _, ..] => Some(sysid),
        _ => None,
    }
}

// Source: MAVLink common, MAV_COMPONENT, MAV_TYPE, MAV_AUTOPILOT and HEARTBEAT (0), whose type stands at byte 4 and
// autopilot at byte 5 of the payload.
const HEARTBEAT: u32 = 0;
const COMP_ID_AUTOPILOT1: u8 = 1;
/// What ground stations use, whatever its name says.
const COMP_ID_MISSIONPLANNER: u8 = 190;
const MAV_TYPE_GCS: u8 = 6;
const MAV_AUTOPILOT_INVALID: u8 = 8;

#[cfg(test)]
mod tests {
    use rostrans_mavlink::{Sender, write_v1, write_v2};

    use super::*;

    fn frame(compid: u8, msgid: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let crc_extra = rostrans_mavlink::message(msgid).unwrap().crc_extra;
        write_v2(&mut out, Sender { seq: 0, sysid: 42, compid }, msgid, payload, crc_extra).unwrap();
        out
    }

    #[test]
    fn heartbeat_says_more_than_the_component() {
        let heartbeat = |compid, kind, autopilot| frame(compid, 0, &[0, 0, 0, 0, kind, autopilot, 0, 4, 3]);
        assert_eq!(evidence(&heartbeat(0, 2, 12)), Evidence::Autopilot, "PX4 quadrotor");
        assert_eq!(evidence(&heartbeat(0, 6, 8)), Evidence::Station);
        assert_eq!(evidence(&heartbeat(1, 6, 0)), Evidence::Station, "a careless ground station");
        assert_eq!(evidence(&heartbeat(191, 18, 8)), Evidence::Mavlink, "companion computer");
        assert_eq!(evidence(&heartbeat(190, 18, 8)), Evidence::Station);
    }

    #[test]
    fn other_messages_are_judged_by_component() {
        let attitude = [1; 28];
        assert_eq!(evidence(&frame(1, 30, &attitude)), Evidence::Autopilot);
        assert_eq!(evidence(&frame(190, 76, &[1; 33])), Evidence::Station);
        assert_eq!(evidence(&frame(0, 76, &[1; 33])), Evidence::Mavlink);
    }

    #[test]
    fn bytes_that_are_no_mavlink_prove_nothing() {
        let mut broken = frame(1, 30, &[1; 28]);
        broken[15] ^= 1;
        for bytes in [&b""[..], b"hello", &broken, &broken[..9]] {
            assert_eq!(evidence(bytes), Evidence::Unknown);
        }
    }

    #[test]
    fn first_frame_that_settles_it_counts_wherever_it_stands() {
        let (companion, autopilot, station) =
            (frame(191, 76, &[1; 33]), frame(1, 30, &[1; 28]), frame(190, 76, &[1; 33]));
        let mut broken = autopilot.clone();
        broken[15] ^= 1;
        let anywhere = |parts: &[&[u8]]| evidence_anywhere(&parts.concat());
        assert_eq!(anywhere(&[b"noise", &companion, &autopilot, &station]), Evidence::Autopilot);
        assert_eq!(anywhere(&[&companion, &station, &autopilot]), Evidence::Station);
        assert_eq!(anywhere(&[&companion, &broken]), Evidence::Mavlink);
        assert_eq!(anywhere(&[b"noise", &broken]), Evidence::Unknown);
    }

    #[test]
    fn frame_is_found_behind_other_bytes_but_only_with_a_right_checksum() {
        let good = frame(1, 30, &[1; 28]);
        let mut broken = good.clone();
        broken[15] ^= 1;
        assert!(holds_mavlink(&good) && holds_mavlink(&[&b"noise"[..], &broken, &good].concat()));
        assert!(!holds_mavlink(&broken) && !holds_mavlink(b"") && !holds_mavlink(&[0xFD; 300]));
    }

    #[test]
    fn system_id_is_read_from_either_header() {
        assert_eq!(sysid(&frame(1, 30, &[1; 28])), Some(42));
        let mut v1 = Vec::new();
        write_v1(&mut v1, Sender { seq: 9, sysid: 7, compid: 1 }, 30, &[1; 28], 39).unwrap();
        assert_eq!(sysid(&v1), Some(7));
        assert_eq!((sysid(b"no mavlink"), sysid(&v1[..4]), sysid(&[])), (None, None, None));
    }
}
