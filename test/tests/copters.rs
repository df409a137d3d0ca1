//! Fifty vehicles of CopterSim, from the plugin's parameters over loopback sockets into the memory graph.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use rostrans_adapter_memory::MemoryAdapter;
use rostrans_core::{
    adapter::{Fabric, RosVersion},
    clock::SystemClock,
    filter::TopicFilter,
    param::ParamSet,
    plugin::Plugin as _,
    rule::ForwardRule,
};
use rostrans_engine::{
    adapters::AdapterSet,
    plan::{PlanContext, plan},
    running::{Deps, Shutdown, start},
    topology::Device,
    transports::SystemTransports,
};
use rostrans_plugins::DllModel;
use rostrans_rflysim::{Packet as _, estimate::OutHilStateShort, truth::SOut2Simulator};
use rostrans_schema::{TypeName, TypeRegistry};
use serde_json::Value;

const VEHICLES: u8 = 50;
/// Packets of each vehicle that are on their way at once; a socket of any system holds them.
const BURST: u32 = 10;
const BURSTS: u32 = 10;
const TOPICS: [(&str, &str); 6] = [
    ("local_position/pose", "geometry_msgs/msg/PoseStamped"),
    ("local_position/velocity_local", "geometry_msgs/msg/TwistStamped"),
    ("local_position/velocity_body", "geometry_msgs/msg/TwistStamped"),
    ("local_position/odom", "nav_msgs/msg/Odometry"),
    ("global_position/global", "sensor_msgs/msg/NavSatFix"),
    ("imu/data", "sensor_msgs/msg/Imu"),
];
/// No test waits longer for anything.
const DEADLINE: Duration = Duration::from_secs(60);

fn rules() -> Vec<ForwardRule> {
    let mut problems = Vec::new();
    let set = ParamSet::parse("rostrans.param".as_ref(), "coptersim_count=50", &mut problems);
    let settings = set.resolve(DllModel.params(), &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    DllModel.rules(&settings).unwrap()
}

/// Where a vehicle is after so many packets: further north and up, from a spawn point of its own.
fn truth(vehicle: u8, packet: u32) -> Vec<u8> {
    let far = f64::from(packet);
    let state = SOut2Simulator {
        copter_id: vehicle.into(),
        ang_quatern: [1.0, 0.0, 0.0, 0.0],
        runned_time: 1.0 + far / 100.0,
        pos_e: [5.0 + far, f64::from(vehicle), -1.0 - far],
        pos_gps: [40.0 + f64::from(vehicle) / 1000.0, 116.0, 55.0],
        ..SOut2Simulator::default()
    };
    state.encode()
}

/// What does not belong on the port, of the same lengths or nearly so.
fn garbage(good: &[u8]) -> [Vec<u8>; 3] {
    let mut other_magic = good.to_vec();
    other_magic[0] ^= 1;
    [good[..good.len() - 1].to_vec(), other_magic, OutHilStateShort::default().encode()]
}

#[tokio::test]
async fn fifty_vehicles_lose_nothing_to_each_other_or_to_garbage() {
    let (codecs, types) = (rostrans_codecs::builtin(), Arc::new(TypeRegistry::bundled()));
    let filter = TopicFilter::default();
    let adapters = &[Fabric::Dds];
    let cx = PlanContext { filter: &filter, codecs: &codecs, types: &types, adapters, own_addresses: &[] };
    let mut topology = plan(rules(), &cx).unwrap().topology;
    for transport in &mut topology.transports {
        // CopterSim's ports may be in use here.
        let Device::Udp(bind) = &mut transport.device else { panic!("{:?}", transport.device) };
        bind.addr = (Ipv4Addr::LOCALHOST, 0).into();
    }
    let ros = MemoryAdapter::new(RosVersion::Ros2, 1);
    ros.pretend_subscribers(1);
    let deps = Deps {
        codecs: Arc::new(codecs),
        types: Arc::clone(&types),
        adapters: AdapterSet::new(vec![ros.clone()]),
        clock: Arc::new(SystemClock),
        clocks: Vec::new(),
        transports: Arc::new(SystemTransports),
        monitor: None,
    };
    let running = start(&topology, &deps);
    assert_eq!(running.settled(DEADLINE).await, []);
    let ports: Vec<SocketAddr> =
        running.snapshot().transports.iter().map(|row| row.local_addr.unwrap()).collect();
    assert_eq!(ports.len(), usize::from(VEHICLES));

    let prefix = |vehicle: u8| match vehicle {
        1 => "/mavros".to_owned(),
        _ => format!("/mavros{vehicle}"),
    };
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    for burst in 0..BURSTS {
        for packet in burst * BURST..(burst + 1) * BURST {
            for (vehicle, port) in (1..=VEHICLES).zip(&ports) {
                let good = truth(vehicle, packet);
                for bad in garbage(&good) {
                    udp.send_to(&bad, port).unwrap();
                }
                udp.send_to(&good, port).unwrap();
            }
        }
        for vehicle in 1..=VEHICLES {
            for (topic, _) in TOPICS {
                let (topic, count) = (format!("{}/{topic}", prefix(vehicle)), u64::from((burst + 1) * BURST));
                assert!(
                    ros.wait_published(&topic, count, DEADLINE).await,
                    "{topic}: {} of {count}",
                    ros.publish_count(&topic)
                );
            }
        }
    }

    let last = |vehicle: u8, topic: usize| -> Value {
        let (name, kind) = TOPICS[topic];
        let message = types.message(&TypeName::message(kind).unwrap()).unwrap();
        let sample = ros.published(&format!("{}/{name}", prefix(vehicle))).remove(0);
        message.cdr_to_json(&sample.payload).unwrap()
    };
    let far = f64::from(BURSTS * BURST - 1);
    let packets = u64::from(BURSTS * BURST);
    for (vehicle, rule) in (1..=VEHICLES).zip(running.snapshot().rules) {
        for (topic, _) in TOPICS {
            let topic = format!("{}/{topic}", prefix(vehicle));
            assert_eq!(ros.publish_count(&topic), packets, "{topic}: nothing twice, nothing made of garbage");
        }
        let place = &last(vehicle, 0)["pose"]["position"];
        assert_eq!((&place["x"], &place["y"], &place["z"]), (&0.0.into(), &far.into(), &far.into()));
        let latitude = last(vehicle, 4)["latitude"].as_f64().unwrap();
        assert!((latitude - 40.0 - f64::from(vehicle) / 1000.0).abs() < 1e-9, "{vehicle}: {latitude}");
        let state = &rule.links[0].counters;
        assert_eq!((state.decode_errors, state.dropped_queue), (packets * 3, 0), "{}", rule.rule_id.as_str());
    }
    assert_eq!(running.shutdown(Duration::from_secs(30)).await, Shutdown::default());
}
