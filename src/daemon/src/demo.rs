//! `rostrans demo coptersim`: vehicles to try rostrans with, in place of RflySim.

mod invitation;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rostrans_core::{
    diag::Diagnostic,
    text::{chain, excerpt},
};
use rostrans_sim::{CopterSim, CopterSimConfig, Packets, Scene, SceneConfig, SceneEvent, SimError};
use serde_json::json;

use crate::{
    exit::Exit,
    network::options::{Given, HELP, JSON, Opt, describe, problem},
    print, report,
    signals::Signals,
};

use self::invitation::invitation;

const VEHICLES: Opt =
    Opt { names: &["-n", "--vehicles"], value: Some("NUMBER"), doc: "how many, 1 to 255 (default: 1)" };
const FIRST: Opt =
    Opt { names: &["--first"], value: Some("NUMBER"), doc: "number of the first one (default: 1)" };
const TARGET: Opt = Opt {
    names: &["--target"],
    value: Some("IP"),
    doc: "where rostrans runs, for states (default: 127.0.0.1)",
};
const LISTEN: Opt =
    Opt { names: &["--listen"], value: Some("IP"), doc: "address to take commands on (default: 127.0.0.1)" };
const RATE: Opt =
    Opt { names: &["--rate"], value: Some("HZ"), doc: "states a second, 1 to 1000 (default: 100)" };
const PACKETS: Opt = Opt {
    names: &["--packets"],
    value: Some("FORM"),
    doc: "of states: full, simple, old, v1, v0 or mixed (default: full)",
};
const UDP_MODE: Opt = Opt {
    names: &["--udp-mode"],
    value: Some("MODE"),
    doc: "0 (Full) or 1 (Simple): send the autopilot's estimate, too",
};
const WINDOWS: Opt =
    Opt { names: &["--windows"], value: Some("NUMBER"), doc: "windows of RflySim3D, 0 to 100 (default: 1)" };
const REPORTS: Opt = Opt {
    names: &["--reports"],
    value: Some("ADDRESS"),
    doc: "where RflySim3D reports to (default: 224.0.0.10:20006)",
};
const INTERFACE: Opt =
    Opt { names: &["--interface"], value: Some("IP"), doc: "interface for multicast (default: 127.0.0.1)" };
const SECONDS: Opt =
    Opt { names: &["--seconds"], value: Some("NUMBER"), doc: "end after so long (default: at Ctrl-C)" };
const OPTIONS: &[&Opt] = &[
    &VEHICLES, &FIRST, &TARGET, &LISTEN, &RATE, &PACKETS, &UDP_MODE, &WINDOWS, &REPORTS, &INTERFACE,
    &SECONDS, &JSON, &HELP,
];

/// What was asked for.
#[derive(Debug)]
struct Request {
    copters: CopterSimConfig,
    scene: Option<SceneConfig>,
    seconds: Option<f64>,
    json: bool,
}

/// Runs `rostrans demo` with the words behind it.
pub(crate) fn main(words: impl Iterator<Item = OsString>) -> Exit {
    match parse(words) {
        Ok(Some(request)) => run(&request),
        Ok(None) => print(&help()),
        Err(problems) => {
            report(&problems);
            Exit::Usage
        }
    }
}

/// `None` when help is wanted.
fn parse(words: impl Iterator<Item = OsString>) -> Result<Option<Request>, Vec<Diagnostic>> {
    let given = Given::parse(words, OPTIONS)?;
    if given.has(&HELP) || given.words.is_empty() {
        return Ok(None);
    }
    let mut problems = Vec::new();
    if given.words != ["coptersim"] {
        let words = given.words.join(" ");
        problems
            .push(problem(format!("unexpected '{}'", excerpt(&words)), "write 'rostrans demo coptersim'"));
    }
    let loopback = Ipv4Addr::LOCALHOST;
    let count = number(&given, &VEHICLES, 1..=255, 1, &mut problems);
    let first = number(&given, &FIRST, 1..=255, 1, &mut problems);
    let windows = number(&given, &WINDOWS, 0..=100, 1, &mut problems);
    let rate = number(&given, &RATE, 1..=1000, 100, &mut problems);
    let listen: IpAddr = value(&given, &LISTEN, loopback.into(), "an IP address", &mut problems);
    let interface = value(&given, &INTERFACE, loopback, "an IPv4 address", &mut problems);
    let copters = CopterSimConfig {
        first,
        count,
        target: value(&given, &TARGET, loopback.into(), "an IP address", &mut problems),
        listen,
        rate: rate.into(),
        packets: named(&given, &PACKETS, &Packets::NAMES, Packets::Full, &mut problems),
        udp_mode: given
            .last(&UDP_MODE)
            .map(|_| u8::from(number(&given, &UDP_MODE, 0..=1, 0, &mut problems) == 1)),
    };
    let reports = SceneConfig::default().reports;
    let reports: SocketAddr =
        value(&given, &REPORTS, reports, "an address such as 127.0.0.1:20006", &mut problems);
    let scene = (windows > 0).then_some(SceneConfig { windows, listen, reports, interface });
    let seconds =
        given.last(&SECONDS).map(|_| value(&given, &SECONDS, 0.0, "a number of seconds", &mut problems));
    if problems.is_empty() {
        Ok(Some(Request { copters, scene, seconds, json: given.has(&JSON) }))
    } else {
        Err(problems)
    }
}

