//! Log lines of the test that asks for them.

use std::{cell::RefCell, fmt, sync::Once};

use tracing::{
    Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

thread_local! {
    static LINES: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps lines from now on, each for the thread that wrote it.
pub(super) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).unwrap());
}

/// What this thread logged as a warning or worse since the last call.
pub(crate) fn lines() -> Vec<String> {
    LINES.take().into_iter().filter(|(level, _)| *level <= Level::WARN).map(|(_, line)| line).collect()
}

/// The same with what is said for information.
pub(crate) fn all_lines() -> Vec<String> {
    LINES.take().into_iter().map(|(_, line)| line).collect()
}

struct Lines;

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.0.insert_str(0, &format!("{value:?}")),
            name => self.0.push_str(&format!(" {name}={value:?}")),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        LINES.with_borrow_mut(|lines| lines.push((*event.metadata().level(), text.0)));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
