//! YAML text to a tree that knows its lines.
//!
//! Built from parser events without recursion, within fixed bounds, so that huge, deep or self-multiplying files
//! ("billion laughs") end in a message instead of eating the machine.

use std::{collections::HashMap, path::Path, rc::Rc};

use rostrans_core::{
    diag::{Diagnostic, Origin},
    text::excerpt,
};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use crate::load::text::{MAX_BYTES, TOO_LARGE};

/// A value with the line it begins at.
#[derive(Clone, Debug)]
pub(in crate::load) struct Node {
    pub(in crate::load) line: u32,
    pub(in crate::load) kind: Kind,
    /// Nodes in this subtree, aliases counted in full.
    weight: usize,
    /// Levels below this node.
    depth: usize,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug)]
pub(in crate::load) enum Kind {
    /// A word or text; `quoted` tells `"1"` from `1`.
    Scalar {
        text: String,
        quoted: bool,
    },
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

/// One `key: value`.
#[derive(Clone, Debug)]
pub(in crate::load) struct Entry {
    pub(in crate::load) key: String,
    pub(in crate::load) line: u32,
    pub(in crate::load) value: Rc<Node>,
}

impl Node {
    /// `text`, `a list`, ... for messages.
    pub(in crate::load) fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar { text, quoted: false } if is_null(text) => "nothing".to_owned(),
            Kind::Scalar { text, .. } => format!("'{}'", excerpt(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a block of keys".to_owned(),
        }
    }

    /// True for `key:` with nothing behind it, `~` and `null`.
    pub(in crate::load) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, quoted: false } if is_null(text))
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Parses the first document; `None` for a file without content.
///
/// **Errors**: the first syntax error or exceeded bound; what follows it cannot be trusted.
pub(in crate::load) fn parse(path: &Path, text: &str) -> Result<Option<Rc<Node>>, Diagnostic> {
    if text.len() > MAX_BYTES {
        let message = format!("the file is larger than {MAX_BYTES} bytes");
        return Err(Diagnostic::error(Origin::file(path, 0), message, TOO_LARGE));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder { path, open: Vec::new(), anchors: HashMap::new(), root: None };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| syntax_error(path, text, error.marker(), error.info()))?;
        builder.event(event, line_of(&span.start))?;
    }
    Ok(builder.root)
}

/// The parser's complaint; when a tab is to blame, at the line that has it.
fn syntax_error(path: &Path, text: &str, marker: &Marker, info: &str) -> Diagnostic {
    // An unclosed bracket is noticed behind the last line.
    let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let line = line_of(marker).min(last);
    let from_here = (line..).zip(text.lines().skip(marker.line().saturating_sub(1)));
    let mut tabs = from_here.filter(|(_, l)| l.trim_start_matches(' ').starts_with('\t'));
    if info.contains("tab")
        && let Some((tab_line, _)) = tabs.next()
    {
        let message = "not valid YAML: a tab in the indentation";
        return Diagnostic::error(Origin::file(path, tab_line), message, "indent with blanks");
    }
    Diagnostic::error(Origin::file(path, line), format!("not valid YAML: {info}"), HELP_SYNTAX)
}

struct Builder<'a> {
    path: &'a Path,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

/// A list or map whose end was not seen yet.
struct Open {
    line: u32,
    anchor: usize,
    weight: usize,
    depth: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Rc<Node>>),
    Map { entries: Vec<Entry>, key: Option<(String, u32)>, merged: Vec<Entry> },
}

impl Builder<'_> {
    fn error(&self, line: u32, message: impl Into<String>, help: &str) -> Diagnostic {
        Diagnostic::error(Origin::file(self.path, line), message, help)
    }

    fn event(&mut self, event: Event<'_>, line: u32) -> Result<(), Diagnostic> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let quoted = style != ScalarStyle::Plain;
                let kind = Kind::Scalar { text: text.into_owned(), quoted };
                self.add(Node { line, kind, weight: 1, depth: 0 }, anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.error(
                        line,
                        "alias of an unfinished anchor",
                        "an anchor cannot hold itself",
                    ));
                };
                self.attach(node, line)
            }
            Event::SequenceStart(anchor, _) => self.begin(line, anchor, OpenKind::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                let kind = OpenKind::Map { entries: Vec::new(), key: None, merged: Vec::new() };
                self.begin(line, anchor, kind)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::DocumentStart(_) if self.root.is_some() => Err(self.error(
                line,
                "a second document begins here",
                "keep one document per file; delete '---'",
            )),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, line: u32, anchor: usize, kind: OpenKind) -> Result<(), Diagnostic> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.error(
                line,
                format!("nested deeper than {MAX_DEPTH} levels"),
                "rules need five",
            ));
        }
        self.open.push(Open { line, anchor, weight: 1, depth: 0, kind });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let kind = match open.kind {
            OpenKind::List(items) => Kind::List(items),
            OpenKind::Map { mut entries, merged, .. } => {
                // A key of the map itself wins over a merged one, and an earlier merge over a later.
                for entry in merged {
                    if entries.iter().all(|own| own.key != entry.key) {
                        entries.push(entry);
                    }
                }
                Kind::Map(entries)
            }
        };
        self.add(Node { line: open.line, kind, weight: open.weight, depth: open.depth }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        let line = node.line;
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.attach(node, line)
    }

    /// Puts a finished node into the innermost open list or map.
    fn attach(&mut self, node: Rc<Node>, line: u32) -> Result<(), Diagnostic> {
        let level = self.open.len();
        let Some(open) = self.open.last_mut() else {
            self.root = (!node.is_null()).then_some(node);
            return Ok(());
        };
        open.weight += node.weight;
        open.depth = open.depth.max(node.depth + 1);
        if open.weight > MAX_NODES || level + open.depth > MAX_DEPTH {
            return Err(self.error(
                line,
                format!("more than {MAX_NODES} values or {MAX_DEPTH} levels, aliases counted in full"),
                "use fewer aliases, or split the rules over several files, each given with '--rules FILE'",
            ));
        }
        match &mut open.kind {
            OpenKind::List(items) => items.push(node),
            OpenKind::Map { entries, key, merged } => match key.take() {
                None => match &node.kind {
                    Kind::Scalar { text, .. } => *key = Some((text.clone(), line)),
                    Kind::List(_) | Kind::Map(_) => {
                        return Err(self.error(
                            line,
                            "a key must be a word",
                            "quote it if it begins with '{' or '['",
                        ));
                    }
                },
                Some((name, _)) if name == "<<" => merge(&node, merged),
                Some((name, key_line)) => {
                    if let Some(first) = entries.iter().find(|e| e.key == name) {
                        let message =
                            format!("key '{}' is given twice, first at line {}", excerpt(&name), first.line);
                        return Err(self.error(key_line, message, "delete one of them"));
                    }
                    entries.push(Entry { key: name, line: key_line, value: node });
                }
            },
        }
        Ok(())
    }
}

