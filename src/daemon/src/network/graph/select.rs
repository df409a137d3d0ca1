//! Which part of a graph to show.

use rostrans_adapter_dds::graph::{
    Action, EndpointInfo, Graph, Misfit, NodeInfo, ParticipantInfo, Place, Service, Topic, gid, is_hidden,
};

/// Kinds of things in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Everything,
    Nodes,
    Topics,
    Services,
    Actions,
    Participants,
}

impl What {
    /// The kinds by their name on the command line.
    pub(super) const KINDS: [(&'static str, Self); 5] = [
        ("nodes", Self::Nodes),
        ("topics", Self::Topics),
        ("services", Self::Services),
        ("actions", Self::Actions),
        ("participants", Self::Participants),
    ];
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) what: What,
    /// Absolute; of a participant the GID or its beginning.
    pub(super) name: Option<String>,
    pub(super) verbose: bool,
    pub(super) all: bool,
}

/// The part of a graph that was asked for.
pub(super) struct Selected<'a> {
    pub(super) graph: &'a Graph,
    pub(super) selection: &'a Selection,
    pub(super) participants: Vec<&'a ParticipantInfo>,
    /// Indices in the graph.
    pub(super) nodes: Vec<usize>,
    pub(super) topics: Vec<Topic<'a>>,
    pub(super) services: Vec<Service<'a>>,
    pub(super) actions: Vec<Action<'a>>,
    pub(super) dds_topics: Vec<Topic<'a>>,
    pub(super) misfits: Vec<&'a Misfit>,
}

impl Selection {
    pub(super) fn new(what: What, name: Option<&str>, verbose: bool, all: bool) -> Self {
        let absolute = |name: &str| match what {
            What::Participants => name.to_owned(),
            _ if name.starts_with('/') => name.to_owned(),
            _ => format!("/{name}"),
        };
        Self { what, name: name.map(absolute), verbose, all }
    }

    /// Whether things of this kind are asked for.
    pub(super) fn shows(&self, what: What) -> bool {
        self.what == what || self.what == What::Everything
    }

    /// Whether a name is asked for: hidden ones only with `--all` or by name.
    fn wants(&self, name: &str) -> bool {
        match &self.name {
            Some(wanted) => wanted == name,
            None => self.all || !is_hidden(name),
        }
    }

    /// The part asked for.
    pub(super) fn of<'a>(&'a self, graph: &'a Graph) -> Selected<'a> {
        let one_name = self.name.is_some();
        let nodes: Vec<usize> = if self.shows(What::Nodes) {
            let wanted = graph.nodes.iter().enumerate().filter(|(_, n)| self.wants(&n.full_name()));
            wanted.map(|(index, _)| index).collect()
        } else {
            Vec::new()
        };
        let named = |topics: Vec<Topic<'a>>| topics.into_iter().filter(|t| self.wants(t.name)).collect();
        let participants = graph.participants.iter().filter(|p| match &self.name {
            Some(start) => self.what == What::Participants && gid(p.guid).starts_with(start.as_str()),
            None => self.shows(What::Participants),
        });
        let dds = graph.dds_topics().into_iter().filter(|t| match &self.name {
            Some(name) => name.strip_prefix('/') == Some(t.name) || name == t.name,
            None => self.all,
        });
        let mut selected = Selected {
            graph,
            selection: self,
            participants: participants.collect(),
            misfits: graph.misfits.iter().filter(|misfit| self.concerns(graph, misfit, &nodes)).collect(),
            nodes,
            topics: if self.shows(What::Topics) { named(graph.topics()) } else { Vec::new() },
            services: Vec::new(),
            actions: Vec::new(),
            dds_topics: if self.shows(What::Topics) { dds.collect() } else { Vec::new() },
        };
        if self.shows(What::Services) {
            selected.services = graph.services().into_iter().filter(|s| self.wants(s.name)).collect();
        }
        if self.shows(What::Actions) {
            selected.actions = graph.actions().into_iter().filter(|a| self.wants(a.name)).collect();
        }
        if one_name && selected.is_empty() {
            selected.misfits.clear();
        }
        selected
    }

    /// Whether a misfit is about something asked for.
    fn concerns(&self, graph: &Graph, misfit: &Misfit, nodes: &[usize]) -> bool {
        let of_service = matches!(misfit.place, Place::Request | Place::Reply);
        let action = misfit.name.split_once("/_action/").map(|(action, _)| action);
        let named = |name: &str| self.name.as_deref().is_none_or(|wanted| wanted == name);
        let topic = !of_service && named(&misfit.name);
        let service = of_service && named(&misfit.name);
        let of_action = action.is_some_and(named);
        let of_node = || {
            let mut ends = misfit.writers.iter().chain(&misfit.readers);
            ends.any(|end| {
                graph.endpoints.get(*end).and_then(|e| e.node).is_some_and(|node| nodes.contains(&node))
            })
        };
        match self.what {
            What::Everything => topic || service || of_action || of_node(),
            What::Nodes => of_node(),
            What::Topics => topic,
            What::Services => service,
            What::Actions => of_action,
            What::Participants => false,
        }
    }
}

impl<'a> Selected<'a> {
    /// Whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        let ros = self.nodes.is_empty() && self.topics.is_empty() && self.services.is_empty();
        ros && self.actions.is_empty() && self.dds_topics.is_empty() && self.participants.is_empty()
    }

    /// A node by its index.
    pub(super) fn node(&self, index: usize) -> Option<&'a NodeInfo> {
        self.graph.nodes.get(index)
    }

    /// The endpoints of a node.
    pub(super) fn endpoints_of(&self, node: usize) -> impl Iterator<Item = &'a EndpointInfo> {
        self.graph.endpoints.iter().filter(move |e| e.node == Some(node))
    }

    /// The participant an id belongs to.
    pub(super) fn participant(&self, guid: rostrans_adapter_dds::Guid) -> Option<&'a ParticipantInfo> {
        self.graph.participants.iter().find(|p| p.guid.prefix == guid.prefix)
    }
}
