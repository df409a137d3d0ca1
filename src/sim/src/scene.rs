//! The sockets of RflySim3D: windows that take commands, and what it tells of the scene.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
};

use rostrans_rflysim::{
    Kind, Packet as _, Series, Text, detect, port,
    scene::{CameraData, CoptReqData, ObjReqData, ReqVeCrashData},
    truth::SOut2SimulatorSimpleTime,
    ue::{
        CopterMsg, FIT_GROUND, Multi3DData2New, Multi3DData100New, SOut2SimulatorSimple,
        SOut2SimulatorSimple1, Ue4Cmd, Ue4Cmd0, Ue4CmdNet, Ue4ExtMsg, VehicleAttatch25,
    },
};

use crate::{
    Copter, SimError,
    socket::{open, receive, send},
};

/// What to simulate.
#[derive(Clone, Debug)]
pub struct SceneConfig {
    /// Windows, each with a port.
    pub windows: u16,
    /// Address to listen on.
    pub listen: IpAddr,
    /// Where reports go: 224.0.0.10:20006, or an address.
    pub reports: SocketAddr,
    /// The interface for multicast.
    pub interface: Ipv4Addr,
}

impl Default for SceneConfig {
    fn default() -> Self {
        Self {
            windows: 1,
            listen: Ipv4Addr::LOCALHOST.into(),
            reports: (port::GROUP, port::SCENE).into(),
            interface: Ipv4Addr::LOCALHOST,
        }
    }
}

/// Something that was asked of RflySim3D.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneEvent {
    /// A console command; the window is none for all of a network.
    Command {
        /// Its number.
        window: Option<u16>,
        /// The text.
        text: String,
    },
    /// A vehicle or object was put somewhere.
    Pose {
        /// The window's number.
        window: u16,
        /// Of the vehicle or object.
        copter_id: i32,
        /// Class of the 3D model.
        vehicle_type: i32,
        /// m, NED, from the centre of the map.
        position: [f64; 3],
        /// It stands on the ground.
        fit_ground: bool,
    },
    /// A text at a vehicle.
    Label {
        /// The window's number.
        window: u16,
        /// Of the vehicle; 0 or less: all.
        copter_id: i32,
        /// The text.
        text: String,
    },
    /// Vehicles were attached: who, to whom, how.
    Attached {
        /// The window's number.
        window: u16,
        /// Pairs and types.
        pairs: Vec<(i32, i32, i32)>,
    },
    /// Inputs of a blueprint.
    Actuators {
        /// The window's number.
        window: u16,
        /// Of the vehicle.
        copter_id: i32,
    },
    /// No packet of RflySim3D.
    Unknown {
        /// The window's number.
        window: u16,
        /// Its length.
        bytes: usize,
    },
}

/// Windows and what they were asked to report.
#[derive(Debug)]
pub struct Scene {
    config: SceneConfig,
    windows: Vec<UdpSocket>,
    net: UdpSocket,
    /// `RflyReqVehicleData 1`.
    collisions: bool,
    cameras: BTreeSet<i32>,
    vehicles: BTreeSet<i32>,
    /// Name and the number of the request.
    objects: BTreeMap<String, i32>,
    /// Poses that were set: of vehicles that no CopterSim flies.
    placed: BTreeMap<i32, [f64; 3]>,
    count: u64,
}

