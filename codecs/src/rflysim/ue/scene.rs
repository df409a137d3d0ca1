//! `rflysim3d.scene`: cameras, vehicles and objects that were asked for.

use rostrans_core::{
    codec::{CodecContext, CodecError, CodecInfo, DecodeError, Decoder, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::rflysim_msgs::msg::{CameraData, CopterData, ObjectData};
use rostrans_rflysim::{
    Kind, Packet as _, Series, detect,
    scene::{CameraData as Camera, CameraDataOld, CoptReqData, CoptReqDataOld, ObjReqData, ObjReqDataOld},
};

use super::{
    Described, TELLS,
    place::{FRAME, Frame as Axes},
};
use crate::{describe::topic, rflysim::motion::error, ros};

/// Reports of RflySim3D, with and without quaternion.
///
/// Source: rflysim spec 6.1 to 6.3; 224.0.0.10:20006.
pub(super) const CODEC: Described = Described { info: &INFO, build };

const INFO: CodecInfo = CodecInfo {
    name: "rflysim3d.scene",
    doc: "cameras, vehicles and objects that RflySim3D reports (224.0.0.10:20006)",
    ports: &[
        topic::<CopterData>("copter_data", Qos::sensor_data()),
        topic::<ObjectData>("object_data", Qos::sensor_data()),
        topic::<CameraData>("camera_data", Qos::sensor_data()),
    ],
    options: &[FRAME],
    ..TELLS
};

const COPTER: Port = Port(0);
const OBJECT: Port = Port(1);
const CAMERA: Port = Port(2);

fn build(cx: &CodecContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Ok(Box::new(Scene(Axes::from_options(cx, &INFO)?)))
}

struct Scene(Axes);

impl Decoder for Scene {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let bytes = frame.bytes;
        match detect(Series::Scene, bytes) {
            Some(Kind::CoptReqData) => {
                let p = CoptReqData::decode(bytes).map_err(error)?;
                self.copter(
                    p.copter_id,
                    (p.pos_ue, p.ang_euler, Some(p.ang_quat)),
                    (p.box_origin, p.box_extent),
                    p.timestmp,
                    out,
                );
            }
            Some(Kind::CoptReqDataOld) => {
                let p = CoptReqDataOld::decode(bytes).map_err(error)?;
                self.copter(
                    p.copter_id,
                    (p.pos_ue, p.ang_euler, None),
                    (p.box_origin, p.box_extent),
                    p.timestmp,
                    out,
                );
            }
            Some(Kind::ObjReqData) => {
                let p = ObjReqData::decode(bytes).map_err(error)?;
                let name = p.obj_name.text().into_owned();
                self.object(
                    (p.seq_id, name),
                    (p.pos_ue, p.ang_euler, Some(p.ang_quat)),
                    (p.box_origin, p.box_extent),
                    p.timestmp,
                    out,
                );
            }
            Some(Kind::ObjReqDataOld) => {
                let p = ObjReqDataOld::decode(bytes).map_err(error)?;
                let name = p.obj_name.text().into_owned();
                self.object(
                    (p.seq_id, name),
                    (p.pos_ue, p.ang_euler, None),
                    (p.box_origin, p.box_extent),
                    p.timestmp,
                    out,
                );
            }
            Some(Kind::CameraData) => {
                let p = Camera::decode(bytes).map_err(error)?;
                let size = [p.data_width, p.data_height];
                self.camera(
                    [p.seq_id, p.type_id],
                    size,
                    p.camera_fov,
                    (p.pos_ue, p.ang_euler, Some(p.ang_quat)),
                    p.timestmp,
                    out,
                );
            }
            Some(Kind::CameraDataOld) => {
                let p = CameraDataOld::decode(bytes).map_err(error)?;
                let size = [p.data_width, p.data_height];
                self.camera(
                    [p.seq_id, p.type_id],
                    size,
                    p.camera_fov,
                    (p.pos_ue, p.ang_euler, None),
                    p.timestmp,
                    out,
                );
            }
            // Collisions and the like are for other links.
            Some(_) => {}
            None => return Err(DecodeError::BadMagic),
        }
        Ok(())
    }
}

/// Position, angles, and the quaternion of new versions.
type Placed = ([f32; 3], [f32; 3], Option<[f32; 4]>);
/// Centre and half size.
type Boxed = ([f32; 3], [f32; 3]);

impl Scene {
    fn copter(&self, copter_id: i32, at: Placed, boxed: Boxed, timestamp: f64, out: &mut Emit<'_>) {
        let stamp = out.stamp();
        let mut header = ros::header(MAP);
        ros::stamp(&mut header, stamp);
        let message = CopterData {
            header,
            copter_id,
            pose: self.0.pose(at.0, at.1, at.2),
            box_origin: self.0.point(boxed.0),
            box_extent: self.0.extent(boxed.1),
            timestamp,
        };
        out.publish(COPTER, stamp, &message);
    }

    fn object(
        &self,
        (seq_id, name): (i32, String),
        at: Placed,
        boxed: Boxed,
        timestamp: f64,
        out: &mut Emit<'_>,
    ) {
        let stamp = out.stamp();
        let mut header = ros::header(MAP);
        ros::stamp(&mut header, stamp);
        let message = ObjectData {
            header,
            seq_id,
            name,
            pose: self.0.pose(at.0, at.1, at.2),
            box_origin: self.0.point(boxed.0),
            box_extent: self.0.extent(boxed.1),
            timestamp,
        };
        out.publish(OBJECT, stamp, &message);
    }

    fn camera(
        &self,
        ids: [i32; 2],
        size: [i32; 2],
        fov_deg: f32,
        at: Placed,
        timestamp: f64,
        out: &mut Emit<'_>,
    ) {
        let stamp = out.stamp();
        let mut header = ros::header(MAP);
        ros::stamp(&mut header, stamp);
        let ([seq_id, type_id], [width, height]) = (ids, size);
        let pose = self.0.pose(at.0, at.1, at.2);
        out.publish(
            CAMERA,
            stamp,
            &CameraData { header, seq_id, type_id, width, height, fov_deg, pose, timestamp },
        );
    }
}

/// The frame of positions.
pub(super) const MAP: &str = "map";
