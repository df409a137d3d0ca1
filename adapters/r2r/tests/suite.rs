//! Adapters through the sourced ROS among themselves, and with the native DDS engine in both roles.
//!
//! Where rcl publishes, the source time is that of publishing: it takes none from its callers.

#![expect(clippy::unwrap_used, reason = "test helpers")]

use std::{error::Error, sync::Arc};

use rostrans_adapter_dds::{DdsAdapter, DdsConfig, Discovery, DiscoveryRange};
use rostrans_adapter_r2r::{R2rAdapter, R2rConfig};
use rostrans_core::adapter::RosAdapter;
use rostrans_schema::TypeRegistry;
use rostrans_test_suite::domain;

macro_rules! r2r_tests {
    ($first:path, $second:path, $samples_cross:ident) => {
        rostrans_test_suite::adapter_tests! { $first, $second;
            topics:
                $samples_cross
                late_subscriber_of_a_latched_topic_gets_the_last_samples
                late_subscriber_of_a_latched_topic_that_keeps_all_gets_all
                policies_about_time_are_compared
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

mod r2r_alone {
    r2r_tests!(crate::r2r, crate::r2r, samples_cross_in_order);
}

mod native_with_r2r {
    r2r_tests!(crate::native, crate::r2r, samples_cross_with_their_source_time_in_order);
}

mod r2r_with_native {
    r2r_tests!(crate::r2r, crate::native, samples_cross_in_order);
}

#[test]
fn bad_names_are_refused_with_the_reason_of_ros() {
    let error = R2rAdapter::new(R2rConfig { node_name: "a-b".to_owned(), ..config("") }).err().unwrap();
    let reason = error.source().unwrap().to_string();
    assert!(error.to_string().contains("node 'a-b' in namespace '/'"), "{error}");
    assert!(reason.contains("node name"), "{reason}");
}

/// On the loopback interface if `ROS_AUTOMATIC_DISCOVERY_RANGE` says so, as `scripts/test r2r` does.
fn r2r(name: &str) -> Arc<dyn RosAdapter> {
    R2rAdapter::new(config(name)).unwrap()
}

fn config(name: &str) -> R2rConfig {
    R2rConfig {
        node_name: name.to_owned(),
        namespace: "/".to_owned(),
        domain: domain(),
        registry: Arc::new(TypeRegistry::bundled()),
    }
}

fn native(name: &str) -> Arc<dyn RosAdapter> {
    let discovery = Discovery { domain: domain(), range: DiscoveryRange::Localhost, ..Discovery::default() };
    DdsAdapter::new(DdsConfig::new(name, discovery, Arc::new(TypeRegistry::bundled()))).unwrap()
}
