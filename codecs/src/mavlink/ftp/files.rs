//! `mavlink.ftp`: a vehicle's files as services.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use rostrans_cdr::{CdrBytes, CdrDecode, from_cdr};
use rostrans_core::{
    codec::{CallId, CodecError, CodecInfo, DecodeError, Decoder, EncodeError, Interest, Port},
    emit::Emit,
    transport::Frame,
};
use rostrans_msgs::{
    mavros_msgs::{msg::FileEntry, srv},
    std_srvs::srv::{Empty, EmptyResponse},
};

use super::{
    client::Client,
    task::{Done, Entry, Job},
    wire::{Opcode, Payload, errno},
};
use crate::{
    mavlink::{
        DecodeOnly,
        dialect::{FileTransferProtocol, Message},
        relay::{TALKS, service},
        uas::{MavContext, Talker, Uas},
        vehicle::{self, Vehicle},
    },
    options::Options,
};

/// FILE_TRANSFER_PROTOCOL as the services `ftp/...` of MAVROS.
///
/// One call is worked on at a time; others are answered with EBUSY (16), as in MAVROS, but `reset` ends the one
/// at hand with ECANCELED (125). Requests are sent again until they are answered, for five seconds, a checksum or
/// truncation for 25. Long reads use bursts. A file that is open already is closed and opened again.
///
/// Source: MAVLink, File Transfer Protocol; FILE_TRANSFER_PROTOCOL (110).
pub(super) const CODEC: DecodeOnly = DecodeOnly::new(&INFO, build);

const INFO: CodecInfo = CodecInfo {
    name: "mavlink.ftp",
    doc: "files on the vehicle: list, read, write and more as services",
    services: &[
        service::<srv::FileList>("list"),
        service::<srv::FileOpen>("open"),
        service::<srv::FileClose>("close"),
        service::<srv::FileRead>("read"),
        service::<srv::FileWrite>("write"),
        service::<srv::FileMakeDir>("mkdir"),
        service::<srv::FileRemoveDir>("rmdir"),
        service::<srv::FileRemove>("remove"),
        service::<srv::FileRename>("rename"),
        service::<srv::FileTruncate>("truncate"),
        service::<Empty>("reset"),
        service::<srv::FileChecksum>("checksum"),
    ],
    interest: Interest::Tags(&[FileTransferProtocol::ID]),
    options: &[vehicle::SYSID],
    ..TALKS
};

const LIST: u8 = 0;
const OPEN: u8 = 1;
const CLOSE: u8 = 2;
const READ: u8 = 3;
const WRITE: u8 = 4;
const MKDIR: u8 = 5;
const RMDIR: u8 = 6;
const REMOVE: u8 = 7;
const RENAME: u8 = 8;
const TRUNCATE: u8 = 9;
const RESET: u8 = 10;
const CHECKSUM: u8 = 11;

fn build(cx: &MavContext<'_>) -> Result<Box<dyn Decoder>, CodecError> {
    Ok(Box::new(Files {
        vehicle: Vehicle::new(&Options::new(cx, &INFO)?)?,
        uas: Arc::clone(&cx.uas),
        talker: Talker::new(cx),
        client: Client::default(),
        call: None,
        resets: VecDeque::new(),
    }))
}

struct Files {
    vehicle: Vehicle,
    uas: Arc<Uas>,
    talker: Talker,
    client: Client,
    /// The call at hand and its service.
    call: Option<(Port, CallId)>,
    /// Further calls of `reset`, which the one at hand answers too.
    resets: VecDeque<CallId>,
}

impl Decoder for Files {
    fn decode(&mut self, frame: &Frame<'_>, out: &mut Emit<'_>) -> Result<(), DecodeError> {
        let Some(packet) = self.vehicle.accept(frame)? else { return Ok(()) };
        let message = FileTransferProtocol::decode(packet.payload);
        let (sysid, compid) = self.uas.own_ids();
        let for_us = |id: u8, own: u8| id == 0 || id == own;
        if !for_us(message.target_system, sysid) || !for_us(message.target_component, compid) {
            return Ok(());
        }
        let next = self.client.reply(&Payload::decode(&message.payload), frame.received);
        self.go_on(next, out);
        Ok(())
    }

    fn call(
        &mut self,
        service: Port,
        call: CallId,
        request: &CdrBytes,
        out: &mut Emit<'_>,
    ) -> Result<(), EncodeError> {
        let job = match job(service, request)? {
            Ok(job) => job,
            Err(errno) => {
                answer(service, call, Done::Failed(errno), out);
                return Ok(());
            }
        };
        if job == Job::Reset {
            if self.call.is_some_and(|(service, _)| service.0 == RESET) {
                self.resets.push_back(call);
                return Ok(());
            }
            if self.client.cancel() {
                self.end(Done::Failed(errno::CANCELED), out);
            }
        }
        if self.call.is_some() {
            answer(service, call, Done::Failed(errno::BUSY), out);
            return Ok(());
        }
        self.call = Some((service, call));
        let next = if self.talker.has_receiver() {
            self.client.begin(job, out.received())
        } else {
            Err(Done::Failed(errno::NOTCONN))
        };
        self.go_on(Some(next), out);
        Ok(())
    }

    fn next_due(&self) -> Option<Instant> {
        self.client.next_due()
    }

