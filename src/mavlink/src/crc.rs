//! The MAVLink checksum: CRC-16/MCRF4XX (X.25 polynomial, reflected, no final inversion), sixteen bytes a step.

/// Checksum of `bytes`.
pub fn crc(bytes: &[u8]) -> u16 {
    update(INIT, bytes)
}

/// Checksum of `bytes` followed by a message's seed, as it stands in a frame.
///
/// `bytes` is everything between the start marker and the checksum.
pub fn crc_with_extra(bytes: &[u8], crc_extra: u8) -> u16 {
    byte(update(INIT, bytes), crc_extra)
}

/// Checksum over header (without marker), payload and seed, which lie apart.
pub(crate) fn crc_of_parts(header: &[u8], payload: &[u8], crc_extra: u8) -> u16 {
    byte(update(update(INIT, header), payload), crc_extra)
}

fn update(mut crc: u16, bytes: &[u8]) -> u16 {
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        crc = step(crc, block, &TABLES);
    }
    let (blocks, rest) = rest.as_chunks::<8>();
    for block in blocks {
        crc = step(crc, block, TABLES.last_chunk().expect("invariant: there are 16 tables"));
    }
    rest.iter().fold(crc, |crc, &b| byte(crc, b))
}

/// Takes in `N` bytes with one look-up each. Only the first two depend on the checksum so far, so they come last: the
/// processor does the others meanwhile.
#[expect(clippy::indexing_slicing, reason = "a byte is a valid index into a table of 256")]
#[inline]
fn step<const N: usize>(crc: u16, block: &[u8; N], tables: &[[u16; 256]; N]) -> u16 {
    let [c0, c1] = crc.to_le_bytes();
    let each = block.iter().zip(tables).enumerate().rev();
    each.fold(0, |sum, (at, (b, table))| {
        let index = match at {
            0 => b ^ c0,
            1 => b ^ c1,
            _ => *b,
        };
        sum ^ table[usize::from(index)]
    })
}

#[expect(clippy::indexing_slicing, reason = "a byte is a valid index into a table of 256")]
fn byte(crc: u16, b: u8) -> u16 {
    let [low, _] = crc.to_le_bytes();
    (crc >> 8) ^ TABLES[15][usize::from(low ^ b)]
}

const INIT: u16 = 0xFFFF;
/// The X.25 polynomial, bits reversed.
const POLYNOMIAL: u16 = 0x8408;

/// `TABLES[15 - k][b]` is the checksum of byte `b` followed by `k` zero bytes, from zero.
static TABLES: [[u16; 256]; 16] = tables();

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler; the indices count to 256"
)]
const fn tables() -> [[u16; 256]; 16] {
    let mut t = [[0; 256]; 16];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u16;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        t[15][i] = crc;
        i += 1;
    }
    let mut k = 15;
    while k > 0 {
        let mut i = 0;
        while i < 256 {
            let shorter = t[k][i];
            t[k - 1][i] = (shorter >> 8) ^ t[15][(shorter & 0xFF) as usize];
            i += 1;
        }
        k -= 1;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit_by_bit(bytes: &[u8]) -> u16 {
        bytes.iter().fold(INIT, |crc, &b| {
            (0..8).fold(crc ^ u16::from(b), |c, _| if c & 1 == 1 { (c >> 1) ^ POLYNOMIAL } else { c >> 1 })
        })
    }

    #[test]
    fn check_value_of_the_crc_catalogue() {
        assert_eq!(crc(b"123456789"), 0x6F91);
    }

    #[test]
    fn many_bytes_a_step_equal_bit_by_bit() {
        let bytes: Vec<u8> = (0..=255).map(|i: u8| i.wrapping_mul(73).rotate_left(3)).collect();
        for len in 0..bytes.len() {
            assert_eq!(crc(&bytes[..len]), bit_by_bit(&bytes[..len]), "{len} bytes");
            let mut whole = bytes[..len].to_vec();
            whole.push(57);
            assert_eq!(crc_with_extra(&bytes[..len], 57), bit_by_bit(&whole), "{len} bytes and a seed");
        }
    }
}
