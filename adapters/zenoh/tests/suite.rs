//! What every adapter must do, with nodes that are peers of each other, and with clients of one of them as a router.
//!
//! Left out: QoS policies about time, which Zenoh does not enforce.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{
    net::TcpListener,
    sync::{Arc, LazyLock},
};

use rostrans_adapter_zenoh::{Mode, ZenohAdapter, ZenohConfig};
use rostrans_core::adapter::RosAdapter;
use rostrans_schema::TypeRegistry;
use rostrans_test_suite::domain;

/// The suite but for what it says about deadlines and the like.
macro_rules! zenoh_tests {
    ($first:path, $second:path) => {
        rostrans_test_suite::adapter_tests! { $first, $second;
            topics:
                samples_cross_with_their_source_time_in_order
                late_subscriber_of_a_latched_topic_gets_the_last_samples
                one_node_hears_its_own_topics_once
                own_samples_do_not_come_back_to_who_wants_those_of_others
                samples_of_a_megabyte_cross_unchanged
                stopped_adapter_refuses_to_publish
                unknown_types_are_refused;
            services:
                calls_wait_for_their_server_and_get_its_answer
                call_without_a_server_ends_at_its_deadline
                one_node_calls_its_own_services
                service_that_went_away_is_called_again_when_it_is_back
                either_of_two_servers_answers_and_one_is_enough
                many_clients_at_once_get_their_own_answers
                thousand_calls_are_all_answered
                late_answers_leave_nothing_behind
                client_that_vanished_does_not_disturb_others
                requests_and_responses_of_a_megabyte_cross_unchanged;
        }
    };
}

mod peers {
    zenoh_tests!(crate::peer, crate::peer);
}

mod clients {
    zenoh_tests!(crate::client, crate::client);
}

/// Between peers on a busy machine the last few may come before the rest was asked for, and Zenoh never goes back.
mod clients_that_keep_all {
    rostrans_test_suite::adapter_tests! { crate::client, crate::client;
        topics: late_subscriber_of_a_latched_topic_that_keeps_all_gets_all;
    }
}

mod client_of_a_peer {
    zenoh_tests!(crate::client, crate::peer);
}

/// The router of this process; it lives as long as that.
static ROUTER: LazyLock<(String, Arc<ZenohAdapter>)> = LazyLock::new(|| {
    // Zenoh does not tell the port of an address with port 0 apart, so take one that was free just now.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("tcp/127.0.0.1:{port}");
    let config = ZenohConfig { mode: Some(Mode::Router), listen: vec![address.clone()], ..config("router") };
    (address, ZenohAdapter::new(config).unwrap())
});

fn config(name: &str) -> ZenohConfig {
    ZenohConfig::new(name, domain(), Arc::new(TypeRegistry::bundled()))
}

fn joined(name: &str, mode: Mode) -> Arc<dyn RosAdapter> {
    ZenohAdapter::new(ZenohConfig { mode: Some(mode), connect: vec![ROUTER.0.clone()], ..config(name) })
        .unwrap()
}

fn peer(name: &str) -> Arc<dyn RosAdapter> {
    joined(name, Mode::Peer)
}

fn client(name: &str) -> Arc<dyn RosAdapter> {
    joined(name, Mode::Client)
}
