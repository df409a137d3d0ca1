//! Bytes to frames.

use bytes::{Buf, BytesMut};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Why a connection gives no more frames.
#[derive(Debug, Error)]
pub(crate) enum FrameError {
    /// It broke.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It ended; within a frame or between two.
    #[error("connection closed")]
    Closed,
    /// A length that nothing real has.
    #[error("a length of {len} bytes, more than {limit}")]
    TooLong {
        /// The length.
        len: usize,
        /// What is allowed.
        limit: usize,
    },
}

/// Cuts what a connection brings into frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    buf: BytesMut,
}

impl Frames {
    /// Longest message that is read, 256 MiB.
    pub(crate) const MAX_MESSAGE: usize = 256 << 20;

    /// The next frame without its length. Memory grows with what has arrived, not with the length that was announced.
    ///
    /// **Errors**: [`FrameError`]; the connection is of no use then.
    ///
    /// **Cancel safety**: nothing is lost.
    pub(crate) async fn next(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        limit: usize,
    ) -> Result<BytesMut, FrameError> {
        self.fill(stream, 4).await?;
        let len = self.buf.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize;
        if len > limit {
            return Err(FrameError::TooLong { len, limit });
        }
        self.fill(stream, 4 + len).await?;
        self.buf.advance(4);
        Ok(self.buf.split_to(len))
    }

    /// Reads one byte in front of a frame.
    ///
    /// **Errors**: as [`Frames::next`].
    pub(crate) async fn byte(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<u8, FrameError> {
        self.fill(stream, 1).await?;
        Ok(self.buf.get_u8())
    }

    /// Reads until `need` bytes are there.
    async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin), need: usize) -> Result<(), FrameError> {
        while let Some(missing) = need.checked_sub(self.buf.len()).filter(|missing| *missing > 0) {
            // As much again as has come, so that a long frame takes few reads and a lie costs little.
            self.buf.reserve(missing.max(CHUNK).min(self.buf.len().max(CHUNK)));
            if stream.read_buf(&mut self.buf).await? == 0 {
                return Err(FrameError::Closed);
            }
        }
        Ok(())
    }
}

/// Least room for a read.
const CHUNK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(bytes: &[u8], limit: usize) -> (Vec<Vec<u8>>, FrameError) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut frames = Frames::default();
        let (mut found, mut stream) = (Vec::new(), bytes);
        loop {
            match runtime.block_on(frames.next(&mut stream, limit)) {
                Ok(frame) => found.push(frame.to_vec()),
                Err(error) => return (found, error),
            }
        }
    }

    #[test]
    fn long_length_is_refused_and_a_lie_costs_nothing() {
        let (found, error) = cut(&[1, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff], 100);
        assert_eq!(found, [[9]]);
        assert!(matches!(error, FrameError::TooLong { len: 0xffff_ffff, limit: 100 }), "{error}");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut frames = Frames::default();
        let lie = [0, 0, 0, 0x10, 1];
        assert!(runtime.block_on(frames.next(&mut lie.as_slice(), Frames::MAX_MESSAGE)).is_err());
        assert!(frames.buf.capacity() <= 2 * CHUNK, "{}", frames.buf.capacity());
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20)) {
            let bytes: Vec<u8> = frames.iter()
                .flat_map(|frame| u32::try_from(frame.len()).unwrap().to_le_bytes().into_iter().chain(frame.iter().copied()))
                .collect();
            let (found, error) = cut(&bytes, 1 << 20);
            prop_assert_eq!(found, frames);
            prop_assert!(matches!(error, FrameError::Closed));
        }
    }
}