/// Collects the entries of `<<: *anchor` or `<<: [*a, *b]`.
fn merge(node: &Node, into: &mut Vec<Entry>) {
    match &node.kind {
        Kind::Map(entries) => into.extend(entries.iter().cloned()),
        Kind::List(items) => items.iter().for_each(|item| {
            if let Kind::Map(entries) = &item.kind {
                into.extend(entries.iter().cloned());
            }
        }),
        Kind::Scalar { .. } => {}
    }
}

fn line_of(marker: &Marker) -> u32 {
    u32::try_from(marker.line()).unwrap_or(u32::MAX)
}

/// Far above any rule file a person writes.
const MAX_NODES: usize = 200_000;
const MAX_DEPTH: usize = 32;

const HELP_SYNTAX: &str =
    "check indentation (blanks, no tabs), ':' followed by a blank, and closing brackets and quotes";

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        parse(Path::new("r.yaml"), text).unwrap_err().to_string()
    }

    fn root(text: &str) -> Rc<Node> {
        parse(Path::new("r.yaml"), text).unwrap().unwrap()
    }

    #[test]
    fn nothing_is_no_tree() {
        for empty in ["", "\u{feff}", "# only a comment\n", "---\n", "~"] {
            assert!(parse(Path::new("r.yaml"), empty).unwrap().is_none(), "{empty:?}");
        }
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let Kind::Map(entries) = root("\u{feff}# c\r\na: 1\r\nb:\r\n  - x\r\n  - {c: d}\r\n").kind.clone()
        else {
            panic!("not a map");
        };
        assert_eq!(
            entries.iter().map(|e| (e.key.as_str(), e.line)).collect::<Vec<_>>(),
            [("a", 2), ("b", 3)]
        );
        let Kind::List(items) = &entries[1].value.kind else { panic!("not a list") };
        assert_eq!(items.iter().map(|i| i.line).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn merged_keys_yield_to_own_ones() {
        let text = "base: &b {x: 1, y: 2}\nuse:\n  y: 3\n  <<: *b\n";
        let Kind::Map(entries) = &root(text).kind else { panic!("not a map") };
        let Kind::Map(used) = &entries[1].value.kind else { panic!("not a map") };
        let pairs: Vec<_> = used.iter().map(|e| (e.key.as_str(), e.value.describe())).collect();
        assert_eq!(pairs, [("y", "'3'".to_owned()), ("x", "'1'".to_owned())]);
    }

    #[test]
    fn broken_text_is_answered_with_its_line() {
        for (text, line) in [
            ("a: 1\n\tb: 2", "r.yaml:2: "),
            ("a: [1, 2", "r.yaml:1: "),
            ("a: \"x", "r.yaml:1: "),
            ("a: 1\na: 2", "r.yaml:2: "),
            ("a: 1\n---\nb: 2", "r.yaml:2: "),
            ("a: &x [*x]", "r.yaml:1: "),
            ("? [a]\n: b", "r.yaml:1: "),
            ("a: *nowhere", "r.yaml:1: "),
        ] {
            let problem = problem(text);
            assert!(problem.starts_with(line), "{text:?}: {problem}");
        }
    }

    #[test]
    fn deep_and_self_multiplying_files_are_refused() {
        for deep in ["[", "- ", "{a: ", "? "] {
            let problem = problem(&deep.repeat(100_000));
            assert!(problem.contains("nested deeper") || problem.contains("limit"), "{problem}");
        }
        assert!(problem(&format!("{}x", "a: ".repeat(10))).contains("not valid YAML"));
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for i in 1..20 {
            let alias = format!("*a{}", i - 1);
            bomb += &format!("a{i}: &a{i} [{}]\n", vec![alias; 10].join(","));
        }
        assert!(problem(&bomb).contains("aliases counted in full"), "{}", problem(&bomb));
        assert!(problem(&"#\n".repeat(MAX_BYTES)).contains("larger than"));
    }
}
