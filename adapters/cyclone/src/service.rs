//! Services in the convention of Cyclone's RMW: a header in front of each request and response.

mod client;
mod server;

use rostrans_adapter_dds::{Guid, ros};
use rostrans_core::{
    adapter::AdapterError,
    topic::{Qos, ServiceSpec},
};
use rostrans_schema::TypeRegistry;

pub(crate) use client::Client;
pub(crate) use server::Server;

use crate::endpoint::EndpointSpec;

/// The two endpoints of one side of a service.
struct Pair {
    request: EndpointSpec,
    reply: EndpointSpec,
}

impl Pair {
    /// `key` and `id` tie the two endpoints together.
    fn new(
        service: &ServiceSpec,
        registry: &TypeRegistry,
        key: &str,
        id: &[u8; 16],
    ) -> Result<Self, AdapterError> {
        let unknown = |_| AdapterError::UnknownType(service.srv_type.to_string());
        let types = registry.service(&service.srv_type).map_err(unknown)?;
        let spec = |topic, type_name, hash: &[u8; 32]| EndpointSpec {
            topic,
            type_name,
            qos: SERVICE_QOS,
            user_data: ros::service_data(key, id, hash),
        };
        Ok(Self {
            request: spec(
                ros::request_topic(&service.name),
                ros::request_type(&service.srv_type),
                types.request().rihs01(),
            ),
            reply: spec(
                ros::reply_topic(&service.name),
                ros::response_type(&service.srv_type),
                types.response().rihs01(),
            ),
        })
    }
}

/// As ROS has it, but for the depth: 10 replies would push each other out when more callers than that wait.
const SERVICE_QOS: Qos = Qos::reliable().with_depth(64);

/// Whether an endpoint understands the header: Cyclone's own, and those of our native engine, which reads what the
/// sender's vendor uses.
fn takes_header(endpoint: Guid) -> bool {
    matches!(endpoint.vendor(), [0x01, 0x10 | 0x7e])
}
