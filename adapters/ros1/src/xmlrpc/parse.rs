//! Text to values.

use thiserror::Error;

use super::Value;

/// Why a text is not an XML-RPC message.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Something else than this was to come.
    #[error("{0} expected")]
    Expected(&'static str),
    /// A scalar whose text does not fit its type.
    #[error("invalid {0}")]
    Invalid(&'static str),
    /// Values inside values inside values.
    #[error("nested more than {MAX_DEPTH} deep")]
    Deep,
    /// Not UTF-8.
    #[error("not UTF-8")]
    Utf8,
}

/// How deep values may be nested; ROS parameters are a few levels.
pub(crate) const MAX_DEPTH: usize = 32;

/// Reads a call: its method and parameters.
///
/// **Errors**: [`ParseError`].
pub(crate) fn parse_call(body: &[u8]) -> Result<(String, Vec<Value>), ParseError> {
    let mut parser = Parser::new(body)?;
    parser.open("methodCall")?;
    parser.open("methodName")?;
    let method = parser.text_until_close("methodName")?.trim().to_owned();
    let mut params = Vec::new();
    match parser.tag()? {
        Tag::Open("params") => {
            loop {
                match parser.tag()? {
                    Tag::Open("param") => params.push(parser.value(0)?),
                    Tag::Close("params") => break,
                    _ => return Err(ParseError::Expected("<param>")),
                }
                parser.close("param")?;
            }
            parser.close("methodCall")?;
        }
        Tag::Empty("params") => parser.close("methodCall")?,
        Tag::Close("methodCall") => {}
        _ => return Err(ParseError::Expected("<params>")),
    }
    Ok((method, params))
}

/// Reads a response: the value, or the text of a fault.
///
/// **Errors**: [`ParseError`].
pub(crate) fn parse_response(body: &[u8]) -> Result<Result<Value, String>, ParseError> {
    let mut parser = Parser::new(body)?;
    parser.open("methodResponse")?;
    match parser.tag()? {
        Tag::Open("params") => {
            parser.open("param")?;
            let value = parser.value(0)?;
            parser.close("param")?;
            Ok(Ok(value))
        }
        Tag::Open("fault") => {
            let Value::Struct(members) = parser.value(0)? else {
                return Err(ParseError::Expected("<struct>"));
            };
            let text = members.iter().find(|(name, _)| name == "faultString").and_then(|(_, v)| v.as_str());
            Ok(Err(text.unwrap_or("unknown fault").to_owned()))
        }
        _ => Err(ParseError::Expected("<params> or <fault>")),
    }
}

/// A tag by its name; attributes are passed over.
#[derive(Debug, PartialEq)]
enum Tag<'a> {
    Open(&'a str),
    Close(&'a str),
    Empty(&'a str),
}

/// What is left to read.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(body: &'a [u8]) -> Result<Self, ParseError> {
        let text = std::str::from_utf8(body).map_err(|_| ParseError::Utf8)?;
        Ok(Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text) })
    }

    /// The next tag after white space, comments and processing instructions.
    fn tag(&mut self) -> Result<Tag<'a>, ParseError> {
        const EXPECTED: ParseError = ParseError::Expected("a tag");
        loop {
            let inner = self.rest.trim_start().strip_prefix('<').ok_or(EXPECTED)?;
            if let Some(comment) = inner.strip_prefix("!--") {
                self.rest = comment.split_once("-->").ok_or(EXPECTED)?.1;
                continue;
            }
            let (tag, rest) = inner.split_once('>').ok_or(EXPECTED)?;
            self.rest = rest;
            if tag.starts_with(['?', '!']) {
                continue;
            }
            let name = |text: &'a str| text.split_ascii_whitespace().next().unwrap_or_default();
            return Ok(match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
                (Some(closed), _) => Tag::Close(name(closed)),
                (None, Some(empty)) => Tag::Empty(name(empty)),
                (None, None) => Tag::Open(name(tag)),
            });
        }
    }

    fn open(&mut self, name: &'static str) -> Result<(), ParseError> {
        if self.tag()? == Tag::Open(name) { Ok(()) } else { Err(ParseError::Expected(name)) }
    }

    fn close(&mut self, name: &'static str) -> Result<(), ParseError> {
        if self.tag()? == Tag::Close(name) { Ok(()) } else { Err(ParseError::Expected(name)) }
    }

    /// What stands before the next tag, and is followed by `</name>`.
    fn text_until_close(&mut self, name: &str) -> Result<String, ParseError> {
        let text = self.text()?;
        match self.tag()? {
            Tag::Close(closed) if closed == name => unescape(text),
            _ => Err(ParseError::Expected("a closing tag")),
        }
    }

    /// What stands before the next tag.
    fn text(&mut self) -> Result<&'a str, ParseError> {
        let at = self.rest.find('<').ok_or(ParseError::Expected("a tag"))?;
        let (text, rest) = self.rest.split_at(at);
        self.rest = rest;
        Ok(text)
    }

    /// A value with its `<value>` tags.
    fn value(&mut self, depth: usize) -> Result<Value, ParseError> {
        if depth >= MAX_DEPTH {
            return Err(ParseError::Deep);
        }
        match self.tag()? {
            Tag::Open("value") => {}
            Tag::Empty("value") => return Ok(Value::Text(String::new())),
            _ => return Err(ParseError::Expected("<value>")),
        }
        let text = self.text()?;
        let value = match self.tag()? {
            // A value without a type is text.
            Tag::Close("value") => return Ok(Value::Text(unescape(text)?)),
            _ if !text.trim().is_empty() => return Err(ParseError::Expected("</value>")),
            Tag::Open("array") => self.array(depth)?,
            Tag::Open("struct") => self.members(depth)?,
            Tag::Empty("struct") => Value::Struct(Vec::new()),
            Tag::Open(name) => scalar(name, self.text_until_close(name)?)?,
            Tag::Empty(name) => scalar(name, String::new())?,
            Tag::Close(_) => return Err(ParseError::Expected("a type")),
        };
        self.close("value")?;
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, ParseError> {
        let mut values = Vec::new();
        match self.tag()? {
            Tag::Open("data") => {
                while !self.next_closes("data")? {
                    values.push(self.value(depth + 1)?);
                }
            }
            Tag::Empty("data") => {}
            _ => return Err(ParseError::Expected("<data>")),
        }
        self.close("array")?;
        Ok(Value::Array(values))
    }

    fn members(&mut self, depth: usize) -> Result<Value, ParseError> {
        let mut members = Vec::new();
        loop {
            match self.tag()? {
                Tag::Open("member") => {}
                Tag::Close("struct") => return Ok(Value::Struct(members)),
                _ => return Err(ParseError::Expected("<member>")),
            }
            self.open("name")?;
            let name = self.text_until_close("name")?;
            members.push((name, self.value(depth + 1)?));
            self.close("member")?;
        }
    }

    /// Takes the next tag if it closes `name`.
    fn next_closes(&mut self, name: &str) -> Result<bool, ParseError> {
        let before = self.rest;
        if matches!(self.tag()?, Tag::Close(closed) if closed == name) {
            return Ok(true);
        }
        self.rest = before;
        Ok(false)
    }
}

