//! The sockets of CopterSim.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rostrans_rflysim::{
    Kind, Packet as _, Series,
    control::InOffboardShortData,
    detect,
    estimate::{EKF_FIXED, OutHilStateData, OutHilStateShort, STATE},
    event::{CopterSimCrash, Ue4CmdGps},
    imu::{HeartbeatRequest, ImuDataCopter, RflyTimeStmp, SensorReqCopterSim},
    model::{DllInDoubCtrls, PX4SILIntFloat},
    port,
    setup::ReCopterSimMsg,
    truth::SOut2Simulator,
};

use crate::{
    Copter, SimError,
    copter::ORIGIN,
    forms::{Packets, singles, truth_as},
    socket::{open, receive, send},
};

/// What to simulate.
#[derive(Clone, Debug)]
pub struct CopterSimConfig {
    /// Number of the first vehicle.
    pub first: u16,
    /// Vehicles.
    pub count: u16,
    /// Where packets go.
    pub target: IpAddr,
    /// Address to listen on.
    pub listen: IpAddr,
    /// States a second.
    pub rate: f64,
    /// Their form.
    pub packets: Packets,
    /// UDP mode 0 or 1: the autopilot's estimate goes to the 20101-series too. None sends none.
    pub udp_mode: Option<u8>,
}

impl Default for CopterSimConfig {
    fn default() -> Self {
        Self {
            first: 1,
            count: 1,
            target: Ipv4Addr::LOCALHOST.into(),
            listen: Ipv4Addr::LOCALHOST.into(),
            rate: 100.0,
            packets: Packets::Full,
            udp_mode: None,
        }
    }
}

/// Vehicles and their sockets.
#[derive(Debug)]
pub struct CopterSim {
    config: CopterSimConfig,
    vehicles: Vec<Vehicle>,
    began: SystemTime,
    /// States sent of each vehicle.
    states: u64,
}

#[derive(Debug)]
struct Vehicle {
    copter: Copter,
    number: u16,
    model: UdpSocket,
    control: UdpSocket,
    imu: Option<ImuStream>,
    heartbeats: i64,
    /// Who asked for time heartbeats.
    clocks: Vec<SocketAddr>,
    obeyed: u64,
    /// The vehicle it has just run into.
    touching: Option<i32>,
}

/// IMU samples that somebody asked for.
#[derive(Debug)]
struct ImuStream {
    to: SocketAddr,
    /// Samples a second.
    rate: f64,
    /// Simulation time of the request, s.
    since: f64,
    sent: i32,
}

impl CopterSim {
    /// Opens the sockets; vehicles stand in a row, 2 m apart to the east.
    ///
    /// **Errors**: a port is in use, or above 65535.
    pub fn open(config: CopterSimConfig) -> Result<Self, SimError> {
        let mut vehicles = Vec::new();
        for number in config.first..config.first.saturating_add(config.count) {
            let socket = |base, what| {
                let port = port::of_vehicle(base, number).ok_or(SimError::Ports(number))?;
                open(SocketAddr::new(config.listen, port), what)
            };
            // Their highest port is that of the truth.
            port::of_vehicle(port::EXTENSION, number).ok_or(SimError::Ports(number))?;
            let spawn = [0.0, 2.0 * f64::from(number - config.first), 0.0];
            vehicles.push(Vehicle {
                copter: Copter::new(number.into(), spawn),
                number,
                model: socket(port::MODEL, "model inputs")?,
                control: socket(port::CONTROL, "flight control")?,
                imu: None,
                heartbeats: 0,
                clocks: Vec::new(),
                obeyed: 0,
                touching: None,
            });
        }
        Ok(Self { config, vehicles, began: SystemTime::now(), states: 0 })
    }

    /// The vehicles as they are.
    pub fn copters(&self) -> impl Iterator<Item = &Copter> {
        self.vehicles.iter().map(|vehicle| &vehicle.copter)
    }

    /// Commands that each vehicle has obeyed.
    pub fn obeyed(&self) -> impl Iterator<Item = u64> {
        self.vehicles.iter().map(|vehicle| vehicle.obeyed)
    }

