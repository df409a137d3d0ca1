//! The text of `.msg`, `.srv` and `.action` files.
//!
//! Follows rosidl for ROS 2 and genmsg for ROS 1. In both a `#` starts a comment wherever it stands, even inside a quoted
//! ROS 2 string; only the string constants of ROS 1 may contain it.

mod literal;

use thiserror::Error;

use crate::definition::{
    ActionDef, Arity, BaseType, ConstantDef, Dialect, FieldDef, MessageDef, Primitive, ServiceDef,
};

/// A definition that cannot be used, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{origin}:{line}: {problem}")]
pub struct ParseError {
    /// File name, or whatever the caller named the text.
    pub origin: String,
    /// Line, from 1.
    pub line: u32,
    /// What is wrong.
    pub problem: ParseProblem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseProblem {
    /// Only a type, no name.
    #[error("field '{0}' has no name; write 'type name'")]
    NoName(String),
    /// A name with odd characters.
    #[error("invalid name '{0}'; use letters, digits and '_', starting with a letter")]
    Name(String),
    /// A type that is neither built in nor a message name.
    #[error("invalid type '{0}'; write e.g. 'uint8[]', 'string<=10' or 'package/Type'")]
    Type(String),
    /// A value its type cannot hold.
    #[error("value '{value}' does not fit type '{base}'")]
    Value {
        /// The value as written.
        value: String,
        /// The type.
        base: String,
    },
    /// The same name twice.
    #[error("name '{0}' is used twice")]
    Twice(String),
    /// A constant of a type that cannot have one.
    #[error("a constant cannot have type '{0}'; use a number, bool or string")]
    ConstantType(String),
    /// Not the number of `---` lines its kind of file has.
    #[error("{have} '---' separators, expected {want}")]
    Separators {
        /// How many there are.
        have: usize,
        /// How many there must be.
        want: usize,
    },
}

/// Parses a `.msg` file.
///
/// `origin` names the text in errors; `package` is the package it belongs to.
///
/// **Errors**: the first [`ParseError`].
pub fn parse_message(
    origin: &str,
    package: &str,
    text: &str,
    dialect: Dialect,
) -> Result<MessageDef, ParseError> {
    let [message] = parse_parts(origin, package, text, dialect)?;
    Ok(message)
}

/// Parses a `.srv` file.
///
/// **Errors**: as [`parse_message`].
pub fn parse_service(
    origin: &str,
    package: &str,
    text: &str,
    dialect: Dialect,
) -> Result<ServiceDef, ParseError> {
    let [request, response] = parse_parts(origin, package, text, dialect)?;
    Ok(ServiceDef { request, response })
}

/// Parses an `.action` file.
///
/// **Errors**: as [`parse_message`].
pub fn parse_action(
    origin: &str,
    package: &str,
    text: &str,
    dialect: Dialect,
) -> Result<ActionDef, ParseError> {
    let [goal, result, feedback] = parse_parts(origin, package, text, dialect)?;
    Ok(ActionDef { goal, result, feedback })
}

/// Parses a text of `N` parts with a `---` line between them.
fn parse_parts<const N: usize>(
    origin: &str,
    package: &str,
    text: &str,
    dialect: Dialect,
) -> Result<[MessageDef; N], ParseError> {
    let mut parts = std::array::from_fn(|_| MessageDef::default());
    let mut part = 0;
    let mut line_no = 0;
    for line in text.lines() {
        line_no += 1;
        if line.trim_end() == "---" {
            part += 1;
            continue;
        }
        // Lines past the last part are reported below as a separator too many.
        let Some(message) = parts.get_mut(part) else { continue };
        parse_line(package, line, line_no, dialect, message).map_err(|problem| ParseError {
            origin: origin.to_owned(),
            line: line_no,
            problem,
        })?;
    }
    if part + 1 == N {
        Ok(parts)
    } else {
        let problem = ParseProblem::Separators { have: part, want: N - 1 };
        Err(ParseError { origin: origin.to_owned(), line: line_no, problem })
    }
}

fn parse_line(
    package: &str,
    line: &str,
    line_no: u32,
    dialect: Dialect,
    message: &mut MessageDef,
) -> Result<(), ParseProblem> {
    let code = line.split('#').next().unwrap_or_default().trim();
    if code.is_empty() {
        return Ok(());
    }
    let (type_word, rest) =
        code.split_once(|c: char| c.is_whitespace()).ok_or_else(|| ParseProblem::NoName(code.to_owned()))?;
    let (base, arity) = parse_type(package, type_word, dialect)?;
    let rest = rest.trim_start();
    let name_len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, tail) = rest.split_at(name_len);
    let separated = tail.is_empty() || tail.starts_with('=') || tail.starts_with(|c: char| c.is_whitespace());
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !separated {
        return Err(ParseProblem::Name(rest.split_whitespace().next().unwrap_or_default().to_owned()));
    }
    let taken = message.fields.iter().map(|f| &f.name).chain(message.constants.iter().map(|c| &c.name));
    if taken.into_iter().any(|other| other == name) {
        return Err(ParseProblem::Twice(name.to_owned()));
    }
    let name = name.to_owned();
    let tail = tail.trim_start();
    if let Some(value) = tail.strip_prefix('=') {
        let written = constant_text(&base, dialect, line, value);
        let allowed = matches!(base, BaseType::Primitive(_) | BaseType::String(_) | BaseType::WideString(_));
        if !allowed || arity != Arity::One {
            return Err(ParseProblem::ConstantType(type_word.to_owned()));
        }
        let value = literal::parse(&base, dialect, written)?;
        message.constants.push(ConstantDef { name, base, value, written: written.to_owned(), line: line_no });
        return Ok(());
    }
    let default = match (tail, dialect) {
        ("", _) => None,
        (_, Dialect::Ros1) => return Err(ParseProblem::Name(rest.trim_end().to_owned())),
        (text, Dialect::Ros2) => Some(literal::parse_default(&base, arity, text)?),
    };
    let written = type_word.to_owned();
    message.fields.push(FieldDef { name, base, arity, default, written, line: line_no });
    Ok(())
}

