//! The byte router alone, for measuring it: `scripts/bench-router`.
//!
//!     route --source IP:PORT|DEVICE:BAUD --endpoints IP:PORT,.. [--upstream IP:PORT]

use std::{error::Error, net::SocketAddr, sync::Arc};

use rostrans_core::{
    rule::{SerialSpec, UdpBind},
    transport::{Frame, Framing, Ingress},
};
use rostrans_transport::{Config, Device, RouteConfig, open};
use tokio_util::sync::CancellationToken;

/// No links: what a route without pipelines is.
struct Nobody;

impl Ingress for Nobody {
    fn frame(&mut self, _frame: &Frame<'_>) {}

    fn idle(&self) -> bool {
        true
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut device = None;
    let mut route = RouteConfig { name: Arc::from("route"), endpoints: Vec::new(), upstream: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or("every option has a value")?;
        match option.as_str() {
            "--source" => {
                device = Some(match value.parse::<SocketAddr>() {
                    Ok(addr) => Device::Udp(UdpBind::new(addr)),
                    Err(_) => Device::Serial(SerialSpec::parse(&value, None)?),
                });
            }
            "--endpoints" => route.endpoints = value.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--upstream" => route.upstream = Some(value.parse()?),
            _ => return Err(format!("unknown option {option}").into()),
        }
    }
    let device = device.ok_or("--source is needed")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let opened = open(Config { device, framing: Framing::Mavlink, route: Some(route), everyone: false })?;
        // On a worker, as in the daemon: the main thread's block_on would wake another thread for each event.
        let cancel = CancellationToken::new();
        let tracker = tokio_util::task::TaskTracker::new();
        tracker.spawn(opened.transport.run(Box::new(Nobody), cancel)).await??;
        Ok(())
    })
}
