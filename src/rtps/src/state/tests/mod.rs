//! Whole networks of participants over a simulated link, from a seed.

mod captures;
mod discovery;
mod network;
mod ownership;
mod qos;
mod reliable;
mod repair;
mod robust;
mod sim;