    fn tick(&mut self, now: Instant, out: &mut Emit<'_>) {
        let next = self.client.late(now);
        self.go_on(next, out);
    }

    fn close(&mut self, out: &mut Emit<'_>) {
        if self.call.is_some() {
            self.client.cancel();
            self.end(Done::Failed(errno::CANCELED), out);
        }
    }
}

impl Files {
    fn go_on(&mut self, next: Option<Result<Payload, Done>>, out: &mut Emit<'_>) {
        match next {
            None => {}
            Some(Ok(request)) => {
                let message = FileTransferProtocol {
                    target_network: 0,
                    target_system: self.uas.target_system(),
                    target_component: self.uas.target_component(),
                    payload: request.encode(),
                };
                self.talker.send(&message, out);
            }
            Some(Err(done)) => self.end(done, out),
        }
    }

    fn end(&mut self, done: Done, out: &mut Emit<'_>) {
        let Some((service, call)) = self.call.take() else { return };
        if service.0 == RESET {
            for call in self.resets.drain(..) {
                out.answer(call, &EmptyResponse::default());
            }
        }
        answer(service, call, done, out);
    }
}

/// What a request asks for, or the error of one that cannot be.
///
/// **Errors**: it is not of the service's type.
fn job(service: Port, request: &CdrBytes) -> Result<Result<Job, i32>, EncodeError> {
    Ok(Ok(match service.0 {
        LIST => Job::List(read::<srv::FileListRequest>(request)?.dir_path),
        OPEN => {
            let request: srv::FileOpenRequest = read(request)?;
            let how = match request.mode {
                srv::FileOpenRequest::MODE_READ => Opcode::OpenRead,
                srv::FileOpenRequest::MODE_WRITE => Opcode::OpenWrite,
                srv::FileOpenRequest::MODE_CREATE => Opcode::Create,
                _ => return Ok(Err(errno::INVAL)),
            };
            Job::Open { path: request.file_path, how }
        }
        CLOSE => Job::Close(read::<srv::FileCloseRequest>(request)?.file_path),
        READ => {
            let request: srv::FileReadRequest = read(request)?;
            Job::Read { path: request.file_path, offset: request.offset, size: request.size }
        }
        WRITE => {
            let request: srv::FileWriteRequest = read(request)?;
            Job::Write { path: request.file_path, offset: request.offset, data: request.data }
        }
        MKDIR => Job::Path { path: read::<srv::FileMakeDirRequest>(request)?.dir_path, how: Opcode::MakeDir },
        RMDIR => {
            Job::Path { path: read::<srv::FileRemoveDirRequest>(request)?.dir_path, how: Opcode::RemoveDir }
        }
        REMOVE => Job::Path { path: read::<srv::FileRemoveRequest>(request)?.file_path, how: Opcode::Remove },
        RENAME => {
            let request: srv::FileRenameRequest = read(request)?;
            Job::Rename { from: request.old_path, to: request.new_path }
        }
        TRUNCATE => {
            let request: srv::FileTruncateRequest = read(request)?;
            Job::Truncate { path: request.file_path, length: request.length }
        }
        RESET => Job::Reset,
        CHECKSUM => Job::Checksum(read::<srv::FileChecksumRequest>(request)?.file_path),
        _ => return Err(EncodeError::Cdr("the codec has no such service")),
    }))
}

fn read<T: CdrDecode>(request: &CdrBytes) -> Result<T, EncodeError> {
    from_cdr(request).map_err(|_| EncodeError::Cdr("not the service's request"))
}

fn answer(service: Port, call: CallId, done: Done, out: &mut Emit<'_>) {
    let r_errno = if let Done::Failed(errno) = done { errno } else { 0 };
    let success = r_errno == 0;
    let number = if let Done::Number(number) = done { number } else { 0 };
    match service.0 {
        LIST => {
            let entries = if let Done::Entries(entries) = done { entries } else { Vec::new() };
            let list = entries.into_iter().map(entry).collect();
            out.answer(call, &srv::FileListResponse { list, success, r_errno });
        }
        OPEN => out.answer(call, &srv::FileOpenResponse { size: number, success, r_errno }),
        CLOSE => out.answer(call, &srv::FileCloseResponse { success, r_errno }),
        READ => {
            let data = if let Done::Data(data) = done { data } else { Vec::new() };
            out.answer(call, &srv::FileReadResponse { data, success, r_errno });
        }
        WRITE => out.answer(call, &srv::FileWriteResponse { success, r_errno }),
        MKDIR => out.answer(call, &srv::FileMakeDirResponse { success, r_errno }),
        RMDIR => out.answer(call, &srv::FileRemoveDirResponse { success, r_errno }),
        REMOVE => out.answer(call, &srv::FileRemoveResponse { success, r_errno }),
        RENAME => out.answer(call, &srv::FileRenameResponse { success, r_errno }),
        TRUNCATE => out.answer(call, &srv::FileTruncateResponse { success, r_errno }),
        CHECKSUM => out.answer(call, &srv::FileChecksumResponse { crc32: number, success, r_errno }),
        _ => out.answer(call, &EmptyResponse::default()),
    }
}

fn entry(Entry { name, is_directory, size }: Entry) -> FileEntry {
    let r#type = if is_directory { FileEntry::TYPE_DIRECTORY } else { FileEntry::TYPE_FILE };
    FileEntry { name, r#type, size }
}
