//! Participants, writers and readers.

use std::{
    ffi::{CString, c_void},
    ptr,
    sync::Arc,
};

use rostrans_adapter_dds::{Discovery, Guid};
use rostrans_core::{
    adapter::{AdapterError, PublishError},
    topic::Qos,
};

use crate::{
    domain::Domain,
    entity::{Code, Entity, Gate, refused},
    qos::{DdsQos, user_data_of},
    sample::{self, Received},
};

/// A participant; everything made with it is gone when it is closed.
pub(crate) struct Participant {
    gate: Arc<Gate>,
    participant: Entity,
    guid: Guid,
    /// After the participant: a domain ends with its last user.
    _domain: Domain,
}

/// Whose samples a reader gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    All,
    /// Those of other participants.
    Others,
}

/// What a new writer or reader is.
pub(crate) struct EndpointSpec {
    /// DDS topic name.
    pub(crate) topic: String,
    /// DDS type name.
    pub(crate) type_name: String,
    pub(crate) qos: Qos,
    pub(crate) user_data: Vec<u8>,
}

impl Participant {
    /// Joins a domain.
    pub(crate) fn new(discovery: &Discovery, interfaces: &[String]) -> Result<Self, AdapterError> {
        let domain = Domain::join(discovery, interfaces)?;
        let qos = DdsQos::user_data(b"enclave=/;");
        let id = discovery.domain.into();
        // SAFETY: the QoS object lives through the call; a listener is not wanted.
        let created = unsafe { cyclors::dds_create_participant(id, qos.as_ptr(), ptr::null()) };
        let participant = Entity::new(created).map_err(refused("the participant"))?;
        let guid = participant.guid().map_err(refused("the participant"))?;
        Ok(Self { gate: Arc::new(Gate::open()), participant, guid, _domain: domain })
    }

    pub(crate) fn guid(&self) -> Guid {
        self.guid
    }

    /// Ends it and its endpoints; callbacks that run are waited for.
    pub(crate) fn close(&self) {
        // SAFETY: the library checks the handle.
        self.gate.close(|| unsafe {
            cyclors::dds_delete(self.participant.handle());
        });
    }

    pub(crate) fn writer(&self, spec: &EndpointSpec) -> Result<Writer, AdapterError> {
        let topic = self.topic(spec)?;
        let qos = DdsQos::endpoint(spec.qos, &spec.user_data);
        let parent = self.participant.handle();
        // SAFETY: the QoS object lives through the call; a listener is not wanted.
        let created =
            unsafe { cyclors::dds_create_writer(parent, topic.handle(), qos.as_ptr(), ptr::null()) };
        let writer = Entity::new(created).map_err(refused(&spec.topic))?;
        let mut sertype = ptr::null();
        // SAFETY: the place for the result is valid.
        let found = unsafe { cyclors::dds_get_entity_sertype(writer.handle(), &raw mut sertype) };
        Code::check(found).map_err(refused(&spec.topic))?;
        let guid = writer.guid().map_err(refused(&spec.topic))?;
        Ok(Writer { gate: Arc::clone(&self.gate), writer, guid, sertype: SerType(sertype), _topic: topic })
    }

    /// `sink` runs on a thread of the library and must not drop the reader.
    pub(crate) fn reader(
        &self,
        spec: &EndpointSpec,
        of: Of,
        sink: impl Fn(Received) + Send + Sync + 'static,
    ) -> Result<Reader, AdapterError> {
        let topic = self.topic(spec)?;
        let mut qos = DdsQos::endpoint(spec.qos, &spec.user_data);
        if of == Of::Others {
            qos.ignore_own();
        }
        let sink = Arc::new(Sink(Box::new(sink)));
        let parent = self.participant.handle();
        // SAFETY: QoS and listener live through the call, which copies the listener; what its argument points to lives
        // until the reader is deleted, see `Reader`.
        let created = unsafe {
            let listener = cyclors::dds_create_listener(Arc::as_ptr(&sink).cast_mut().cast());
            cyclors::dds_lset_data_available(listener, Some(data_available));
            let created = cyclors::dds_create_reader(parent, topic.handle(), qos.as_ptr(), listener);
            cyclors::dds_delete_listener(listener);
            created
        };
        let reader = Entity::new(created).map_err(refused(&spec.topic))?;
        let guid = reader.guid().map_err(refused(&spec.topic))?;
        Ok(Reader { gate: Arc::clone(&self.gate), reader, guid, _sink: sink, _topic: topic })
    }

    fn topic(&self, spec: &EndpointSpec) -> Result<Entity, AdapterError> {
        let text = |name: &str| {
            CString::new(name).map_err(|error| AdapterError::Io {
                context: format!("invalid name '{}'", name.escape_debug()),
                source: error.into(),
            })
        };
        let (topic, type_name) = (text(&spec.topic)?, text(&spec.type_name)?);
        let (topic, type_name) = (topic.as_ptr().cast_mut(), type_name.as_ptr().cast_mut());
        // SAFETY: both texts end in NUL, live through the call, and are copied, not changed.
        let created =
            unsafe { cyclors::cdds_create_blob_topic(self.participant.handle(), topic, type_name, true) };
        Entity::new(created).map_err(refused(&spec.topic))
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.close();
    }
}

/// Writes samples of one topic; dropping it withdraws the endpoint.
pub(crate) struct Writer {
    gate: Arc<Gate>,
    writer: Entity,
    guid: Guid,
    /// Belongs to the writer: good while the gate is held.
    sertype: SerType,
    _topic: Entity,
}

