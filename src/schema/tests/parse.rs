//! The `.msg`, `.srv` and `.action` parser.

use rostrans_schema::{
    Dialect, ParseError,
    definition::{Arity, BaseType, Literal, MessageDef, Primitive},
    parse_action, parse_message, parse_service,
};

fn ros2(text: &str) -> Result<MessageDef, ParseError> {
    parse_message("Test.msg", "my_msgs", text, Dialect::Ros2)
}

fn ros1(text: &str) -> Result<MessageDef, ParseError> {
    parse_message("Test.msg", "my_msgs", text, Dialect::Ros1)
}

fn message(package: &str, name: &str) -> BaseType {
    BaseType::Message { package: package.into(), name: name.into() }
}

#[test]
fn types_and_arrays_are_told_apart() {
    let table = [
        ("float64", BaseType::Primitive(Primitive::F64), Arity::One),
        ("byte[]", BaseType::Primitive(Primitive::Byte), Arity::Sequence(None)),
        ("uint8[<=5]", BaseType::Primitive(Primitive::U8), Arity::Sequence(Some(5))),
        ("char[16]", BaseType::Primitive(Primitive::Char), Arity::Array(16)),
        ("string", BaseType::String(None), Arity::One),
        ("string<=10[<=5]", BaseType::String(Some(10)), Arity::Sequence(Some(5))),
        ("wstring", BaseType::WideString(None), Arity::One),
        ("wstring<=3[2]", BaseType::WideString(Some(3)), Arity::Array(2)),
        ("Other", message("my_msgs", "Other"), Arity::One),
        ("std_msgs/Header[]", message("std_msgs", "Header"), Arity::Sequence(None)),
        ("std_msgs/msg/Header", message("std_msgs", "Header"), Arity::One),
        ("time", message("builtin_interfaces", "Time"), Arity::One),
    ];
    for (word, base, arity) in table {
        let def = ros2(&format!("{word} field")).unwrap();
        let field = &def.fields[0];
        assert_eq!((&field.base, field.arity, field.name.as_str()), (&base, arity, "field"), "{word}");
    }
}

#[test]
fn ros1_words_have_their_ros1_meaning() {
    let def = ros1("Header header\ntime stamp\nduration[2] spans\nMine mine\n").unwrap();
    let bases: Vec<BaseType> = def.fields.into_iter().map(|f| f.base).collect();
    let want =
        [message("std_msgs", "Header"), BaseType::Time, BaseType::Duration, message("my_msgs", "Mine")];
    assert_eq!(bases, want);
    assert!(ros1("string<=5 s").is_err() && ros1("wstring s").is_err() && ros1("int8 a 5").is_err());
}

#[test]
fn comments_and_blank_lines_are_nothing() {
    let def = ros2("# file\n\n   \t\nint32 a# after\r\n  int32   b   # more\n#int32 c\n").unwrap();
    let fields: Vec<(&str, u32)> = def.fields.iter().map(|f| (f.name.as_str(), f.line)).collect();
    assert_eq!(fields, [("a", 4), ("b", 5)]);
}

#[test]
fn constants_keep_value_and_spelling() {
    let text = "int8 A=-0x7f\nuint64 B = 18446744073709551615\nfloat32 C=1e-3 # small\nbool D=True\nstring E='it\\'s' # 1\nstring F=plain\nstring G='a#b'";
    let def = ros2(text).unwrap();
    let values: Vec<&Literal> = def.constants.iter().map(|c| &c.value).collect();
    let want = [
        &Literal::Int(-127),
        &Literal::Int(u64::MAX.into()),
        &Literal::Float(1e-3),
        &Literal::Bool(true),
        &Literal::Text("it's".into()),
        &Literal::Text("plain".into()),
        // What rosidl makes of it.
        &Literal::Text("'a".into()),
    ];
    assert_eq!(values, want);
    assert_eq!(def.constants[0].written, "-0x7f");
}

#[test]
fn ros1_string_constant_runs_to_the_end_of_the_line() {
    let def = ros1("string A=  \"x\" # not a comment  \nint32 B=5 # a comment").unwrap();
    assert_eq!(def.constants[0].value, Literal::Text("\"x\" # not a comment".into()));
    assert_eq!(def.constants[1].value, Literal::Int(5));
}

#[test]
fn defaults_fit_their_field() {
    let def =
        ros2("float64 w 1\nint8[3] a [1, -2, 3]\nstring[] s ['a, b', \"c\"]\nbool b true\nuint8[] e []")
            .unwrap();
    let list = |items: &[i128]| Literal::List(items.iter().map(|v| Literal::Int(*v)).collect());
    let text = |s: &str| Literal::Text(s.into());
    let want = [
        Some(Literal::Float(1.0)),
        Some(list(&[1, -2, 3])),
        Some(Literal::List(vec![text("a, b"), text("c")])),
        Some(Literal::Bool(true)),
        Some(list(&[])),
    ];
    let defaults: Vec<Option<Literal>> = def.fields.into_iter().map(|f| f.default).collect();
    assert_eq!(defaults, want);
}

#[test]
fn services_and_actions_have_their_parts() {
    let service = parse_service("a.srv", "p", "int8 a\n---\nint8 b\nint8 c\n", Dialect::Ros2).unwrap();
    assert_eq!((service.request.fields.len(), service.response.fields.len()), (1, 2));
    let action = parse_action("a.action", "p", "---\nint8 b\n---\n", Dialect::Ros2).unwrap();
    let sizes = [&action.goal, &action.result, &action.feedback].map(|part| part.fields.len());
    assert_eq!(sizes, [0, 1, 0]);
}

#[test]
fn every_error_names_place_and_remedy() {
    let table = [
        ("int8 a\nfoo", "Test.msg:2: field 'foo' has no name; write 'type name'"),
        ("int8 9a", "Test.msg:1: invalid name '9a'; use letters, digits and '_', starting with a letter"),
        ("int8 a-b", "Test.msg:1: invalid name 'a-b'; use letters, digits and '_', starting with a letter"),
        ("int8[ a", "Test.msg:1: invalid type 'int8['; write e.g. 'uint8[]', 'string<=10' or 'package/Type'"),
        (
            "int8[0] a",
            "Test.msg:1: invalid type 'int8[0]'; write e.g. 'uint8[]', 'string<=10' or 'package/Type'",
        ),
        ("a/b/C d", "Test.msg:1: invalid type 'a/b/C'; write e.g. 'uint8[]', 'string<=10' or 'package/Type'"),
        ("uint8 A=256", "Test.msg:1: value '256' does not fit type 'uint8'"),
        ("int8 a x", "Test.msg:1: value 'x' does not fit type 'int8'"),
        ("int8[2] a [1]", "Test.msg:1: value '[1]' does not fit type 'int8[]'"),
        ("string<=2 a 'abc'", "Test.msg:1: value ''abc'' does not fit type 'string<=2'"),
        ("int8 a\n\nint16 a", "Test.msg:3: name 'a' is used twice"),
        ("Other A=1", "Test.msg:1: a constant cannot have type 'Other'; use a number, bool or string"),
        ("int8 a\n---\nint8 b", "Test.msg:3: 1 '---' separators, expected 0"),
    ];
    for (text, error) in table {
        assert_eq!(ros2(text).unwrap_err().to_string(), error, "{text}");
    }
}
