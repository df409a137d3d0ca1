//! The command line.

use super::*;

const HELP: &str = "\
udp_router_bench MODE [options]     MAVLink router load generator and sink

MODE
  rate      send at --rate for --duration; loss, latency, CPU and memory
  closed    at most --window frames on their way: the highest lossless throughput
  flood     send as fast as the machine can; what still arrives
  burst     bursts of 16 and 128 frames, each drained before the next: the
            service time of a frame, robust where the machine itself stalls
  search    the highest rate with loss <= --max-loss

Topology
  --fcu IP:PORT          the router's flight controller port  [127.0.0.1:14560]
  --fcu-step N           vehicle i sends to port + i*N        [0: all on one port]
  --endpoints A,B,..     endpoints the sinks bind, IP:PORT    [127.0.0.1:14550]
  --vehicles N           vehicles, each a socket and a sysid  [1]
  --serial LINK          flight controller on a PTY; LINK becomes a symlink to it
Load
  --rate R               frames/s in all                      [10000]
  --upstream R           frames/s from the endpoints in all   [0]
  --window N             closed: frames on their way          [128]
  --burst N              frames a vehicle sends in a row      [1]
  --per-datagram N       frames packed in one datagram        [1]
  --no-signed            leave the 280-byte signed frame out
  --duration S           seconds of one measurement           [2]
  --repeat N             measurements (rate, closed, flood)   [1]
Search
  --lo R --hi R          bounds of the rate                   [5000, 3000000]
  --max-loss F           highest loss that passes             [0.001]
  --precision F          stop at this relative width          [0.03]
  --retries N            further tries of a failed rate       [1]
Router
  --pid N                router to watch, or
  --spawn CMD            start this (sh -c 'exec CMD'), end it afterwards
  --settle S             seconds given to it before the first frame [0.5]
  --router-cpu N         CPU of the spawned router
  --load-cpu N           CPU of this program
  --watch-cpu N          an idle-priority thread on that CPU notes when the
                         machine takes it away for over half a millisecond; latencies
                         that overlap such a time are left out of latency_clean
                         (only on a machine that runs nothing else)      [none]
  --nice N               priority of this program and of the spawned router [0]
Output
  --label TEXT           copied into the JSON
  --json FILE            write there instead of standard output
";

#[derive(Clone)]
pub(super) struct Opt {
    pub(super) mode: String,
    pub(super) fcu: SocketAddrV4,
    pub(super) fcu_step: u16,
    pub(super) endpoints: Vec<SocketAddrV4>,
    pub(super) vehicles: usize,
    pub(super) serial: Option<String>,
    pub(super) rate: f64,
    pub(super) upstream: f64,
    pub(super) window: u64,
    pub(super) burst: usize,
    pub(super) per_datagram: usize,
    pub(super) signed: bool,
    pub(super) duration: f64,
    pub(super) repeat: usize,
    pub(super) lo: f64,
    pub(super) hi: f64,
    pub(super) max_loss: f64,
    pub(super) precision: f64,
    pub(super) retries: usize,
    pub(super) pid: Option<i32>,
    pub(super) spawn: Option<String>,
    pub(super) settle: f64,
    pub(super) router_cpu: Option<usize>,
    pub(super) load_cpu: Option<usize>,
    pub(super) watch_cpu: Option<usize>,
    pub(super) nice: i32,
    pub(super) label: String,
    pub(super) json: Option<String>,
}

pub(super) fn die(msg: &str) -> ! {
    eprintln!("udp_router_bench: {msg}");
    std::process::exit(2);
}

pub(super) fn parse_args() -> Opt {
    let mut o = Opt {
        mode: String::new(),
        fcu: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 14560),
        fcu_step: 0,
        endpoints: vec![SocketAddrV4::new(Ipv4Addr::LOCALHOST, 14550)],
        vehicles: 1,
        serial: None,
        rate: 10_000.0,
        upstream: 0.0,
        window: 128,
        burst: 1,
        per_datagram: 1,
        signed: true,
        duration: 2.0,
        repeat: 1,
        lo: 5_000.0,
        hi: 3_000_000.0,
        max_loss: 0.001,
        precision: 0.03,
        retries: 1,
        pid: None,
        spawn: None,
        settle: 0.5,
        router_cpu: None,
        load_cpu: None,
        watch_cpu: None,
        nice: 0,
        label: String::new(),
        json: None,
    };
    let mut args = std::env::args().skip(1);
    let mut seen_mode = false;
    fn num<T: std::str::FromStr>(k: &str, v: &str) -> T {
        v.parse().unwrap_or_else(|_| die(&format!("{k}: '{v}' is not a valid value")))
    }
    while let Some(a) = args.next() {
        if a == "-h" || a == "--help" {
            print!("{HELP}");
            std::process::exit(0);
        }
        if !a.starts_with("--") {
            if seen_mode {
                die(&format!("unexpected argument '{a}'"));
            }
            seen_mode = true;
            o.mode = a;
            continue;
        }
        if a == "--no-signed" {
            o.signed = false;
            continue;
        }
        let v = args.next().unwrap_or_else(|| die(&format!("{a} needs a value")));
        match a.as_str() {
            "--fcu" => o.fcu = num(&a, &v),
            "--fcu-step" => o.fcu_step = num(&a, &v),
            "--endpoints" => o.endpoints = v.split(',').map(|e| num(&a, e)).collect(),
            "--vehicles" => o.vehicles = num(&a, &v),
            "--serial" => o.serial = Some(v),
            "--rate" => o.rate = num(&a, &v),
            "--upstream" => o.upstream = num(&a, &v),
            "--window" => o.window = num(&a, &v),
            "--burst" => o.burst = num(&a, &v),
            "--per-datagram" => o.per_datagram = num(&a, &v),
            "--duration" => o.duration = num(&a, &v),
            "--repeat" => o.repeat = num(&a, &v),
            "--lo" => o.lo = num(&a, &v),
            "--hi" => o.hi = num(&a, &v),
            "--max-loss" => o.max_loss = num(&a, &v),
            "--precision" => o.precision = num(&a, &v),
            "--retries" => o.retries = num(&a, &v),
            "--pid" => o.pid = Some(num(&a, &v)),
            "--spawn" => o.spawn = Some(v),
            "--settle" => o.settle = num(&a, &v),
            "--router-cpu" => o.router_cpu = Some(num(&a, &v)),
            "--load-cpu" => o.load_cpu = Some(num(&a, &v)),
            "--watch-cpu" => o.watch_cpu = Some(num(&a, &v)),
            "--nice" => o.nice = num(&a, &v),
            "--label" => o.label = v,
            "--json" => o.json = Some(v),
            _ => die(&format!("unknown option {a}")),
        }
    }
    if !["rate", "closed", "flood", "search", "burst"].contains(&o.mode.as_str()) {
        die("say a mode: rate, closed, flood, burst or search (--help tells more)");
    }
    if o.vehicles == 0 || o.vehicles > 200 {
        die("--vehicles: 1 to 200");
    }
    if o.serial.is_some() && o.vehicles != 1 {
        die("--serial has one vehicle");
    }
    for a in o.endpoints.iter().chain([&o.fcu]) {
        if !a.ip().is_loopback() {
            die("only loopback addresses are ever loaded");
        }
    }
    if !(o.duration > 0.0 && o.duration <= 60.0) {
        die("--duration: up to 60 seconds");
    }
    o.burst = o.burst.clamp(1, BATCH);
    o.per_datagram = o.per_datagram.clamp(1, 5);
    o
}