fn value<T: FromStr>(
    given: &Given,
    option: &Opt,
    default: T,
    what: &str,
    problems: &mut Vec<Diagnostic>,
) -> T {
    let Some(text) = given.last(option) else { return default };
    text.parse().unwrap_or_else(|_| {
        let name = option.names.last().copied().unwrap_or_default();
        problems.push(problem(format!("{name}: invalid value '{}'", excerpt(text)), format!("write {what}")));
        default
    })
}

fn number(
    given: &Given,
    option: &Opt,
    range: std::ops::RangeInclusive<u16>,
    default: u16,
    problems: &mut Vec<Diagnostic>,
) -> u16 {
    let what = format!("a whole number from {} to {}", range.start(), range.end());
    let number = value(given, option, default, &what, problems);
    if !range.contains(&number) {
        let name = option.names.last().copied().unwrap_or_default();
        problems.push(problem(format!("{name}: {number} is too low or too high"), format!("write {what}")));
    }
    number
}

fn named<T: Copy>(
    given: &Given,
    option: &Opt,
    names: &[(&str, T)],
    default: T,
    problems: &mut Vec<Diagnostic>,
) -> T {
    let Some(text) = given.last(option) else { return default };
    let found = names.iter().find(|(name, _)| *name == text);
    found.map_or_else(
        || {
            let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            let name = option.names.last().copied().unwrap_or_default();
            let help = format!("write one of {}", all.join(", "));
            problems.push(problem(format!("{name}: invalid value '{}'", excerpt(text)), help));
            default
        },
        |(_, found)| *found,
    )
}

fn run(request: &Request) -> Exit {
    let opened = || -> Result<_, SimError> {
        let copters = CopterSim::open(request.copters.clone())?;
        let scene = request.scene.clone().map(Scene::open).transpose()?;
        Ok((copters, scene))
    };
    let (copters, scene) = match opened() {
        Ok(opened) => opened,
        Err(error) => {
            let help = "is CopterSim, RflySim3D or another demo running here?";
            report(&[problem(chain(&error), help)]);
            return Exit::Unavailable;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report(&[problem(format!("cannot wait for signals: {error}"), "")]);
            return Exit::Unavailable;
        }
    };
    let (stop, stopped) = mpsc::channel();
    let (ended, mut end) = tokio::sync::mpsc::channel::<()>(1);
    let show = Show { json: request.json, began: Instant::now(), told: None, seen: Vec::new() };
    let limit = request.seconds.map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX));
    show.start(request);
    let simulation = thread::spawn(move || {
        // Dropped at the end, which tells the main thread.
        let _ended = ended;
        simulate(copters, scene, &stopped, show, limit);
    });
    runtime.block_on(async {
        match Signals::new() {
            Ok(mut signals) => tokio::select! {
                _ = signals.next() => {}
                _ = end.recv() => {}
            },
            Err(_) => drop(end.recv().await),
        }
    });
    drop(stop);
    match simulation.join() {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Unavailable,
    }
}

fn simulate(
    mut copters: CopterSim,
    mut scene: Option<Scene>,
    stop: &mpsc::Receiver<()>,
    mut show: Show,
    limit: Option<Duration>,
) {
    copters.run(stop, |copters| {
        let events = scene.as_mut().map(|scene| scene.step(copters.copters())).unwrap_or_default();
        let written = show.events(&events).and_then(|()| show.vehicles(copters));
        written.is_ok() && limit.is_none_or(|limit| show.began.elapsed() < limit)
    });
}

/// What people, or programs, read.
struct Show {
    json: bool,
    began: Instant,
    told: Option<Instant>,
    /// Armed and where, when it was last shown.
    seen: Vec<(bool, [f64; 3])>,
}

impl Show {
    fn start(&self, request: &Request) {
        let CopterSimConfig { first, count, .. } = request.copters;
        let mut out = io::stdout().lock();
        let _gone_reader_shows_later = if self.json {
            writeln!(out, "{}", json!({"event": "ready", "first": first, "vehicles": count}))
        } else {
            writeln!(out, "{}", invitation(first, count))
        };
    }

