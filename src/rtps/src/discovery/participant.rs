use std::net::SocketAddr;
use std::time::Duration;

use super::{MAX_LOCATORS, read_duration, read_octets, write_duration};
use crate::guid::{Guid, VENDOR_ID};
use crate::wire::{Malformed, ParamWriter, Params, pid, read_locator, write_locator};

/// Lease of a participant that names none.
///
/// Source: DDSI-RTPS 2.5, table 9.14.
const DEFAULT_LEASE: Duration = Duration::from_secs(100);
/// A lease announced as infinite.
const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);
/// Announcer and detector of participants, publications and subscriptions: what a participant has that names nothing.
const DISCOVERY_ENDPOINTS: u32 = 0x3f;
/// The participant writes liveliness messages.
pub(crate) const LIVELINESS_WRITER_BIT: u32 = 1 << 10;
/// The participant reads liveliness messages.
pub(crate) const LIVELINESS_READER_BIT: u32 = 1 << 11;
/// Builtin endpoints of ours.
///
/// Source: DDSI-RTPS 2.5, table 9.13.
pub(crate) const BUILTIN_ENDPOINTS: u32 = DISCOVERY_ENDPOINTS | LIVELINESS_WRITER_BIT | LIVELINESS_READER_BIT;

/// What a participant announces about itself (SPDP).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ParticipantData {
    pub(crate) guid: Guid,
    /// Where discovery traffic goes.
    pub(crate) metatraffic: Vec<SocketAddr>,
    /// Where samples go unless an endpoint says otherwise.
    pub(crate) user: Vec<SocketAddr>,
    pub(crate) lease: Duration,
    /// Builtin endpoints it has, a bit each.
    pub(crate) builtin: u32,
    pub(crate) user_data: Vec<u8>,
    /// Bytes that the socket for samples holds, 0 when it is not told. Only our own engine tells.
    pub(crate) receive_buffer: usize,
}

impl ParticipantData {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut data = Self {
            guid: Guid::UNKNOWN,
            metatraffic: Vec::new(),
            user: Vec::new(),
            lease: DEFAULT_LEASE,
            builtin: DISCOVERY_ENDPOINTS,
            user_data: Vec::new(),
            receive_buffer: 0,
        };
        let (mut vendor, mut buffer) = ([0; 2], 0);
        for param in Params::encapsulated(payload)? {
            let (id, mut value) = param?;
            match id {
                pid::PARTICIPANT_GUID => data.guid = Guid::from_bytes(value.array()?),
                pid::METATRAFFIC_UNICAST_LOCATOR if data.metatraffic.len() < MAX_LOCATORS => {
                    data.metatraffic.extend(read_locator(&mut value)?);
                }
                pid::DEFAULT_UNICAST_LOCATOR if data.user.len() < MAX_LOCATORS => {
                    data.user.extend(read_locator(&mut value)?);
                }
                pid::PARTICIPANT_LEASE => {
                    data.lease = read_duration(&mut value)?.unwrap_or(FOR_EVER);
                }
                pid::BUILTIN_ENDPOINT_SET => data.builtin = value.u32()?,
                pid::USER_DATA => data.user_data = read_octets(&mut value)?,
                pid::VENDOR_ID => vendor = value.array()?,
                pid::RECEIVE_BUFFER => buffer = value.u32().unwrap_or(0),
                _ => {}
            }
        }
        // The same number may mean anything to another vendor.
        if vendor == VENDOR_ID {
            data.receive_buffer = usize::try_from(buffer).unwrap_or(0);
        }
        if data.guid == Guid::UNKNOWN { Err(Malformed) } else { Ok(data) }
    }

    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut buf = Vec::new();
        let mut params = ParamWriter::encapsulated(&mut buf);
        params.put(pid::PROTOCOL_VERSION, &[2, 3, 0, 0]);
        params.put(pid::VENDOR_ID, &VENDOR_ID);
        params.put(pid::PARTICIPANT_GUID, &self.guid.as_bytes());
        for locator in &self.metatraffic {
            params.put(pid::METATRAFFIC_UNICAST_LOCATOR, &write_locator(*locator));
        }
        for locator in &self.user {
            params.put(pid::DEFAULT_UNICAST_LOCATOR, &write_locator(*locator));
        }
        params.put(pid::PARTICIPANT_LEASE, &write_duration(Some(self.lease)));
        params.put(pid::BUILTIN_ENDPOINT_SET, &self.builtin.to_le_bytes());
        params.octets(pid::USER_DATA, &self.user_data);
        params
            .put(pid::RECEIVE_BUFFER, &u32::try_from(self.receive_buffer).unwrap_or(u32::MAX).to_le_bytes());
        params.end();
        buf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_round_trips() {
        let data = ParticipantData {
            guid: Guid { prefix: [3; 12], entity: [0, 0, 1, 0xc1] },
            metatraffic: vec!["127.0.0.1:7410".parse().unwrap()],
            user: vec!["127.0.0.1:7411".parse().unwrap(), "[2001:db8::7]:7411".parse().unwrap()],
            lease: Duration::from_millis(20_500),
            builtin: BUILTIN_ENDPOINTS,
            user_data: b"enclave=/;".to_vec(),
            receive_buffer: 4 << 20,
        };
        assert_eq!(ParticipantData::parse(&data.payload()), Ok(data));
    }

    #[test]
    fn an_announcement_without_guid_is_refused() {
        assert_eq!(ParticipantData::parse(&[0, 3, 0, 0, 1, 0, 0, 0]), Err(Malformed));
    }
}
