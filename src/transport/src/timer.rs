//! The tick of an ingress as a future.

use std::{future::pending, pin::Pin, time::Instant};

use rostrans_core::transport::Ingress;
use tokio::time::{Sleep, sleep_until};

/// Waits for [`Ingress::next_tick`]; re-arms its timer only when that changes.
#[derive(Default)]
pub(crate) struct TickTimer {
    armed: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl TickTimer {
    /// Resolves when a tick is due; never, when none is wanted.
    ///
    /// **Cancel safety**: may be dropped and called again.
    pub(crate) async fn due(&mut self, next: Option<Instant>) {
        let Some(next) = next else { return pending().await };
        match &mut self.armed {
            Some((at, _)) if *at == next => {}
            Some((at, sleep)) => {
                sleep.as_mut().reset(next.into());
                *at = next;
            }
            None => self.armed = Some((next, Box::pin(sleep_until(next.into())))),
        }
        if let Some((_, sleep)) = &mut self.armed {
            sleep.as_mut().await;
        }
        self.armed = None;
    }
}

/// Runs the tick if it is due; a busy source never gets to its timer.
pub(crate) fn tick_if_due(ingress: &mut dyn Ingress, now: Instant) {
    if ingress.next_tick().is_some_and(|at| at <= now) {
        ingress.tick(now);
    }
}
