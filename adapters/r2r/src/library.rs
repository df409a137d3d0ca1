//! Finding and opening the libraries of the sourced ROS.

use std::{
    collections::HashMap,
    env,
    ffi::CStr,
    io,
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError},
};

use libloading::Library;
use rostrans_core::adapter::AdapterError;

use crate::ffi::{self, Rcl};

/// The distribution whose headers were read.
const BUILT_FOR: &str = env!("ROSTRANS_BUILT_FOR");

/// Checks that the environment has the ROS that this program was built for.
///
/// **Errors**: what is wrong, then `; ` and the remedy.
pub fn check(env: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    match env("ROS_DISTRO").as_deref() {
        // Its structures are laid out as those of its headers and no others.
        Some(BUILT_FOR) => Ok(()),
        None | Some("") => Err(format!(
            "ros2_transport=r2r needs ROS 2 {BUILT_FOR}, but ROS_DISTRO is not set; {}",
            remedy()
        )),
        Some(other) => Err(format!(
            "this rostrans was built with --features r2r for ROS 2 {BUILT_FOR}, but {other} is sourced; build it again in this shell, or write ros2_transport=dds"
        )),
    }
}

fn remedy() -> String {
    format!("run 'source /opt/ros/{BUILT_FOR}/setup.bash' in this shell, or write ros2_transport=dds")
}

/// The functions of `rcl` and its RMW; opened once and never closed, for others keep pointers into it.
///
/// **Errors**: ROS is not sourced, is another, or misses a library.
pub(crate) fn rcl() -> Result<&'static Rcl, AdapterError> {
    static RCL: OnceLock<Result<Rcl, String>> = OnceLock::new();
    let opened = RCL.get_or_init(|| {
        check(&|name| env::var(name).ok())?;
        // SAFETY: running the initialisers of ROS libraries is what sourcing ROS asks for; the layout of what crosses is
        // that of the headers of this distribution.
        unsafe { Rcl::new(path("rcl", "librcl.so")) }.map_err(|error| {
            format!("cannot open the libraries of ROS 2 {BUILT_FOR} ({error}); {}", remedy())
        })
    });
    let missing = |text: &String| refusal(text.clone(), io::ErrorKind::NotFound.into());
    opened.as_ref().map_err(missing)
}

/// Where a library of a package is: in the first workspace that has it, else where the system's loader looks.
fn path(package: &str, file: &str) -> PathBuf {
    let prefixes = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let found = env::split_paths(&prefixes).map(|prefix| prefix.join("lib").join(file)).find(|path| {
        let of = path.parent().and_then(|lib| lib.parent()).unwrap_or(path);
        path.exists() && of.join("share").join(package).is_dir()
    });
    found.unwrap_or_else(|| PathBuf::from(file))
}

/// A function without arguments that a library of a message package exports; the library stays open.
///
/// **Errors**: there is no such library or function; the text of the loader.
pub(crate) fn symbol<T: Copy>(package: &str, part: &str, name: &str) -> Result<T, String> {
    static OPEN: OnceLock<Mutex<HashMap<String, &'static Library>>> = OnceLock::new();
    let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let file = format!("lib{package}__{part}.so");
    let library = match open.get(&file) {
        Some(library) => *library,
        None => {
            // SAFETY: as of `rcl`.
            let library = unsafe { Library::new(path(package, &file)) }.map_err(|error| error.to_string())?;
            let library: &'static Library = Box::leak(Box::new(library));
            open.insert(file, library);
            library
        }
    };
    // SAFETY: the callers name functions that rosidl generates with exactly this signature; the library is never closed.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) }.map_err(|error| error.to_string())?;
    Ok(*symbol)
}

/// An error for `what` where `ret` tells of one, with the reason that the library gives.
pub(crate) fn checked(
    rcl: &Rcl,
    ret: ffi::rcl_ret_t,
    what: impl FnOnce() -> String,
) -> Result<(), AdapterError> {
    if ret == ffi::OK {
        return Ok(());
    }
    Err(refusal(what(), io::Error::other(reason(rcl, ret))))
}

/// What the last call on this thread complained about; clears it.
pub(crate) fn reason(rcl: &Rcl, ret: ffi::rcl_ret_t) -> String {
    // SAFETY: gives a copy of the thread's error text.
    let text = unsafe { rcl.rcutils_get_error_string() };
    let bytes: Vec<u8> = text.str_.iter().map(|c| c.cast_unsigned()).collect();
    // SAFETY: only resets the thread's error text.
    unsafe { rcl.rcutils_reset_error() };
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy();
    if text.is_empty() || text == "error not set" { format!("rcl error {ret}") } else { text.into_owned() }
}

pub(crate) fn refusal(context: String, source: io::Error) -> AdapterError {
    AdapterError::Io { context, source }
}