    /// Runs in real time until something comes through `stop` or its sender is gone; `watch` is called ten times a second
    /// and ends the run with `false`.
    pub fn run(&mut self, stop: &Receiver<()>, mut watch: impl FnMut(&Self) -> bool) {
        let period = Duration::from_secs_f64(1.0 / self.config.rate.clamp(1.0, 1000.0));
        let mut next = Instant::now();
        let mut watched = next;
        loop {
            self.step(period);
            let now = Instant::now();
            if now.saturating_duration_since(watched) >= Duration::from_millis(100) {
                watched = now;
                if !watch(self) {
                    return;
                }
            }
            // Too slow, or stopped for a while: no burst.
            next = (next + period).max(now);
            let wait = next.saturating_duration_since(now);
            if stop.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Reads what came, lets time pass, and sends a state of each vehicle.
    pub fn step(&mut self, dt: Duration) {
        let Self { config, vehicles, began, states } = self;
        for vehicle in vehicles.iter_mut() {
            vehicle.read();
            vehicle.copter.step(dt.as_secs_f64());
            vehicle.tell(config, *began, *states);
        }
        let places: BTreeMap<i32, [f64; 3]> =
            vehicles.iter().map(|vehicle| (vehicle.copter.id, vehicle.copter.position)).collect();
        for vehicle in vehicles.iter_mut() {
            vehicle.collide(config, &places);
        }
        *states += 1;
    }
}

impl Vehicle {
    fn read(&mut self) {
        let mut bytes = [0; 2048];
        // A flood must not stop the others.
        for _ in 0..64 {
            let Some((datagram, from)) = receive(&self.model, &mut bytes) else { break };
            match detect(Series::Model, datagram) {
                Some(Kind::PX4SILIntFloat) => {
                    let Ok(packet) = PX4SILIntFloat::decode(datagram) else { continue };
                    self.obeyed += 1;
                    self.copter.obey(&packet);
                }
                Some(Kind::DllInDoubCtrls) => {
                    let Ok(packet) = DllInDoubCtrls::decode(datagram) else { continue };
                    self.obeyed += 1;
                    self.copter.obey(&singles(&packet));
                }
                Some(Kind::SensorReqCopterSim) => {
                    let Ok(request) = SensorReqCopterSim::decode(datagram) else { continue };
                    let ip = match Ipv4Addr::from(request.ip) {
                        ip if ip.is_loopback() || ip.is_unspecified() => from.ip(),
                        ip => ip.into(),
                    };
                    let to = SocketAddr::new(ip, request.port);
                    if self.imu.as_ref().is_none_or(|imu| imu.to != to) {
                        let (rate, since) = (request.update_freq.into(), self.copter.time);
                        self.imu = Some(ImuStream { to, rate, since, sent: 0 });
                    }
                }
                Some(Kind::HeartbeatRequest) => {
                    let asked = HeartbeatRequest::decode(datagram).is_ok_and(|r| matches!(r.code, 90 | 91));
                    if asked && !self.clocks.contains(&from) && self.clocks.len() < 16 {
                        self.clocks.push(from);
                    }
                }
                Some(Kind::ReCopterSimMsg) => {
                    let Ok(message) = ReCopterSimMsg::decode(datagram) else { continue };
                    self.move_to(&message);
                }
                Some(kind) => tracing::debug!(vehicle = self.number, ?kind, "not simulated"),
                None => {
                    tracing::warn!(vehicle = self.number, bytes = datagram.len(), "no packet of CopterSim")
                }
            }
        }
        for _ in 0..64 {
            let Some((datagram, _)) = receive(&self.control, &mut bytes) else { break };
            match detect(Series::Control, datagram) {
                Some(Kind::InOffboardShortData) => {
                    let Ok(packet) = InOffboardShortData::decode(datagram) else { continue };
                    self.obeyed += 1;
                    self.copter.obey_simple(&packet);
                }
                Some(Kind::Reinit) => self.copter = Copter::new(self.copter.id, self.copter.spawn),
                Some(kind) => tracing::debug!(vehicle = self.number, ?kind, "not simulated"),
                None => {
                    tracing::warn!(vehicle = self.number, bytes = datagram.len(), "no packet of CopterSim")
                }
            }
        }
    }

    fn move_to(&mut self, message: &ReCopterSimMsg) {
        let [x, y] = message.xy;
        let [_, _, z] = self.copter.position;
        if message.is_xy_yaw == 1 && x.is_finite() && y.is_finite() {
            let height = if message.is_zrp > 0 { f64::from(message.z_roll_pitch[0]) } else { z };
            let place = [x, y, height];
            let mut moved = Copter::new(self.copter.id, place);
            moved.time = self.copter.time;
            moved.yaw = f64::from(message.yaw).to_radians();
            self.copter = moved;
        }
    }

    fn tell(&mut self, config: &CopterSimConfig, began: SystemTime, count: u64) {
        let truth = self.copter.truth();
        let to = |base| port::of_vehicle(base, self.number).map(|port| SocketAddr::new(config.target, port));
        if let Some(to) = to(port::TRUTH) {
            send(&self.model, &truth_as(config.packets, &truth, count), to);
            // About once a second, and soon after the start.
            if count % 100 == 5 {
                send(&self.model, &Ue4CmdGps { copter_id: self.copter.id, origin: ORIGIN }.encode(), to);
            }
        }
        if let Some((mode, to)) = config.udp_mode.zip(to(port::ESTIMATE)) {
            send(&self.control, &self.estimate(mode, &truth, count), to);
        }
        if let Some(imu) = &mut self.imu {
            let due = (self.copter.time - imu.since) * imu.rate;
            for _ in 0..20 {
                if f64::from(imu.sent) >= due {
                    break;
                }
                imu.sent = imu.sent.wrapping_add(1);
                let sample = ImuDataCopter {
                    seq: imu.sent,
                    timestmp: self.copter.time,
                    acc: truth.acc_b,
                    rate: truth.rate_b,
                };
                send(&self.model, &sample.encode(), imu.to);
            }
        }
        if !self.clocks.is_empty() && count.is_multiple_of(100) {
            self.heartbeats += 1;
            let ms = |at: SystemTime| {
                let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or_default()
            };
            let beat = RflyTimeStmp {
                copter_id: self.copter.id,
                sys_start_time: ms(began),
                sys_current_time: ms(SystemTime::now()),
                heart_count: self.heartbeats,
            };
            for to in &self.clocks {
                send(&self.model, &beat.encode(), *to);
            }
        }
    }

    fn estimate(&self, mode: u8, truth: &SOut2Simulator, count: u64) -> Vec<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "degrees and metres fit")]
        let gps = |[lat, lon, alt]: [f64; 3]| [(lat * 1e7) as i32, (lon * 1e7) as i32, (alt * 1e3) as i32];
        let home = Copter::new(self.copter.id, self.copter.spawn).truth().pos_gps;
        let local = std::array::from_fn(|axis| {
            let of = |v: &[f64; 3]| v.get(axis).copied().unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
            let place = (of(&self.copter.position) - of(&self.copter.spawn)) as f32;
            place
        });
        if mode == 1 {
            let checksum = if count % 100 == 7 { EKF_FIXED } else { STATE };
            let short = OutHilStateShort {
                checksum,
                gps_home: gps(home),
                ang_eular: truth.ang_euler,
                local_pos: local,
                local_vel: truth.vel_e,
            };
            return short.encode();
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "as in the vendor's packet"
        )]
        let full = OutHilStateData {
            tg: -1,
            len: 112,
            time_boot_ms: (self.copter.time * 1e3) as u32,
            copter_id: self.copter.id.unsigned_abs(),
            gps_pos: gps(truth.pos_gps),
            gps_vel: truth.vel_e.map(|v| (v * 100.0) as i32),
            gps_home: gps(home),
            relative_alt: (-local[2] * 1e3) as i32,
            satellites_visible: 10,
            fix_type: 3,
            ang_eular: truth.ang_euler,
            local_pos: local,
            local_vel: truth.vel_e,
            pos_horiz_accuracy: 0.5,
            pos_vert_accuracy: 0.75,
            resrve_float: 1.0,
            ..OutHilStateData::default()
        };
        full.encode()
    }

    /// Vehicles that come closer than half a metre in the air have crashed.
    fn collide(&mut self, config: &CopterSimConfig, places: &BTreeMap<i32, [f64; 3]>) {
        let [x, y, z] = self.copter.position;
        let touches = |(id, [ox, oy, oz]): (&i32, &[f64; 3])| {
            let near = (x - ox).hypot(y - oy).hypot(z - oz) < 0.5;
            (*id != self.copter.id && near).then_some(*id)
        };
        let touching = places.iter().find_map(touches);
        if touching != self.touching {
            self.touching = touching;
            let to =
                port::of_vehicle(port::TRUTH, self.number).map(|port| SocketAddr::new(config.target, port));
            if let Some((target_id, to)) = touching.zip(to) {
                send(&self.model, &CopterSimCrash { copter_id: self.copter.id, target_id }.encode(), to);
            }
        }
    }
}
