//! What a participant still keeps of peers that are gone.

use crate::guid::Guid;
use crate::state::Core;
use crate::state::history::NOTICES;

/// Names what is left although only a departed peer can have caused it.
pub(super) fn of(core: &Core) -> Vec<String> {
    let me = core.guid().prefix;
    let mut left = Vec::new();
    let mut check = |count: usize, what: String| {
        if count > 0 {
            left.push(format!("{count} {what}"));
        }
    };
    check(core.peers.keys().filter(|prefix| **prefix != me).count(), "peers".into());
    let own = core.peers.values().flat_map(|p| &p.lanes).filter(|l| l.due().is_some()).count();
    check(own, "lanes with something to send".into());
    check(core.pending_bytes, "pending bytes".into());
    check(core.news.len() + core.answers.len() + core.retries.len(), "answers and news".into());
    check(core.armed.len(), "writers with heartbeats".into());
    for writer in core.writers.values() {
        let stranger = |guid: &Guid| guid.prefix != me;
        let entity = writer.entity;
        check(writer.proxies.iter().filter(|p| stranger(&p.guid)).count(), format!("readers of {entity:?}"));
        check(writer.dests.iter().filter(|d| d.prefix != me).count(), format!("addresses of {entity:?}"));
        let builtin = entity.ends_with(&[0xc2]);
        let held = writer.history.seqs().count();
        if builtin {
            let gone = writer
                .history
                .seqs()
                .filter(|s| writer.history.get(*s).is_some_and(|s| s.disposed.is_some()));
            check(gone.count().saturating_sub(NOTICES), format!("farewells of {entity:?}"));
        } else if !writer.spec.qos.transient_local {
            check(held, format!("samples of {entity:?}"));
        }
    }
    left
}
