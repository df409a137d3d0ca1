//! `mavlink.mag_calibration`: how far the compasses are calibrated.

use rostrans_core::{
    codec::{CodecError, CodecInfo, DecodeError, Decoder, Interest, Port},
    emit::Emit,
    topic::Qos,
    transport::Frame,
};
use rostrans_msgs::{mavros_msgs::msg::MagnetometerReporter, std_msgs::msg::UInt8};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{MagCalProgress, MagCalReport, Message},
        relay::{TELLS, copy, topic},
        ros,
        uas::MavContext,
        vehicle::Vehicle,
    },
    options::Options,
};

/// MAG_CAL_PROGRESS to `mag_calibration/status`, percent over all compasses that are being calibrated, and
/// MAG_CAL_REPORT to `mag_calibration/report`, once for each compass and calibration.
///
/// **Frame**: the report's `frame_id` is the compass's number.
///
/// Source: MAVLink common, MAG_CAL_REPORT (192); ardupilotmega, MAG_CAL_PROGRESS (191).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.mag_calibration",
    doc: "progress and results of a compass calibration",
    ports: &[
        topic::<UInt8>("status", Qos::reliable().with_depth(2)),
        topic::<MagnetometerReporter>("report", Qos::reliable().with_depth(2)),
    ],
    interest: Interest::Tags(&[MagCalProgress::ID, MagCalReport::ID]),
    ..TELLS
};

const STATUS: Port = Port(0);
const REPORT: Port = Port(1);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    let vehicle = Vehicle::new(&Options::new(cx, &INFO)?)?;
    Ok(Box::new(MagCalibration {
        vehicle,
        compasses: Default::default(),
        report: MagnetometerReporter::default(),
    }))
}

struct MagCalibration {
    vehicle: Vehicle,
    /// By number.
    compasses: [Compass; 8],
    report: MagnetometerReporter,
}

#[derive(Clone, Copy, Default)]
struct Compass {
    percent: u8,
    /// A calibration runs whose report was not published yet.
    unreported: bool,
}

impl Decoder for MagCalibration {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        match packet.msgid {
            MagCalProgress::ID => self.progress(&MagCalProgress::decode(packet.payload), out),
            MagCalReport::ID => self.report(&MagCalReport::decode(packet.payload), out),
            _ => {}
        }
        Ok(())
    }
}

impl MagCalibration {
    fn progress(&mut self, m: &MagCalProgress, out: &mut Emit<'_>) {
        let runs = |compass: u8| m.cal_mask.checked_shr(compass.into()).is_some_and(|mask| mask & 1 == 1);
        if let Some(compass) =
            self.compasses.get_mut(usize::from(m.compass_id)).filter(|_| runs(m.compass_id))
        {
            compass.unreported |= m.completion_pct < NEARLY_DONE;
            compass.percent = m.completion_pct;
        }
        let running = (0_u8..).zip(&self.compasses).filter(|(number, _)| runs(*number));
        let sum: u32 = running.map(|(_, compass)| u32::from(compass.percent)).sum();
        // None run: there is nothing to tell.
        let Some(mean) = sum.checked_div(m.cal_mask.count_ones()) else { return };
        out.publish(STATUS, out.stamp(), &UInt8 { data: u8::try_from(mean).unwrap_or(u8::MAX) });
    }

    fn report(&mut self, m: &MagCalReport, out: &mut Emit<'_>) {
        let compass = self.compasses.get_mut(usize::from(m.compass_id)).filter(|c| c.unreported);
        let Some(compass) = compass else { return };
        compass.unreported = false;
        let report = &mut self.report;
        ros::stamp(&mut report.header, out.stamp());
        report.header.frame_id = m.compass_id.to_string();
        report.report = m.cal_status;
        report.confidence = m.orientation_confidence;
        copy!(m => report; compass_id, cal_mask, cal_status, autosaved, fitness, ofs_x, ofs_y, ofs_z);
        copy!(m => report; diag_x, diag_y, diag_z, offdiag_x, offdiag_y, offdiag_z);
        copy!(m => report; orientation_confidence, old_orientation, new_orientation, scale_factor);
        out.publish(REPORT, out.stamp(), report);
    }
}

/// Percent below which a calibration counts as begun: a finished one may still tell of its last few.
const NEARLY_DONE: u8 = 95;
