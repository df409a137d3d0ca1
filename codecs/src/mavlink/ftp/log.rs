//! `mavlink.log_transfer`: an autopilot's logs in the older protocol.

use std::sync::Arc;

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Interest, Port},
    emit::Emit,
    topic::{Durability, Qos, Reliability},
    transport::Frame,
};
use rostrans_msgs::{
    mavros_msgs::{
        msg::{LogData as RosLogData, LogEntry as RosLogEntry},
        srv::{
            LogRequestData as DataService, LogRequestDataRequest, LogRequestDataResponse,
            LogRequestEnd as EndService, LogRequestEndResponse, LogRequestList as ListService,
            LogRequestListRequest, LogRequestListResponse,
        },
    },
    std_srvs::srv::{Trigger, TriggerResponse},
};

use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{LogData, LogEntry, LogErase, LogRequestData, LogRequestEnd, LogRequestList, Message},
        relay::{TALKS, service, topic},
        ros,
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// LOG_ENTRY and LOG_DATA to `log_transfer/raw/...`; the services send the requests and answer at once, with success
/// when there was a vehicle to send to.
///
/// The stamp is the receive time.
///
/// Source: MAVLink common, LOG_REQUEST_LIST (117), LOG_ENTRY (118), LOG_REQUEST_DATA (119), LOG_DATA (120),
/// LOG_ERASE (121), LOG_REQUEST_END (122).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const QOS: Qos = Qos::new(Reliability::Reliable, Durability::Volatile, 1000);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.log_transfer",
    doc: "an autopilot's logs, block by block",
    ports: &[topic::<RosLogEntry>("log_entry", QOS), topic::<RosLogData>("log_data", QOS)],
    services: &[
        service::<ListService>("log_request_list"),
        service::<DataService>("log_request_data"),
        service::<EndService>("log_request_end"),
        service::<Trigger>("log_request_erase"),
    ],
    interest: Interest::Tags(&[LogEntry::ID, LogData::ID]),
    options: &[vehicle::SYSID],
    ..TALKS
};

const ENTRY: Port = Port(0);
const DATA: Port = Port(1);

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Ok(Box::new(Logs {
        vehicle: Vehicle::new(&Options::new(cx, &INFO)?)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        entry: RosLogEntry::default(),
        data: RosLogData::default(),
    }))
}

struct Logs {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    entry: RosLogEntry,
    data: RosLogData,
}

impl Decoder for Logs {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        let stamp = out.stamp();
        match packet.msgid {
            LogEntry::ID => {
                let message = LogEntry::decode(packet.payload);
                ros::stamp(&mut self.entry.header, stamp);
                self.entry.id = message.id;
                self.entry.num_logs = message.num_logs;
                self.entry.last_log_num = message.last_log_num;
                self.entry.time_utc.sec = i32::try_from(message.time_utc).unwrap_or(i32::MAX);
                self.entry.size = message.size;
                out.publish(ENTRY, stamp, &self.entry);
            }
            LogData::ID => {
                let message = LogData::decode(packet.payload);
                ros::stamp(&mut self.data.header, stamp);
                self.data.id = message.id;
                self.data.offset = message.ofs;
                self.data.data.clear();
                let data = message.data.get(..usize::from(message.count)).unwrap_or(&message.data);
                self.data.data.extend_from_slice(data);
                out.publish(DATA, stamp, &self.data);
            }
            _ => {}
        }
        Ok(())
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let (target_system, target_component) = (self.uas.target_system(), self.uas.target_component());
        match service.0 {
            0 => {
                let LogRequestListRequest { start, end } = read(request)?;
                let message = LogRequestList { start, end, target_system, target_component };
                let success = self.talker.send(&message, out);
                out.answer(call, &LogRequestListResponse { success });
            }
            1 => {
                let LogRequestDataRequest { id, offset, count } = read(request)?;
                let message = LogRequestData { ofs: offset, count, id, target_system, target_component };
                let success = self.talker.send(&message, out);
                out.answer(call, &LogRequestDataResponse { success });
            }
            2 => {
                let success = self.talker.send(&LogRequestEnd { target_system, target_component }, out);
                out.answer(call, &LogRequestEndResponse { success });
            }
            _ => {
                let success = self.talker.send(&LogErase { target_system, target_component }, out);
                out.answer(call, &TriggerResponse { success, message: String::new() });
            }
        }
        Ok(())
    }
}

fn read<T: CdrDecode>(request: &CdrBytes) -> Result<T, EncodeError> {
    from_cdr(request).map_err(|_| EncodeError::Cdr("not the service's request"))
}
