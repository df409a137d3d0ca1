//! Watches how long the machine takes the CPU away.

use super::*;

/// Times when the machine took a CPU away: start and end in CLOCK_MONOTONIC ns.
pub(super) type Stalls = Vec<(u64, u64)>;

/// The idle-priority thread that watches the router's CPU. It also keeps that
/// CPU from halting, which takes the wake-up cost of a virtual CPU out of the
/// latencies; any runnable router thread displaces it at once.
pub(super) struct Watch {
    pub(super) on: Arc<AtomicBool>,
    pub(super) log: Arc<Mutex<Stalls>>,
}

pub(super) const STALL_NS: u64 = 500_000;

impl Watch {
    pub(super) fn start(cpu: usize) -> Watch {
        let w = Watch { on: Arc::new(AtomicBool::new(true)), log: Arc::new(Mutex::new(Vec::new())) };
        let (on, log) = (w.on.clone(), w.log.clone());
        std::thread::spawn(move || {
            pin_to_cpu(cpu);
            unsafe {
                let p: libc::sched_param = std::mem::zeroed();
                libc::sched_setscheduler(0, libc::SCHED_IDLE, &p);
            }
            let mut last = now_ns();
            while on.load(Ordering::Relaxed) {
                let t = now_ns();
                if t - last > STALL_NS {
                    log.lock().unwrap().push((last, t));
                }
                last = t;
            }
        });
        w
    }

    pub(super) fn take(&self) -> Stalls {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.on.store(false, Ordering::Relaxed);
    }
}

/// Sorted and merged, each widened by `pad` at its end (queues drain).
pub(super) fn merge(mut v: Stalls, pad: u64) -> Stalls {
    v.sort_unstable();
    let mut out: Stalls = Vec::new();
    for (a, b) in v {
        let b = b + pad;
        match out.last_mut() {
            Some(l) if a <= l.1 => l.1 = l.1.max(b),
            _ => out.push((a, b)),
        }
    }
    out
}

pub(super) fn overlaps(stalls: &Stalls, a: u64, b: u64) -> bool {
    let i = stalls.partition_point(|s| s.1 < a);
    i < stalls.len() && stalls[i].0 <= b
}
