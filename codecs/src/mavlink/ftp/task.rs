//! What the vehicle is asked for, and how far that got.

use super::{
    read::Read,
    wire::{MAX_DATA, Opcode, Payload, errno},
};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Job {
    List(String),
    Open {
        path: String,
        how: Opcode,
    },
    Close(String),
    Read {
        path: String,
        offset: u64,
        size: u64,
    },
    Write {
        path: String,
        offset: u64,
        data: Vec<u8>,
    },
    Truncate {
        path: String,
        length: u64,
    },
    Rename {
        from: String,
        to: String,
    },
    Checksum(String),
    /// Remove a file or directory, make a directory.
    Path {
        path: String,
        how: Opcode,
    },
    /// Close all sessions.
    Reset,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done {
    Failed(i32),
    Nothing,
    /// A file's size or checksum.
    Number(u32),
    Data(Vec<u8>),
    Entries(Vec<Entry>),
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is_directory: bool,
    pub(super) size: u64,
}

/// The job at hand and how far it got.
pub(super) enum Task {
    List { path: String, entries: Vec<Entry>, seen: u32 },
    Open { path: String, how: Opcode },
    Close(String),
    Read { path: String, read: Read },
    Write { path: String, session: u8, offset: u32, data: Vec<u8>, done: usize },
    Checksum,
    Plain,
    Reset,
}

/// A request with a path.
pub(super) fn with_path(opcode: Opcode, offset: u32, path: &str) -> Result<Payload, i32> {
    with_bytes(opcode, offset, path.as_bytes())
}

/// A request with a name, whose end a zero marks that does not count.
pub(super) fn with_bytes(opcode: Opcode, offset: u32, name: &[u8]) -> Result<Payload, i32> {
    if name.len() >= MAX_DATA {
        return Err(errno::NAMETOOLONG);
    }
    Ok(Payload::request(opcode, 0, offset, name))
}

/// The block that is written next.
pub(super) fn write(session: u8, offset: u32, data: &[u8], done: usize) -> Option<Payload> {
    let block = data.get(done..).filter(|rest| !rest.is_empty())?;
    let at = offset.saturating_add(u32::try_from(done).unwrap_or(u32::MAX));
    Some(Payload::request(Opcode::Write, session, at, block))
}

/// Appends the entries of one reply; how many it has, hidden ones included. `None` when it has none that reads.
pub(super) fn list(data: &[u8], entries: &mut Vec<Entry>) -> Option<u32> {
    let mut count = 0;
    for entry in data.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        count += 1;
        let (kind, name) = entry.split_first()?;
        let name = String::from_utf8_lossy(name);
        let (name, size) = match name.rsplit_once('\t') {
            Some((name, size)) => (name.to_owned(), size.trim().parse().ok()),
            None => (name.into_owned(), None),
        };
        match kind {
            b'S' => {}
            b'D' => entries.push(Entry { name, is_directory: true, size: 0 }),
            b'F' => entries.push(Entry { name, is_directory: false, size: size? }),
            _ => return None,
        }
    }
    Some(count)
}
