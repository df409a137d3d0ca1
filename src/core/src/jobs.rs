//! Work that callbacks hand to an adapter's `run`.

use tokio::{
    sync::{Mutex, mpsc},
    task::JoinSet,
};
use tracing::warn;

use crate::transport::BoxFuture;

/// A piece of work, such as the answer to a service request.
pub type Job = BoxFuture<'static, ()>;

/// Jobs waiting to be started; more are dropped. Each service bounds its own running ones.
const MAX_WAITING: usize = 512;

/// The receiving end of the jobs of one adapter.
pub struct Jobs(Mutex<mpsc::Receiver<Job>>);

impl Jobs {
    /// Where jobs are put, and what runs them.
    pub fn new() -> (mpsc::Sender<Job>, Self) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        (sender, Self(Mutex::new(receiver)))
    }

    /// Runs jobs side by side. Never resolves.
    pub async fn run(&self) {
        let mut jobs = self.0.lock().await;
        let mut running = JoinSet::new();
        loop {
            tokio::select! {
                Some(job) = jobs.recv() => {
                    running.spawn(job);
                }
                Some(done) = running.join_next() => {
                    if let Err(error) = done {
                        warn!(%error, "a service handler failed");
                    }
                }
            }
        }
    }
}
