//! Taking keys out of a block; what is left over was misspelt.

use std::path::Path;

use rostrans_core::{
    diag::{Diagnostic, Origin},
    registry::CodecRegistry,
    suggest::did_you_mean,
    text::excerpt,
};

use super::tree::{Entry, Kind, Node};

/// What reading one rule needs and collects.
pub(super) struct Cx<'a> {
    pub(super) path: &'a Path,
    pub(super) codecs: &'a CodecRegistry,
    pub(super) problems: Vec<Diagnostic>,
}

impl Cx<'_> {
    pub(super) fn origin(&self, line: u32) -> Origin {
        Origin::file(self.path, line)
    }

    pub(super) fn error(&mut self, line: u32, message: impl Into<String>, help: impl Into<String>) {
        let problem = Diagnostic::error(self.origin(line), message, help);
        self.problems.push(problem);
    }
}

/// The keys of one block.
pub(super) struct Fields<'n> {
    pub(super) line: u32,
    entries: &'n [Entry],
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Opens a block; reports and gives `None` when `node` is something else.
    pub(super) fn open(node: &'n Node, what: &str, cx: &mut Cx<'_>) -> Option<Self> {
        match &node.kind {
            Kind::Map(entries) => Some(Self { line: node.line, entries, known: Vec::new() }),
            Kind::List(_) | Kind::Scalar { .. } => {
                let message = format!("{what} must be a block of 'key: value', not {}", node.describe());
                cx.error(node.line, message, "put a blank behind ':' and indent the keys alike");
                None
            }
        }
    }

    /// Whether there is an entry of `key` with something in it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key && !entry.value.is_null())
    }

    /// The entry of `key`, if it is there and not empty.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.known.push(key);
        self.entries.iter().find(|entry| entry.key == key).filter(|entry| !entry.value.is_null())
    }

    /// The entry of either spelling; both at once is reported.
    pub(super) fn take_either(
        &mut self,
        key: &'static str,
        other: &'static str,
        cx: &mut Cx<'_>,
    ) -> Option<&'n Entry> {
        let (first, second) = (self.take(key), self.take(other));
        if let (Some(_), Some(second)) = (first, second) {
            cx.error(second.line, format!("both '{key}' and '{other}' are given"), "delete one of them");
        }
        first.or(second)
    }

    /// Reports the keys nobody took.
    pub(super) fn finish(self, what: &str, cx: &mut Cx<'_>) {
        for entry in self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str())) {
            let all = || format!("allowed here: {}", self.known.join(", "));
            let help = did_you_mean(&entry.key, self.known.iter().copied(), all());
            cx.error(entry.line, format!("unknown key '{}' in {what}", excerpt(&entry.key)), help);
        }
    }
}