struct SerType(*const cyclors::ddsi_sertype);

// SAFETY: a sertype does not change after its creation and counts its references atomically.
unsafe impl Send for SerType {}
// SAFETY: as above.
unsafe impl Sync for SerType {}

impl Writer {
    pub(crate) fn guid(&self) -> Guid {
        self.guid
    }

    /// Sends one sample, encapsulation header first, to every matched reader.
    pub(crate) fn write(&self, payload: &[u8], source_time: Option<i64>) -> Result<(), PublishError> {
        if i32::try_from(payload.len()).is_err() {
            return Err(PublishError::TooLarge(payload.len()));
        }
        let _held = self.gate.hold().ok_or(PublishError::Closed)?;
        // SAFETY: the gate is held, so the participant exists, and with it the writer and its type.
        let written = unsafe { sample::write(self.writer.handle(), self.sertype.0, payload, source_time) };
        written.map_err(|code| match code.0 {
            cyclors::DDS_RETCODE_TIMEOUT | cyclors::DDS_RETCODE_OUT_OF_RESOURCES => PublishError::Full,
            _ => PublishError::Closed,
        })
    }

    pub(crate) fn matched(&self) -> usize {
        let mut status = cyclors::dds_publication_matched_status_t {
            total_count: 0,
            total_count_change: 0,
            current_count: 0,
            current_count_change: 0,
            last_subscription_handle: 0,
        };
        // SAFETY: the library checks the handle and leaves the status as it is when that is gone.
        unsafe { cyclors::dds_get_publication_matched_status(self.writer.handle(), &raw mut status) };
        usize::try_from(status.current_count).unwrap_or(usize::MAX)
    }

    /// The matched readers.
    pub(crate) fn readers(&self) -> Vec<Peer> {
        let Some(_held) = self.gate.hold() else { return Vec::new() };
        let writer = self.writer.handle();
        // SAFETY: `handles` passes room for as many as it says.
        let found = handles(|room, len| unsafe { cyclors::dds_get_matched_subscriptions(writer, room, len) });
        // SAFETY: the result is an object of our own, or null.
        let data = |handle| unsafe { Peer::new(cyclors::dds_get_matched_subscription_data(writer, handle)) };
        found.into_iter().filter_map(data).collect()
    }
}

/// Keeps a subscription alive; dropping it withdraws the endpoint, and waits for its sink.
pub(crate) struct Reader {
    gate: Arc<Gate>,
    // Dropped in this order: no callback runs once the reader is deleted, so the sink can go.
    reader: Entity,
    guid: Guid,
    _sink: Arc<Sink>,
    _topic: Entity,
}

struct Sink(Box<dyn Fn(Received) + Send + Sync>);

impl Reader {
    pub(crate) fn guid(&self) -> Guid {
        self.guid
    }

    /// The matched writers.
    pub(crate) fn writers(&self) -> Vec<Peer> {
        let Some(_held) = self.gate.hold() else { return Vec::new() };
        let reader = self.reader.handle();
        // SAFETY: `handles` passes room for as many as it says.
        let found = handles(|room, len| unsafe { cyclors::dds_get_matched_publications(reader, room, len) });
        found.into_iter().filter_map(|handle| matched_writer(reader, handle)).collect()
    }
}

impl Received {
    /// Who wrote it; for the sink only, and `None` when it is gone already.
    pub(crate) fn writer(&self) -> Option<Peer> {
        matched_writer(self.reader, self.publication)
    }
}

fn matched_writer(reader: cyclors::dds_entity_t, publication: u64) -> Option<Peer> {
    // SAFETY: the library checks both handles; the result is an object of our own, or null.
    unsafe { Peer::new(cyclors::dds_get_matched_publication_data(reader, publication)) }
}

unsafe extern "C" fn data_available(reader: cyclors::dds_entity_t, sink: *mut c_void) {
    // SAFETY: the argument is the sink the listener was made with, which outlives the reader.
    let sink = unsafe { &*sink.cast_const().cast::<Sink>() };
    sample::take(reader, &sink.0);
}

/// A matched endpoint of any participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) guid: Guid,
    pub(crate) participant: Guid,
    pub(crate) user_data: Vec<u8>,
}

impl Peer {
    /// Reads and frees what the library tells about an endpoint.
    ///
    /// # Safety
    ///
    /// `data` is null or an object to be freed by `dds_builtintopic_free_endpoint`.
    unsafe fn new(data: *mut cyclors::dds_builtintopic_endpoint_t) -> Option<Self> {
        if data.is_null() {
            return None;
        }
        // SAFETY: the caller vouches for the object, whose QoS is valid or null.
        unsafe {
            let peer = Self {
                guid: Guid::from_bytes((*data).key.v),
                participant: Guid::from_bytes((*data).participant_key.v),
                user_data: if (*data).qos.is_null() { Vec::new() } else { user_data_of((*data).qos) },
            };
            cyclors::dds_builtintopic_free_endpoint(data);
            Some(peer)
        }
    }
}

/// Asks `list` for instance handles until there is room for all; it returns how many there are.
fn handles(list: impl Fn(*mut u64, usize) -> i32) -> Vec<u64> {
    let mut found = vec![0; 16];
    loop {
        let Ok(count) = usize::try_from(list(found.as_mut_ptr(), found.len())) else { return Vec::new() };
        let room = found.len();
        found.resize(count, 0);
        if count <= room {
            return found;
        }
    }
}
