//! Type names: `pkg/Type` (ROS 1), `pkg/msg/Type` (ROS 2) and `pkg::msg::dds_::Type_` (DDS).

use std::{fmt, sync::Arc};

use thiserror::Error;

/// What sort of interface a name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// A message, `pkg/msg/Type`.
    Message,
    /// A service, `pkg/srv/Type`.
    Service,
    /// An action, `pkg/action/Type`, or one of the messages and services ROS derives from it, such as
    /// `pkg/action/Type_SendGoal`.
    Action,
}

impl TypeKind {
    /// The folder and middle part of the ROS 2 name: `msg`, `srv` or `action`.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Service => "srv",
            Self::Action => "action",
        }
    }
}

/// A checked type name, kept in the ROS 2 spelling `pkg/msg/Type`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName {
    text: Arc<str>,
    kind: TypeKind,
}

/// Why a text is not a type name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid type name '{0}'; write it as 'package/msg/Type', e.g. 'std_msgs/msg/String'")]
pub struct NameError(pub String);

impl TypeName {
    /// Parses a message type: `pkg/Type`, `pkg/msg/Type`, or one of an action, `pkg/action/Type_FeedbackMessage`.
    ///
    /// **Errors**: empty parts, characters outside `[A-Za-z0-9_]`, or another middle part than `msg` and `action`.
    pub fn message(text: &str) -> Result<Self, NameError> {
        Self::parse(text, TypeKind::Message)
    }

    /// Parses a service type: `pkg/Type`, `pkg/srv/Type`, or one of an action, `pkg/action/Type_SendGoal`.
    ///
    /// **Errors**: as [`TypeName::message`], with `srv` instead of `msg`.
    pub fn service(text: &str) -> Result<Self, NameError> {
        Self::parse(text, TypeKind::Service)
    }

    fn parse(text: &str, kind: TypeKind) -> Result<Self, NameError> {
        let bad = || NameError(text.to_owned());
        let parts: Vec<&str> = text.split('/').collect();
        let (package, kind, name) = match parts.as_slice() {
            [package, name] => (*package, kind, *name),
            [package, folder, name] => {
                let kinds = [kind, TypeKind::Action];
                let kind = kinds.into_iter().find(|kind| kind.folder() == *folder).ok_or_else(bad)?;
                (*package, kind, *name)
            }
            _ => return Err(bad()),
        };
        let word = |s: &str| {
            s.starts_with(|c: char| c.is_ascii_alphabetic())
                && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !word(package) || !word(name) {
            return Err(bad());
        }
        Ok(Self { text: format!("{package}/{}/{name}", kind.folder()).into(), kind })
    }

    /// A message of checked parts.
    pub(crate) fn of_message(package: &str, name: &str) -> Self {
        Self { text: format!("{package}/msg/{name}").into(), kind: TypeKind::Message }
    }

    /// The same name with something after it, e.g. `_Request`.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        Self { text: format!("{}{suffix}", self.text).into(), kind: self.kind }
    }

    /// The name before `suffix`, if it ends in it.
    pub(crate) fn without_suffix(&self, suffix: &str) -> Option<Self> {
        Some(Self { text: self.text.strip_suffix(suffix)?.into(), kind: self.kind })
    }

    /// Message, service or action.
    pub fn kind(&self) -> TypeKind {
        self.kind
    }

    /// The ROS 2 spelling, `pkg/msg/Type`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The package part.
    pub fn package(&self) -> &str {
        self.text.split('/').next().unwrap_or_default()
    }

    /// The bare type part.
    pub fn short(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// The ROS 1 spelling, `pkg/Type`.
    pub fn ros1(&self) -> String {
        format!("{}/{}", self.package(), self.short())
    }

    /// The DDS spelling, `pkg::msg::dds_::Type_`.
    pub fn dds(&self) -> String {
        format!("{}::{}::dds_::{}_", self.package(), self.kind.folder(), self.short())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeName({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings_name_one_type() {
        let long = TypeName::message("std_msgs/msg/String").unwrap();
        assert_eq!(TypeName::message("std_msgs/String").unwrap(), long);
        assert_eq!(long.ros1(), "std_msgs/String");
        assert_eq!(long.dds(), "std_msgs::msg::dds_::String_");
    }

    #[test]
    fn names_of_actions_are_messages_and_services() {
        let feedback = TypeName::message("my_msgs/action/Dock_FeedbackMessage").unwrap();
        assert_eq!(feedback.dds(), "my_msgs::action::dds_::Dock_FeedbackMessage_");
        let goal = TypeName::service("my_msgs/action/Dock_SendGoal").unwrap();
        assert_eq!((goal.kind(), goal.as_str()), (TypeKind::Action, "my_msgs/action/Dock_SendGoal"));
    }

    #[test]
    fn odd_names_are_refused() {
        for bad in ["", "String", "a/b/c", "a//b", "std_msgs/msg/Str ing", "std_msgs/srv/String", "ä/Ö"] {
            assert!(TypeName::message(bad).is_err(), "{bad}");
        }
    }
}
