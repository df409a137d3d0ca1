//! Cyclone DDS through `cyclors`: blob topics, CDR in and out, data taken in the listener of the receive thread.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::ptr;

use cyclors::*;

use super::{Engine, Failure, SOCKET_BUFFER, Sink, Topic, Writer};

pub(super) struct Cyclone {
    participant: dds_entity_t,
}

/// Samples taken at one time.
const TAKE: usize = 64;
/// How long a keep-all writer waits for room, nanoseconds.
const MAX_BLOCKING: i64 = 10_000_000_000;

impl Cyclone {
    /// `big` sends images in datagrams of nearly 64 KiB instead of Cyclone's default of 14,720 bytes.
    pub(super) fn open(domain: u16, big: bool) -> Result<Self, Failure> {
        let sizes = match big {
            true => "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>63000B</FragmentSize>",
            false => "",
        };
        let config = format!(
            "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface address=\"127.0.0.1\" \
             multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast>{sizes}</General>\
             <Discovery><ParticipantIndex>auto</ParticipantIndex>\
             <MaxAutoParticipantIndex>31</MaxAutoParticipantIndex>\
             <Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>\
             <Internal><SocketReceiveBufferSize max=\"{SOCKET_BUFFER}B\"/>\
             <SocketSendBufferSize max=\"{SOCKET_BUFFER}B\"/></Internal></Domain></CycloneDDS>"
        );
        let config = CString::new(config)?;
        // SAFETY: the configuration is a live C string; null QoS and listener mean the defaults.
        let participant = unsafe {
            entity(dds_create_domain(u32::from(domain), config.as_ptr()))?;
            entity(dds_create_participant(u32::from(domain), ptr::null(), ptr::null()))?
        };
        Ok(Self { participant })
    }

    fn topic(&self, topic: &Topic) -> Result<dds_entity_t, Failure> {
        let name = CString::new(format!("rt/{}", topic.name))?.into_raw();
        let type_name = CString::new(topic.type_name)?.into_raw();
        // SAFETY: both names are C strings; they are leaked because the library may keep them.
        entity(unsafe { cdds_create_blob_topic(self.participant, name, type_name, true) })
    }
}

impl Engine for Cyclone {
    fn writer(&self, topic: &Topic) -> Result<Box<dyn Writer>, Failure> {
        let on = self.topic(topic)?;
        // SAFETY: the QoS lives until the call returns, the topic is valid, `sertype` is written by the library.
        unsafe {
            let qos = qos(topic);
            let writer = dds_create_writer(self.participant, on, qos, ptr::null());
            dds_delete_qos(qos);
            let writer = entity(writer)?;
            let mut sertype = ptr::null();
            entity(dds_get_entity_sertype(writer, &mut sertype))?;
            Ok(Box::new(CycloneWriter { writer, sertype }))
        }
    }

    fn reader(&self, topic: &Topic, sink: Sink) -> Result<Box<dyn Any>, Failure> {
        let on = self.topic(topic)?;
        // SAFETY: the sink is leaked, so the listener's argument stays valid for as long as the process lives; QoS
        // and listener are copied by the library.
        unsafe {
            let argument: *mut Sink = Box::into_raw(Box::new(sink));
            let listener = dds_create_listener(argument.cast());
            dds_lset_data_available(listener, Some(on_data));
            let qos = qos(topic);
            let reader = dds_create_reader(self.participant, on, qos, listener);
            dds_delete_qos(qos);
            dds_delete_listener(listener);
            Ok(Box::new(entity(reader)?))
        }
    }
}

/// The same QoS as the other engines get; the caller deletes it.
///
/// # Safety
///
/// None beyond the library's: it allocates and fills a structure of its own.
unsafe fn qos(topic: &Topic) -> *mut dds_qos_t {
    // SAFETY: the structure is made here and not shared yet.
    unsafe {
        let qos = dds_create_qos();
        let reliability = match topic.reliable {
            true => dds_reliability_kind_DDS_RELIABILITY_RELIABLE,
            false => dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT,
        };
        dds_qset_reliability(qos, reliability, MAX_BLOCKING);
        match topic.keep_all {
            true => dds_qset_history(qos, dds_history_kind_DDS_HISTORY_KEEP_ALL, -1),
            false => dds_qset_history(qos, dds_history_kind_DDS_HISTORY_KEEP_LAST, topic.depth() as i32),
        }
        qos
    }
}

struct CycloneWriter {
    writer: dds_entity_t,
    sertype: *const ddsi_sertype,
}

impl Writer for CycloneWriter {
    fn matched(&self) -> usize {
        // SAFETY: a null array of length zero asks for the number only.
        let count = unsafe { dds_get_matched_subscriptions(self.writer, ptr::null_mut(), 0) };
        usize::try_from(count).unwrap_or(0)
    }

    fn write(&self, cdr: &[u8]) -> bool {
        let part = ddsrt_iovec_t { iov_base: cdr.as_ptr().cast_mut().cast(), iov_len: cdr.len() as _ };
        // SAFETY: the vector covers a live slice that is copied; the write takes over the reference to the sample.
        unsafe {
            let data =
                ddsi_serdata_from_ser_iov(self.sertype, ddsi_serdata_kind_SDK_DATA, 1, &part, cdr.len());
            dds_writecdr(self.writer, data) >= 0
        }
    }
}

unsafe extern "C" fn on_data(reader: dds_entity_t, argument: *mut c_void) {
    let mut samples: [*mut ddsi_serdata; TAKE] = [ptr::null_mut(); TAKE];
    // SAFETY: the argument is the leaked sink of this reader; the arrays have the length told; each sample taken is
    // given back once, after its bytes were used.
    unsafe {
        let sink = &*argument.cast::<Sink>();
        let mut infos: [dds_sample_info_t; TAKE] = std::mem::zeroed();
        loop {
            let count =
                dds_takecdr(reader, samples.as_mut_ptr(), TAKE as u32, infos.as_mut_ptr(), DDS_ANY_STATE);
            let count = usize::try_from(count).unwrap_or(0);
            for (sample, info) in samples.iter().zip(&infos).take(count) {
                if info.valid_data {
                    let size = ddsi_serdata_size(*sample) as usize;
                    let mut part = ddsrt_iovec_t { iov_base: ptr::null_mut(), iov_len: 0 };
                    let held = ddsi_serdata_to_ser_ref(*sample, 0, size, &mut part);
                    let bytes = std::slice::from_raw_parts(part.iov_base.cast::<u8>(), size);
                    sink(bytes.get(4..).unwrap_or_default());
                    ddsi_serdata_to_ser_unref(held, &part);
                }
                ddsi_serdata_unref(*sample);
            }
            if count < TAKE {
                return;
            }
        }
    }
}

fn entity(code: i32) -> Result<dds_entity_t, Failure> {
    if code < 0 { Err(format!("Cyclone DDS error {code}").into()) } else { Ok(code) }
}
