//! Which packet a datagram is. Source: rflysim spec 12.

use crate::{
    Packet,
    control::{FULL_COMMAND, InHilCmdData, InOffboardShortData, Reinit},
    estimate::{FULL_PAYLOADS, OutHilStateData, OutHilStateShort},
    event::{CopterSimCrash, OutCopterStruct, Px4ExtMsg, Ue4CmdGps, Ue4EkfInit},
    imu::{HeartbeatRequest, ImuDataCopter, RflyTimeStmp, SensorReqCopterSim},
    model::*,
    scene::*,
    setup::{CptSimCmd, CustomData, ReCopterSimMsg, StartSignal},
    truth::*,
    ue::*,
    vision::{VisionSensorReq, VisionSensorReqNew, VisionSensorReqOld},
    wire::Field as _,
};

/// A family of ports on which the same packets arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Series {
    /// 20100, 20102...: to CopterSim, flight control.
    Control,
    /// 20101, 20103...: from CopterSim, the autopilot's estimate.
    Estimate,
    /// 30100, 30102...: to CopterSim, model inputs.
    Model,
    /// 30101, 30103...: from CopterSim, truth.
    Truth,
    /// 40101, 40103...: from CopterSim.
    Extension,
    /// 31000, 31001...: from CopterSim, IMU.
    Imu,
    /// 20002: to CopterSim, configuration.
    Setup,
    /// 20005: from CopterSim, time heartbeats.
    Time,
    /// 20006: from RflySim3D.
    Scene,
    /// 20007: between controllers.
    Start,
    /// 20009: to RflySim3D, all of a network; CopterSim's EKF notices, too.
    UeNet,
    /// 20010 and following: to RflySim3D.
    Ue,
    /// 50000 or any other: user data.
    Custom,
}

macro_rules! kinds {
    ($($name:ident)*) => {
        /// A packet, by the vendor's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            /// Frames of MAVLink, one or several.
            Mavlink,
            $(#[doc = concat!("`", stringify!($name), "`")] $name,)*
        }

        impl Kind {
            /// Its length; none for MAVLink.
            pub fn length(self) -> Option<usize> {
                match self { Self::Mavlink => None, $(Self::$name => Some($name::LEN),)* }
            }

            /// Decodes and encodes again; nothing where the bytes are not such a packet, or MAVLink.
            pub(crate) fn repeat(self, bytes: &[u8]) -> Option<Vec<u8>> {
                match self {
                    Self::Mavlink => None,
                    $(Self::$name => $name::decode(bytes).ok().map(|packet| packet.encode()),)*
                }
            }

            /// Whether decoding takes these bytes.
            fn fits(self, bytes: &[u8]) -> bool {
                match self {
                    Self::Mavlink => matches!(bytes, [0xFD | 0xFE, ..]),
                    $(Self::$name => crate::wire::check::<$name>(bytes).is_ok(),)*
                }
            }
        }
    };
}
kinds! {
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
    VisionSensorReqOld VisionSensorReq VisionSensorReqNew
}

impl Series {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Control,
        Self::Estimate,
        Self::Model,
        Self::Truth,
        Self::Extension,
        Self::Imu,
        Self::Setup,
        Self::Time,
        Self::Scene,
        Self::Start,
        Self::UeNet,
        Self::Ue,
        Self::Custom,
    ];

    /// What arrives there.
    fn kinds(self) -> &'static [Kind] {
        use Kind::*;
        match self {
            Self::Control => &[InOffboardShortData, InHilCmdData, Reinit, Mavlink],
            Self::Estimate => &[OutHilStateData, OutHilStateShort, Mavlink],
            Self::Model => &[
                PX4SILIntFloat,
                DllInDoubCtrls,
                InCtrlExt,
                InCtrlExtDouble,
                PX4ModelInParams,
                PX4InitInParams,
                PX4DynModiParams,
                UEToCopterDataD,
                PX4UorbRflyCtrl,
                Ue4RayTraceDrone,
                Ue4Coll20d,
                TerrIn15d,
                SensorReqCopterSim,
                HeartbeatRequest,
                // Where multicast is blocked, the vendor's programs send these here.
                ReCopterSimMsg,
                CptSimCmd,
            ],
            Self::Truth => &[
                SOut2Simulator,
                SOut2SimulatorSimpleTime,
                NetDataShort,
                SimpleTimeV1,
                SimpleTimeV0,
                Ue4CmdGps,
                CopterSimCrash,
                OutCopterStruct,
            ],
            Self::Extension => &[Px4ExtMsg],
            Self::Imu => &[ImuDataCopter],
            Self::Setup => &[ReCopterSimMsg, CptSimCmd],
            Self::Time => &[RflyTimeStmp],
            Self::Scene => &[
                CopterSimCrash,
                CameraDataOld,
                CameraData,
                CoptReqDataOld,
                CoptReqData,
                ObjReqDataOld,
                ObjReqData,
                PX4SILIntFloat,
                ReqVeCrashData,
                VisionSensorReqNew,
            ],
            Self::Start => &[StartSignal],
            // The EKF notice has no magic number, so what has one comes first.
            Self::UeNet => &[
                Ue4CmdNet,
                Ue4Cmd0,
                Ue4Cmd,
                CopterMsg,
                VehicleAttatch25,
                Ue4ExtMsg,
                Ue4ExtMsgFloat,
                Ue4EkfInit,
            ],
            Self::Ue => &[
                SOut2Simulator,
                SOut2SimulatorSimpleTime,
                NetDataShort,
                SimpleTimeV1,
                SimpleTimeV0,
                Ue4Cmd0,
                Ue4Cmd,
                CopterMsg,
                VehicleAttatch25,
                SOut2SimulatorSimple,
                SOut2SimulatorSimple1,
                Ue4ExtMsg,
                Ue4ExtMsgFloat,
                Multi3DData100New,
                Multi3DData2New,
                VisionSensorReqOld,
                VisionSensorReq,
                VisionSensorReqNew,
            ],
            Self::Custom => &[CustomData],
        }
    }
}

/// The packet in a datagram that arrived on a port of that series.
///
/// Length and magic number must be those of one packet; packets without magic number are known by their length field.
pub fn detect(series: Series, bytes: &[u8]) -> Option<Kind> {
    let second = || i32::take(&mut bytes.get(4..).unwrap_or_default());
    let found = *series.kinds().iter().find(|kind| kind.fits(bytes))?;
    let plausible = match found {
        Kind::NetDataShort => second() == OLD_PAYLOAD,
        Kind::OutHilStateData => FULL_PAYLOADS.contains(&second()),
        Kind::InHilCmdData => [i32::take(&mut { bytes }), second()] == FULL_COMMAND,
        _ => true,
    };
    plausible.then_some(found)
}

/// Lengths that packets on a port of that series can have, for an explanation of what was dropped.
pub fn lengths(series: Series) -> impl Iterator<Item = usize> {
    series.kinds().iter().filter_map(|kind| kind.length())
}
