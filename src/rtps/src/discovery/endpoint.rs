use std::net::SocketAddr;

use super::{MAX_LOCATORS, MAX_NAME, read_octets};
use crate::endpoint::EndpointSpec;
use crate::graph::RemoteQos;
use crate::guid::Guid;
use crate::wire::{Malformed, PARTICIPANT, ParamWriter, Params, pid, read_locator, write_locator};

/// What a writer or reader announces about itself (SEDP).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EndpointData {
    pub(crate) guid: Guid,
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) qos: RemoteQos,
    pub(crate) user_data: Vec<u8>,
    /// Own addresses; empty means those of the participant.
    pub(crate) locators: Vec<SocketAddr>,
}

impl EndpointData {
    /// The announcement of a local endpoint.
    pub(crate) fn local(guid: Guid, spec: &EndpointSpec, locators: &[SocketAddr]) -> Self {
        Self {
            guid,
            topic: spec.topic.clone(),
            type_name: spec.type_name.clone(),
            qos: RemoteQos::local(spec),
            user_data: spec.user_data.clone(),
            locators: locators.to_vec(),
        }
    }

    pub(crate) fn parse(payload: &[u8], is_writer: bool) -> Result<Self, Malformed> {
        let mut data = Self {
            guid: Guid::UNKNOWN,
            topic: String::new(),
            type_name: String::new(),
            qos: RemoteQos::dds_default(is_writer),
            user_data: Vec::new(),
            locators: Vec::new(),
        };
        for param in Params::encapsulated(payload)? {
            let (id, mut value) = param?;
            match id {
                pid::ENDPOINT_GUID => data.guid = Guid::from_bytes(value.array()?),
                pid::TOPIC_NAME => value.string(MAX_NAME)?.clone_into(&mut data.topic),
                pid::TYPE_NAME => value.string(MAX_NAME)?.clone_into(&mut data.type_name),
                pid::USER_DATA => data.user_data = read_octets(&mut value)?,
                pid::UNICAST_LOCATOR if data.locators.len() < MAX_LOCATORS => {
                    data.locators.extend(read_locator(&mut value)?);
                }
                _ => data.qos.read(id, &mut value)?,
            }
        }
        if data.guid == Guid::UNKNOWN || data.topic.is_empty() || data.guid.is_reader() == is_writer {
            return Err(Malformed);
        }
        Ok(data)
    }

    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut buf = Vec::new();
        let mut params = ParamWriter::encapsulated(&mut buf);
        params.put(pid::ENDPOINT_GUID, &self.guid.as_bytes());
        // Fast DDS attributes endpoints to nodes by this one.
        params.put(pid::PARTICIPANT_GUID, &Guid { entity: PARTICIPANT, ..self.guid }.as_bytes());
        params.put(pid::KEY_HASH, &self.guid.as_bytes());
        params.string(pid::TOPIC_NAME, &self.topic);
        params.string(pid::TYPE_NAME, &self.type_name);
        self.qos.write(&mut params);
        for locator in &self.locators {
            params.put(pid::UNICAST_LOCATOR, &write_locator(*locator));
        }
        if !self.user_data.is_empty() {
            params.octets(pid::USER_DATA, &self.user_data);
        }
        params.end();
        buf
    }
}

/// The key of a dispose notice: the GUID as a parameter list.
pub(crate) fn key_payload(guid: Guid) -> Vec<u8> {
    let id = if guid.entity == PARTICIPANT { pid::PARTICIPANT_GUID } else { pid::ENDPOINT_GUID };
    let mut buf = Vec::new();
    let mut params = ParamWriter::encapsulated(&mut buf);
    params.put(id, &guid.as_bytes());
    params.end();
    buf
}

/// Reads the GUID a dispose notice is about, from its key payload.
pub(crate) fn read_key(payload: &[u8]) -> Option<Guid> {
    Params::encapsulated(payload).ok()?.map_while(Result::ok).find_map(|(id, mut value)| {
        let is_key = matches!(id, pid::PARTICIPANT_GUID | pid::ENDPOINT_GUID | pid::KEY_HASH);
        if is_key { value.array().ok().map(Guid::from_bytes) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::endpoint::{EndpointQos, History, Ownership};
    use crate::graph::Liveliness;

    fn sample() -> EndpointData {
        let spec = EndpointSpec {
            topic: "rt/chatter".into(),
            type_name: "std_msgs::msg::dds_::String_".into(),
            qos: EndpointQos {
                reliable: true,
                transient_local: true,
                history: History::KeepLast(7),
                max_blocking: Duration::from_millis(1700),
                deadline: Some(Duration::from_millis(250)),
                lifespan: Some(Duration::from_secs(3)),
                liveliness: Liveliness::ManualByTopic,
                liveliness_lease: Some(Duration::from_millis(1500)),
                ownership: Ownership::Exclusive { strength: -7 },
            },
            partitions: vec!["a".into(), "robot_*".into()],
            user_data: b"typehash=RIHS01_00;".to_vec(),
        };
        EndpointData::local(
            Guid { prefix: [5; 12], entity: [0, 0, 9, 3] },
            &spec,
            &["127.0.0.1:7411".parse().unwrap()],
        )
    }

    #[test]
    fn an_announcement_round_trips() {
        assert_eq!(EndpointData::parse(&sample().payload(), true), Ok(sample()));
    }

    #[test]
    fn a_reader_in_the_writer_list_is_refused() {
        assert_eq!(EndpointData::parse(&sample().payload(), false), Err(Malformed));
    }

    #[test]
    fn a_key_names_its_endpoint() {
        assert_eq!(read_key(&key_payload(sample().guid)), Some(sample().guid));
    }

    #[test]
    fn partitions_and_representations_are_read() {
        let mut buf = Vec::new();
        let mut params = ParamWriter::encapsulated(&mut buf);
        params.put(pid::ENDPOINT_GUID, &sample().guid.as_bytes());
        params.string(pid::TOPIC_NAME, "t");
        params.put(pid::PARTITION, b"\x02\0\0\0\x02\0\0\0a\0\0\0\x03\0\0\0bc\0");
        params.put(pid::DATA_REPRESENTATION, &[2, 0, 0, 0, 2, 0, 0, 0]);
        params.end();
        let qos = EndpointData::parse(&buf, true).unwrap().qos;
        assert_eq!(qos.partitions, ["a", "bc"]);
        assert_eq!(qos.representations, [2, 0]);
    }

    proptest! {
        #[test]
        fn damaged_announcements_never_panic(at in 0..200usize, value in any::<u8>(), cut in 0..200usize) {
            let mut payload = sample().payload();
            if let Some(byte) = payload.get_mut(at) {
                *byte = value;
            }
            payload.truncate(payload.len().saturating_sub(cut));
            let parsed = EndpointData::parse(&payload, true);
            prop_assert!(parsed.is_err() || parsed.is_ok_and(|d| !d.topic.is_empty()));
            prop_assert!(crate::discovery::ParticipantData::parse(&payload).is_err() || read_key(&payload).is_some());
        }
    }
}