impl Scene {
    /// Opens the windows' ports and that of the network.
    ///
    /// **Errors**: a port is in use, or the group cannot be joined.
    pub fn open(config: SceneConfig) -> Result<Self, SimError> {
        let window = |number: u16| open(SocketAddr::new(config.listen, port::UE + number), "RflySim3D");
        let windows = (0..config.windows.min(100)).map(window).collect::<Result<_, _>>()?;
        let addr = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port::UE_NET));
        let error = |source| SimError::Open { addr, what: "RflySim3D of all the network", source };
        let net = open(addr, "RflySim3D of all the network")?;
        net.join_multicast_v4(&port::GROUP, &config.interface).map_err(error)?;
        let socket = socket2::SockRef::from(&net);
        socket.set_multicast_if_v4(&config.interface).map_err(error)?;
        Ok(Self {
            config,
            windows,
            net,
            collisions: false,
            cameras: BTreeSet::new(),
            vehicles: BTreeSet::new(),
            objects: BTreeMap::new(),
            placed: BTreeMap::new(),
            count: 0,
        })
    }

    /// Reads what came and sends what was asked for; to be called about ten times a second.
    pub fn step<'a>(&mut self, copters: impl Iterator<Item = &'a Copter>) -> Vec<SceneEvent> {
        let mut events = Vec::new();
        let mut bytes = vec![0; 8192];
        for number in 0..self.windows.len() {
            for _ in 0..256 {
                let Some(socket) = self.windows.get(number) else { break };
                let Some((datagram, _)) = receive(socket, &mut bytes) else { break };
                let window = u16::try_from(number).unwrap_or_default();
                let event = take(window, datagram);
                self.note(&event);
                events.extend(event);
            }
        }
        while let Some((datagram, _)) = receive(&self.net, &mut bytes) {
            if let (Some(Kind::Ue4CmdNet), Ok(packet)) =
                (detect(Series::UeNet, datagram), Ue4CmdNet::decode(datagram))
            {
                let event = [SceneEvent::Command { window: None, text: packet.cmd.text().into_owned() }];
                self.note(&event);
                events.extend(event);
            }
        }
        self.report(copters);
        self.count += 1;
        events
    }

    /// Remembers what is to be reported.
    fn note(&mut self, events: &[SceneEvent]) {
        for event in events {
            match event {
                SceneEvent::Command { text, .. } => self.command(text),
                SceneEvent::Pose { copter_id, position, .. } if self.placed.len() < 1000 => {
                    self.placed.insert(*copter_id, *position);
                }
                _ => {}
            }
        }
    }

    fn command(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("RflyReqVehicleData"), Some(on), _) => self.collisions = on == "1",
            (Some("RflyReqObjData"), Some(operation), name) => {
                let number = name.and_then(|name| name.parse().ok());
                let operation = operation.parse::<i32>().unwrap_or(-1);
                match (operation, number, name) {
                    (0, Some(number), _) => drop(self.cameras.insert(number)),
                    (1, Some(number), _) => drop(self.vehicles.insert(number)),
                    (2, _, Some(name)) => {
                        let number = i32::try_from(self.objects.len()).unwrap_or_default();
                        self.objects.entry(name.to_owned()).or_insert(number);
                    }
                    (10, Some(number), _) => drop(self.cameras.remove(&number)),
                    (11, Some(number), _) => drop(self.vehicles.remove(&number)),
                    (12, _, Some(name)) => drop(self.objects.remove(name)),
                    (20, ..) => self.cameras.clear(),
                    (21, ..) => self.vehicles.clear(),
                    (22, ..) => self.objects.clear(),
                    (23, ..) => {
                        self.vehicles.clear();
                        self.objects.clear();
                    }
                    (24, ..) => {
                        self.cameras.clear();
                        self.vehicles.clear();
                        self.objects.clear();
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn report<'a>(&self, copters: impl Iterator<Item = &'a Copter>) {
        #[expect(clippy::cast_possible_truncation, reason = "the wire has single precision")]
        let narrow = |v: [f64; 3]| v.map(|n| n as f32);
        let timestmp = self.count as f64 / 10.0;
        let mut places: BTreeMap<i32, ([f64; 3], f64)> =
            self.placed.iter().map(|(id, place)| (*id, (*place, 0.0))).collect();
        let copters: Vec<&Copter> = copters.collect();
        places.extend(copters.iter().map(|copter| (copter.id, (copter.position, copter.yaw))));
        let to = self.config.reports;
        for id in &self.vehicles {
            let Some((place, yaw)) = places.get(id) else { continue };
            let ang_euler = narrow([0.0, 0.0, *yaw]);
            let [half_cos, half_sin, _] = narrow([(yaw / 2.0).cos(), (yaw / 2.0).sin(), 0.0]);
            let data = CoptReqData {
                copter_id: *id,
                pos_ue: narrow(*place),
                ang_euler,
                ang_quat: [half_cos, 0.0, 0.0, half_sin],
                box_origin: narrow(*place),
                box_extent: [0.25, 0.25, 0.1],
                timestmp,
            };
            send(&self.net, &data.encode(), to);
        }
        for (name, number) in &self.objects {
            let data = ObjReqData {
                seq_id: *number,
                pos_ue: [30.0, 10.0, -1.0],
                ang_quat: [1.0, 0.0, 0.0, 0.0],
                box_origin: [30.0, 10.0, -1.0],
                box_extent: [1.0, 1.0, 1.0],
                timestmp,
                obj_name: Text::cut(name),
                ..ObjReqData::default()
            };
            send(&self.net, &data.encode(), to);
        }
        for seq_id in &self.cameras {
            let data = CameraData {
                seq_id: *seq_id,
                type_id: 1,
                data_height: 480,
                data_width: 640,
                camera_fov: 90.0,
                ang_quat: [1.0, 0.0, 0.0, 0.0],
                timestmp,
                ..CameraData::default()
            };
            send(&self.net, &data.encode(), to);
        }
        if self.collisions && self.count.is_multiple_of(10) {
            for copter in copters {
                let truth = copter.truth();
                let on_ground = copter.position[2] >= copter.spawn[2];
                let data = ReqVeCrashData {
                    copter_id: copter.id,
                    vehicle_type: truth.vehicle_type,
                    crash_type: if on_ground { -2 } else { 0 },
                    runned_time: truth.runned_time,
                    vel_e: truth.vel_e,
                    pos_e: narrow(copter.position),
                    ang_euler: truth.ang_euler,
                    motor_rpms: truth.motor_rpms,
                    crashed_name: Text::cut(if on_ground { "Ground" } else { "" }),
                    ..ReqVeCrashData::default()
                };
                send(&self.net, &data.encode(), to);
            }
        }
    }
}

/// What a datagram asks for.
fn take(window: u16, datagram: &[u8]) -> Vec<SceneEvent> {
    let one = |event| vec![event];
    let unknown = || vec![SceneEvent::Unknown { window, bytes: datagram.len() }];
    let wide = |v: [f32; 3]| v.map(f64::from);
    let pose = |copter_id, vehicle_type, position, checksum| SceneEvent::Pose {
        window,
        copter_id,
        vehicle_type,
        position,
        fit_ground: checksum == FIT_GROUND,
    };
    match detect(Series::Ue, datagram) {
        Some(Kind::Ue4Cmd0) => Ue4Cmd0::decode(datagram).map_or_else(
            |_| unknown(),
            |p| one(SceneEvent::Command { window: Some(window), text: p.cmd.text().into_owned() }),
        ),
        Some(Kind::Ue4Cmd) => Ue4Cmd::decode(datagram).map_or_else(
            |_| unknown(),
            |p| one(SceneEvent::Command { window: Some(window), text: p.cmd.text().into_owned() }),
        ),
        Some(Kind::SOut2SimulatorSimpleTime) => SOut2SimulatorSimpleTime::decode(datagram)
            .map_or_else(|_| unknown(), |p| one(pose(p.copter_id, p.vehicle_type, p.pos_e, 0))),
        Some(Kind::SOut2SimulatorSimple) => SOut2SimulatorSimple::decode(datagram).map_or_else(
            |_| unknown(),
            |p| one(pose(p.copter_id, p.vehicle_type, wide(p.pos_e), p.checksum)),
        ),
        Some(Kind::SOut2SimulatorSimple1) => SOut2SimulatorSimple1::decode(datagram).map_or_else(
            |_| unknown(),
            |p| one(pose(p.copter_id, p.vehicle_type, wide(p.pos_e), p.checksum)),
        ),
        Some(Kind::Multi3DData2New) => Multi3DData2New::decode(datagram).map_or_else(
            |_| unknown(),
            |p| {
                many(&p.copter_ids, &p.vehicle_types, &p.pos_e, |id, kind, at| {
                    pose(id, kind, wide(at), p.checksum)
                })
            },
        ),
        Some(Kind::Multi3DData100New) => Multi3DData100New::decode(datagram).map_or_else(
            |_| unknown(),
            |p| {
                many(&p.copter_ids, &p.vehicle_types, &p.pos_e, |id, kind, at| {
                    pose(id, kind, wide(at), p.checksum)
                })
            },
        ),
        Some(Kind::CopterMsg) => CopterMsg::decode(datagram).map_or_else(
            |_| unknown(),
            |p| one(SceneEvent::Label { window, copter_id: p.copter_id, text: p.text.text().into_owned() }),
        ),
        Some(Kind::VehicleAttatch25) => VehicleAttatch25::decode(datagram).map_or_else(
            |_| unknown(),
            |p| {
                let rows = p.copter_ids.into_iter().zip(p.attatch_ids).zip(p.attatch_types);
                let pairs = rows.map(|((who, whom), how)| (who, whom, how)).filter(|(who, ..)| *who > 0);
                one(SceneEvent::Attached { window, pairs: pairs.collect() })
            },
        ),
        Some(Kind::Ue4ExtMsg) => Ue4ExtMsg::decode(datagram)
            .map_or_else(|_| unknown(), |p| one(SceneEvent::Actuators { window, copter_id: p.copter_id })),
        _ => unknown(),
    }
}

/// The rows of a batch that are used.
fn many(
    ids: &[u16],
    types: &[u16],
    places: &[[f32; 3]],
    event: impl Fn(i32, i32, [f32; 3]) -> SceneEvent,
) -> Vec<SceneEvent> {
    let rows = ids.iter().zip(types).zip(places).filter(|((id, _), _)| **id > 0);
    rows.map(|((id, kind), place)| event((*id).into(), (*kind).into(), *place)).collect()
}
