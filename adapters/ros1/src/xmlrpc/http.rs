//! HTTP messages with a `Content-Length`.

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest head that is read, 16 KiB; real ones have 200 bytes.
const MAX_HEAD: usize = 16 << 10;

/// Longest body that is read, 4 MiB; the longest real ones are lists of publishers.
pub(crate) const MAX_BODY: usize = 4 << 20;

/// Why a message cannot be read.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    /// The connection broke.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It ended within a message.
    #[error("connection closed within a message")]
    Truncated,
    /// Not HTTP, or without a length.
    #[error("malformed HTTP: {0}")]
    Malformed(&'static str),
    /// Longer than anything real.
    #[error("HTTP message too long")]
    TooLong,
}

/// The part before the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// `POST / HTTP/1.1` or `HTTP/1.0 200 OK`.
    pub(crate) first_line: String,
    /// Bytes of the body.
    pub(crate) body_len: usize,
    /// Whether the connection ends after this message.
    pub(crate) close: bool,
    /// Bytes of the head itself.
    pub(crate) head_len: usize,
}

/// Reads a head; `None` when more bytes are needed.
///
/// **Errors**: too long, no `Content-Length`, or not HTTP at all.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<Head>, HttpError> {
    let window = bytes.get(..MAX_HEAD).unwrap_or(bytes);
    let Some(at) = window.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() >= MAX_HEAD { Err(HttpError::TooLong) } else { Ok(None) };
    };
    let text = String::from_utf8_lossy(window.get(..at).unwrap_or_default());
    let mut lines = text.split("\r\n");
    let first_line = lines.next().unwrap_or_default().to_owned();
    let mut body_len = None;
    let mut close = !first_line.contains("HTTP/1.1");
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(HttpError::Malformed("no ':' in a header line"))?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let len: usize = value.parse().map_err(|_| HttpError::Malformed("invalid Content-Length"))?;
            if body_len.is_some_and(|known| known != len) {
                return Err(HttpError::Malformed("two values of Content-Length"));
            }
            body_len = Some(len);
        } else if name.eq_ignore_ascii_case("connection") {
            close =
                value.eq_ignore_ascii_case("close") || (close && !value.eq_ignore_ascii_case("keep-alive"));
        }
    }
    let body_len = body_len.ok_or(HttpError::Malformed("no Content-Length"))?;
    if body_len > MAX_BODY {
        return Err(HttpError::TooLong);
    }
    Ok(Some(Head { first_line, body_len, close, head_len: at + 4 }))
}

/// Reads one message; `None` when the connection ended before it began. `buf` keeps what came after it.
///
/// **Cancel safety**: none; the connection is of no use afterwards.
pub(crate) async fn read_message(
    stream: &mut (impl AsyncRead + Unpin),
    buf: &mut BytesMut,
) -> Result<Option<(Head, Bytes)>, HttpError> {
    let head = loop {
        if let Some(head) = parse_head(buf)? {
            break head;
        }
        if stream.read_buf(buf).await? == 0 {
            return if buf.is_empty() { Ok(None) } else { Err(HttpError::Truncated) };
        }
    };
    buf.advance(head.head_len);
    // `read_buf` grows the buffer with what arrives, not with what was promised.
    while buf.len() < head.body_len {
        if stream.read_buf(buf).await? == 0 {
            return Err(HttpError::Truncated);
        }
    }
    let body = buf.split_to(head.body_len).freeze();
    Ok(Some((head, body)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> Result<Option<Head>, String> {
        parse_head(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn heads_say_how_long_the_body_is_and_what_comes_after() {
        let found =
            head("POST /RPC2 HTTP/1.1\r\nHost: a\r\ncontent-length: 12\r\n\r\n<xml").unwrap().unwrap();
        assert_eq!((found.body_len, found.close, found.head_len), (12, false, 52));
        assert!(head("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap().unwrap().close);
        let kept = "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n";
        assert!(!head(kept).unwrap().unwrap().close);
        assert_eq!(head("POST / HTTP/1.1\r\nContent-Len"), Ok(None));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        for length in [
            "",
            "Content-Length: -1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "Content-Length: 5000000\r\n",
            "x\r\n",
        ] {
            assert!(head(&format!("POST / HTTP/1.1\r\n{length}\r\n")).is_err(), "{length}");
        }
        assert!(head(&"a".repeat(MAX_HEAD)).is_err());
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(text in "(POST / HTTP/1.[01]\r\n)?([A-Za-z-]{0,14}:? ?[0-9a-z]{0,20}\r\n){0,5}(\r\n)?.{0,20}") {
            drop(parse_head(text.as_bytes()));
        }
    }
}
