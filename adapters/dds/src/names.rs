//! How ROS names things in DDS.
//!
//! | ROS | DDS topic | DDS type |
//! |---|---|---|
//! | topic `/a/b` of `pkg/msg/T` | `rt/a/b` | `pkg::msg::dds_::T_` |
//! | service `/a/s` of `pkg/srv/S` | `rq/a/sRequest`, `rr/a/sReply` | `pkg::srv::dds_::S_Request_`, `.._Response_` |
//!
//! Endpoints also carry USER_DATA: `key=value;` pairs with the type's hash and, for services in Cyclone's style, an id
//! that ties the two endpoints of a client (or server) together.

use std::fmt::Write;

use rostrans_core::topic::TopicName;
use rostrans_schema::TypeName;

/// Topic of the node list; the one ROS topic without a prefix.
pub const DISCOVERY_TOPIC: &str = "ros_discovery_info";
/// Its type.
pub const DISCOVERY_TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// DDS topic of a ROS topic.
pub fn topic(name: &TopicName) -> String {
    format!("rt{name}")
}

/// DDS topic of a service's requests.
pub fn request_topic(name: &TopicName) -> String {
    format!("rq{name}Request")
}

/// DDS topic of a service's responses.
pub fn reply_topic(name: &TopicName) -> String {
    format!("rr{name}Reply")
}

/// DDS type of a service's requests.
pub fn request_type(srv: &TypeName) -> String {
    format!("{}::{}::dds_::{}_Request_", srv.package(), srv.kind().folder(), srv.short())
}

/// DDS type of a service's responses.
pub fn response_type(srv: &TypeName) -> String {
    format!("{}::{}::dds_::{}_Response_", srv.package(), srv.kind().folder(), srv.short())
}

/// What a DDS topic is in ROS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A topic.
    Topic,
    /// The requests of a service.
    Request,
    /// The responses of a service.
    Reply,
    /// Not of ROS: a topic of a plain DDS program, or the node list.
    Dds,
}

/// Place and name of a DDS topic in ROS; the name of a topic that is not of ROS stays as it is.
pub(crate) fn ros_place(dds_topic: &str) -> (Place, &str) {
    let found = match dds_topic.get(..2) {
        Some("rt") => dds_topic.get(2..).map(|name| (Place::Topic, name)),
        Some("rq") => dds_topic.get(2..).and_then(|n| n.strip_suffix("Request")).map(|n| (Place::Request, n)),
        Some("rr") => dds_topic.get(2..).and_then(|n| n.strip_suffix("Reply")).map(|n| (Place::Reply, n)),
        _ => None,
    };
    found.filter(|(_, name)| name.starts_with('/')).unwrap_or((Place::Dds, dds_topic))
}

/// The ROS name of a DDS topic, for people to read; other topics stay as they are.
pub(crate) fn ros_name(dds_topic: &str) -> &str {
    ros_place(dds_topic).1
}

/// `pkg/msg/T` of `pkg::msg::dds_::T_`, for a request or response the name of its service; other types stay as they are.
pub(crate) fn ros_type(dds_type: &str, place: Place) -> String {
    let ros = || {
        let (path, short) = dds_type.split_once("::dds_::")?;
        let short = short.strip_suffix('_')?;
        let short = match place {
            Place::Topic => short,
            Place::Request => short.strip_suffix("_Request")?,
            Place::Reply => short.strip_suffix("_Response")?,
            Place::Dds => return None,
        };
        Some(format!("{}/{short}", path.replace("::", "/")))
    };
    ros().unwrap_or_else(|| dds_type.to_owned())
}

/// USER_DATA with a type hash: `typehash=RIHS01_..;`.
pub fn type_hash_data(rihs01: &[u8; 32]) -> Vec<u8> {
    let mut text = String::from("typehash=RIHS01_");
    hex(&mut text, rihs01, "");
    text.push(';');
    text.into_bytes()
}

