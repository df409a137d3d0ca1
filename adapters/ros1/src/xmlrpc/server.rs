//! Answering calls.

use std::time::Duration;

use bytes::BytesMut;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use super::{
    Value,
    http::{HttpError, read_message},
    parse_call, write_fault, write_response,
};

/// What answers.
pub(crate) trait Api {
    /// The answer to a call; `None` when there is no such method.
    fn answer(&self, method: &str, params: &[Value]) -> Option<Value>;

    /// Told of requests that make no sense.
    fn malformed(&self, reason: &str);
}

/// How long a connection may be idle or take for one request.
const IDLE: Duration = Duration::from_secs(30);

/// Answers the calls of one connection until it ends.
pub(crate) async fn serve(mut stream: TcpStream, api: &impl Api) {
    let mut buf = BytesMut::new();
    loop {
        let (head, body) = match timeout(IDLE, read_message(&mut stream, &mut buf)).await {
            Ok(Ok(Some(message))) => message,
            Ok(Err(HttpError::Io(_))) | Ok(Ok(None)) | Err(_) => return,
            Ok(Err(error)) => {
                api.malformed(&error.to_string());
                let refusal = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
                // Whether it arrives is up to the other side.
                drop(timeout(IDLE, stream.write_all(refusal.as_bytes())).await);
                return;
            }
        };
        let answer = match parse_call(&body) {
            _ if !head.first_line.starts_with("POST ") => {
                api.malformed("not a POST request");
                write_fault("not a POST request")
            }
            Ok((method, params)) => match api.answer(&method, &params) {
                Some(value) => write_response(&value),
                None => write_fault(&format!("no method '{method}'")),
            },
            Err(error) => {
                api.malformed(&error.to_string());
                write_fault(&error.to_string())
            }
        };
        let connection = if head.close { "close" } else { "keep-alive" };
        let response = format!(
            "HTTP/1.1 200 OK\r\nServer: rostrans\r\nContent-Type: text/xml\r\nConnection: {connection}\r\n\
             Content-Length: {}\r\n\r\n{answer}",
            answer.len()
        );
        let sent = timeout(IDLE, stream.write_all(response.as_bytes())).await;
        if head.close || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}
