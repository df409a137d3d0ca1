//! The API of a node: what the master and tools such as `rosnode` call.
//!
//! Source: <https://wiki.ros.org/ROS/Slave_API>.

use rostrans_core::text::{excerpt, printable};
use tracing::{debug, warn};

use crate::{
    node::Node,
    registrar::{USE_SIM_TIME, sim_time},
    stats::count,
    topic::{Publication, Subscription},
    xmlrpc::{Api, Value},
};

impl Api for Node {
    fn answer(&self, method: &str, params: &[Value]) -> Option<Value> {
        debug!(method, "node API called");
        // The first parameter is always the caller's name.
        let caller = params.first().and_then(Value::as_str).unwrap_or("?");
        let text = |index: usize| params.get(index).and_then(Value::as_str);
        Some(match method {
            "getPid" => done(Self::pid()),
            "getMasterUri" => done(self.master_uri.as_str()),
            "getSubscriptions" => done(self.topics(true)),
            "getPublications" => done(self.topics(false)),
            "getBusInfo" => done(self.bus_info()),
            "getBusStats" => done(self.bus_stats()),
            "publisherUpdate" => match (text(1), params.get(2)) {
                (Some(topic), Some(uris)) => self.publisher_update(topic, uris),
                _ => invalid("publisherUpdate wants a topic and a list of URIs"),
            },
            "paramUpdate" => match (text(1), params.get(2)) {
                (Some(key), Some(value)) => {
                    if key.trim_end_matches('/') == USE_SIM_TIME {
                        self.use_sim_time.send_replace(sim_time(value));
                    }
                    done(0)
                }
                _ => invalid("paramUpdate wants a key and a value"),
            },
            "requestTopic" => match (text(1), params.get(2).and_then(Value::as_array)) {
                (Some(topic), Some(protocols)) => self.request_topic(topic, protocols),
                _ => invalid("requestTopic wants a topic and a list of protocols"),
            },
            "shutdown" => {
                let reason = excerpt(text(1).unwrap_or_default());
                warn!(
                    "ROS 1 node '{}' was shut down by '{}': {reason}; its topics and services are gone until rostrans is started again",
                    self.name,
                    printable(&excerpt(caller))
                );
                self.ended.cancel();
                done(0)
            }
            _ => return None,
        })
    }

    fn malformed(&self, reason: &str) {
        count(&self.counters.bad_requests);
        if let Some(count) = self.counters.may_tell() {
            warn!(count, "malformed XML-RPC request refused: {}", printable(reason));
        }
    }
}

impl Node {
    fn publisher_update(&self, topic: &str, uris: &Value) -> Value {
        if uris.as_array().is_none() {
            return invalid("publisherUpdate wants a list of URIs");
        }
        if let Some(subscription) = self.with_graph(|graph| graph.subscriptions.get(topic).cloned()) {
            subscription.set_publishers(uris);
            self.links.notify_one();
        }
        done(0)
    }

    fn request_topic(&self, topic: &str, protocols: &[Value]) -> Value {
        if !self.with_graph(|graph| graph.publications.contains_key(topic)) {
            return failed(&format!("'{}' is not published here", excerpt(topic)));
        }
        let name = |protocol: &Value| protocol.as_array()?.first()?.as_str().map(str::to_owned);
        if !protocols.iter().any(|protocol| name(protocol).as_deref() == Some("TCPROS")) {
            return failed("only TCPROS is spoken here");
        }
        let host = self.host.get().map_or("localhost", String::as_str);
        let port = i32::from(self.data_port);
        done(vec!["TCPROS".into(), host.into(), port.into()])
    }

    /// `[[topic, type], ...]`.
    fn topics(&self, subscribed: bool) -> Vec<Value> {
        let pair = |topic: &str, kind: &str| Value::Array(vec![topic.into(), kind.into()]);
        self.with_graph(|graph| {
            if subscribed {
                graph.subscriptions.iter().map(|(topic, s)| pair(topic, &s.kind.ros1)).collect()
            } else {
                graph.publications.iter().map(|(topic, p)| pair(topic, &p.it.kind.ros1)).collect()
            }
        })
    }

    /// `[[id, other node, direction, transport, topic, connected, text], ...]`.
    fn bus_info(&self) -> Vec<Value> {
        self.with_graph(|graph| {
            let out = graph.publications.values().flat_map(|publication| publication.it.bus_info());
            let incoming = graph.subscriptions.values().flat_map(|subscription| subscription.bus_info());
            out.chain(incoming).collect()
        })
    }

    /// `[[topic, bytes, [[id, bytes, messages, connected], ...]], ...]` for publications, then the same for
    /// subscriptions without the sum, then `[calls, bytes in, bytes out]`, which nobody counts.
    fn bus_stats(&self) -> Vec<Value> {
        self.with_graph(|graph| {
            let publications = graph.publications.values().map(|p| Publication::bus_stats(&p.it)).collect();
            let subscriptions = graph.subscriptions.values().map(|s| Subscription::bus_stats(s)).collect();
            vec![Value::Array(publications), Value::Array(subscriptions), Value::Array(vec![0.into(); 3])]
        })
    }
}

fn done(value: impl Into<Value>) -> Value {
    Value::Array(vec![1.into(), "".into(), value.into()])
}

/// The request was right and could not be fulfilled.
fn failed(text: &str) -> Value {
    Value::Array(vec![0.into(), text.into(), 0.into()])
}

/// The caller made a mistake.
fn invalid(text: &str) -> Value {
    Value::Array(vec![(-1).into(), text.into(), 0.into()])
}
