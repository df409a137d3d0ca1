//! Quality of service as Cyclone DDS takes it.

use std::time::Duration;

use rostrans_core::topic::{Durability, History, Liveliness, Qos, Reliability};

/// A QoS object of the library, freed when dropped.
pub(crate) struct DdsQos(*mut cyclors::dds_qos_t);

impl DdsQos {
    /// One that says nothing but USER_DATA.
    pub(crate) fn user_data(user_data: &[u8]) -> Self {
        // SAFETY: makes an object of its own; the data are copied.
        unsafe {
            let qos = cyclors::dds_create_qos();
            cyclors::dds_qset_userdata(qos, user_data.as_ptr().cast(), user_data.len());
            Self(qos)
        }
    }

    /// That of an endpoint.
    pub(crate) fn endpoint(qos: Qos, user_data: &[u8]) -> Self {
        let reliability = match qos.reliability {
            Reliability::Reliable => cyclors::dds_reliability_kind_DDS_RELIABILITY_RELIABLE,
            Reliability::BestEffort => cyclors::dds_reliability_kind_DDS_RELIABILITY_BEST_EFFORT,
        };
        let durability = match qos.durability {
            Durability::TransientLocal => cyclors::dds_durability_kind_DDS_DURABILITY_TRANSIENT_LOCAL,
            Durability::Volatile => cyclors::dds_durability_kind_DDS_DURABILITY_VOLATILE,
        };
        let liveliness = match qos.liveliness {
            Liveliness::Automatic => cyclors::dds_liveliness_kind_DDS_LIVELINESS_AUTOMATIC,
            Liveliness::ManualByTopic => cyclors::dds_liveliness_kind_DDS_LIVELINESS_MANUAL_BY_TOPIC,
        };
        let keep_last = cyclors::dds_history_kind_DDS_HISTORY_KEEP_LAST;
        let depth = i32::from(qos.depth.max(1));
        let (history, replayed) = match qos.history {
            History::KeepLast => (keep_last, depth),
            // The library bounds what waits for readers that are here, but not what waits for those to come.
            History::KeepAll => (cyclors::dds_history_kind_DDS_HISTORY_KEEP_ALL, MAX_REPLAYED),
        };
        let xcdr1 = XCDR1;
        let this = Self::user_data(user_data);
        // SAFETY: `this` holds a valid object, and the array of one representation lives through the call.
        unsafe {
            cyclors::dds_qset_reliability(this.0, reliability, NEVER_WAIT);
            cyclors::dds_qset_durability(this.0, durability);
            cyclors::dds_qset_history(this.0, history, depth);
            // How much late readers get; only meant for transient-local writers, ignored by others.
            cyclors::dds_qset_durability_service(
                this.0, 0, keep_last, replayed, UNLIMITED, UNLIMITED, UNLIMITED,
            );
            cyclors::dds_qset_data_representation(this.0, 1, &raw const xcdr1);
            cyclors::dds_qset_deadline(this.0, nanoseconds(qos.deadline));
            cyclors::dds_qset_lifespan(this.0, nanoseconds(qos.lifespan));
            cyclors::dds_qset_liveliness(this.0, liveliness, nanoseconds(qos.liveliness_lease));
        }
        this
    }

    /// Makes a reader deaf to writers of its own participant.
    pub(crate) fn ignore_own(&mut self) {
        let own = cyclors::dds_ignorelocal_kind_DDS_IGNORELOCAL_PARTICIPANT;
        // SAFETY: it is a valid object.
        unsafe { cyclors::dds_qset_ignorelocal(self.0, own) };
    }

    /// For calls into the library; valid as long as `self`.
    pub(crate) fn as_ptr(&self) -> *const cyclors::dds_qos_t {
        self.0
    }
}

impl Drop for DdsQos {
    fn drop(&mut self) {
        // SAFETY: the object is ours, and nobody uses it any more.
        unsafe { cyclors::dds_delete_qos(self.0) };
    }
}

/// A period in nanoseconds; the library's longest one means none.
fn nanoseconds(period: Option<Duration>) -> i64 {
    period.and_then(|period| i64::try_from(period.as_nanos()).ok()).unwrap_or(i64::MAX)
}

/// The USER_DATA in a QoS object.
///
/// # Safety
///
/// `qos` points to a valid object.
pub(crate) unsafe fn user_data_of(qos: *const cyclors::dds_qos_t) -> Vec<u8> {
    let (mut data, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: the caller vouches for the object; on success the library gives us a copy, to be freed by `dds_free`.
    unsafe {
        if !cyclors::dds_qget_userdata(qos, &raw mut data, &raw mut len) || data.is_null() {
            return Vec::new();
        }
        let copy = std::slice::from_raw_parts(data.cast::<u8>(), len).to_vec();
        cyclors::dds_free(data);
        copy
    }
}

const UNLIMITED: i32 = -1;

/// Samples that a transient-local writer which keeps all has for late readers.
const MAX_REPLAYED: i32 = 10_000;

/// Nanoseconds a reliable write may wait for room.
const NEVER_WAIT: i64 = 0;

/// What ROS peers without DDS-XTypes read.
const XCDR1: i16 = 0;
