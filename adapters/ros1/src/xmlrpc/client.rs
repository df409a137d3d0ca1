//! Calling the master and other nodes.

use std::time::Duration;

use bytes::BytesMut;
use thiserror::Error;
use tokio::{io::AsyncWriteExt, time::timeout};

use super::{Address, Value, http, http::HttpError, parse_response, write_call};

/// Why a call of a ROS API failed.
#[derive(Debug, Error)]
pub(crate) enum ApiError {
    /// Nobody listens, or the connection broke.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// No answer in time.
    #[error("no answer within {} s", CALL_TIMEOUT.as_secs())]
    Timeout,
    /// The answer makes no sense.
    #[error("malformed answer: {0}")]
    Malformed(String),
    /// The other side answered that it did not do it.
    #[error("refused: {0}")]
    Refused(String),
}

impl ApiError {
    /// Whether the other side is there and said no.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// How long a call may take; a master on a loaded machine answers in milliseconds.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Calls a method of a ROS API and takes the value out of its `[code, text, value]`.
///
/// **Errors**: [`ApiError`].
/// **Cancel safety**: the other side may have done it or not.
pub(crate) async fn call(server: &Address, method: &str, params: &[Value]) -> Result<Value, ApiError> {
    let response = timeout(CALL_TIMEOUT, exchange(server, method, params)).await;
    let Value::Array(answer) = response.map_err(|_| ApiError::Timeout)?? else {
        return Err(ApiError::Malformed("no array".to_owned()));
    };
    let Ok([code, text, value]) = <[Value; 3]>::try_from(answer) else {
        return Err(ApiError::Malformed("not three values".to_owned()));
    };
    match code {
        Value::Int(1) => Ok(value),
        _ => Err(ApiError::Refused(text.as_str().unwrap_or("no reason given").to_owned())),
    }
}

async fn exchange(server: &Address, method: &str, params: &[Value]) -> Result<Value, ApiError> {
    let body = write_call(method, params);
    let request = format!(
        "POST / HTTP/1.1\r\nHost: {server}\r\nUser-Agent: rostrans\r\nContent-Type: text/xml\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = server.connect().await?;
    stream.write_all(request.as_bytes()).await?;
    let message =
        http::read_message(&mut stream, &mut BytesMut::new()).await.map_err(|error| match error {
            HttpError::Io(error) => ApiError::Io(error),
            other => ApiError::Malformed(other.to_string()),
        })?;
    let (head, body) = message.ok_or_else(|| ApiError::Malformed("no answer".to_owned()))?;
    if head.first_line.split_ascii_whitespace().nth(1) != Some("200") {
        return Err(ApiError::Malformed(head.first_line));
    }
    let answer = parse_response(&body).map_err(|error| ApiError::Malformed(error.to_string()))?;
    answer.map_err(ApiError::Refused)
}
