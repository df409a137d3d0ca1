//! Nodes in one process that find each other through a small master.

mod again;
mod graph;
mod master;
mod strangers;
mod suite;

use std::sync::Arc;

use rostrans_core::{
    adapter::{AdapterError, RosAdapter},
    topic::{Qos, TopicName, TopicSpec},
};
use rostrans_schema::{TypeName, TypeRegistry};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{Ros1Adapter, Ros1Config};
use master::Master;

/// A node of that name at that master.
fn open(master: &str, name: &str) -> Arc<Ros1Adapter> {
    let registry = Arc::new(TypeRegistry::bundled());
    let local = Ros1Config::new(name, registry);
    let config = Ros1Config { master_uri: master.to_owned(), host: Some("127.0.0.1".to_owned()), ..local };
    Ros1Adapter::new(&config).unwrap()
}

/// Nodes that run until they are dropped.
#[derive(Default)]
struct Nodes(JoinSet<Result<(), AdapterError>>);

impl Nodes {
    fn run(&mut self, master: &str, name: &str) -> Arc<Ros1Adapter> {
        let node = open(master, name);
        self.0.spawn(Arc::clone(&node).run(CancellationToken::new()));
        node
    }
}

fn spec(name: &str, msg_type: &str, qos: Qos) -> TopicSpec {
    TopicSpec { name: TopicName::parse(name).unwrap(), msg_type: TypeName::message(msg_type).unwrap(), qos }
}

fn text(name: &str) -> TopicSpec {
    spec(name, "std_msgs/String", Qos::reliable())
}
