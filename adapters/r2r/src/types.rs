//! Type support of the sourced ROS, by the name of a type.

use std::{ffi::c_void, io, ptr::NonNull};

use rostrans_cdr::CdrBytes;
use rostrans_core::adapter::AdapterError;
use rostrans_schema::{TypeName, TypeRegistry};

use crate::{
    ffi::{self, rosidl_message_type_support_t, rosidl_service_type_support_t},
    handle::{Buffer, view},
    library::{reason, refusal, symbol},
};

/// How an RMW handles a message type.
#[derive(Clone, Copy)]
pub(crate) struct MessageSupport(*const rosidl_message_type_support_t);

// SAFETY: points to constants of a library that is never closed.
unsafe impl Send for MessageSupport {}
// SAFETY: as above.
unsafe impl Sync for MessageSupport {}

impl MessageSupport {
    /// **Errors**: the registry or the sourced ROS does not have the type, or they have different ones of that name.
    pub(crate) fn of(name: &TypeName, registry: &TypeRegistry) -> Result<Self, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(name.to_string());
        let ours = *registry.message(name).map_err(unknown)?.rihs01();
        let this = Self::load(name, "")?;
        // SAFETY: the library's function gave a pointer to its constant.
        same(name, &ours, unsafe { hash(this.0) })?;
        Ok(this)
    }

    fn load(name: &TypeName, suffix: &str) -> Result<Self, AdapterError> {
        type Get = unsafe extern "C" fn() -> *const rosidl_message_type_support_t;
        let get: Get = support(name, "message", suffix)?;
        // SAFETY: rosidl generates it without arguments.
        Ok(Self(unsafe { get() }))
    }

    pub(crate) fn as_ptr(self) -> *const rosidl_message_type_support_t {
        self.0
    }
}

/// How an RMW handles a service type, and its two messages.
pub(crate) struct ServiceSupport {
    support: *const rosidl_service_type_support_t,
    pub(crate) request: Structure,
    pub(crate) response: Structure,
}

// SAFETY: as of `MessageSupport`.
unsafe impl Send for ServiceSupport {}
// SAFETY: as above.
unsafe impl Sync for ServiceSupport {}

impl ServiceSupport {
    /// **Errors**: as of [`MessageSupport::of`].
    pub(crate) fn of(name: &TypeName, registry: &TypeRegistry) -> Result<Self, AdapterError> {
        type Get = unsafe extern "C" fn() -> *const rosidl_service_type_support_t;
        let unknown = |_| AdapterError::UnknownType(name.to_string());
        let ours = *registry.service(name).map_err(unknown)?.rihs01();
        let get: Get = support(name, "service", "")?;
        // SAFETY: rosidl generates it without arguments.
        let support = unsafe { get() };
        // SAFETY: the library's function gave a pointer to its constant.
        same(name, &ours, unsafe { service_hash(support) })?;
        let structure = |suffix| Structure::of(name, suffix);
        Ok(Self { support, request: structure("_Request")?, response: structure("_Response")? })
    }

    pub(crate) fn as_ptr(&self) -> *const rosidl_service_type_support_t {
        self.support
    }
}

/// The C structure of a message.
#[derive(Clone, Copy)]
pub(crate) struct Structure {
    support: MessageSupport,
    create: unsafe extern "C" fn() -> *mut c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
}

impl Structure {
    fn of(name: &TypeName, suffix: &str) -> Result<Self, AdapterError> {
        let (package, folder, short) = (name.package(), name.kind().folder(), name.short());
        let function = |what| format!("{package}__{folder}__{short}{suffix}__{what}");
        let part = "rosidl_generator_c";
        let missing = |error| no_support(name, error);
        Ok(Self {
            support: MessageSupport::load(name, suffix)?,
            create: symbol(package, part, &function("create")).map_err(missing)?,
            destroy: symbol(package, part, &function("destroy")).map_err(missing)?,
        })
    }

    /// One with default values; `None` without memory.
    pub(crate) fn create(self) -> Option<Message> {
        // SAFETY: rosidl generates it without arguments.
        let at = NonNull::new(unsafe { (self.create)() })?;
        Some(Message { structure: self, at })
    }

