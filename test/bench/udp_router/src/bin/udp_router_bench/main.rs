//! Load generator and sink for UDP (or serial) MAVLink routers.
//!
//! One thread does all the load side: it paces frames to the router's flight
//! controller port, polls the endpoint sockets and takes the times, so that the
//! router has the other CPU to itself. See README.md.

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libc::{c_int, c_void, sockaddr_in};
use serde_json::{json, Value};
use urb::hist::Hist;
use urb::mav::{self, Mix};
use urb::net::{RecvBatch, SendBatch, Udp};
use urb::{now_ns, pin_to_cpu, procfs};

mod burst;
mod measure;
mod options;
mod pty;
mod traffic;
mod watch;

use options::{die, parse_args, Opt};
use pty::Pty;
use watch::{merge, overlaps, Stalls, Watch, STALL_NS};

const BATCH: usize = 64;
const SLOT: usize = 2048;
/// Frames one measurement may send; bounds memory and time.
const MAX_FRAMES: usize = 1 << 24;

#[derive(Clone, Copy, Debug)]
enum Load {
    Rate(f64),
    Closed(u64),
    Flood,
}

struct Sink {
    sock: Udp,
    peer: Option<sockaddr_in>,
    seen: Vec<u64>,
    unique: u64,
    dup: u64,
    reorder: u64,
    bad: u64,
    datagrams: u64,
    last: Vec<i64>,
    up_seq: u8,
}

#[derive(Default, Clone)]
struct Up {
    sent: u64,
    right: u64,
    wrong: u64,
    dup: u64,
    /// telemetry of another vehicle
    leaked: u64,
}

struct Engine {
    o: Opt,
    mix: Mix,
    vehicles: Vec<Udp>,
    fcu_addr: Vec<sockaddr_in>,
    vseq: Vec<u8>,
    epoll: c_int,
    sinks: Vec<Sink>,
    pty: Option<Pty>,
    rb: RecvBatch,
    sb: SendBatch,
    frames: Box<[u8]>,
    tag: u32,
    up: Up,
    up_seen: Vec<u64>,
    lat: Hist,
    up_lat: Hist,
    check_every: u32,
    arrived: u64,
    watch: Option<Watch>,
    /// (sent at, latency) of each frame, in the rate mode
    samples: Vec<(u64, u32)>,
    keep_samples: bool,
}


fn spawn_router(o: &Opt) -> Option<Child> {
    let cmd = o.spawn.as_ref()?;
    let mut c = Command::new("/bin/sh");
    c.arg("-c").arg(format!("exec {cmd}")).stdin(Stdio::null()).stdout(Stdio::null());
    let (cpu, nice) = (o.router_cpu, o.nice);
    unsafe {
        c.pre_exec(move || {
            // the router goes when this program goes
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if let Some(cpu) = cpu {
                pin_to_cpu(cpu);
            }
            libc::setpriority(libc::PRIO_PROCESS, 0, nice);
            Ok(())
        });
    }
    match c.spawn() {
        Ok(c) => Some(c),
        Err(e) => die(&format!("cannot start the router: {e}")),
    }
}

fn stop(mut c: Child) {
    unsafe { libc::kill(c.id() as i32, libc::SIGTERM) };
    for _ in 0..100 {
        if let Ok(Some(_)) = c.try_wait() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = c.kill();
    let _ = c.wait();
}

fn main() {
    let o = parse_args();
    let mut e = match Engine::new(&o) {
        Ok(e) => e,
        Err(x) => die(&x.to_string()),
    };
    let child = spawn_router(&o);
    let pid = o.pid.or(child.as_ref().map(|c| c.id() as i32));
    if let Some(cpu) = o.load_cpu {
        pin_to_cpu(cpu);
    }
    e.watch = o.watch_cpu.map(Watch::start);
    if o.nice != 0 && unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, o.nice) } != 0 {
        die("--nice: not allowed");
    }
    if child.is_some() {
        std::thread::sleep(Duration::from_secs_f64(o.settle));
    }
    let started = Instant::now();
    let ready = e.wait_ready(Duration::from_secs(15));
    let mut out = json!({
        "label": o.label,
        "mode": o.mode,
        "source": if o.serial.is_some() { "serial" } else { "udp" },
        "vehicles": o.vehicles,
        "fcu_ports": if o.fcu_step > 0 { o.vehicles } else { 1 },
        "endpoints": o.endpoints.len(),
        "burst": o.burst,
        "per_datagram": o.per_datagram,
        "frame_bytes_mean": (e.mix.mean_size() * 10.0).round() / 10.0,
        "frame_bytes_range": [e.mix.sizes().0, e.mix.sizes().1],
        "ready_ms": started.elapsed().as_millis() as u64,
        "ready": ready,
    });
    if ready {
        // a warm-up that is not reported
        let d = e.o.duration;
        e.o.duration = 0.3;
        e.measure(Load::Rate(e.o.rate.min(20_000.0)), None);
        e.o.duration = d;
        if o.mode == "search" {
            out["search"] = e.search(pid);
        } else if o.mode == "burst" {
            out["runs"] = json!((0..o.repeat).map(|_| e.bursts(pid)).collect::<Vec<_>>());
        } else {
            let load = match o.mode.as_str() {
                "rate" => Load::Rate(o.rate),
                "closed" => Load::Closed(o.window),
                _ => Load::Flood,
            };
            let runs: Vec<Value> = (0..o.repeat).map(|_| e.measure(load, pid)).collect();
            out["runs"] = json!(runs);
        }
    } else {
        out["error"] = json!("no frame reached every endpoint within 15 s");
    }
    if let Some(mut c) = child {
        if let Ok(Some(st)) = c.try_wait() {
            out["router_exit"] = json!(st.to_string());
        } else {
            stop(c);
        }
    }
    let text = serde_json::to_string_pretty(&out).unwrap() + "\n";
    match &o.json {
        Some(f) => std::fs::write(f, text).unwrap_or_else(|x| die(&format!("{f}: {x}"))),
        None => print!("{text}"),
    }

    if !ready {
        std::process::exit(1);
    }
}
