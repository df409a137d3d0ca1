//! `rmw_dds_common/msg/ParticipantEntitiesInfo`: which node owns which endpoints of a participant.
//!
//! **Layout**: participant GID, then a sequence of nodes, each namespace, name, sequence of reader GIDs, sequence of
//! writer GIDs. A GID is 16 raw bytes; before Iron it was 24, the last 8 zero.

use bytes::BytesMut;
use rostrans_cdr::{CdrBytes, CdrEncode, CdrError, CdrReader, CdrSizer, CdrWriter, to_cdr};
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
        Self::decode_with(sample, 0)
            .or_else(|error| Self::decode_with(sample, OLD_PADDING).map_err(|_| error))
    }

    /// The message as a sample; `humble`: with the longer GIDs that ROS had before Iron. A node reads one form only.
    pub fn to_sample(&self, humble: bool) -> CdrBytes {
        let gid_padding = if humble { OLD_PADDING } else { 0 };
        to_cdr(&Outgoing { list: self, gid_padding }, &mut BytesMut::new())
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

/// A list as it goes out.
struct Outgoing<'a> {
    list: &'a ParticipantEntities,
    /// Zeros after the 16 bytes of each GID.
    gid_padding: usize,
}

impl CdrEncode for Outgoing<'_> {
    fn size(&self, sizer: &mut CdrSizer) {
        let gid_len = GID_LEN + self.gid_padding;
        sizer.primitives(gid_len, 1);
        sizer.primitive(4);
        for node in &self.list.nodes {
            sizer.string(&node.namespace);
            sizer.string(&node.name);
            for gids in [&node.readers, &node.writers] {
                sizer.primitive(4);
                sizer.primitives(gids.len() * gid_len, 1);
            }
        }
    }

    fn encode(&self, writer: &mut CdrWriter<'_>) {
        let gid = |writer: &mut CdrWriter<'_>, gid: &Guid| {
            writer.bytes(&gid.as_bytes());
            writer.bytes([0; OLD_PADDING].get(..self.gid_padding).unwrap_or_default());
        };
        gid(writer, &self.list.participant);
        count(self.list.nodes.len()).encode(writer);
        for node in &self.list.nodes {
            writer.string(&node.namespace);
            writer.string(&node.name);
            for gids in [&node.readers, &node.writers] {
                count(gids.len()).encode(writer);
                gids.iter().for_each(|one| gid(writer, one));
            }
        }
    }
}

const GID_LEN: usize = 16;

/// Bytes after those in a GID of Humble and before.
const OLD_PADDING: usize = 8;

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
    use proptest::prelude::*;

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
        let sample = entities().to_sample(false);
        assert_eq!(ParticipantEntities::decode(&sample), Ok(entities()));
    }

    #[test]
    fn humble_gets_gids_of_24_bytes() {
        let (new, old) = (entities().to_sample(false), entities().to_sample(true));
        // Participant, two writers, one reader.
        assert_eq!(old.len(), new.len() + 4 * 8);
        assert_eq!(old.body().get(..24).unwrap(), [[9; 16].as_slice(), &[0; 8]].concat());
        assert_eq!(ParticipantEntities::decode(&old), Ok(entities()));
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
        let sample = entities().to_sample(false);
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