    /// One with the values of a sample; the reason where it has none.
    pub(crate) fn decode(self, rcl: &'static ffi::Rcl, sample: &CdrBytes) -> Result<Message, String> {
        let message = self.create().ok_or("out of memory")?;
        let view = view(rcl, sample);
        // SAFETY: the structure is that of the type support; the sample is only read.
        let ret = unsafe { rcl.rmw_deserialize(&raw const view, self.support.0, message.at.as_ptr()) };
        if ret == ffi::OK { Ok(message) } else { Err(reason(rcl, ret)) }
    }
}

/// A message as a C structure.
pub(crate) struct Message {
    structure: Structure,
    at: NonNull<c_void>,
}

impl Message {
    pub(crate) fn as_ptr(&self) -> *mut c_void {
        self.at.as_ptr()
    }

    /// As a sample; `buffer` is for the time being.
    pub(crate) fn encode(&self, buffer: &mut Buffer, rcl: &ffi::Rcl) -> Result<CdrBytes, String> {
        let support = self.structure.support.0;
        loop {
            // Fast CDR skips padding, and a buffer that grew has what was in that memory before.
            let room = buffer.zero();
            // SAFETY: the structure is that of the type support; the buffer lives through the call.
            let ret = unsafe { rcl.rmw_serialize(self.at.as_ptr(), support, buffer.as_mut_ptr()) };
            if ret != ffi::OK {
                return Err(reason(rcl, ret));
            }
            if buffer.capacity() <= room {
                break;
            }
        }
        CdrBytes::new(buffer.bytes().to_vec()).ok_or_else(|| "no encapsulation header".to_owned())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: made by the `create` beside it, and not used any more.
        unsafe { (self.structure.destroy)(self.at.as_ptr()) };
    }
}

/// The function that gives a type support.
fn support<T: Copy>(name: &TypeName, what: &str, suffix: &str) -> Result<T, AdapterError> {
    let (package, folder, short) = (name.package(), name.kind().folder(), name.short());
    let function =
        format!("rosidl_typesupport_c__get_{what}_type_support_handle__{package}__{folder}__{short}{suffix}");
    symbol(package, "rosidl_typesupport_c", &function).map_err(|error| no_support(name, error))
}

fn no_support(name: &TypeName, error: String) -> AdapterError {
    let package = name.package();
    let deb = package.replace('_', "-");
    let distro = env!("ROSTRANS_BUILT_FOR");
    refusal(
        format!(
            "type '{name}' is not in the sourced ROS; install {package} (ros-{distro}-{deb}) or source the workspace that has it"
        ),
        io::Error::new(io::ErrorKind::NotFound, error),
    )
}

/// Samples of one definition must never be read by another.
fn same(name: &TypeName, ours: &[u8; 32], theirs: Option<[u8; 32]>) -> Result<(), AdapterError> {
    if theirs.is_none_or(|theirs| theirs == *ours) {
        return Ok(());
    }
    let context = format!(
        "the sourced ROS has another definition of '{name}' than rostrans; remove the one in config/interfaces, or start rostrans where the same workspaces are sourced"
    );
    Err(refusal(context, io::ErrorKind::InvalidData.into()))
}

/// RIHS01 of a message; `None` before Iron.
///
/// # Safety
///
/// The pointer is to a type support.
#[cfg(has_type_hash)]
unsafe fn hash(support: *const rosidl_message_type_support_t) -> Option<[u8; 32]> {
    // SAFETY: the caller's promise; the function of a type support takes that.
    unsafe { value((*support).get_type_hash_func?(support)) }
}

/// The same for a service.
///
/// # Safety
///
/// The pointer is to a type support.
#[cfg(has_type_hash)]
unsafe fn service_hash(support: *const rosidl_service_type_support_t) -> Option<[u8; 32]> {
    // SAFETY: the caller's promise; the function of a type support takes that.
    unsafe { value((*support).get_type_hash_func?(support)) }
}

/// # Safety
///
/// The pointer is null or to a type hash.
#[cfg(has_type_hash)]
unsafe fn value(hash: *const ffi::rosidl_type_hash_t) -> Option<[u8; 32]> {
    // SAFETY: the caller's promise.
    let hash = unsafe { hash.as_ref() }?;
    (hash.version == 1).then_some(hash.value)
}

#[cfg(not(has_type_hash))]
unsafe fn hash(_: *const rosidl_message_type_support_t) -> Option<[u8; 32]> {
    None
}

#[cfg(not(has_type_hash))]
unsafe fn service_hash(_: *const rosidl_service_type_support_t) -> Option<[u8; 32]> {
    None
}
