//! One link at run time: what it is made of, its counters, and its codec instance behind a panic guard.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use rostrans_core::{
    codec::{Codec, CodecContext, CodecError, CodecInfo},
    rule::{ForwardRule, LinkConfig},
    stats::{Counter, LinkStats},
    throttle::LogThrottle,
    transport::Frame,
};
use rostrans_schema::TypeRegistry;
use tracing::{error, warn};

use crate::{
    dispatch_table::Wish,
    supervisor::{Failure, panic_text},
};

/// Panics within [`PANIC_WINDOW`] that switch a link off.
const MAX_PANICS: usize = 5;

const PANIC_WINDOW: Duration = Duration::from_secs(60);

/// What a link is made of; shared by the task that runs it and the snapshots.
pub(crate) struct Link {
    pub(crate) rule: Arc<ForwardRule>,
    pub(crate) index: usize,
    pub(crate) codec: Arc<dyn Codec>,
    pub(crate) types: Arc<TypeRegistry>,
    /// The only sender whose frames it reads.
    sender: Option<u8>,
    pub(crate) stats: LinkStats,
    /// Codec panics since the start.
    pub(crate) panics: Counter,
    /// Switched off after too many panics.
    pub(crate) disabled: AtomicBool,
}

impl Link {
    pub(crate) fn new(
        rule: Arc<ForwardRule>,
        index: usize,
        codec: Arc<dyn Codec>,
        types: Arc<TypeRegistry>,
    ) -> Self {
        let mut link = Self {
            rule,
            index,
            codec,
            types,
            sender: None,
            stats: LinkStats::default(),
            panics: Counter::default(),
            disabled: AtomicBool::new(false),
        };
        let sender = link.codec.sender(&link.context());
        link.sender = sender;
        link
    }

    pub(crate) fn config(&self) -> &LinkConfig {
        // The index was taken from the same rule, which is immutable.
        self.rule.links.get(self.index).expect("invariant: index of this rule's link")
    }

    pub(crate) fn info(&self) -> &'static CodecInfo {
        self.codec.info()
    }

    pub(crate) fn context(&self) -> CodecContext<'_> {
        CodecContext { rule: &self.rule, link: self.config(), types: &self.types }
    }

    /// The frames that the link's codec reads.
    pub(crate) fn wish(&self) -> Wish {
        Wish { interest: self.info().interest, sender: self.sender }
    }

    /// Whether the link's codec reads this frame.
    pub(crate) fn wants(&self, frame: &Frame<'_>) -> bool {
        self.wish().fits(frame)
    }

    /// Counts a received frame.
    pub(crate) fn count_frame(&self, len: usize, at: Instant) {
        self.stats.frames.inc();
        self.stats.bytes.add(len as u64);
        self.stats.last_active.mark(at);
    }
}

/// Log lines about one kind of trouble of a link.
pub(crate) struct Trouble {
    what: &'static str,
    throttle: LogThrottle,
    /// Text of the latest event, kept for the summary; made only when a line is written.
    latest: String,
}

impl Trouble {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, throttle: LogThrottle::new(), latest: String::new() }
    }

    /// Notes an event; logs it if it is the first in a while.
    pub(crate) fn event(&mut self, link: &Link, error: &dyn fmt::Display, now: Instant) {
        if let Some(count) = self.throttle.event(now) {
            self.latest = error.to_string();
            self.log(link, count);
        }
    }

    /// Logs the summary when it is due.
    pub(crate) fn flush(&mut self, link: &Link, now: Instant) {
        if let Some(count) = self.throttle.due(now) {
            self.log(link, count);
        }
    }

    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.throttle.next_due()
    }

    fn log(&self, link: &Link, count: u64) {
        let (rule, name) = (&link.rule.rule_id, &link.config().link_name);
        warn!(%rule, link = %name, count, error = %self.latest, "{}", self.what);
    }
}

/// A codec instance of type `C` that survives its own panics.
///
/// After a panic the instance is made anew; five panics within a minute switch the link off. Other links and
/// rules do not notice.
pub(crate) struct Guarded<C> {
    link: Arc<Link>,
    make: fn(&dyn Codec, &CodecContext<'_>) -> Result<C, CodecError>,
    /// `None` once switched off.
    instance: Option<C>,
    /// The latest panics, oldest first; at most [`MAX_PANICS`].
    panics: VecDeque<Instant>,
}

impl<C> Guarded<C> {
    /// Makes the first instance.
    pub(crate) fn new(
        link: Arc<Link>,
        make: fn(&dyn Codec, &CodecContext<'_>) -> Result<C, CodecError>,
    ) -> Result<Self, Failure> {
        let mut guarded = Self { link, make, instance: None, panics: VecDeque::new() };
        guarded.instance = Some(guarded.fresh().map_err(Failure::permanent)?);
        Ok(guarded)
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Lets `call` use the instance. `None` when it panicked or the link is switched off; what `call` wrote to its
    /// outputs is then half done and must be cleared.
    pub(crate) fn run<R>(&mut self, now: Instant, call: impl FnOnce(&mut C, &Link) -> R) -> Option<R> {
        let instance = self.instance.as_mut()?;
        // The instance is replaced after a panic, and callers clear their buffers.
        match catch_unwind(AssertUnwindSafe(|| call(instance, &self.link))) {
            Ok(result) => Some(result),
            Err(payload) => {
                self.panicked(&panic_text(&*payload), now);
                None
            }
        }
    }

    /// Notes an error of the instance's latest call; if a log line is due, it has the words of `explain`.
    pub(crate) fn told(
        &mut self,
        trouble: &mut Trouble,
        error: &dyn fmt::Display,
        now: Instant,
        explain: fn(&C) -> Option<String>,
    ) {
        if let Some(count) = trouble.throttle.event(now) {
            let words = self.run(now, |instance, _| explain(instance)).flatten();
            trouble.latest = words.unwrap_or_else(|| error.to_string());
            trouble.log(&self.link, count);
        }
    }

    /// True once the link is switched off.
    pub(crate) fn is_off(&self) -> bool {
        self.instance.is_none()
    }

    #[cold]
    fn panicked(&mut self, text: &str, now: Instant) {
        self.link.panics.inc();
        self.panics.push_back(now);
        while self.panics.front().is_some_and(|&at| now.saturating_duration_since(at) > PANIC_WINDOW) {
            self.panics.pop_front();
        }
        let codec = self.link.info().name;
        let (rule, link) = (&self.link.rule.rule_id, &self.link.config().link_name);
        self.instance = None;
        if self.panics.len() >= MAX_PANICS {
            error!(%rule, %link, codec, panic = text, "codec panicked five times in a minute; link switched off");
        } else {
            error!(%rule, %link, codec, panic = text, "codec panicked; starting it afresh");
            match self.fresh() {
                Ok(instance) => self.instance = Some(instance),
                Err(reason) => {
                    error!(%rule, %link, codec, reason, "codec cannot be started; link switched off")
                }
            }
        }
        self.link.disabled.store(self.instance.is_none(), Relaxed);
    }

    fn fresh(&self) -> Result<C, String> {
        let cx = self.link.context();
        let link = &self.link.config().link_name;
        match catch_unwind(AssertUnwindSafe(|| (self.make)(&*self.link.codec, &cx))) {
            Ok(Ok(instance)) => Ok(instance),
            Ok(Err(error)) => Err(format!("link '{link}': codec '{}': {error}", self.link.info().name)),
            Err(payload) => Err(format!("link '{link}': codec panicked: {}", panic_text(&*payload))),
        }
    }
}
