//! Every packet: round trip, other lengths, garbage; and the detection between them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::prelude::*;
use rostrans_rflysim::{
    Kind, Packet, Series, Text, WireError, control::*, detect, estimate::*, event::*, imu::*, lengths,
    model::*, scene::*, setup::*, truth::*, ue::*, vision::*,
};

/// Bytes of a packet's length with a valid first field, otherwise anything.
fn with_magic<P: Packet>(mut bytes: Vec<u8>, pick: usize) -> Vec<u8> {
    bytes.resize(P::LEN, 0);
    if !P::MAGIC.is_empty() {
        let magic = P::MAGIC[pick % P::MAGIC.len()];
        let width = if magic <= 0xFFFF { 2 } else { 4 };
        bytes[..width].copy_from_slice(&magic.to_le_bytes()[..width]);
    }
    bytes
}

fn hold<P: Packet>(bytes: &[u8], pick: usize) {
    // Padding is not kept, so the first writing settles the bytes; from then on nothing may change.
    let bytes = with_magic::<P>(bytes.to_vec(), pick);
    let once = P::decode(&bytes).unwrap().encode();
    assert_eq!(once.len(), P::LEN, "{}", P::NAME);
    assert_eq!(P::decode(&once).unwrap().encode(), once, "{}", P::NAME);
    let differs = once.iter().zip(&bytes).filter(|(a, b)| a != b).count();
    assert!(differs == 0 || once.iter().zip(&bytes).all(|(a, b)| a == b || *a == 0), "{}", P::NAME);

    for other in [&bytes[..P::LEN - 1], &[&bytes[..], &[0]].concat(), &[]] {
        assert!(matches!(P::decode(other), Err(WireError::Length { .. })), "{}", P::NAME);
    }
    if !P::MAGIC.is_empty() {
        let mut wrong = bytes;
        wrong[0] ^= 0x80;
        assert!(matches!(P::decode(&wrong), Err(WireError::Magic { .. })), "{}", P::NAME);
    }
}

macro_rules! packets {
    ($($name:ident)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            #[test]
            fn every_packet_survives_any_content(bytes in prop::collection::vec(any::<u8>(), 3804), pick: usize) {
                $(hold::<$name>(&bytes[..$name::LEN], pick);)*
            }
        }

        #[test]
        fn lengths_are_those_of_the_specification() {
            let have: std::collections::BTreeSet<usize> = [$($name::LEN),*].into();
            for want in [
                12, 24, 32, 36, 40, 48, 52, 56, 60, 64, 72, 80, 88, 92, 96, 104, 112, 120, 136, 144, 148, 152,
                160, 168, 200, 232, 256, 264, 304, 528, 1324, 3804,
            ] {
                assert!(have.contains(&want), "{want}");
            }
        }
    };
}
packets! {
    SOut2Simulator SOut2SimulatorSimpleTime NetDataShort SimpleTimeV1 SimpleTimeV0
    OutHilStateData OutHilStateShort
    Ue4CmdGps CopterSimCrash OutCopterStruct Px4ExtMsg Ue4EkfInit
    SensorReqCopterSim ImuDataCopter RflyTimeStmp HeartbeatRequest
    InOffboardShortData InHilCmdData Reinit
    PX4SILIntFloat DllInDoubCtrls InCtrlExt InCtrlExtDouble PX4ModelInParams PX4InitInParams PX4DynModiParams
    UEToCopterDataD PX4UorbRflyCtrl Ue4RayTraceDrone Ue4Coll20d TerrIn15d
    ReCopterSimMsg CptSimCmd StartSignal CustomData
    Ue4Cmd0 Ue4Cmd Ue4CmdNet CopterMsg VehicleAttatch25 SOut2SimulatorSimple SOut2SimulatorSimple1 Ue4ExtMsg
    Ue4ExtMsgFloat Multi3DData100New Multi3DData2New
    CameraData CameraDataOld CoptReqData CoptReqDataOld ObjReqData ObjReqDataOld ReqVeCrashData
    VisionSensorReqOld VisionSensorReq VisionSensorReqNew FragmentV1 FragmentV2 LidarHead DistanceSensor Detection
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        rostrans_rflysim::fuzzing::datagram(&bytes);
    }

    #[test]
    fn text_is_cut_between_characters(text in "[a-zä水🚁\0]{0,60}") {
        let cut = Text::<16>::cut(&text);
        let own = text.split('\0').next().unwrap();
        prop_assert!(own.starts_with(&*cut.text()));
        prop_assert!(cut.text().len() < 16);
        prop_assert!(own.len() >= 16 || *cut.text() == *own);
        prop_assert_eq!(Text::<16>::new(&text).is_some(), text.len() < 16 && !text.contains('\0'));
    }
}

