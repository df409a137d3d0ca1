//! Values to text.

use super::Value;

/// The body of a call.
pub(crate) fn write_call(method: &str, params: &[Value]) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?><methodCall><methodName>");
    escape(method, &mut out);
    out.push_str("</methodName><params>");
    for param in params {
        out.push_str("<param>");
        write_value(param, &mut out);
        out.push_str("</param>");
    }
    out.push_str("</params></methodCall>");
    out
}

/// The body of a response.
pub(crate) fn write_response(value: &Value) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?><methodResponse><params><param>");
    write_value(value, &mut out);
    out.push_str("</param></params></methodResponse>");
    out
}

/// The body of a fault.
pub(crate) fn write_fault(text: &str) -> String {
    let members = vec![("faultCode".to_owned(), Value::Int(1)), ("faultString".to_owned(), text.into())];
    let mut out = String::from("<?xml version=\"1.0\"?><methodResponse><fault>");
    write_value(&Value::Struct(members), &mut out);
    out.push_str("</fault></methodResponse>");
    out
}

fn write_value(value: &Value, out: &mut String) {
    out.push_str("<value>");
    match value {
        Value::Int(number) => element("int", &number.to_string(), out),
        Value::Bool(flag) => element("boolean", if *flag { "1" } else { "0" }, out),
        Value::Double(number) => element("double", &number.to_string(), out),
        Value::Text(text) => element("string", text, out),
        Value::DateTime(text) => element("dateTime.iso8601", text, out),
        Value::Base64(text) => element("base64", text, out),
        Value::Array(values) => {
            out.push_str("<array><data>");
            values.iter().for_each(|value| write_value(value, out));
            out.push_str("</data></array>");
        }
        Value::Struct(members) => {
            out.push_str("<struct>");
            for (name, value) in members {
                out.push_str("<member>");
                element("name", name, out);
                write_value(value, out);
                out.push_str("</member>");
            }
            out.push_str("</struct>");
        }
    }
    out.push_str("</value>");
}

fn element(name: &str, text: &str, out: &mut String) {
    for part in ["<", name, ">"] {
        out.push_str(part);
    }
    escape(text, out);
    for part in ["</", name, ">"] {
        out.push_str(part);
    }
}

/// Replaces what XML gives a meaning, and control characters, which XML cannot carry.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // Readers turn a bare one into a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(c),
        }
    }
}
