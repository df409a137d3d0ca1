//! Types of both ROS versions, paired.

use crate::{Ros1Message, Ros1Service, SchemaError, Transcoder, TypeName, TypeRegistry};

/// Messages that ROS 1 has under another name than ROS 2.
const RENAMED: [(&str, &str); 1] = [("mavros_msgs/msg/VfrHud", "mavros_msgs/msg/VFR_HUD")];

impl TypeRegistry {
    /// The ROS 1 type of a ROS 2 message, and what converts between the two.
    ///
    /// **Errors**: as [`TypeRegistry::message`], for either version, and as [`Transcoder::new`].
    pub fn paired_message(&self, name: &TypeName) -> Result<(Ros1Message, Transcoder), SchemaError> {
        let ros2 = self.message(name)?;
        let renamed = RENAMED.iter().find(|(theirs, _)| *theirs == name.as_str());
        let ros1 = match renamed {
            Some((_, ours)) => {
                self.ros1_message(&TypeName::message(ours).expect("invariant: a valid name literal"))?
            }
            None => self.ros1_message(name)?,
        };
        let transcoder = Transcoder::new(&ros2, &ros1)?;
        Ok((ros1, transcoder))
    }

    /// The ROS 1 type of a ROS 2 service, and what converts its requests and its responses.
    ///
    /// **Errors**: as [`TypeRegistry::paired_message`].
    pub fn paired_service(&self, name: &TypeName) -> Result<(Ros1Service, [Transcoder; 2]), SchemaError> {
        let ros2 = self.service(name)?;
        let ros1 = self.ros1_service(name)?;
        let request = Transcoder::of_shapes(ros2.request().shape(), ros1.request())?;
        let response = Transcoder::of_shapes(ros2.response().shape(), ros1.response())?;
        Ok((ros1, [request, response]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_was_renamed_has_its_old_name_and_sum_in_ros1() {
        let registry = TypeRegistry::bundled();
        let (ros1, _) = registry.paired_message(&TypeName::message("mavros_msgs/VfrHud").unwrap()).unwrap();
        assert_eq!(ros1.name().ros1(), "mavros_msgs/VFR_HUD");
        assert!(registry.paired_message(&TypeName::message("mavros_msgs/ParamEvent").unwrap()).is_err());
        assert!(registry.paired_service(&TypeName::service("mavros_msgs/CommandBool").unwrap()).is_ok());
    }
}
