//! Services by name and type.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Instant,
};

use rostrans_cdr::CdrBytes;
use rostrans_core::{
    adapter::{CallError, Guard, ServiceClient, ServiceHandler},
    topic::ServiceSpec,
    transport::BoxFuture,
};
use rostrans_schema::TypeName;
use tokio::{sync::Notify, time};

use crate::lock;

/// The services on offer.
#[derive(Default)]
pub(crate) struct Services {
    handlers: Mutex<HashMap<(String, TypeName), Arc<dyn ServiceHandler>>>,
    changed: Notify,
}

impl Services {
    /// Offers a service until the guard is dropped; a later offer of the same name and type takes over.
    pub(crate) fn offer(services: &Arc<Self>, spec: &ServiceSpec, handler: Arc<dyn ServiceHandler>) -> Guard {
        let key = key(spec);
        lock(&services.handlers).insert(key.clone(), Arc::clone(&handler));
        services.changed.notify_waiters();
        Guard::new(Withdraw { services: Arc::clone(services), key, handler })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = lock(&self.handlers).keys().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    pub(crate) async fn call(
        &self,
        spec: &ServiceSpec,
        request: CdrBytes,
        deadline: Instant,
    ) -> Result<CdrBytes, CallError> {
        let deadline = time::Instant::from_std(deadline);
        let handler = time::timeout_at(deadline, self.server(spec)).await.map_err(|_| CallError::NoServer)?;
        match time::timeout_at(deadline, handler.handle(request)).await {
            Ok(Ok(response)) => Ok(response),
            // A handler that fails sends nothing, so its caller waits in vain.
            Ok(Err(_)) => {
                time::sleep_until(deadline).await;
                Err(CallError::Timeout)
            }
            Err(_) => Err(CallError::Timeout),
        }
    }

    async fn server(&self, spec: &ServiceSpec) -> Arc<dyn ServiceHandler> {
        let key = key(spec);
        loop {
            let changed = self.changed.notified();
            if let Some(handler) = lock(&self.handlers).get(&key) {
                return Arc::clone(handler);
            }
            changed.await;
        }
    }
}

fn key(spec: &ServiceSpec) -> (String, TypeName) {
    (spec.name.as_str().to_owned(), spec.srv_type.clone())
}

struct Withdraw {
    services: Arc<Services>,
    key: (String, TypeName),
    handler: Arc<dyn ServiceHandler>,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        let mut handlers = lock(&self.services.handlers);
        if handlers.get(&self.key).is_some_and(|h| Arc::ptr_eq(h, &self.handler)) {
            handlers.remove(&self.key);
        }
    }
}

/// Calls one service.
pub(crate) struct Client {
    services: Arc<Services>,
    spec: ServiceSpec,
}

impl Client {
    pub(crate) fn new(services: Arc<Services>, spec: ServiceSpec) -> Self {
        Self { services, spec }
    }
}

impl ServiceClient for Client {
    fn call(&self, request: CdrBytes, deadline: Instant) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(self.services.call(&self.spec, request, deadline))
    }
}

/// A handler made of a function.
pub(crate) struct Answer<F>(pub(crate) F);

impl<F> ServiceHandler for Answer<F>
where
    F: Fn(CdrBytes) -> Result<CdrBytes, CallError> + Send + Sync,
{
    fn handle(&self, request: CdrBytes) -> BoxFuture<'_, Result<CdrBytes, CallError>> {
        Box::pin(std::future::ready((self.0)(request)))
    }
}
