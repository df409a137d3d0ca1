//! Whole networks of participants over a simulated link, from a seed.

mod book;
mod captures;
mod dialect;
mod discovery;
mod events;
mod foe;
mod found;
mod hostile;
mod link;
mod memory;
mod network;
mod node;
mod ownership;
mod qos;
mod reader;
mod recorded;
mod reliable;
mod repair;
mod residue;
mod rng;
mod robust;
mod samples;
mod seeds;
mod sim;
mod trace;
mod world;
