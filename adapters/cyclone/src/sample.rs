//! Samples in and out of the library, as serialized bytes.

use std::ptr;

use bytes::Bytes;

use crate::entity::Code;

/// One received sample.
pub(crate) struct Received {
    /// Encapsulation header and body.
    pub(crate) payload: Bytes,
    /// Nanoseconds since 1970, from the writer.
    pub(crate) source_time: i64,
    /// Who got it.
    pub(crate) reader: cyclors::dds_entity_t,
    /// The library's name for its writer.
    pub(crate) publication: u64,
}

/// Takes everything out of a reader.
pub(crate) fn take(reader: cyclors::dds_entity_t, mut sink: impl FnMut(Received)) {
    loop {
        let mut data: [*mut cyclors::ddsi_serdata; BATCH] = [ptr::null_mut(); BATCH];
        let mut infos = [EMPTY_INFO; BATCH];
        let most = u32::try_from(BATCH).unwrap_or(1);
        // SAFETY: both arrays have room for as many as are asked for.
        let taken = unsafe {
            cyclors::dds_takecdr(reader, data.as_mut_ptr(), most, infos.as_mut_ptr(), cyclors::DDS_ANY_STATE)
        };
        let Ok(taken) = usize::try_from(taken) else { return };
        for (serdata, info) in data.into_iter().zip(infos).take(taken) {
            if info.valid_data {
                // SAFETY: the library gave us a reference to a sample with data.
                let payload = unsafe { copy(serdata) };
                sink(Received {
                    payload,
                    source_time: info.source_timestamp,
                    reader,
                    publication: info.publication_handle,
                });
            }
            // SAFETY: the reference is ours to give back, once.
            unsafe { cyclors::ddsi_serdata_unref(serdata) };
        }
        if taken < BATCH {
            return;
        }
    }
}

/// Samples taken at a time.
const BATCH: usize = 16;

/// # Safety
///
/// `serdata` is a sample with data.
unsafe fn copy(serdata: *const cyclors::ddsi_serdata) -> Bytes {
    let mut part = cyclors::ddsrt_iovec_t { iov_base: ptr::null_mut(), iov_len: 0 };
    // SAFETY: the caller vouches for the sample. Its bytes are contiguous and stay until the second reference, which
    // `to_ser_ref` takes, is given back.
    unsafe {
        let size = usize::try_from(cyclors::ddsi_serdata_size(serdata)).unwrap_or_default();
        let held = cyclors::ddsi_serdata_to_ser_ref(serdata, 0, size, &raw mut part);
        let bytes = if part.iov_base.is_null() {
            Bytes::new()
        } else {
            Bytes::copy_from_slice(std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len))
        };
        cyclors::ddsi_serdata_to_ser_unref(held, &raw const part);
        bytes
    }
}

/// Writes one sample; `source_time` in nanoseconds since 1970, `None` for now.
///
/// **Errors**: no room at the moment (`DDS_RETCODE_TIMEOUT`), or the library refuses.
///
/// # Safety
///
/// `sertype` is the type of `writer`, whose participant exists during the call.
pub(crate) unsafe fn write(
    writer: cyclors::dds_entity_t,
    sertype: *const cyclors::ddsi_sertype,
    payload: &[u8],
    source_time: Option<i64>,
) -> Result<(), Code> {
    // The library sends whole words, and reads as many: without padding of ours, beyond the end of its copy.
    let padding = [0_u8; 3];
    let padding = padding.get(..payload.len().next_multiple_of(4) - payload.len()).unwrap_or_default();
    let part = |bytes: &[u8]| cyclors::ddsrt_iovec_t {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let parts = [part(payload), part(padding)];
    let size = payload.len() + padding.len();
    // SAFETY: the parts live through the call, which copies and does not change them. The new sample is ours until
    // the write, which takes it over even when it fails, for the writer is there.
    unsafe {
        let serdata = cyclors::ddsi_serdata_from_ser_iov(
            sertype,
            cyclors::ddsi_serdata_kind_SDK_DATA,
            parts.len(),
            parts.as_ptr(),
            size,
        );
        if serdata.is_null() {
            return Err(Code(cyclors::DDS_RETCODE_OUT_OF_RESOURCES));
        }
        let result = match source_time {
            Some(at) => {
                (*serdata).statusinfo = 0;
                (*serdata).timestamp.v = at;
                cyclors::dds_forwardcdr(writer, serdata)
            }
            None => cyclors::dds_writecdr(writer, serdata),
        };
        Code::check(result).map(|_| ())
    }
}

const EMPTY_INFO: cyclors::dds_sample_info_t = cyclors::dds_sample_info_t {
    sample_state: 0,
    view_state: 0,
    instance_state: 0,
    valid_data: false,
    source_timestamp: 0,
    instance_handle: 0,
    publication_handle: 0,
    disposed_generation_count: 0,
    no_writers_generation_count: 0,
    sample_rank: 0,
    generation_rank: 0,
    absolute_generation_rank: 0,
};
