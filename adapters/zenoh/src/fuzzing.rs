//! Entry points for fuzzers: any input must return, not panic.

use crate::wire::{Attachment, Token, ros_type, type_of_key};

/// Reads a liveliness key; what was understood must be understood again.
pub fn token(key: &str) {
    if let Ok(token) = Token::parse(key) {
        assert_eq!(Token::parse(&token.to_key()).as_ref(), Ok(&token), "{key}");
    }
}

/// Reads an attachment; what was understood must be understood again.
pub fn attachment(bytes: &[u8]) {
    if let Ok(attachment) = Attachment::parse(bytes) {
        assert_eq!(Attachment::parse(&attachment.to_bytes()), Ok(attachment));
    }
}

/// Finds the type in a data key.
pub fn key(key: &str) {
    if let Some(found) = type_of_key(key) {
        assert!(!ros_type(found.type_name).is_empty());
    }
}
