//! Something to be done so many times a second.

use std::time::{Duration, Instant};

use rostrans_core::codec::CodecError;

use crate::options::Options;

/// A grid of instants; `None` where nothing is to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    period: Option<Duration>,
    last: Option<Instant>,
}

impl Pace {
    /// The option `name` in hertz: 0 for never, else 0.01 to `max_hz`.
    ///
    /// **Errors**: another number.
    pub(super) fn new(
        options: &Options<'_>,
        name: &str,
        default_hz: f64,
        max_hz: f64,
    ) -> Result<Self, CodecError> {
        let rate_hz = options.number(name, default_hz)?;
        if rate_hz != 0.0 && !(0.01..=max_hz).contains(&rate_hz) {
            let problem = format!("{rate_hz} is neither 0 nor a number from 0.01 to {max_hz}");
            return Err(CodecError::Option { option: name.to_owned(), problem });
        }
        let period = (rate_hz > 0.0).then(|| Duration::from_secs_f64(1.0 / rate_hz));
        Ok(Self { period, last: None })
    }

    /// True when it is time; the next time is a period later.
    pub(super) fn due(&mut self, now: Instant) -> bool {
        let Some(period) = self.period else { return false };
        let Some(last) = self.last else {
            self.last = Some(now);
            return true;
        };
        let passed = now.saturating_duration_since(last);
        if passed < period {
            return false;
        }
        // Kept on its own grid, so that coarse ticks do not slow the rate down; late by more it starts anew.
        self.last = Some(if passed < 2 * period { last + period } else { now });
        true
    }

    /// When it is time again; `None` before the first time.
    pub(super) fn next(&self) -> Option<Instant> {
        Some(self.last? + self.period?)
    }
}
