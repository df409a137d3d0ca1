//! `coptersim.event`: small packets on the port of the truth.

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{
    geographic_msgs::msg::GeoPointStamped,
    std_msgs::msg::{Float64MultiArray, Int32},
};
use rostrans_rflysim::{
    Kind, Packet as _, Series, detect,
    event::{CopterSimCrash, OutCopterStruct, Ue4CmdGps},
};

use super::{CraftContext, Described, TELLS, motion::error};
use crate::{describe::topic, options::Options, ros};

/// Collisions, the GPS origin of the map, and what the user's model puts out.
///
/// Source: rflysim spec 3.7; ports 30101, 30103...
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "coptersim.event",
    doc: "collisions, the map's GPS origin and model outputs from CopterSim (port 30101 and on)",
    ports: &[
        topic::<Int32>("collision", Qos::reliable()),
        topic::<GeoPointStamped>("gp_origin", Qos::latched(1)),
        topic::<Float64MultiArray>("model_outputs", Qos::sensor_data()),
    ],
    ..TELLS
};

const COLLISION: Port = Port(0);
const ORIGIN: Port = Port(1);
const OUTPUTS: Port = Port(2);

fn build(cx: &CraftContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Options::new(&cx.codec, &INFO)?;
    let origin = GeoPointStamped { header: ros::header("map"), ..GeoPointStamped::default() };
    Ok(Box::new(Events { origin, outputs: Float64MultiArray::default() }))
}

struct Events {
    origin: GeoPointStamped,
    outputs: Float64MultiArray,
}

impl Decoder for Events {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let stamp = out.stamp();
        match detect(Series::Truth, frame.bytes) {
            Some(Kind::CopterSimCrash) => {
                let data = CopterSimCrash::decode(frame.bytes).map_err(error)?.target_id;
                out.publish(COLLISION, stamp, &Int32 { data });
            }
            Some(Kind::Ue4CmdGps) => {
                let [latitude, longitude, altitude] = Ue4CmdGps::decode(frame.bytes).map_err(error)?.origin;
                let position = &mut self.origin.position;
                let new = (latitude, longitude, altitude);
                // Latched: once is enough until it changes.
                if (position.latitude, position.longitude, position.altitude) != new {
                    (position.latitude, position.longitude, position.altitude) = new;
                    ros::stamp(&mut self.origin.header, stamp);
                    out.publish(ORIGIN, stamp, &self.origin);
                }
            }
            Some(Kind::OutCopterStruct) if out.wants(OUTPUTS) => {
                self.outputs.data.clear();
                self.outputs.data.extend(OutCopterStruct::decode(frame.bytes).map_err(error)?.data);
                out.publish(OUTPUTS, stamp, &self.outputs);
            }
            Some(_) => {}
            None => return Err(DecodeError::BadMagic),
        }
        Ok(())
    }
}
