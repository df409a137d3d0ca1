//! Where encoders write.

use bytes::BytesMut;

/// Frames being written by an encoder; reused from sample to sample.
#[derive(Debug, Default)]
pub struct FrameOut {
    buf: BytesMut,
    ends: Vec<usize>,
    open: bool,
}

impl FrameOut {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the next frame and returns the buffer to append to (do not shorten it).
    pub fn frame(&mut self) -> &mut BytesMut {
        self.close();
        self.open = true;
        &mut self.buf
    }

    /// Hands each frame to `send` and empties the buffer.
    pub fn drain(&mut self, mut send: impl FnMut(&[u8])) {
        self.close();
        let mut start = 0;
        for end in self.ends.drain(..) {
            send(self.buf.get(start..end).unwrap_or_default());
            start = end;
        }
        self.buf.clear();
    }

    fn close(&mut self) {
        if self.open {
            self.ends.push(self.buf.len());
            self.open = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_in_order_and_once() {
        let mut out = FrameOut::new();
        out.frame().extend_from_slice(b"one");
        out.frame().extend_from_slice(b"");
        out.frame().extend_from_slice(b"three");
        let mut seen = Vec::new();
        out.drain(|f| seen.push(f.to_vec()));
        out.drain(|f| seen.push(f.to_vec()));
        assert_eq!(seen, [b"one".to_vec(), b"".to_vec(), b"three".to_vec()]);
    }
}