/// USER_DATA of a service endpoint: `clientid=01.7e. ..;typehash=..;`, `key` being `clientid` or `serviceid`.
pub fn service_data(key: &str, id: &[u8; 16], rihs01: &[u8; 32]) -> Vec<u8> {
    let mut text = format!("{key}=");
    hex(&mut text, id, ".");
    text.push(';');
    let mut data = text.into_bytes();
    data.append(&mut type_hash_data(rihs01));
    data
}

/// The value of `key` in USER_DATA.
pub fn user_value<'a>(user_data: &'a [u8], key: &str) -> Option<&'a [u8]> {
    user_data.split(|b| *b == b';').find_map(|pair| pair.strip_prefix(key.as_bytes())?.strip_prefix(b"="))
}

fn hex(out: &mut String, bytes: &[u8], separator: &str) {
    for (i, byte) in bytes.iter().enumerate() {
        let lead = if i == 0 { "" } else { separator };
        // Writing to a String cannot fail.
        write!(out, "{lead}{byte:02x}").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_ros_mapping() {
        let name = TopicName::parse("/a/b").unwrap();
        let srv = TypeName::service("std_srvs/SetBool").unwrap();
        assert_eq!(topic(&name), "rt/a/b");
        assert_eq!(
            (request_topic(&name), reply_topic(&name)),
            ("rq/a/bRequest".into(), "rr/a/bReply".into())
        );
        assert_eq!(request_type(&srv), "std_srvs::srv::dds_::SetBool_Request_");
        assert_eq!(response_type(&srv), "std_srvs::srv::dds_::SetBool_Response_");
        let goal = TypeName::service("my_msgs/action/Dock_SendGoal").unwrap();
        assert_eq!(request_type(&goal), "my_msgs::action::dds_::Dock_SendGoal_Request_");
        assert_eq!(response_type(&goal), "my_msgs::action::dds_::Dock_SendGoal_Response_");
    }

    #[test]
    fn ros_names_come_back_from_dds_topics() {
        for (dds, ros) in [
            ("rt/a/b", "/a/b"),
            ("rq/setRequest", "/set"),
            ("rr/setReply", "/set"),
            ("ros_discovery_info", "ros_discovery_info"),
            ("rtsp", "rtsp"),
        ] {
            assert_eq!(ros_name(dds), ros);
        }
        for (dds, place) in [
            ("rq/a/_action/send_goalRequest", Place::Request),
            ("rr/aReply", Place::Reply),
            ("rq/aReply", Place::Dds),
            ("rt", Place::Dds),
            ("r\u{e9}/x", Place::Dds),
        ] {
            assert_eq!(ros_place(dds).0, place, "{dds}");
        }
    }

    #[test]
    fn ros_types_come_back_from_dds_types() {
        for (dds, place, ros) in [
            ("std_msgs::msg::dds_::String_", Place::Topic, "std_msgs/msg/String"),
            ("std_srvs::srv::dds_::SetBool_Request_", Place::Request, "std_srvs/srv/SetBool"),
            ("a::action::dds_::F_SendGoal_Response_", Place::Reply, "a/action/F_SendGoal"),
            ("std_srvs::srv::dds_::SetBool_Request_", Place::Topic, "std_srvs/srv/SetBool_Request"),
            ("std_msgs::msg::dds_::String_", Place::Request, "std_msgs::msg::dds_::String_"),
            ("std_msgs::msg::dds_::String_", Place::Dds, "std_msgs::msg::dds_::String_"),
            ("HelloWorld", Place::Topic, "HelloWorld"),
        ] {
            assert_eq!(ros_type(dds, place), ros);
        }
    }

    #[test]
    fn user_data_holds_hash_and_service_id() {
        let data = service_data("clientid", &[0xab; 16], &[1; 32]);
        let id = user_value(&data, "clientid").unwrap();
        assert_eq!(id.len(), 47);
        assert!(id.starts_with(b"ab.ab."));
        let hash = user_value(&data, "typehash").unwrap();
        assert_eq!(hash, format!("RIHS01_{}", "01".repeat(32)).as_bytes());
        assert_eq!(user_value(&data, "serviceid"), None);
        assert_eq!(user_value(b"", "typehash"), None);
    }
}
