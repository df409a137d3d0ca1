//! Standard base64 (RFC 4648), decoding only.

/// The octets `text` stands for; padding may be left out. `None` when it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            bits = bits << 6 | value(*digit)?;
        }
        // A short last group of 2 or 3 digits holds 1 or 2 octets.
        let [_, octets @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        out.extend(octets.iter().take(group.len() - 1));
    }
    Some(out)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_vectors_decode() {
        let vectors = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg", "foob"),
            ("Zm9vYmFy", "foobar"),
        ];
        for (text, octets) in vectors {
            assert_eq!(decode(text).as_deref(), Some(octets.as_bytes()), "{text}");
        }
        assert_eq!(decode("+/+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["Z", "Zm9vY", "Zm 9", "Zg===", "Zm9v!", "äöü="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