/// Packets on one series whose first fields and lengths agree would never be told apart.
#[test]
fn every_length_of_a_series_is_found_again() {
    for series in Series::ALL {
        for length in lengths(series) {
            // The magic numbers that exist, with both forms of the second field.
            let magics =
                [123_456_789, 123_450, 123_456, 1_234_567, 987_654_321, 12_345, 12_346, 3, 0xFFFF_FFFF];
            let known = (1_234_567_800..=1_234_567_910).chain(magics);
            let seconds = [112u32, 120, 152, 80, 1];
            let found =
                known.flat_map(|first| seconds.map(|second| (first, second))).any(|(first, second)| {
                    let mut bytes = vec![0; length];
                    bytes[..4].copy_from_slice(&u32::to_le_bytes(first));
                    if length >= 8 {
                        bytes[4..8].copy_from_slice(&second.to_le_bytes());
                    }
                    detect(series, &bytes).is_some_and(|kind| kind.length() == Some(length))
                });
            assert!(found, "{series:?} {length}");
        }
    }
}

#[test]
fn ambiguous_lengths_are_told_apart_by_the_first_field() {
    let ext = Ue4ExtMsg::default().encode();
    let request = VisionSensorReq::default().encode();
    assert_eq!(ext.len(), request.len());
    assert_eq!(detect(Series::Ue, &ext), Some(Kind::Ue4ExtMsg));
    assert_eq!(detect(Series::Ue, &request), Some(Kind::VisionSensorReq));
    assert_eq!(detect(Series::Ue, &CameraDataOld::default().encode()), None);
    assert_eq!(detect(Series::Scene, &CameraDataOld::default().encode()), Some(Kind::CameraDataOld));
    // Packets without magic number are known by their length field.
    let full = OutHilStateData { len: 112, ..Default::default() };
    assert_eq!(detect(Series::Estimate, &full.encode()), Some(Kind::OutHilStateData));
    assert_eq!(detect(Series::Estimate, &OutHilStateData { len: 7, ..full }.encode()), None);
    assert_eq!(detect(Series::Estimate, &[0xFD, 0]), Some(Kind::Mavlink));
    assert_eq!(detect(Series::Truth, &[0xFD, 0]), None);
}

