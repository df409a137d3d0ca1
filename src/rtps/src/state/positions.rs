use std::collections::VecDeque;

use super::peer::RemoteWriter;
use crate::guid::Guid;
use crate::wire::Entity;

/// How far our reliable readers were with writers that are gone, the latest ones.
///
/// A participant that is silent for its lease is dropped with all its endpoints. When it was only stopped, it comes
/// back under the same ids and may not have noticed: it believes that we have what we acknowledged and will not send
/// it again, however often we ask. So a reader goes on where it was, which also spares it what it has had.
#[derive(Debug, Default)]
pub(crate) struct Positions(VecDeque<(Guid, Entity, i64)>);

/// Entries kept.
const MAX: usize = 1024;

impl Positions {
    /// Notes where the readers of a writer that goes are.
    pub(crate) fn keep(&mut self, guid: Guid, writer: &RemoteWriter) {
        for proxy in writer.proxies.iter().filter(|p| p.reliable && p.expected() > 1) {
            self.0.retain(|(w, r, _)| (*w, *r) != (guid, proxy.reader));
            self.0.truncate(MAX - 1);
            self.0.push_front((guid, proxy.reader, proxy.expected()));
        }
    }

    /// The number a reader of this writer was waiting for.
    pub(crate) fn of(&self, writer: Guid, reader: Entity) -> Option<i64> {
        self.0.iter().find(|(w, r, _)| (*w, *r) == (writer, reader)).map(|(_, _, expected)| *expected)
    }

    /// Whether the bound holds.
    pub(crate) fn is_bounded(&self) -> bool {
        self.0.len() <= MAX
    }
}
