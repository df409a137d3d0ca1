//! `rmw_dds_common/msg/ParticipantEntitiesInfo`: which node owns which endpoints of a participant.
//!
//! **Layout**: participant GID, then a sequence of nodes, each namespace, name, sequence of reader GIDs, sequence of
//! writer GIDs. A GID is 16 raw bytes; before Iron it was 24, the last 8 zero.

use rostrans_cdr::{CdrBytes, CdrEncode, CdrError, CdrReader, CdrSizer, CdrWriter};
use rostrans_rtps::Guid;

/// The endpoints of one participant, node by node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticipantEntities {
    /// Whose list it is.
    pub participant: Guid,
    /// Its nodes.
    pub nodes: Vec<NodeEntities>,
}

/// One node and its endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEntities {
    /// `/` or `/robot_1`.
    pub namespace: String,
    /// Without slash.
    pub name: String,
    /// GIDs of its subscriptions and of the readers of its services.
    pub readers: Vec<Guid>,
    /// GIDs of its publishers and of the writers of its services.
    pub writers: Vec<Guid>,
}

impl NodeEntities {
    /// `/name` or `/namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace.trim_end_matches('/'), self.name)
    }
}

impl ParticipantEntities {
    /// Reads the message in its present form, else in the one before Iron.
    ///
    /// **Errors**: it is neither.
    pub fn decode(sample: &CdrBytes) -> Result<Self, CdrError> {
        Self::decode_with(sample, 0).or_else(|error| Self::decode_with(sample, 8).map_err(|_| error))
    }

    /// `gid_padding`: bytes after the 16 of each GID.
    fn decode_with(sample: &CdrBytes, gid_padding: usize) -> Result<Self, CdrError> {
        let mut reader = CdrReader::new(sample)?;
        let participant = gid(&mut reader, gid_padding)?;
        let count = reader.sequence_len(SMALLEST_NODE)?;
        let mut nodes = Vec::with_capacity(count);
        for _ in 0..count {
            nodes.push(NodeEntities {
                namespace: reader.str()?.to_owned(),
                name: reader.str()?.to_owned(),
                readers: gids(&mut reader, gid_padding)?,
                writers: gids(&mut reader, gid_padding)?,
            });
        }
        reader.finish()?;
        Ok(Self { participant, nodes })
    }
}

impl CdrEncode for ParticipantEntities {
    fn size(&self, sizer: &mut CdrSizer) {
        sizer.primitives(GID_LEN, 1);
        sizer.primitive(4);
        for node in &self.nodes {
            sizer.string(&node.namespace);
            sizer.string(&node.name);
            for gids in [&node.readers, &node.writers] {
                sizer.primitive(4);
                sizer.primitives(gids.len() * GID_LEN, 1);
            }
        }
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        writer.bytes(&self.participant.as_bytes());
        count(self.nodes.len()).encode(writer);
        for node in &self.nodes {
            writer.string(&node.namespace);
            writer.string(&node.name);
            for gids in [&node.readers, &node.writers] {
                count(gids.len()).encode(writer);
                gids.iter().for_each(|gid| writer.bytes(&gid.as_bytes()));
            }
        }
    }
}

const GID_LEN: usize = 16;

/// Two empty strings and two empty sequences, for the bound on the node count.
const SMALLEST_NODE: usize = 16;

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn gid(reader: &mut CdrReader<'_>, padding: usize) -> Result<Guid, CdrError> {
    let mut bytes = [0; GID_LEN];
    bytes.copy_from_slice(reader.bytes(GID_LEN)?);
    reader.bytes(padding)?;
    Ok(Guid::from_bytes(bytes))
}

fn gids(reader: &mut CdrReader<'_>, padding: usize) -> Result<Vec<Guid>, CdrError> {
    let len = reader.sequence_len(GID_LEN + padding)?;
    (0..len).map(|_| gid(reader, padding)).collect()
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;
    use rostrans_cdr::to_cdr;

    use super::*;

    fn entities() -> ParticipantEntities {
        let guid = |n: u8| Guid::from_bytes([n; 16]);
        let node = |name: &str, readers, writers| NodeEntities {
            namespace: "/".into(),
            name: name.into(),
            readers,
            writers,
        };
        ParticipantEntities {
            participant: guid(9),
            nodes: vec![node("talker", vec![], vec![guid(1), guid(2)]), node("b", vec![guid(3)], vec![])],
        }
    }

    #[test]
    fn node_list_survives_a_round_trip() {
        let sample = to_cdr(&entities(), &mut BytesMut::new());
        assert_eq!(ParticipantEntities::decode(&sample), Ok(entities()));
    }

    #[test]
    fn longer_gids_of_older_ros_are_read() {
        let mut pool = BytesMut::from(&[0, 1, 0, 0][..]);
        let mut body = BytesMut::new();
        let mut writer = CdrWriter::new(&mut body);
        let long = |writer: &mut CdrWriter<'_>, n: u8| {
            writer.bytes(&[n; 16]);
            writer.bytes(&[0; 8]);
        };
        long(&mut writer, 9);
        1_u32.encode(&mut writer);
        writer.string("/");
        writer.string("old");
        2_u32.encode(&mut writer);
        long(&mut writer, 1);
        long(&mut writer, 2);
        0_u32.encode(&mut writer);
        pool.extend_from_slice(&body);
        let found = ParticipantEntities::decode(&CdrBytes::new(pool.freeze()).unwrap()).unwrap();
        let [node] = &found.nodes[..] else { panic!("{found:?}") };
        assert_eq!(node.full_name(), "/old");
        assert_eq!(node.readers, [Guid::from_bytes([1; 16]), Guid::from_bytes([2; 16])]);
    }

    #[test]
    fn truncated_lists_are_errors() {
        let sample = to_cdr(&entities(), &mut BytesMut::new());
        for len in 4..sample.len() {
            let cut = CdrBytes::new(sample.as_bytes().slice(..len)).unwrap();
            assert!(ParticipantEntities::decode(&cut).is_err(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_list_or_an_error(body: Vec<u8>, big: bool) {
            let sample = [&[0, u8::from(!big), 0, 0][..], &body].concat();
            if let Ok(list) = ParticipantEntities::decode(&CdrBytes::new(sample).unwrap()) {
                prop_assert!(list.nodes.len() * SMALLEST_NODE <= body.len());
            }
        }
    }
}