    fn events(&self, events: &[SceneEvent]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for event in events {
            if self.json {
                writeln!(out, "{}", scene_json(event))?;
            } else {
                writeln!(out, "RflySim3D: {event:?}")?;
            }
        }
        out.flush()
    }

    /// Once a second, vehicles that moved or were armed.
    fn vehicles(&mut self, sim: &CopterSim) -> io::Result<()> {
        let now = Instant::now();
        if self.told.is_some_and(|told| now.saturating_duration_since(told) < Duration::from_secs(1)) {
            return Ok(());
        }
        self.told = Some(now);
        let mut out = io::stdout().lock();
        for (index, (copter, obeyed)) in sim.copters().zip(sim.obeyed()).enumerate() {
            let [n, e, d] = copter.position;
            let state = (copter.armed, copter.position);
            let moved = self.seen.get(index).is_none_or(|(armed, [sn, se, sd])| {
                *armed != copter.armed || (n - sn).hypot(e - se).hypot(d - sd) > 0.1
            });
            if self.json {
                let line = json!({
                    "event": "vehicle", "id": copter.id, "armed": copter.armed, "position": copter.position,
                    "velocity": copter.velocity, "yaw": copter.yaw, "spawn": copter.spawn, "obeyed": obeyed,
                });
                writeln!(out, "{line}")?;
            } else if moved {
                let armed = if copter.armed { "armed" } else { "disarmed" };
                writeln!(
                    out,
                    "vehicle {:3}  {armed:8}  north {n:7.2}  east {e:7.2}  up {:6.2} m  {obeyed} commands",
                    copter.id,
                    0.0 - d
                )?;
            }
            match self.seen.get_mut(index) {
                Some(seen) if moved => *seen = state,
                Some(_) => {}
                None => self.seen.push(state),
            }
        }
        out.flush()
    }
}

fn scene_json(event: &SceneEvent) -> serde_json::Value {
    match event {
        SceneEvent::Command { window, text } => json!({"event": "command", "window": window, "text": text}),
        SceneEvent::Pose { window, copter_id, vehicle_type, position, fit_ground } => json!({
            "event": "pose", "window": window, "id": copter_id, "type": vehicle_type, "position": position,
            "fit_ground": fit_ground,
        }),
        SceneEvent::Label { window, copter_id, text } => {
            json!({"event": "label", "window": window, "id": copter_id, "text": text})
        }
        SceneEvent::Attached { window, pairs } => {
            json!({"event": "attached", "window": window, "pairs": pairs})
        }
        SceneEvent::Actuators { window, copter_id } => {
            json!({"event": "actuators", "window": window, "id": copter_id})
        }
        SceneEvent::Unknown { window, bytes } => {
            json!({"event": "unknown", "window": window, "bytes": bytes})
        }
    }
}

fn help() -> String {
    format!(
        "rostrans demo coptersim simulates vehicles that speak CopterSim's packets, and windows that speak RflySim3D's, \
         to try rostrans without RflySim.

usage: rostrans demo coptersim [options]

  rostrans demo coptersim -n 3                                                 in one terminal
  rostrans --enable_dllModel=true --enable_mavros=false --coptersim_count=3    in another

options:
{}
Vehicles obey model inputs on UDP 30100, 30102, ... and flight control on 20100, 20102, ..., and send their state to
30101, 30103, ... of the target. They stand 2 m apart, need no take-off and do not fall.
",
        describe(OPTIONS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Request>, String> {
        let words = line.split_whitespace().map(OsString::from);
        parse(words).map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect())
    }

    #[test]
    fn options_are_what_they_say() {
        let request =
            read("coptersim -n 10 --first 3 --packets mixed --udp-mode 1 --windows 0").unwrap().unwrap();
        assert_eq!(
            (request.copters.count, request.copters.first, request.copters.udp_mode),
            (10, 3, Some(1))
        );
        assert_eq!((request.copters.packets, request.scene.is_none()), (Packets::Mixed, true));
        assert!(read("").unwrap().is_none() && read("coptersim --help").unwrap().is_none());
    }

    #[test]
    fn mistakes_name_their_remedy() {
        let error = read("copter -n 0 --target here --packets big --rate 5000").unwrap_err();
        insta::assert_snapshot!(error, @r"
        command line: unexpected 'copter'; write 'rostrans demo coptersim'
        command line: --vehicles: 0 is too low or too high; write a whole number from 1 to 255
        command line: --rate: 5000 is too low or too high; write a whole number from 1 to 1000
        command line: --target: invalid value 'here'; write an IP address
        command line: --packets: invalid value 'big'; write one of full, simple, old, v1, v0, mixed
        ");
    }
}
