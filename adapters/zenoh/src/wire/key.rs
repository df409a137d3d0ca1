//! Key expressions of topics and services.

use rostrans_core::topic::TopicName;
use rostrans_schema::TypeName;

/// What stands for a type's hash where ROS has none (Humble).
pub const NO_HASH: &str = "TypeHashNotSupported";

/// Where samples of a topic and requests of a service go: `<domain>/<name>/<type>/<hash>`.
pub fn data_key(domain: u16, name: &TopicName, type_name: &TypeName, hash: &str) -> String {
    format!("{domain}/{}/{}/{hash}", relative(name), type_name.dds())
}

/// What a subscription listens to: any type and any hash, so that both can be checked and complained about.
///
/// Exactly two parts after the name: topics below it have more, and so have the copies for special buffers
/// (`<key>/_buf_cpu`).
pub fn subscription_key(domain: u16, name: &TopicName) -> String {
    format!("{domain}/{}/*/*", relative(name))
}

fn relative(name: &TopicName) -> &str {
    name.as_str().trim_start_matches('/')
}

/// The last two parts of a data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeOfKey<'a> {
    /// As in DDS, `std_msgs::msg::dds_::String_`.
    pub type_name: &'a str,
    /// `RIHS01_` and 64 digits, or [`NO_HASH`].
    pub hash: &'a str,
}

/// Type and hash of a data key; `None` when it has too few parts to be one.
pub fn type_of_key(key: &str) -> Option<TypeOfKey<'_>> {
    let mut parts = key.rsplitn(3, '/');
    let (hash, type_name, topic) = (parts.next()?, parts.next()?, parts.next()?);
    (!hash.is_empty() && !type_name.is_empty() && topic.contains('/'))
        .then_some(TypeOfKey { type_name, hash })
}

/// `pkg/msg/T` of `pkg::msg::dds_::T_`, for people to read; anything else stays as it is.
pub fn ros_type(dds_type: &str) -> String {
    let ros = || {
        let (path, short) = dds_type.split_once("::dds_::")?;
        Some(format!("{}/{}", path.replace("::", "/"), short.strip_suffix('_')?))
    };
    ros().unwrap_or_else(|| dds_type.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_rmw_zenoh() {
        let name = TopicName::parse("/robot_1/chatter").unwrap();
        let string = TypeName::message("std_msgs/String").unwrap();
        assert_eq!(
            data_key(7, &name, &string, "RIHS01_df"),
            "7/robot_1/chatter/std_msgs::msg::dds_::String_/RIHS01_df"
        );
        assert_eq!(subscription_key(7, &name), "7/robot_1/chatter/*/*");
        let set_bool = TypeName::service("std_srvs/SetBool").unwrap();
        let service = TopicName::parse("set").unwrap();
        assert_eq!(
            data_key(0, &service, &set_bool, NO_HASH),
            "0/set/std_srvs::srv::dds_::SetBool_/TypeHashNotSupported"
        );
    }

    #[test]
    fn types_are_found_in_keys() {
        let key = "7/a/b/std_msgs::msg::dds_::String_/RIHS01_df";
        assert_eq!(
            type_of_key(key),
            Some(TypeOfKey { type_name: "std_msgs::msg::dds_::String_", hash: "RIHS01_df" })
        );
        assert_eq!(ros_type("std_msgs::msg::dds_::String_"), "std_msgs/msg/String");
        assert_eq!(ros_type("a::action::dds_::F_SendGoal_"), "a/action/F_SendGoal");
        for other in ["", "Image", "a::dds_::b"] {
            assert_eq!(ros_type(other), other);
        }
        for bad in ["", "a", "a/b", "0/a/b", "0/x//b", "0/x/b/"] {
            assert_eq!(type_of_key(bad), None, "{bad}");
        }
    }
}