/// The text of a constant's value. A ROS 1 string takes the whole rest of the line, `#` and all.
fn constant_text<'a>(base: &BaseType, dialect: Dialect, line: &'a str, value: &'a str) -> &'a str {
    let whole = match (base, dialect) {
        (BaseType::String(_), Dialect::Ros1) => line.split_once('=').map_or(value, |(_, v)| v),
        _ => value,
    };
    whole.trim()
}

/// A type word: base type and array suffix.
fn parse_type(package: &str, word: &str, dialect: Dialect) -> Result<(BaseType, Arity), ParseProblem> {
    let bad = || ParseProblem::Type(word.to_owned());
    let (base, arity) = match word.strip_suffix(']') {
        None => (word, Arity::One),
        Some(open) => {
            let (base, size) = open.rsplit_once('[').ok_or_else(bad)?;
            let arity = match (size, size.strip_prefix("<=")) {
                ("", _) => Arity::Sequence(None),
                (_, Some(bound)) => Arity::Sequence(Some(parse_bound(bound).ok_or_else(bad)?)),
                (exact, None) => Arity::Array(parse_bound(exact).ok_or_else(bad)?),
            };
            (base, arity)
        }
    };
    if dialect == Dialect::Ros1 && (word.contains("<=") || base == "wstring") {
        return Err(bad());
    }
    if let Some(primitive) = Primitive::from_word(base) {
        return Ok((BaseType::Primitive(primitive), arity));
    }
    let bounded =
        |prefix: &str| base.strip_prefix(prefix).and_then(|b| b.strip_prefix("<=")).map(parse_bound);
    let base = match (base, dialect) {
        ("string", _) => BaseType::String(None),
        ("wstring", _) => BaseType::WideString(None),
        ("time", Dialect::Ros1) => BaseType::Time,
        ("duration", Dialect::Ros1) => BaseType::Duration,
        ("time", Dialect::Ros2) => message("builtin_interfaces", "Time"),
        ("duration", Dialect::Ros2) => message("builtin_interfaces", "Duration"),
        ("Header", Dialect::Ros1) => message("std_msgs", "Header"),
        _ => {
            if let Some(bound) = bounded("string") {
                BaseType::String(Some(bound.ok_or_else(bad)?))
            } else if let Some(bound) = bounded("wstring") {
                BaseType::WideString(Some(bound.ok_or_else(bad)?))
            } else {
                named(package, base).ok_or_else(bad)?
            }
        }
    };
    Ok((base, arity))
}

/// A message name: `Type`, `package/Type` or `package/msg/Type`.
fn named(package: &str, base: &str) -> Option<BaseType> {
    let parts: Vec<&str> = base.split('/').collect();
    let (package, name) = match parts.as_slice() {
        [name] => (package, *name),
        [package, name] | [package, "msg", name] => (*package, *name),
        _ => return None,
    };
    let is_word = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_alphabetic())
            && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    (is_word(package) && is_word(name)).then(|| message(package, name))
}

fn message(package: &str, name: &str) -> BaseType {
    BaseType::Message { package: package.to_owned(), name: name.to_owned() }
}

/// A size or bound: positive, at most 2^31 - 1.
fn parse_bound(text: &str) -> Option<u32> {
    text.parse().ok().filter(|n| (1..=i32::MAX as u32).contains(n))
}
