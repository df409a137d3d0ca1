//! QoS to and from what rmw calls it.

use std::time::Duration;

use rostrans_core::topic::{Durability, History, Liveliness, Qos, Reliability};

use crate::ffi::{
    rmw_qos_durability_policy_e_RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL as TRANSIENT_LOCAL,
    rmw_qos_durability_policy_e_RMW_QOS_POLICY_DURABILITY_VOLATILE as VOLATILE,
    rmw_qos_history_policy_e_RMW_QOS_POLICY_HISTORY_KEEP_ALL as KEEP_ALL,
    rmw_qos_history_policy_e_RMW_QOS_POLICY_HISTORY_KEEP_LAST as KEEP_LAST,
    rmw_qos_liveliness_policy_e_RMW_QOS_POLICY_LIVELINESS_AUTOMATIC as AUTOMATIC,
    rmw_qos_liveliness_policy_e_RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC as MANUAL_BY_TOPIC,
    rmw_qos_profile_t, rmw_qos_reliability_policy_e_RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT as BEST_EFFORT,
    rmw_qos_reliability_policy_e_RMW_QOS_POLICY_RELIABILITY_RELIABLE as RELIABLE, rmw_time_s,
};

/// As rmw has it; its zero duration is "no limit".
pub(crate) fn to_rmw(qos: &Qos) -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: match qos.history {
            History::KeepLast => KEEP_LAST,
            History::KeepAll => KEEP_ALL,
        },
        depth: qos.depth.max(1).into(),
        reliability: match qos.reliability {
            Reliability::Reliable => RELIABLE,
            Reliability::BestEffort => BEST_EFFORT,
        },
        durability: match qos.durability {
            Durability::TransientLocal => TRANSIENT_LOCAL,
            Durability::Volatile => VOLATILE,
        },
        deadline: duration(qos.deadline),
        lifespan: duration(qos.lifespan),
        liveliness: match qos.liveliness {
            Liveliness::Automatic => AUTOMATIC,
            Liveliness::ManualByTopic => MANUAL_BY_TOPIC,
        },
        liveliness_lease_duration: duration(qos.liveliness_lease),
        avoid_ros_namespace_conventions: false,
    }
}

/// What a publisher of others offers; depth 0 where its RMW does not tell.
pub(crate) fn from_rmw(profile: &rmw_qos_profile_t) -> Qos {
    let reliability =
        if profile.reliability == BEST_EFFORT { Reliability::BestEffort } else { Reliability::Reliable };
    let durability =
        if profile.durability == TRANSIENT_LOCAL { Durability::TransientLocal } else { Durability::Volatile };
    let told = profile.history == KEEP_LAST;
    let depth = u16::try_from(profile.depth).ok().filter(|_| told);
    Qos::new(reliability, durability, depth.unwrap_or(0))
}

fn duration(limit: Option<Duration>) -> rmw_time_s {
    let limit = limit.unwrap_or_default();
    rmw_time_s { sec: limit.as_secs(), nsec: limit.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_come_back_as_they_went() {
        for qos in [Qos::reliable(), Qos::sensor_data(), Qos::latched(3)] {
            assert_eq!(from_rmw(&to_rmw(&qos)), qos);
        }
    }

    #[test]
    fn limits_are_seconds_and_nanoseconds_and_none_is_zero() {
        let qos = Qos { deadline: Some(Duration::from_millis(1500)), ..Qos::reliable() };
        let profile = to_rmw(&qos);
        assert_eq!((profile.deadline.sec, profile.deadline.nsec), (1, 500_000_000));
        assert_eq!((profile.lifespan.sec, profile.lifespan.nsec), (0, 0));
    }
}
