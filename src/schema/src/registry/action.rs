//! What ROS derives from an `.action` file: four messages and two services.
//!
//! ```text
//! Dock.action   goal --- result --- feedback
//!
//! Dock_Goal, Dock_Result, Dock_Feedback      the three parts
//! Dock_SendGoal         goal_id, goal   ->  accepted, stamp
//! Dock_GetResult        goal_id         ->  status, result
//! Dock_FeedbackMessage  goal_id, feedback
//! ```
//!
//! The third service and second topic of an action, `cancel_goal` and `status`, have types of `action_msgs`, the same for
//! all actions.
//!
//! Source: ROS 2 design article "Actions"; names and fields as rosidl derives them.

use std::sync::Arc;

use super::{Cache, Loaded, TypeRegistry};
use crate::{
    definition::{Arity, Dialect, MessageDef, Primitive},
    error::SchemaError,
    message::{MessageType, ServiceType},
    names::{TypeKind, TypeName},
    parse::parse_action,
    shape::{Field, FieldType, Shape},
};

/// What may follow the name of an action in that of a message.
const MESSAGES: [&str; 4] = ["_FeedbackMessage", "_Goal", "_Result", "_Feedback"];

/// What may follow the name of an action in that of a service.
const SERVICES: [&str; 2] = ["_SendGoal", "_GetResult"];

impl TypeRegistry {
    /// A message of an action, or a part of one of its services.
    pub(super) fn action_message(&self, name: &TypeName) -> Result<Arc<MessageType>, SchemaError> {
        if let Some(action) = MESSAGES.iter().find_map(|suffix| name.without_suffix(suffix)) {
            let mut cache = self.lock();
            self.load_action(&mut cache, &action)?;
            return cache.messages.get(name).cloned().ok_or_else(|| unknown(name, None));
        }
        if self.is_action(name) {
            return Err(unknown(name, Some("_FeedbackMessage")));
        }
        self.service_part(name)
    }

    /// A service of an action.
    pub(super) fn action_service(
        &self,
        cache: &mut Cache,
        name: &TypeName,
    ) -> Result<Arc<ServiceType>, SchemaError> {
        let Some(action) = SERVICES.iter().find_map(|suffix| name.without_suffix(suffix)) else {
            return Err(unknown(name, self.is_action(name).then_some("_SendGoal")));
        };
        self.load_action(cache, &action)?;
        cache.services.get(name).cloned().ok_or_else(|| unknown(name, None))
    }

    /// Loads all that belongs to an action, unless it is there already.
    fn load_action(&self, cache: &mut Cache, action: &TypeName) -> Result<(), SchemaError> {
        let send_goal = action.with_suffix("_SendGoal");
        if cache.services.contains_key(&send_goal) {
            return Ok(());
        }
        let definition = self.find(Dialect::Ros2, action, None)?;
        let def = parse_action(&definition.origin, action.package(), &definition.text, Dialect::Ros2)?;
        let lines: Vec<&str> = definition.text.lines().collect();
        let mut texts = lines.split(|line| line.trim_end() == "---").map(|part| part.join("\n"));
        let mut part = |suffix, def: &MessageDef| {
            let loaded =
                self.resolve(cache, Dialect::Ros2, &action.with_suffix(suffix), def, &mut Vec::new())?;
            Ok::<_, SchemaError>(Loaded { text: texts.next().unwrap_or_default().trim().into(), ..loaded })
        };
        let parts =
            [part("_Goal", &def.goal)?, part("_Result", &def.result)?, part("_Feedback", &def.feedback)?];
        let mut builtin = |name: &str| -> Result<FieldType, SchemaError> {
            let name = TypeName::message(name).expect("invariant: valid name literals below");
            let loaded = self.load(cache, Dialect::Ros2, &name, Some(action), &mut Vec::new())?;
            Ok(FieldType::Message(loaded.shape))
        };
        let uuid = builtin("unique_identifier_msgs/msg/UUID")?;
        let time = builtin("builtin_interfaces/msg/Time")?;
        let event_info = self.event_info(cache, action)?;

        let [goal, result, feedback] =
            parts.each_ref().map(|part| FieldType::Message(Arc::clone(&part.shape)));
        let goal_id = || ("goal_id", uuid.clone());
        let bool = FieldType::Primitive(Primitive::Bool);
        let status = FieldType::Primitive(Primitive::I8);
        let feedback_text =
            format!("unique_identifier_msgs/UUID goal_id\n{}_Feedback feedback", action.ros1());
        let service = |name: TypeName, request, response| {
            let request = record(name.with_suffix("_Request"), request)?;
            let response = record(name.with_suffix("_Response"), response)?;
            Ok::<_, SchemaError>(Arc::new(ServiceType::new(name, request, response, &event_info)))
        };
        let services = [
            service(send_goal, vec![goal_id(), ("goal", goal)], vec![("accepted", bool), ("stamp", time)])?,
            service(
                action.with_suffix("_GetResult"),
                vec![goal_id()],
                vec![("status", status), ("result", result)],
            )?,
        ];
        let feedback =
            record(action.with_suffix("_FeedbackMessage"), vec![goal_id(), ("feedback", feedback)])?;
        let feedback = Loaded { shape: feedback, text: feedback_text.into(), md5: [0; 16] };

        for loaded in parts.into_iter().chain([feedback]) {
            let name = loaded.shape.name().clone();
            let message = Arc::new(MessageType::new(Arc::clone(&loaded.shape)));
            cache.messages.insert(name.clone(), message);
            cache.loaded.insert((Dialect::Ros2, name), loaded);
        }
        for service in services {
            cache.services.insert(service.name().clone(), service);
        }
        Ok(())
    }

    /// True for the bare name of an action, which is neither a message nor a service.
    fn is_action(&self, name: &TypeName) -> bool {
        self.names(Dialect::Ros2, TypeKind::Action).iter().any(|known| known == name.as_str())
    }
}

/// The error for a name that the registry has nothing for; `missing` is what would make it one of an action.
fn unknown(name: &TypeName, missing: Option<&str>) -> SchemaError {
    let nearest = missing.map(|suffix| format!("{name}{suffix}"));
    SchemaError::Unknown { name: name.to_string(), needed_by: None, nearest }
}

/// A message of single values.
fn record(name: TypeName, fields: Vec<(&str, FieldType)>) -> Result<Arc<Shape>, SchemaError> {
    let field = |(name, field_type): (&str, FieldType)| Field {
        name: name.into(),
        field_type,
        arity: Arity::One,
        default: None,
    };
    Shape::checked(name, Dialect::Ros2, fields.into_iter().map(field).collect(), Vec::new())
}
