//! Message look-up.

use crate::messages::MESSAGES;

/// What framing needs to know of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Message id.
    pub msgid: u32,
    /// Name, e.g. `HEARTBEAT`.
    pub name: &'static str,
    /// Seed of the checksum, computed from the message's definition.
    pub crc_extra: u8,
    /// Payload bytes without extension fields: the length of a MAVLink 1 payload.
    pub base_len: u8,
    /// Payload bytes with all extension fields.
    pub full_len: u8,
    /// Payload offset of `target_system`, the system id the message is for; `None` when it is for all.
    pub target_system: Option<u8>,
}

/// What is known of the message `msgid` of the `all` dialect (common, ardupilotmega and the rest).
#[inline]
pub fn message(msgid: u32) -> Option<&'static MessageInfo> {
    let [low, page, high, top] = msgid.to_le_bytes();
    if high | top != 0 {
        return None;
    }
    // Two loads instead of a binary search: this runs once for each frame.
    let page = PAGES.numbers.get(usize::from(page))?;
    let slot = PAGES.slots.get(usize::from(*page))?.get(usize::from(low))?;
    MESSAGES.get(usize::from(slot.checked_sub(1)?))
}

/// The message of that name, e.g. `HIGHRES_IMU`; upper and lower case are the same.
pub fn message_named(name: &str) -> Option<&'static MessageInfo> {
    MESSAGES.iter().find(|info| info.name.eq_ignore_ascii_case(name))
}

pub(crate) const fn info(
    msgid: u32,
    name: &'static str,
    crc_extra: u8,
    base_len: u8,
    full_len: u8,
    target_system: Option<u8>,
) -> MessageInfo {
    MessageInfo { msgid, name, crc_extra, base_len, full_len, target_system }
}

/// Message ids by their high byte (a page) and low byte (a slot of the page).
struct Pages<const N: usize> {
    /// Index into `slots` for each high byte; page 0 of `slots` is empty.
    numbers: [u8; 256],
    /// Index into [`MESSAGES`] plus one for each low byte; 0 where there is no message.
    slots: [[u16; 256]; N],
}

static PAGES: Pages<{ count_pages() + 1 }> = pages();

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn count_pages() -> usize {
    let mut count = 0;
    let mut i = 0;
    while i < MESSAGES.len() {
        if i == 0 || MESSAGES[i].msgid >> 8 != MESSAGES[i - 1].msgid >> 8 {
            count += 1;
        }
        i += 1;
    }
    count
}

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler, which rejects an index out of range; ids are below 65,536 and pages below 256"
)]
const fn pages<const N: usize>() -> Pages<N> {
    let mut pages = Pages { numbers: [0; 256], slots: [[0; 256]; N] };
    let mut page = 0;
    let mut i = 0;
    while i < MESSAGES.len() {
        let msgid = MESSAGES[i].msgid as usize;
        assert!(i == 0 || MESSAGES[i - 1].msgid < MESSAGES[i].msgid, "sorted by id, each once");
        if i == 0 || msgid >> 8 != MESSAGES[i - 1].msgid as usize >> 8 {
            page += 1;
        }
        pages.numbers[msgid >> 8] = page as u8;
        pages.slots[page][msgid & 0xFF] = i as u16 + 1;
        i += 1;
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_found_and_nothing_else() {
        let mut known = MESSAGES.iter().peekable();
        for msgid in 0..0x2_0000 {
            let want = known.next_if(|m| m.msgid == msgid);
            assert_eq!(message(msgid), want, "{msgid}");
        }
        assert_eq!(known.next(), None);
        assert_eq!(message(u32::MAX), None);
        assert_eq!(message(0x01_00_00_00), None);
    }

    #[test]
    fn heartbeat_has_its_well_known_seed() {
        assert_eq!(message(0), Some(&info(0, "HEARTBEAT", 50, 9, 9, None)));
    }
}
