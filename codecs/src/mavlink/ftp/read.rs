//! Reading a file fast: bursts first, then what they missed.

use super::wire::{MAX_DATA, Opcode, Payload};

/// Bytes of a file on their way here.
///
/// A burst has the vehicle send block after block for one request. Blocks may be lost: when a burst has come to the
/// end, gaps are asked for one by one. A vehicle that knows no bursts is asked for every block.
#[derive(Debug)]
pub(super) struct Read {
    session: u8,
    start: u32,
    /// Bytes from `start` on; those in `gaps` are not there yet.
    data: Vec<u8>,
    /// Missing bytes below the end of `data`: first and behind the last, from `start` on, in order.
    gaps: Vec<(usize, usize)>,
    /// Bytes wanted; fewer once the file's end was found.
    want: usize,
    bursts: bool,
}

impl Read {
    /// Reads `want` bytes from `start` on.
    pub(super) fn new(session: u8, start: u32, want: usize) -> Self {
        Self { session, start, data: Vec::new(), gaps: Vec::new(), want, bursts: want > MAX_DATA }
    }

    /// The next request; `None` when all is there.
    pub(super) fn next(&self) -> Option<Payload> {
        let (opcode, (from, to)) = match self.gaps.first() {
            _ if self.data.len() < self.want && self.bursts => {
                (Opcode::BurstRead, (self.data.len(), self.want))
            }
            Some(gap) => (Opcode::Read, *gap),
            None if self.data.len() < self.want => (Opcode::Read, (self.data.len(), self.want)),
            None => return None,
        };
        let offset = self.start.saturating_add(u32::try_from(from).unwrap_or(u32::MAX));
        let mut request = Payload::request(opcode, self.session, offset, &[]);
        request.size = u8::try_from((to - from).min(MAX_DATA)).unwrap_or(u8::MAX);
        Some(request)
    }

    /// Takes a block; false when it brought nothing new.
    pub(super) fn take(&mut self, offset: u32, block: &[u8]) -> bool {
        let Some(from) = offset.checked_sub(self.start).and_then(|from| usize::try_from(from).ok()) else {
            return false;
        };
        let to = (from + block.len()).min(self.want);
        if from >= to {
            return false;
        }
        let known = self.data.len();
        if to > known {
            // Grows by what was jumped over, which is bounded by `want`.
            self.data.resize(to, 0);
            if from > known {
                self.gaps.push((known, from));
            }
        }
        let fills_gap = self.fill(from, to);
        if let Some(room) = self.data.get_mut(from..to) {
            room.iter_mut().zip(block).for_each(|(to, from)| *to = *from);
        }
        fills_gap || to > known
    }

    /// Takes a range out of the gaps.
    fn fill(&mut self, from: usize, to: usize) -> bool {
        let touched = self.gaps.iter().any(|(start, end)| *start < to && from < *end);
        if touched {
            let rest = self.gaps.iter().flat_map(|(start, end)| {
                [(*start, (*end).min(from)), ((*start).max(to), *end)].into_iter().filter(|(a, b)| a < b)
            });
            self.gaps = rest.collect();
        }
        touched
    }

    /// The vehicle said that the file ends at `offset`, in answer to a burst or not.
    pub(super) fn end(&mut self, offset: u32, burst: bool) {
        if burst {
            // The last blocks may be lost: whether the file ends there, a plain read will tell.
            self.bursts = false;
            return;
        }
        let end = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.want = self.want.min(end);
        self.data.truncate(self.want);
        self.gaps.retain(|(start, _)| *start < end);
    }

    /// The vehicle knows no bursts.
    pub(super) fn without_bursts(&mut self) {
        self.bursts = false;
    }

    /// Whether bursts are tried.
    pub(super) fn bursts(&self) -> bool {
        self.bursts
    }

    pub(super) fn session(&self) -> u8 {
        self.session
    }

    /// All bytes.
    pub(super) fn into_data(self) -> Vec<u8> {
        self.data
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_in_any_order_make_the_file(
            len in 0_usize..3000, want in 0_usize..3500, start in 0_u32..100, lost in proptest::collection::vec(any::<bool>(), 40),
        ) {
            let file: Vec<u8> = (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let begin = usize::try_from(start).unwrap();
            let mut read = Read::new(1, start, want);
            let mut losses = lost.into_iter().chain(std::iter::repeat(false));
            let mut requests = 0;
            while let Some(request) = read.next() {
                requests += 1;
                prop_assert!(requests < 200);
                let at = usize::try_from(request.offset).unwrap();
                if request.opcode == Opcode::BurstRead as u8 {
                    let mut at = at;
                    while at < len {
                        let block = &file[at..(at + MAX_DATA).min(len)];
                        if !losses.next().unwrap() {
                            read.take(u32::try_from(at).unwrap(), block);
                        }
                        at += block.len();
                    }
                    read.end(u32::try_from(at).unwrap(), true);
                } else if at >= len {
                    read.end(request.offset, false);
                } else {
                    let block = &file[at..(at + usize::from(request.size)).min(len)];
                    prop_assert!(read.take(request.offset, block));
                }
            }
            prop_assert_eq!(read.into_data(), file.iter().skip(begin).take(want).copied().collect::<Vec<_>>());
        }
    }
}
