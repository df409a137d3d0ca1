//! Which server to ask.

use rostrans_rtps::Guid;

/// The servers of one service, in the order they appeared.
#[derive(Default)]
pub(super) struct Servers(Vec<Server>);

struct Server {
    /// Its request reader.
    reader: Guid,
    /// Calls in a row it let time out.
    unanswered: u32,
}

impl Servers {
    /// The one to ask among those `present`: the one with the fewest unanswered calls, of these the newest.
    ///
    /// A server that was killed stays present until its lease runs out; the one started in its place is newer.
    pub(super) fn choose(&mut self, present: &[Guid]) -> Option<Guid> {
        self.0.retain(|server| present.contains(&server.reader));
        for reader in present {
            if !self.0.iter().any(|server| server.reader == *reader) {
                self.0.push(Server { reader: *reader, unanswered: 0 });
            }
        }
        self.0.iter().rev().min_by_key(|server| server.unanswered).map(|server| server.reader)
    }

    /// Remembers how a call to a server ended.
    pub(super) fn ended(&mut self, reader: Guid, answered: bool) {
        if let Some(server) = self.0.iter_mut().find(|server| server.reader == reader) {
            server.unanswered = if answered { 0 } else { server.unanswered.saturating_add(1) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(n: u8) -> Guid {
        Guid { prefix: [n; 12], entity: [0, 0, 1, 4] }
    }

    #[test]
    fn newest_server_is_asked() {
        let mut servers = Servers::default();
        assert_eq!(servers.choose(&[]), None);
        assert_eq!(servers.choose(&[server(9)]), Some(server(9)));
        assert_eq!(servers.choose(&[server(1), server(9)]), Some(server(1)));
        assert_eq!(servers.choose(&[server(9)]), Some(server(9)));
        assert_eq!(servers.choose(&[server(9), server(1)]), Some(server(1)));
    }

    #[test]
    fn silent_server_is_asked_last() {
        let mut servers = Servers::default();
        let both = [server(1), server(2)];
        assert_eq!(servers.choose(&both), Some(server(2)));
        servers.ended(server(2), false);
        assert_eq!(servers.choose(&both), Some(server(1)));
        servers.ended(server(1), false);
        assert_eq!(servers.choose(&both), Some(server(2)));
        servers.ended(server(2), true);
        servers.ended(server(3), false);
        assert_eq!(servers.choose(&both), Some(server(2)));
    }
}
