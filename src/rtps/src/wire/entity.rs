/// First 12 bytes of a GUID.
pub(crate) type Prefix = [u8; 12];
/// Last 4 bytes of a GUID.
pub(crate) type Entity = [u8; 4];

/// "Every matching endpoint" as a destination.
pub(crate) const UNKNOWN_ENTITY: Entity = [0; 4];
/// The participant itself.
pub(crate) const PARTICIPANT: Entity = [0, 0, 1, 0xc1];
/// Announces participants.
pub(crate) const SPDP_WRITER: Entity = [0, 1, 0, 0xc2];
/// Hears participant announcements.
pub(crate) const SPDP_READER: Entity = [0, 1, 0, 0xc7];
/// Announces writers.
pub(crate) const SEDP_PUB_WRITER: Entity = [0, 0, 3, 0xc2];
/// Hears of remote writers.
pub(crate) const SEDP_PUB_READER: Entity = [0, 0, 3, 0xc7];
/// Announces readers.
pub(crate) const SEDP_SUB_WRITER: Entity = [0, 0, 4, 0xc2];
/// Hears of remote readers.
pub(crate) const SEDP_SUB_READER: Entity = [0, 0, 4, 0xc7];
/// Says which writers of the participant are alive.
pub(crate) const LIVELINESS_WRITER: Entity = [0, 2, 0, 0xc2];
/// Hears which writers of other participants are alive.
pub(crate) const LIVELINESS_READER: Entity = [0, 2, 0, 0xc7];
