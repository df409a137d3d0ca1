//! A file server as autopilots have it: one session, answers that are repeated for repeated requests.

use std::collections::{BTreeMap, BTreeSet};

/// Blocks of a burst.
pub(super) const BURST: usize = 32;
pub(super) const CHECKSUM: u32 = 0x1234_5678;
const BLOCK: usize = 239;

pub(super) struct Server {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    directories: BTreeSet<String>,
    /// The file of the open session.
    pub(super) open: Option<String>,
    /// The number of that session.
    pub(super) session: u8,
    /// Requests must begin with this number.
    pub(super) first_seq: u16,
    pub(super) knows_bursts: bool,
    pub(super) tells_size: bool,
    /// Entries `S` in front of each list.
    pub(super) hidden: usize,
    /// NAK data of the next request.
    pub(super) refuse: Option<Vec<u8>>,
    last: Option<([u8; 251], Vec<[u8; 251]>)>,
}

type Answer = Result<Vec<u8>, Vec<u8>>;

const EOF: u8 = 6;
const NOT_FOUND: u8 = 10;

impl Server {
    pub(super) fn new() -> Self {
        Self {
            files: BTreeMap::new(),
            directories: BTreeSet::new(),
            open: None,
            session: 0,
            first_seq: 0,
            knows_bursts: true,
            tells_size: true,
            hidden: 0,
            refuse: None,
            last: None,
        }
    }

