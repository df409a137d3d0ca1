//! A graph for people.

mod details;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use rostrans_adapter_dds::{
    Discovery,
    graph::{Graph, Misfit, ParticipantInfo, Place},
};
use rostrans_core::{suggest::nearest, text::printable};

use self::{details::details, tables::tables};
use super::select::{Selected, Selection, What};
use crate::{
    network::{place, ports},
    table::Table,
};

/// The selection as text.
pub(super) fn print(selected: &Selected<'_>, discovery: &Discovery) -> String {
    let selection = selected.selection;
    let mut page = Page::default();
    if selection.name.is_some() || selection.verbose && selection.what != What::Everything {
        details(selected, &mut page);
    } else {
        if selection.what == What::Everything {
            page.line(0, &headline(selected.graph, discovery));
        }
        tables(selected, &mut page);
    }
    misfits(selected, &mut page);
    if selected.graph.unchecked > 0 {
        let many = selected.graph.unchecked;
        page.section(&format!("{many} endpoints were not compared: too many different ones on one topic"));
    }
    page.0
}

/// Text made of indented lines; whatever came over the network is made harmless.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, indent: usize, text: &str) {
        let _infallible = writeln!(self.0, "{:indent$}{}", "", printable(text).trim_end());
    }

    fn section(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(0, title);
    }

    fn table(&mut self, title: &str, table: &Table) {
        if !table.is_empty() {
            self.section(title);
            self.0 += &table.to_string();
        }
    }
}

fn headline(graph: &Graph, discovery: &Discovery) -> String {
    let mut vendors: Vec<(&str, usize)> = Vec::new();
    for vendor in graph.participants.iter().map(ParticipantInfo::vendor) {
        match vendors.iter_mut().find(|(name, _)| *name == vendor) {
            Some((_, many)) => *many += 1,
            None => vendors.push((vendor, 1)),
        }
    }
    let vendors: Vec<_> = vendors.iter().map(|(name, many)| format!("{many} {name}")).collect();
    let many = graph.participants.len();
    let noun = if many == 1 { "participant" } else { "participants" };
    format!("{}: {many} {noun} ({})", place(discovery), vendors.join(", "))
}

/// Whose participant a node lives in, and where.
fn home(selected: &Selected<'_>, node: usize) -> String {
    let participant = selected.node(node).and_then(|node| selected.participant(node.participant));
    let Some(participant) = participant else { return String::new() };
    match participant.addresses.first() {
        Some(address) => format!("{} at {address}", participant.vendor()),
        None => participant.vendor().to_owned(),
    }
}

fn misfits(selected: &Selected<'_>, page: &mut Page) {
    let (apart, risky): (Vec<&Misfit>, Vec<&Misfit>) =
        selected.misfits.iter().copied().partition(|misfit| misfit.is_blocking());
    for (title, misfits) in [("cannot talk to each other", apart), ("may misunderstand each other", risky)] {
        if misfits.is_empty() {
            continue;
        }
        page.section(title);
        for misfit in misfits {
            let kind = match misfit.place {
                Place::Topic | Place::Dds => "",
                Place::Request => " (requests)",
                Place::Reply => " (responses)",
            };
            let owners = |side: &[usize]| owners(selected.graph, side);
            let (writers, readers) = (owners(&misfit.writers), owners(&misfit.readers));
            page.line(2, &format!("{}{kind}: {writers} -> {readers}", misfit.name));
            for reason in &misfit.reasons {
                page.line(4, &reason.to_string());
                page.line(6, reason.remedy());
            }
        }
    }
}

/// Names shown of one side of a misfit.
const MAX_OWNERS: usize = 8;

fn owners(graph: &Graph, side: &[usize]) -> String {
    let mut names: Vec<_> =
        side.iter().filter_map(|at| graph.endpoints.get(*at)).map(|e| graph.owner(e)).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(MAX_OWNERS);
    names.truncate(MAX_OWNERS);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// What to say when there is nothing to show.
pub(super) fn nothing(selection: &Selection, graph: &Graph, discovery: &Discovery) -> String {
    let mut page = Page::default();
    let place = place(discovery);
    if graph.participants.is_empty() {
        let (first, last) = ports(discovery.domain);
        page.line(0, &format!("nobody found on {place}; check"));
        page.line(2, "the domain: every program needs the same ROS_DOMAIN_ID");
        page.line(
            2,
            match discovery.range_name() {
                "SUBNET" => "the range: programs with LOCALHOST or OFF are not found from other machines",
                "OFF" => "the range: OFF finds nobody; try --range SUBNET",
                _ => "the range: only this machine was searched; --range SUBNET or --peer HOST look further",
            },
        );
        page.line(
            2,
            "multicast: Wi-Fi, VPN, WSL and container networks often drop it; name hosts with --peer HOST",
        );
        page.line(2, &format!("the firewall: UDP ports {first} to {last} must be open on both machines"));
        page.line(2, "the middleware: only DDS is searched; nodes over Zenoh and of ROS 1 are not shown");
        page.line(2, "'rostrans doctor' tests all of this");
        return page.0;
    }
    let Some(name) = &selection.name else {
        let kind =
            What::KINDS.iter().find(|(_, what)| *what == selection.what).map_or("names", |(kind, _)| kind);
        page.line(0, &format!("no {kind} on {place}; hidden ones are shown with --all"));
        return page.0;
    };
    page.line(0, &format!("no '{name}' on {place}"));
    let everything = Selection { name: None, all: true, ..selection.clone() };
    let all = everything.of(graph);
    let nodes = all.nodes.iter().filter_map(|node| all.node(*node)).map(|node| node.full_name());
    let topics = all.topics.iter().map(|t| t.name);
    let rest = all.services.iter().map(|s| s.name).chain(all.actions.iter().map(|a| a.name));
    let names: Vec<String> = nodes.chain(topics.chain(rest).map(str::to_owned)).collect();
    if let Some(near) = nearest(name, names.iter().map(String::as_str)) {
        page.line(0, &format!("did you mean '{near}'?"));
    }
    page.0
}
