//! Entry points for fuzzers: each takes any bytes and must return.

use crate::{
    wire::Header,
    xmlrpc::{parse_call, parse_head, parse_response, write_call, write_response},
};

/// XML-RPC calls and responses; what is read is written and read again, and must be the same.
pub fn xmlrpc(data: &[u8]) {
    if let Ok((method, params)) = parse_call(data) {
        let again = parse_call(write_call(&method, &params).as_bytes());
        // Numbers that are not equal to themselves, and characters that XML does not have, do not come back.
        assert!(again.is_ok(), "what was written cannot be read");
    }
    if let Ok(Ok(value)) = parse_response(data) {
        assert!(parse_response(write_response(&value).as_bytes()).is_ok(), "what was written cannot be read");
    }
}

/// The head of an HTTP message.
pub fn http(data: &[u8]) {
    if let Ok(Some(head)) = parse_head(data) {
        assert!(head.head_len <= data.len(), "a head longer than the data");
    }
}

/// TCPROS connection headers; what is read is written and read again, and must be the same.
pub fn header(data: &[u8]) {
    if let Ok(header) = Header::parse(data) {
        let bytes = header.to_bytes();
        let again = Header::parse(bytes.get(4..).unwrap_or_default());
        assert_eq!(again.as_ref(), Ok(&header), "another header came back");
    }
}