    pub(super) fn file(&mut self, path: &str, bytes: &[u8]) {
        self.files.insert(path.to_owned(), bytes.to_vec());
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.directory(parent);
        }
    }

    pub(super) fn directory(&mut self, path: &str) {
        self.directories.insert(path.to_owned());
    }

    /// The replies to a request.
    pub(super) fn answer(&mut self, request: &[u8; 251]) -> Vec<[u8; 251]> {
        if let Some((last, replies)) = &self.last
            && last == request
        {
            return replies.clone();
        }
        let replies = if request[3] == 15 && self.knows_bursts && self.refuse.is_none() {
            self.burst(request)
        } else {
            let answer = match self.refuse.take() {
                Some(refusal) => Err(refusal),
                None => self.work(request),
            };
            vec![reply(request, self.session, 1, answer, None)]
        };
        self.last = Some((*request, replies.clone()));
        replies
    }

    fn work(&mut self, request: &[u8; 251]) -> Answer {
        let data = &request[12..12 + usize::from(request[4].min(239))];
        let text = String::from_utf8_lossy(data).trim_end_matches('\0').to_owned();
        let offset = usize::try_from(u32::from_le_bytes(request[8..12].try_into().unwrap())).unwrap();
        let fail = |code: u8| Err(vec![code]);
        match request[3] {
            1 | 2 => {
                self.open = None;
                Ok(Vec::new())
            }
            3 => self.list(&text, offset),
            4 | 11 if self.files.contains_key(&text) => self.enter(text),
            6 => {
                self.files.insert(text.clone(), Vec::new());
                self.enter(text)
            }
            5 => {
                let size = usize::from(request[4]);
                assert!((1..=BLOCK).contains(&size), "a read says how much it wants");
                let file = self.current().ok_or_else(|| vec![4])?;
                match file.get(offset..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => Ok(rest[..rest.len().min(size)].to_vec()),
                    None => fail(EOF),
                }
            }
            7 => {
                let path = self.open.clone().ok_or_else(|| vec![4])?;
                let file = self.files.get_mut(&path).unwrap();
                file.resize(file.len().max(offset + data.len()), 0);
                file[offset..offset + data.len()].copy_from_slice(data);
                Ok(u32::try_from(data.len()).unwrap().to_le_bytes().to_vec())
            }
            8 => self.files.remove(&text).map(|_| Vec::new()).ok_or_else(|| vec![NOT_FOUND]),
            9 => {
                self.directory(&text);
                Ok(Vec::new())
            }
            10 if self.directories.remove(&text) => Ok(Vec::new()),
            12 => {
                self.files.get_mut(&text).ok_or_else(|| vec![NOT_FOUND])?.truncate(offset);
                Ok(Vec::new())
            }
            13 => {
                let (from, to) = text.split_once('\0').unwrap();
                let file = self.files.remove(from).ok_or_else(|| vec![NOT_FOUND])?;
                self.files.insert(to.to_owned(), file);
                Ok(Vec::new())
            }
            14 => Ok(CHECKSUM.to_le_bytes().to_vec()),
            4 | 10 | 11 => fail(NOT_FOUND),
            _ => fail(7),
        }
    }

    fn enter(&mut self, path: String) -> Answer {
        if self.open.is_some() {
            return Err(vec![5]);
        }
        let size = if self.tells_size { self.files[&path].len() } else { 0 };
        self.open = Some(path);
        Ok(u32::try_from(size).unwrap().to_le_bytes().to_vec())
    }

    fn current(&self) -> Option<&Vec<u8>> {
        self.files.get(self.open.as_ref()?)
    }

    fn list(&self, path: &str, offset: usize) -> Answer {
        if !self.directories.contains(path) {
            return Err(vec![NOT_FOUND]);
        }
        let inside = |full: &str| {
            let name = full.strip_prefix(path)?.strip_prefix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        let hidden = std::iter::repeat_n("S".to_owned(), self.hidden);
        let directories = self.directories.iter().filter_map(|d| inside(d)).map(|d| format!("D{d}"));
        let files =
            self.files.iter().filter_map(|(f, bytes)| Some(format!("F{}\t{}", inside(f)?, bytes.len())));
        let mut data = Vec::new();
        for entry in hidden.chain(directories).chain(files).skip(offset) {
            if data.len() + entry.len() + 1 > BLOCK {
                break;
            }
            data.extend(entry.bytes());
            data.push(0);
        }
        if data.is_empty() { Err(vec![EOF]) } else { Ok(data) }
    }

    fn burst(&self, request: &[u8; 251]) -> Vec<[u8; 251]> {
        let Some(file) = self.current() else {
            return vec![reply(request, self.session, 1, Err(vec![4]), None)];
        };
        let mut at = usize::try_from(u32::from_le_bytes(request[8..12].try_into().unwrap())).unwrap();
        let mut replies = Vec::new();
        for step in 1..=BURST {
            let step = u16::try_from(step).unwrap();
            let Some(rest) = file.get(at..).filter(|rest| !rest.is_empty()) else {
                replies.push(reply(request, self.session, step, Err(vec![EOF]), Some((at, true))));
                break;
            };
            let block = rest[..rest.len().min(usize::from(request[4]))].to_vec();
            let len = block.len();
            let last = usize::from(step) == BURST;
            replies.push(reply(request, self.session, step, Ok(block), Some((at, last))));
            at += len;
        }
        replies
    }
}

/// Of a burst, `block` is where it stands and whether it is the last one.
fn reply(
    request: &[u8; 251],
    session: u8,
    step: u16,
    answer: Answer,
    block: Option<(usize, bool)>,
) -> [u8; 251] {
    let mut bytes = [0; 251];
    let seq = u16::from_le_bytes([request[0], request[1]]).wrapping_add(step);
    bytes[..2].copy_from_slice(&seq.to_le_bytes());
    bytes[2] = session;
    let (opcode, data) = match answer {
        Ok(data) => (128, data),
        Err(data) => (129, data),
    };
    bytes[3] = opcode;
    bytes[4] = u8::try_from(data.len()).unwrap();
    bytes[5] = request[3];
    bytes[8..12].copy_from_slice(&request[8..12]);
    if let Some((at, last)) = block {
        bytes[6] = u8::from(last);
        bytes[8..12].copy_from_slice(&u32::try_from(at).unwrap().to_le_bytes());
    }
    bytes[12..12 + data.len()].copy_from_slice(&data);
    bytes
}
