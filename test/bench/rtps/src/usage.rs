//! CPU time and memory of processes.
#![expect(unsafe_code, reason = "getrusage and prctl")]

/// CPU time of this process so far, microseconds, user and system.
pub(crate) fn cpu_us() -> u64 {
    // SAFETY: the structure is plain data that the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let us = |t: libc::timeval| (t.tv_sec * 1_000_000 + t.tv_usec) as u64;
    us(usage.ru_utime) + us(usage.ru_stime)
}

/// Lets sleeps of this process end on time.
pub(crate) fn sharp_timers() {
    // SAFETY: sets a number of this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000) };
}

/// A value in KiB of `/proc/PID/status`: `VmRSS` is the memory now, `VmHWM` its peak.
pub(crate) fn memory_kib(pid: &str, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
