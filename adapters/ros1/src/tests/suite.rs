//! What every adapter must do. Source times and policies about time do not exist in ROS 1, and
//! latched topics keep one message.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use rostrans_core::adapter::RosAdapter;

use super::{Master, open};

rostrans_test_suite::adapter_tests! { node, node;
    topics:
        late_subscriber_of_a_latched_topic_that_keeps_all_gets_all
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

/// A node of a name that no other has, at a master that all of them share.
fn node(name: &str) -> Arc<dyn RosAdapter> {
    static MASTER: OnceLock<Master> = OnceLock::new();
    static NODES: AtomicU32 = AtomicU32::new(0);
    let master = MASTER.get_or_init(Master::start);
    open(&master.uri, &format!("{name}_{}", NODES.fetch_add(1, Relaxed)))
}
