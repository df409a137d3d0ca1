//! `mavlink.open_drone_id`: remote identification, for the vehicle's transmitter.

use rostrans_core::codec::{CodecError, CodecInfo, Decoder};
use rostrans_msgs::{
    mavros_msgs::msg::{
        OpenDroneIDBasicID, OpenDroneIDOperatorID, OpenDroneIDSelfID, OpenDroneIDSystem,
        OpenDroneIDSystemUpdate,
    },
    std_msgs::msg::Header,
};

use crate::mavlink::{
    DecodeOnly,
    dialect::{
        OpenDroneIdBasicId, OpenDroneIdOperatorId, OpenDroneIdSelfId, OpenDroneIdSystem,
        OpenDroneIdSystemUpdate,
    },
    relay::{Relay, TALKS, copy, input},
    uas::MavContext,
    value::{chars_nul, zero},
};

/// `open_drone_id/basic_id`, `operator_id`, `self_id`, `system` and `system_update` to the messages of these names.
///
/// Texts are cut to their fields, of which the last byte stays NUL, as in MAVROS; numbers go as they are.
///
/// Source: MAVLink common, OPEN_DRONE_ID_BASIC_ID (12900), OPERATOR_ID (12905), SELF_ID (12903), SYSTEM (12904),
/// SYSTEM_UPDATE (12919).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.open_drone_id",
    doc: "remote identification, to the vehicle",
    inputs: &[
        input::<OpenDroneIDBasicID>("basic_id", 1),
        input::<OpenDroneIDOperatorID>("operator_id", 1),
        input::<OpenDroneIDSelfID>("self_id", 1),
        input::<OpenDroneIDSystem>("system", 1),
        input::<OpenDroneIDSystemUpdate>("system_update", 1),
    ],
    ..TALKS
};

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Relay::new(cx, &INFO)?
        .hear(|id: &OpenDroneIDBasicID, to| {
            let mut m: OpenDroneIdBasicId = zero();
            (m.target_system, m.target_component) = to.target();
            (m.id_or_mac, m.uas_id) = (chars_nul(&id.id_or_mac), chars_nul(&id.uas_id));
            copy!(id => m; id_type, ua_type);
            to.send(&m);
            Ok(())
        })
        .hear(|id: &OpenDroneIDOperatorID, to| {
            let mut m: OpenDroneIdOperatorId = zero();
            (m.target_system, m.target_component) = to.target();
            (m.id_or_mac, m.operator_id) = (chars_nul(&id.id_or_mac), chars_nul(&id.operator_id));
            m.operator_id_type = id.operator_id_type;
            to.send(&m);
            Ok(())
        })
        .hear(|id: &OpenDroneIDSelfID, to| {
            let mut m: OpenDroneIdSelfId = zero();
            (m.target_system, m.target_component) = to.target();
            (m.id_or_mac, m.description) = (chars_nul(&id.id_or_mac), chars_nul(&id.description));
            m.description_type = id.description_type;
            to.send(&m);
            Ok(())
        })
        .hear(|system: &OpenDroneIDSystem, to| {
            let mut m: OpenDroneIdSystem = zero();
            (m.target_system, m.target_component) = to.target();
            m.id_or_mac = chars_nul(&system.id_or_mac);
            copy!(system => m; operator_location_type, classification_type, operator_latitude);
            copy!(system => m; operator_longitude, area_count, area_radius, area_ceiling, area_floor);
            copy!(system => m; category_eu, class_eu, operator_altitude_geo);
            m.timestamp = timestamp(&system.header);
            to.send(&m);
            Ok(())
        })
        .hear(|update: &OpenDroneIDSystemUpdate, to| {
            let mut m: OpenDroneIdSystemUpdate = zero();
            (m.target_system, m.target_component) = to.target();
            copy!(update => m; operator_latitude, operator_longitude, operator_altitude_geo);
            m.timestamp = timestamp(&update.header);
            to.send(&m);
            Ok(())
        })
        .done()
}

/// Seconds since the beginning of 2019; 0 for earlier stamps.
fn timestamp(header: &Header) -> u32 {
    u32::try_from(header.stamp.sec.saturating_sub(EPOCH)).unwrap_or_default()
}

/// 2019-01-01 00:00:00 UTC in Unix time.
const EPOCH: i32 = 1_546_300_800;