fn scalar(name: &str, text: String) -> Result<Value, ParseError> {
    let number = text.trim();
    Ok(match name {
        "i4" | "int" => Value::Int(number.parse().map_err(|_| ParseError::Invalid("int"))?),
        "boolean" => match number {
            "0" | "false" => Value::Bool(false),
            "1" | "true" => Value::Bool(true),
            _ => return Err(ParseError::Invalid("boolean")),
        },
        "double" => Value::Double(number.parse().map_err(|_| ParseError::Invalid("double"))?),
        "string" => Value::Text(text),
        "dateTime.iso8601" => Value::DateTime(text),
        "base64" => Value::Base64(text),
        _ => return Err(ParseError::Expected("a known type")),
    })
}

/// Replaces entities and character references.
fn unescape(text: &str) -> Result<String, ParseError> {
    const BAD: ParseError = ParseError::Invalid("entity");
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let (entity, after) = after.split_once(';').ok_or(BAD)?;
        plain.push(match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let digits = entity.strip_prefix('#').ok_or(BAD)?;
                let code = match digits.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => digits.parse(),
                };
                code.ok().and_then(char::from_u32).ok_or(BAD)?
            }
        });
        rest = after;
    }
    plain.push_str(rest);
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::xmlrpc::{write_call, write_fault, write_response};

    #[test]
    fn call_of_the_python_client_is_read() {
        let body = b"<?xml version='1.0'?>\n<methodCall>\n<methodName>publisherUpdate</methodName>\n<params>\n\
            <param>\n<value><string>/master</string></value>\n</param>\n<param>\n<value>/t&lt;&#97;&#x62;</value>\n</param>\n\
            <param>\n<value><array><data>\n<value><string>http://h:1/</string></value>\n<value><i4>-3</i4></value>\n\
            <value/><value><nothing/></value></data></array></value></param></params></methodCall>";
        assert_eq!(parse_call(body), Err(ParseError::Expected("a known type")));
        let text =
            String::from_utf8_lossy(body).replace("<value><nothing/></value>", "<value><string/></value>");
        let (method, params) = parse_call(text.as_bytes()).unwrap();
        assert_eq!(method, "publisherUpdate");
        let uris = vec!["http://h:1/".into(), Value::Int(-3), "".into(), "".into()];
        assert_eq!(params, ["/master".into(), "/t<ab".into(), Value::Array(uris)]);
    }

    #[test]
    fn call_may_have_no_parameters() {
        for params in ["", "<params/>", "<params></params>", "<!-- none --><params> </params>"] {
            let text = format!("<methodCall><methodName>getPid</methodName>{params}</methodCall>");
            assert_eq!(parse_call(text.as_bytes()), Ok(("getPid".to_owned(), vec![])), "{params}");
        }
    }

    #[test]
    fn responses_and_faults_are_told_apart() {
        let text = write_response(&Value::Array(vec![1.into(), "".into(), Value::Bool(true)]));
        let value = parse_response(text.as_bytes()).unwrap().unwrap();
        assert_eq!(value, Value::Array(vec![1.into(), "".into(), Value::Bool(true)]));
        assert_eq!(
            parse_response(write_fault("no <such> method").as_bytes()),
            Ok(Err("no <such> method".into()))
        );
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_is_used_up() {
        let text = format!("<methodResponse><params><param>{}", "<value><array><data>".repeat(100_000));
        assert_eq!(parse_response(text.as_bytes()), Err(ParseError::Deep));
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = "[\\t\\n -~\u{80}-\u{2fff}]{0,12}";
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::Int),
            any::<bool>().prop_map(Value::Bool),
            (-1e12..1e12).prop_map(Value::Double),
            text.prop_map(Value::Text),
            "[0-9T:]{0,12}".prop_map(Value::DateTime),
            "[a-zA-Z0-9+/]{0,12}".prop_map(Value::Base64),
        ];
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
                prop::collection::vec((text, inner), 0..6).prop_map(Value::Struct),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(params in prop::collection::vec(value(), 0..4)) {
            let text = write_call("a.method", &params);
            prop_assert_eq!(parse_call(text.as_bytes()), Ok(("a.method".to_owned(), params.clone())));
            let value = Value::Array(params);
            prop_assert_eq!(parse_response(write_response(&value).as_bytes()), Ok(Ok(value)));
        }

        #[test]
        fn anything_is_read_or_refused(
            pieces in prop::collection::vec(prop_oneof![
                "<(/?)(methodCall|methodName|params|param|value|array|data|struct|member|name|i4|string)(/?)>",
                ".{0,6}",
            ], 0..40)
        ) {
            let text = pieces.concat();
            drop(parse_call(text.as_bytes()));
            drop(parse_response(text.as_bytes()));
        }
    }
}
