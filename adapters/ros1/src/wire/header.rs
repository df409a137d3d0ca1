//! The connection header: fields `name=value`.

use thiserror::Error;

/// Longest header that is read, 1 MiB; message definitions have some kilobytes.
pub(crate) const MAX_HEADER: usize = 1 << 20;

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// A field is longer than what is left.
    #[error("a field of {need} bytes where {have} are left")]
    Truncated {
        /// Its length.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// A field without `=`.
    #[error("a field without '='")]
    NoValue,
}

/// The fields of a connection header, without the length in front of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header(Vec<(String, String)>);

impl Header {
    /// Reads the fields. Text that is not UTF-8, as comments in definitions may be, gets replacement characters.
    ///
    /// **Layout**: for each field a little-endian `u32` length and `name=value`.
    ///
    /// **Errors**: [`HeaderError`].
    pub(crate) fn parse(mut bytes: &[u8]) -> Result<Self, HeaderError> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let have = bytes.len();
            let (len, rest) = bytes.split_first_chunk().ok_or(HeaderError::Truncated { need: 4, have })?;
            let need = u32::from_le_bytes(*len) as usize;
            let (field, rest) =
                rest.split_at_checked(need).ok_or(HeaderError::Truncated { need, have: rest.len() })?;
            let field = String::from_utf8_lossy(field);
            let (name, value) = field.split_once('=').ok_or(HeaderError::NoValue)?;
            fields.push((name.to_owned(), value.to_owned()));
            bytes = rest;
        }
        Ok(Self(fields))
    }

    /// With one more field.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The value of a field; the first where one is repeated.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field for people: `?` where there is none.
    pub(crate) fn shown(&self, name: &str) -> String {
        self.get(name).map_or_else(|| "?".to_owned(), rostrans_core::text::excerpt)
    }

    /// Whether a field is `1`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.trim() == "1")
    }

    /// As it is sent, with the length in front.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for (name, value) in &self.0 {
            bytes.extend(length(name.len() + 1 + value.len()));
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'=');
            bytes.extend_from_slice(value.as_bytes());
        }
        let total = length(bytes.len() - 4);
        if let Some(first) = bytes.first_chunk_mut() {
            *first = total;
        }
        bytes
    }
}

/// Our own headers are far from 4 GiB.
fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn header_of_the_specification_is_read() {
        let bytes =
            b"\x20\0\0\0message_definition=string data\n\n\x25\0\0\0callerid=/rostopic_4767_1316912741557\
            \x0a\0\0\0latching=1\x27\0\0\0md5sum=992ce8a1687cec8c8bd883ec73ca41d1\x0e\0\0\0topic=/chatter\
            \x14\0\0\0type=std_msgs/String";
        let header = Header::parse(bytes).unwrap();
        assert_eq!(header.get("message_definition"), Some("string data\n\n"));
        assert_eq!(header.get("type"), Some("std_msgs/String"));
        assert!(header.flag("latching") && !header.flag("probe"));
        assert_eq!(&header.to_bytes()[..4], &[0xb0, 0, 0, 0]);
        assert_eq!(&header.to_bytes()[4..], bytes);
    }

    #[test]
    fn fields_that_do_not_fit_are_refused() {
        assert_eq!(Header::parse(&[1, 0]), Err(HeaderError::Truncated { need: 4, have: 2 }));
        let lie = Header::parse(&[255, 255, 255, 255, b'a']);
        assert_eq!(lie, Err(HeaderError::Truncated { need: 0xffff_ffff, have: 1 }));
        assert_eq!(Header::parse(&[1, 0, 0, 0, b'a']), Err(HeaderError::NoValue));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(fields in prop::collection::vec(("[^=]{0,8}", ".{0,12}"), 0..8)) {
            let header = fields.iter().fold(Header::default(), |header, (name, value)| header.with(name, value));
            prop_assert_eq!(Header::parse(&header.to_bytes()[4..]), Ok(header));
        }

        #[test]
        fn anything_is_read_or_refused(bytes in prop::collection::vec(prop_oneof![0_u8..8, any::<u8>()], 0..200)) {
            drop(Header::parse(&bytes));
        }
    }
}