/// Every row: where it arrives, its length, its first field, its second where that decides.
#[test]
fn packets_are_detected_as_the_specification_has_it() {
    use Kind::*;
    use Series::*;
    let matrix: &[(Series, usize, u32, Option<i32>, Kind)] = &[
        (Estimate, 120, 0xFFFF_FFFF, Some(112), OutHilStateData),
        (Estimate, 120, 4, Some(120), OutHilStateData),
        (Estimate, 52, 1_234_567_890, None, OutHilStateShort),
        (Estimate, 52, 1_234_567_891, None, OutHilStateShort),
        (Estimate, 52, 1_234_567_892, None, OutHilStateShort),
        (Estimate, 33, 0xFD, None, Mavlink),
        (Estimate, 33, 0xFE, None, Mavlink),
        (Truth, 168, 123_456_789, None, SOut2Simulator),
        (Truth, 112, 1_234_567_891, None, SOut2SimulatorSimpleTime),
        (Truth, 200, 0xFFFF_FFFF, Some(152), NetDataShort),
        (Truth, 200, 3, Some(152), NetDataShort),
        (Truth, 104, 1_234_567_890, None, SimpleTimeV1),
        (Truth, 88, 1_234_567_890, None, SimpleTimeV0),
        (Truth, 32, 1_234_567_890, None, Ue4CmdGps),
        (Truth, 12, 1_234_567_890, None, CopterSimCrash),
        (Truth, 264, 1_234_567_890, None, OutCopterStruct),
        (Extension, 48, 1_234_567_898, None, Px4ExtMsg),
        (Imu, 40, 1_234_567_898, None, ImuDataCopter),
        (Time, 32, 123_456_789, None, RflyTimeStmp),
        (Scene, 12, 1_234_567_890, None, CopterSimCrash),
        (Scene, 56, 1_234_567_891, None, CameraDataOld),
        (Scene, 72, 1_234_567_891, None, CameraData),
        (Scene, 64, 1_234_567_891, None, CoptReqDataOld),
        (Scene, 80, 1_234_567_891, None, CoptReqData),
        (Scene, 96, 1_234_567_891, None, ObjReqDataOld),
        (Scene, 112, 1_234_567_891, None, ObjReqData),
        (Scene, 120, 1_234_567_897, None, PX4SILIntFloat),
        (Scene, 160, 1_234_567_897, None, ReqVeCrashData),
        (Scene, 148, 12_346, None, VisionSensorReqNew),
        (UeNet, 12, 0, None, Ue4EkfInit),
        (Control, 24, 1_234_567_890, None, InOffboardShortData),
        (Control, 120, 3, Some(80), InHilCmdData),
        (Control, 8, 987_654_321, None, Reinit),
        (Control, 20, 0xFD, None, Mavlink),
        (Model, 120, 1_234_567_897, None, PX4SILIntFloat),
        (Model, 232, 1_234_567_897, None, DllInDoubCtrls),
        (Model, 264, 1_234_567_891, None, PX4ModelInParams),
        (Model, 264, 1_234_567_892, None, PX4InitInParams),
        (Model, 264, 1_234_567_899, None, UEToCopterDataD),
        (Model, 528, 1_234_567_893, None, PX4DynModiParams),
        (Model, 60, 1_234_567_890, None, Ue4RayTraceDrone),
        (Model, 88, 1_234_567_880, None, Ue4Coll20d),
        (Model, 88, 1_234_567_881, None, TerrIn15d),
        (Model, 80, 1_234_567_896, None, PX4UorbRflyCtrl),
        (Model, 36, 12_345, None, SensorReqCopterSim),
        (Model, 8, 123_450, None, HeartbeatRequest),
    ];
    for &(series, length, first, second, kind) in matrix {
        let mut bytes = vec![0; length];
        bytes[..4].copy_from_slice(&first.to_le_bytes());
        if let Some(second) = second {
            bytes[4..8].copy_from_slice(&second.to_le_bytes());
        }
        assert_eq!(detect(series, &bytes), Some(kind), "{series:?} {length} {first}");
        if kind == Mavlink {
            continue;
        }
        // A byte less or more, or another first and second field, and it is nothing known.
        assert_eq!(detect(series, &bytes[..length - 1]), None, "{kind:?} cut");
        assert_eq!(detect(series, &[&bytes[..], &[0]].concat()), None, "{kind:?} extended");
        if kind != Ue4EkfInit {
            bytes[..4].copy_from_slice(&0x5A5A_5A5A_u32.to_le_bytes());
            bytes[4..8].copy_from_slice(&0x5A5A_5A5A_u32.to_le_bytes());
            assert_eq!(detect(series, &bytes), None, "{kind:?} of another first field");
        }
    }
    for k in 0..5 {
        for first in [1_234_567_801 + k, 1_234_567_901 + k] {
            for (length, kind) in [(120, InCtrlExt), (232, InCtrlExtDouble)] {
                let mut bytes = vec![0; length];
                bytes[..4].copy_from_slice(&u32::to_le_bytes(first));
                assert_eq!(detect(Model, &bytes), Some(kind), "{first} {length}");
            }
        }
    }
}
