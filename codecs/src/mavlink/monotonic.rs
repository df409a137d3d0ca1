//! The computer's monotonic clock, as a vehicle on the same computer has it.

use std::time::Duration;

/// Nanoseconds since this computer booted; `None` where that clock cannot be read.
#[cfg(unix)]
pub(super) fn monotonic_ns() -> Option<i64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    i64::try_from(Duration::try_from(time).ok()?.as_nanos()).ok()
}

#[cfg(not(unix))]
pub(super) fn monotonic_ns() -> Option<i64> {
    None
}
