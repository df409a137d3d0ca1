//! A ROS master as small as tests need it; the real one is used in `test/python`.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    thread::JoinHandle,
};

use tokio::{
    net,
    sync::mpsc::{self, UnboundedSender},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    lock,
    xmlrpc::{Address, Api, Value, call, serve},
};

/// A master on a thread of its own, until it is dropped.
pub(super) struct Master {
    pub(super) uri: String,
    state: Arc<State>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// Who publishes, subscribes and serves.
struct State {
    registered: Mutex<Registered>,
    /// What it says its process is.
    pid: i32,
    /// Topics whose publishers have changed.
    changed: UnboundedSender<String>,
}

#[derive(Default)]
struct Registered {
    /// By topic, then by node: the URI of its API.
    publishers: BTreeMap<String, BTreeMap<String, String>>,
    subscribers: BTreeMap<String, BTreeMap<String, String>>,
    /// By name: the node, and the URI of the service.
    services: BTreeMap<String, (String, String)>,
    nodes: BTreeMap<String, String>,
    malformed: usize,
}

impl Master {
    /// One at a free port.
    pub(super) fn start() -> Self {
        Self::start_at(0)
    }

    /// One at that port.
    pub(super) fn start_at(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap());
        #[expect(clippy::disallowed_methods, reason = "a test's names are few")]
        let (changed, mut changes) = mpsc::unbounded_channel();
        static PIDS: AtomicI32 = AtomicI32::new(1);
        let state =
            Arc::new(State { registered: Mutex::default(), pid: PIDS.fetch_add(1, Relaxed), changed });
        let stop = CancellationToken::new();
        let (served, stopped) = (Arc::clone(&state), stop.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = net::TcpListener::from_std(listener).unwrap();
                let mut tasks = JoinSet::new();
                loop {
                    tokio::select! {
                        accepted = listener.accept() => {
                            let (stream, state) = (accepted.unwrap().0, Arc::clone(&served));
                            tasks.spawn(async move { serve(stream, &*state).await });
                        }
                        Some(topic) = changes.recv() => {
                            for (subscriber, params) in served.updates(&topic) {
                                tasks.spawn(async move { drop(call(&subscriber, "publisherUpdate", &params).await) });
                            }
                        }
                        Some(ended) = tasks.join_next() => ended.unwrap(),
                        () = stopped.cancelled() => return,
                    }
                }
            });
        });
        Self { uri, state, stop, thread: Some(thread) }
    }

    pub(super) fn port(&self) -> u16 {
        Address::parse(&self.uri, "http").unwrap().port
    }

    /// Whether that node is known.
    pub(super) fn knows(&self, node: &str) -> bool {
        lock(&self.state.registered).nodes.contains_key(node)
    }

    /// The URI of the node's API.
    pub(super) fn api_of(&self, node: &str) -> String {
        lock(&self.state.registered).nodes[node].clone()
    }

    /// Everything in it.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let registered = lock(&self.state.registered);
        let all =
            |topics: &BTreeMap<String, BTreeMap<String, String>>| topics.values().map(BTreeMap::len).sum();
        (all(&registered.publishers), all(&registered.subscribers), registered.services.len())
    }

    /// Makes it believe that a node at that API publishes a topic.
    pub(super) fn pretend_publisher(&self, topic: &str, api: &str) {
        self.state.answer("registerPublisher", &["/pretended", topic, "*", api].map(Value::from));
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl State {
    /// Subscribers of a topic, and what they are to be told.
    fn updates(&self, topic: &str) -> Vec<(Address, [Value; 3])> {
        let registered = lock(&self.registered);
        let uris = Value::Array(apis(&registered.publishers, topic));
        let subscribers = registered.subscribers.get(topic).into_iter().flat_map(BTreeMap::values);
        subscribers
            .map(|api| (Address::parse(api, "http").unwrap(), ["/master".into(), topic.into(), uris.clone()]))
            .collect()
    }
}

fn apis(topics: &BTreeMap<String, BTreeMap<String, String>>, topic: &str) -> Vec<Value> {
    topics.get(topic).into_iter().flat_map(BTreeMap::values).map(|api| api.as_str().into()).collect()
}

impl Api for State {
    fn answer(&self, method: &str, params: &[Value]) -> Option<Value> {
        if method == "getPid" {
            return Some(Value::Array(vec![1.into(), "".into(), self.pid.into()]));
        }
        let text = |index: usize| params[index].as_str().unwrap();
        let (node, name) = (text(0), text(1));
        let mut registered = lock(&self.registered);
        let registered = &mut *registered;
        let changed = || self.changed.send(name.to_owned()).unwrap();
        let mut enter = |topics: &mut BTreeMap<String, BTreeMap<String, String>>| {
            topics.entry(name.to_owned()).or_default().insert(node.to_owned(), text(3).to_owned());
            registered.nodes.insert(node.to_owned(), text(3).to_owned());
        };
        let found = |value: Option<Value>| match value {
            Some(value) => Value::Array(vec![1.into(), "".into(), value]),
            None => Value::Array(vec![(-1).into(), "unknown".into(), 0.into()]),
        };
        Some(match method {
            "registerPublisher" => {
                enter(&mut registered.publishers);
                changed();
                found(Some(Value::Array(apis(&registered.subscribers, name))))
            }
            "registerSubscriber" => {
                enter(&mut registered.subscribers);
                found(Some(Value::Array(apis(&registered.publishers, name))))
            }
            "unregisterPublisher" | "unregisterSubscriber" => {
                let publisher = method == "unregisterPublisher";
                let topics = if publisher { &mut registered.publishers } else { &mut registered.subscribers };
                let gone = topics.get_mut(name).and_then(|nodes| nodes.remove(node));
                if publisher {
                    changed();
                }
                found(Some(Value::Int(i32::from(gone.is_some()))))
            }
            "registerService" => {
                registered.nodes.insert(node.to_owned(), text(3).to_owned());
                registered.services.insert(name.to_owned(), (node.to_owned(), text(2).to_owned()));
                found(Some(1.into()))
            }
            "unregisterService" => {
                let ours = registered.services.get(name).is_some_and(|(_, uri)| uri == text(2));
                found(Some(Value::Int(i32::from(ours && registered.services.remove(name).is_some()))))
            }
            "lookupService" => found(registered.services.get(name).map(|(_, uri)| uri.as_str().into())),
            "lookupNode" => found(registered.nodes.get(name).map(|api| api.as_str().into())),
            "subscribeParam" => {
                registered.nodes.insert(node.to_owned(), name.to_owned());
                found(Some(Value::Struct(Vec::new())))
            }
            "unsubscribeParam" => {
                registered.nodes.remove(node);
                found(Some(1.into()))
            }
            _ => return None,
        })
    }

    fn malformed(&self, _: &str) {
        lock(&self.registered).malformed += 1;
    }
}
