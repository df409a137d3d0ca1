//! The octets of every representation, and that reading undoes writing.

use bytes::BytesMut;
use proptest::prelude::*;
use rostrans_cdr::{
    CdrDecode, CdrEncode, CdrError, CdrReader, CdrSizer, CdrWriter, Ros1Reader, Ros1Writer, from_cdr, to_cdr,
};

fn cdr<T: CdrEncode>(value: &T) -> Vec<u8> {
    to_cdr(value, &mut BytesMut::new()).to_vec()
}

#[test]
fn numbers_are_aligned_to_their_size() {
    let mut buf = BytesMut::from(&b"ahead"[..]);
    let mut writer = CdrWriter::new(&mut buf);
    writer.number(1_u8);
    writer.number(2_u16);
    writer.number(3_u8);
    writer.number(4_u32);
    writer.number(5_u8);
    writer.number(6.0_f64);
    assert_eq!(writer.position(), 24);
    assert_eq!(&buf[5..13], [1, 0, 2, 0, 3, 0, 0, 0]);
    let mut reader = CdrReader::xcdr1_le(&buf[5..]);
    assert_eq!(reader.number::<u8>(), Ok(1));
    assert_eq!(reader.number::<u16>(), Ok(2));
    assert_eq!(reader.number::<u8>(), Ok(3));
    assert_eq!(reader.number::<u32>(), Ok(4));
    assert_eq!(reader.number::<u8>(), Ok(5));
    assert_eq!(reader.number::<f64>(), Ok(6.0));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn empty_sequence_adds_no_padding() {
    assert_eq!(cdr(&Vec::<f64>::new()), [0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(cdr(&vec![1_u8, 2]), [0, 1, 0, 0, 2, 0, 0, 0, 1, 2]);
    let doubles = cdr(&vec![1.0_f64]);
    assert_eq!(doubles.len(), 4 + 8 + 8);
}

#[test]
fn big_endian_is_read() {
    let strings = b"\0\0\0\0\0\0\0\x02\0\0\0\x02a\0\0\0\0\0\0\x03bc\0";
    assert_eq!(from_cdr::<Vec<String>>(strings), Ok(vec!["a".into(), "bc".into()]));
    assert_eq!(from_cdr::<[u16; 2]>(b"\0\0\0\0\x01\x02\x03\x04"), Ok([0x0102, 0x0304]));
    assert_eq!(from_cdr::<Vec<f32>>(b"\0\0\0\0\0\0\0\x01\x3f\x80\0\0"), Ok(vec![1.0]));
}

#[test]
fn plain_cdr2_aligns_to_four_and_counts_collections() {
    // `u32`, then a double at 4 instead of 8.
    let mut bytes = b"\0\x07\0\0\x01\0\0\0".to_vec();
    bytes.extend(2.0_f64.to_le_bytes());
    let mut reader = CdrReader::new(&bytes).unwrap();
    assert_eq!((reader.number::<u32>(), reader.number::<f64>()), (Ok(1), Ok(2.0)));
    // Strings have a byte count in front, numbers have not.
    let strings = b"\0\x07\0\0\x0a\0\0\0\x01\0\0\0\x02\0\0\0a\0";
    assert_eq!(from_cdr::<Vec<String>>(strings), Ok(vec!["a".into()]));
    assert_eq!(from_cdr::<Vec<u8>>(b"\0\x06\0\0\0\0\0\x02ab"), Ok(b"ab".to_vec()));
}

#[test]
fn other_representations_are_named() {
    for id in [2_u8, 3, 8, 9, 0x0a, 0x0b, 0x10] {
        let refused = from_cdr::<u8>(&[0, id, 0, 0, 1]);
        assert_eq!(refused, Err(CdrError::Representation(id.into())));
    }
    assert_eq!(from_cdr::<u8>(&[0, 1, 0]), Err(CdrError::NoHeader(3)));
    let text = CdrError::Representation(9).to_string();
    assert_eq!(text, "representation id 0x0009 is not plain CDR");
}

#[test]
fn bad_fields_are_told_with_their_place() {
    let table: [(&[u8], CdrError); 5] = [
        (b"\0\x01\0\0\x05\0\0\0ab\0", CdrError::Length { at: 0, len: 5 }),
        (b"\0\x01\0\0\x02\0\0\0ab", CdrError::NoNul { at: 0 }),
        (b"\0\x01\0\0\x02\0\0\0\xff\0", CdrError::Text { at: 0 }),
        (b"\0\x01\0\0\xff\xff\xff\xff", CdrError::Length { at: 0, len: u32::MAX }),
        (b"\0\x01\0\0\x01\0", CdrError::Truncated { at: 0, need: 4, have: 2 }),
    ];
    for (bytes, error) in table {
        assert_eq!(from_cdr::<String>(bytes), Err(error));
    }
    assert_eq!(from_cdr::<bool>(b"\0\x01\0\0\x02"), Err(CdrError::Bool { at: 0, value: 2 }));
    assert_eq!(from_cdr::<String>(b"\0\x01\0\0\0\0\0\0").as_deref(), Ok(""));
}

#[test]
fn wide_strings_have_a_word_for_each_unit() {
    let text = "aä🚁";
    let mut buf = BytesMut::new();
    CdrWriter::new(&mut buf).wide_string(text);
    let mut sizer = CdrSizer::new();
    sizer.wide_string(text);
    assert_eq!((buf.len(), sizer.len()), (4 + 4 * 4, 4 + 4 * 4));
    assert_eq!(buf[..12], [4, 0, 0, 0, b'a', 0, 0, 0, 0xe4, 0, 0, 0]);
    assert_eq!(CdrReader::xcdr1_le(&buf).wide_string().as_deref(), Ok(text));
    // XCDR2 has the length in octets and 2-octet units.
    let mut xcdr2 = CdrReader::new(b"\0\x07\0\0\x04\0\0\0a\0\xe4\0").unwrap();
    assert_eq!(xcdr2.wide_string().as_deref(), Ok("aä"));
    let lone = [1, 0, 0, 0, 0, 0xd8, 0, 0];
    assert_eq!(CdrReader::xcdr1_le(&lone).wide_string(), Err(CdrError::Text { at: 0 }));
}

#[test]
fn ros1_fields_have_no_padding_and_no_nul() {
    let mut buf = BytesMut::new();
    let mut writer = Ros1Writer::new(&mut buf);
    writer.number(1_u8);
    writer.number(-2_i32);
    writer.string("ab");
    assert_eq!(&buf[..], b"\x01\xfe\xff\xff\xff\x02\0\0\0ab");
    let mut reader = Ros1Reader::new(&buf);
    assert_eq!((reader.number::<u8>(), reader.number::<i32>(), reader.str()), (Ok(1), Ok(-2), Ok("ab")));
    assert_eq!(reader.finish(), Ok(()));
}

fn survives<T: CdrEncode + CdrDecode + PartialEq + std::fmt::Debug>(value: &T) -> Result<(), TestCaseError> {
    let sample = cdr(value);
    let mut sizer = CdrSizer::new();
    value.size(&mut sizer);
    prop_assert_eq!(sizer.len(), sample.len() - 4, "the size pass is off");
    let back = from_cdr::<T>(&sample);
    prop_assert_eq!(back.as_ref(), Ok(value));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_undoes_writing(
        texts in prop::collection::vec("\\PC*", 0..8),
        doubles in prop::collection::vec(-1e300..1e300_f64, 0..20),
        shorts in prop::collection::vec(any::<i16>(), 0..20),
        flags in prop::collection::vec(any::<bool>(), 0..20),
        nested in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..4), 0..4),
    ) {
        survives(&texts)?;
        survives(&doubles)?;
        survives(&shorts)?;
        survives(&flags)?;
        survives(&nested)?;
    }
}
