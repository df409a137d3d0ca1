//! Endpoints gathered into topics, services and actions.

use std::collections::BTreeMap;

use super::{EndpointInfo, Graph, Place};

/// A topic and its endpoints.
#[derive(Clone, Debug)]
pub struct Topic<'a> {
    /// Its name in ROS; the DDS topic for one that is not of ROS.
    pub name: &'a str,
    /// The types its endpoints have; more than one is a mistake.
    pub types: Vec<&'a str>,
    /// Writers.
    pub publishers: Vec<&'a EndpointInfo>,
    /// Readers.
    pub subscribers: Vec<&'a EndpointInfo>,
}

/// A service and its endpoints.
#[derive(Clone, Debug)]
pub struct Service<'a> {
    /// Its name.
    pub name: &'a str,
    /// The types its endpoints have.
    pub types: Vec<&'a str>,
    /// Readers of requests.
    pub servers: Vec<&'a EndpointInfo>,
    /// Readers of responses.
    pub clients: Vec<&'a EndpointInfo>,
    /// Writers of both, and thus the other half of each server and client.
    pub writers: Vec<&'a EndpointInfo>,
}

/// An action: three services and two topics below one name.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// Its name, without `/_action/...`.
    pub name: &'a str,
    /// `pkg/action/A`.
    pub types: Vec<&'a str>,
    /// One endpoint of each node, or participant without nodes, that serves it.
    pub servers: Vec<&'a EndpointInfo>,
    /// One endpoint of each node, or participant without nodes, that calls it.
    pub clients: Vec<&'a EndpointInfo>,
    /// The parts that no server offers: a client waits in vain for them. Empty without a server.
    pub missing: Vec<&'static str>,
}

/// The parts of an action, and whether the server reads (a service's requests) or writes it.
const PARTS: [(&str, bool); 5] = [
    ("send_goal", true),
    ("cancel_goal", true),
    ("get_result", true),
    ("feedback", false),
    ("status", false),
];

impl Action<'_> {
    /// Notes which parts no server offers.
    fn finish(mut self, offered: [bool; 5]) -> Self {
        if !self.servers.is_empty() {
            let missing = PARTS.iter().zip(offered).filter(|(_, offered)| !offered);
            self.missing = missing.map(|((part, _), _)| *part).collect();
        }
        self
    }
}

impl Graph {
    /// Topics of ROS, hidden ones included.
    pub fn topics(&self) -> Vec<Topic<'_>> {
        self.topics_of(Place::Topic)
    }

    /// DDS topics that are not of ROS.
    pub fn dds_topics(&self) -> Vec<Topic<'_>> {
        self.topics_of(Place::Dds)
    }

    /// Services, hidden ones included.
    pub fn services(&self) -> Vec<Service<'_>> {
        let of_service = |e: &&EndpointInfo| matches!(e.place, Place::Request | Place::Reply);
        let mut services: BTreeMap<&str, Service<'_>> = BTreeMap::new();
        for endpoint in self.endpoints.iter().filter(of_service) {
            let service = services.entry(&endpoint.name).or_insert_with(|| Service {
                name: &endpoint.name,
                types: Vec::new(),
                servers: Vec::new(),
                clients: Vec::new(),
                writers: Vec::new(),
            });
            add_type(&mut service.types, &endpoint.type_name);
            match (endpoint.is_writer, endpoint.place) {
                (true, _) => service.writers.push(endpoint),
                (false, Place::Request) => service.servers.push(endpoint),
                (false, _) => service.clients.push(endpoint),
            }
        }
        services.into_values().collect()
    }

    /// Actions, found by the names of their parts.
    pub fn actions(&self) -> Vec<Action<'_>> {
        let mut actions: BTreeMap<&str, (Action<'_>, [bool; 5])> = BTreeMap::new();
        for endpoint in &self.endpoints {
            let Some((name, part)) = endpoint.name.split_once("/_action/") else { continue };
            let Some(index) = PARTS.iter().position(|(known, _)| *known == part) else { continue };
            let Some((_, is_service)) = PARTS.get(index) else { continue };
            let fits = match endpoint.place {
                Place::Topic => !is_service,
                Place::Request | Place::Reply => *is_service,
                Place::Dds => false,
            };
            if !fits {
                continue;
            }
            let (action, offered) = actions.entry(name).or_insert_with(|| {
                let (servers, clients) = (Vec::new(), Vec::new());
                (Action { name, types: Vec::new(), servers, clients, missing: Vec::new() }, [false; 5])
            });
            if let Some(action_type) = action_type(&endpoint.type_name) {
                add_type(&mut action.types, action_type);
            }
            // A service has two topics; who reads requests serves, who reads responses calls.
            let serves = match (endpoint.place, endpoint.is_writer) {
                (Place::Topic, is_writer) => is_writer,
                (Place::Request, false) => true,
                (Place::Reply, false) => false,
                _ => continue,
            };
            if serves && let Some(part) = offered.get_mut(index) {
                *part = true;
            }
            let side = if serves { &mut action.servers } else { &mut action.clients };
            if !side.iter().any(|e| (e.node, e.guid.prefix) == (endpoint.node, endpoint.guid.prefix)) {
                side.push(endpoint);
            }
        }
        actions.into_values().map(|(action, offered)| action.finish(offered)).collect()
    }

    fn topics_of(&self, place: Place) -> Vec<Topic<'_>> {
        let mut topics: Vec<Topic<'_>> = Vec::new();
        // They are sorted by name.
        for endpoint in self.endpoints.iter().filter(|e| e.place == place) {
            if topics.last().is_none_or(|topic| topic.name != endpoint.name) {
                topics.push(Topic {
                    name: &endpoint.name,
                    types: Vec::new(),
                    publishers: Vec::new(),
                    subscribers: Vec::new(),
                });
            }
            let Some(topic) = topics.last_mut() else { continue };
            add_type(&mut topic.types, &endpoint.type_name);
            if endpoint.is_writer { &mut topic.publishers } else { &mut topic.subscribers }.push(endpoint);
        }
        topics
    }
}

fn add_type<'a>(types: &mut Vec<&'a str>, name: &'a str) {
    if let Err(place) = types.binary_search(&name) {
        types.insert(place, name);
    }
}

/// `pkg/action/A` of one of its part's types; `None` for the parts that all actions share.
fn action_type(part: &str) -> Option<&str> {
    let suffixes = ["_SendGoal", "_GetResult", "_FeedbackMessage"];
    suffixes.iter().find_map(|suffix| part.strip_suffix(suffix))
}
