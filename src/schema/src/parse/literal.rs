//! Values of constants and defaults.

use super::ParseProblem;
use crate::definition::{Arity, BaseType, Dialect, Literal, Primitive};

/// Parses one value of type `base`.
pub(super) fn parse(base: &BaseType, dialect: Dialect, text: &str) -> Result<Literal, ParseProblem> {
    let bad = || ParseProblem::Value { value: text.to_owned(), base: base.to_string() };
    match base {
        BaseType::Primitive(primitive) => number(*primitive, dialect, text).ok_or_else(bad),
        BaseType::String(bound) => {
            let text = string(text, dialect);
            let fits = bound.is_none_or(|bound| text.len() <= bound as usize);
            if fits { Ok(Literal::Text(text)) } else { Err(bad()) }
        }
        BaseType::WideString(bound) => {
            let text = string(text, dialect);
            let fits = bound.is_none_or(|bound| text.encode_utf16().count() <= bound as usize);
            if fits { Ok(Literal::Text(text)) } else { Err(bad()) }
        }
        BaseType::Time | BaseType::Duration | BaseType::Message { .. } => Err(bad()),
    }
}

/// Parses the default of a ROS 2 field; arrays are written `[a, b]`.
pub(super) fn parse_default(base: &BaseType, arity: Arity, text: &str) -> Result<Literal, ParseProblem> {
    let (Arity::Array(_) | Arity::Sequence(_)) = arity else {
        return parse(base, Dialect::Ros2, text);
    };
    let bad = || ParseProblem::Value { value: text.to_owned(), base: format!("{base}[]") };
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(bad)?;
    let items = split_list(inner)
        .into_iter()
        .map(|item| parse(base, Dialect::Ros2, item))
        .collect::<Result<Vec<_>, _>>()?;
    let fits = match arity {
        Arity::Array(size) => items.len() == size as usize,
        Arity::Sequence(Some(bound)) => items.len() <= bound as usize,
        Arity::Sequence(None) | Arity::One => true,
    };
    if fits { Ok(Literal::List(items)) } else { Err(bad()) }
}

/// Splits at commas outside quotes; an empty list gives nothing.
fn split_list(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut quote = None;
    let mut rest = text;
    let mut scan = text.char_indices();
    while let Some((at, c)) = scan.next() {
        match (c, quote) {
            ('\\', Some(_)) => {
                scan.next();
            }
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (',', None) => {
                let start = text.len() - rest.len();
                items.push(text.get(start..at).unwrap_or_default().trim());
                rest = text.get(at + 1..).unwrap_or_default();
            }
            _ => {}
        }
    }
    if !rest.trim().is_empty() || !items.is_empty() {
        items.push(rest.trim());
    }
    items
}

fn number(primitive: Primitive, dialect: Dialect, text: &str) -> Option<Literal> {
    if let Some((low, high)) = primitive.range() {
        let (low, high) = match (primitive, dialect) {
            (Primitive::Byte, Dialect::Ros1) => (i8::MIN.into(), i8::MAX.into()),
            _ => (low, high),
        };
        return integer(text).filter(|v| (low..=high).contains(v)).map(Literal::Int);
    }
    if primitive == Primitive::Bool {
        return match text {
            "true" | "True" | "TRUE" | "1" => Some(Literal::Bool(true)),
            "false" | "False" | "FALSE" | "0" => Some(Literal::Bool(false)),
            _ => None,
        };
    }
    text.parse().ok().map(Literal::Float)
}

/// Decimal, `0x`, `0o` or `0b`, with a sign.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let radix = |prefix: &str, radix: u32| {
        let digits = digits.strip_prefix(prefix)?;
        digits.starts_with(|c: char| c.is_digit(radix)).then(|| i128::from_str_radix(digits, radix).ok())?
    };
    let value = if digits.starts_with(|c: char| c.is_ascii_digit()) {
        digits
            .parse()
            .ok()
            .or_else(|| radix("0x", 16))
            .or_else(|| radix("0X", 16))
            .or_else(|| radix("0o", 8))
            .or_else(|| radix("0b", 2))?
    } else {
        return None;
    };
    Some(if negative { -value } else { value })
}

/// ROS 2 strings may be quoted, with the quote and `\` escaped; ROS 1 strings are as they stand.
fn string(text: &str, dialect: Dialect) -> String {
    if dialect == Dialect::Ros1 {
        return text.to_owned();
    }
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote).map(|inner| (quote, inner)));
    match quoted {
        Some((quote, inner)) => inner.replace(&format!("\\{quote}"), &quote.to_string()),
        None => text.to_owned(),
    }
}
