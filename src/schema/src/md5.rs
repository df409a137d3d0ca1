//! ROS 1 type sums: MD5 over the definition without comments, with nested types replaced by their own sums.

use std::fmt::Write;

use md5::{Digest, Md5};

use crate::definition::{BaseType, MessageDef};

/// The text that is summed for one message. `nested` gives the sum of each message a field refers to.
pub(crate) fn canonical_text(
    def: &MessageDef,
    mut nested: impl FnMut(&str, &str) -> Option<[u8; 16]>,
) -> String {
    let mut lines = Vec::new();
    for constant in &def.constants {
        lines.push(format!("{} {}={}", constant.base, constant.name, constant.written));
    }
    for field in &def.fields {
        let sum = match &field.base {
            BaseType::Message { package, name } => nested(package, name),
            _ => None,
        };
        lines.push(match sum {
            Some(sum) => format!("{} {}", md5_text(&sum), field.name),
            None => format!("{} {}", field.written, field.name),
        });
    }
    lines.join("\n")
}

/// The sum over canonical texts, one for a message, two for a service.
pub(crate) fn sum(texts: &[&str]) -> [u8; 16] {
    let mut md5 = Md5::new();
    texts.iter().for_each(|text| md5.update(text.as_bytes()));
    md5.finalize().into()
}

/// The text peers carry: 32 hexadecimal digits.
pub fn md5_text(sum: &[u8; 16]) -> String {
    let mut text = String::with_capacity(32);
    for octet in sum {
        write!(text, "{octet:02x}").expect("invariant: writing to a String cannot fail");
    }
    text
}
