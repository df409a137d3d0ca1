use crate::graph::{Policy, RemoteQos};

/// XCDR1, the only representation the engine announces.
const XCDR1: i16 = 0;

/// Compares what a reader requests with what a writer offers; empty when they fit.
///
/// Source: DDS 1.4, 2.2.3, the RxO column.
pub(crate) fn mismatches(offered: &RemoteQos, requested: &RemoteQos) -> Vec<Policy> {
    let mut found = Vec::new();
    let mut check = |bad: bool, policy| {
        if bad {
            found.push(policy);
        }
    };
    check(requested.reliable && !offered.reliable, Policy::Reliability);
    check(requested.durability > offered.durability, Policy::Durability);
    check(longer(offered.deadline, requested.deadline), Policy::Deadline);
    check(
        requested.liveliness > offered.liveliness
            || longer(offered.liveliness_lease, requested.liveliness_lease),
        Policy::Liveliness,
    );
    check(offered.exclusive_ownership != requested.exclusive_ownership, Policy::Ownership);
    check(!share_partition(&offered.partitions, &requested.partitions), Policy::Partition);
    let first = offered.representations.first().copied().unwrap_or(XCDR1);
    let takes = |r: &[i16]| if r.is_empty() { first == XCDR1 } else { r.contains(&first) };
    // Payloads are opaque here, so a reader of ours, which lists nothing, takes whatever a writer offers.
    let ours = requested.representations.is_empty() && !offered.representations.is_empty();
    check(!ours && !takes(&requested.representations), Policy::Representation);
    found
}

fn longer<T: Ord>(offered: Option<T>, requested: Option<T>) -> bool {
    match (offered, requested) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(offered), Some(requested)) => offered > requested,
    }
}

/// Both in the default partition, or one name in common (a pattern with `*` on one side counts).
fn share_partition(a: &[String], b: &[String]) -> bool {
    let default = [String::new()];
    let names = |p: &[String]| if p.is_empty() { default.to_vec() } else { p.to_vec() };
    let (a, b) = (names(a), names(b));
    a.iter().any(|x| {
        b.iter().any(|y| x == y || glob(x.as_bytes(), y.as_bytes()) || glob(y.as_bytes(), x.as_bytes()))
    })
}

/// Whether `text` fits `pattern` of literal bytes, `*` and `?`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    // Where to go on when the part behind the last `*` does not fit: one byte further.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern.split_first(), text.split_first()) {
            (Some((b'*', rest)), _) => {
                retry = Some((rest, text));
                pattern = rest;
            }
            (Some((p, p_rest)), Some((t, t_rest))) if p == t || *p == b'?' => {
                (pattern, text) = (p_rest, t_rest)
            }
            (None, None) => return true,
            _ => match retry.and_then(|(p, t)| t.split_first().map(|(_, t)| (p, t))) {
                Some((p, t)) => {
                    retry = Some((p, t));
                    (pattern, text) = (p, t);
                }
                None => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::graph::{Durability, Liveliness};

    fn qos() -> RemoteQos {
        RemoteQos::dds_default(true)
    }

    #[test]
    fn equal_policies_fit() {
        assert_eq!(mismatches(&qos(), &qos()), []);
    }

    #[test]
    fn each_policy_is_named() {
        let reader = |change: fn(&mut RemoteQos)| {
            let mut requested = qos();
            change(&mut requested);
            mismatches(&RemoteQos { reliable: false, ..qos() }, &RemoteQos { reliable: false, ..requested })
        };
        assert_eq!(mismatches(&RemoteQos { reliable: false, ..qos() }, &qos()), [Policy::Reliability]);
        assert_eq!(reader(|q| q.durability = Durability::TransientLocal), [Policy::Durability]);
        assert_eq!(reader(|q| q.deadline = Some(Duration::from_millis(5))), [Policy::Deadline]);
        assert_eq!(reader(|q| q.liveliness = Liveliness::ManualByTopic), [Policy::Liveliness]);
        assert_eq!(reader(|q| q.liveliness_lease = Some(Duration::from_secs(1))), [Policy::Liveliness]);
        assert_eq!(reader(|q| q.exclusive_ownership = true), [Policy::Ownership]);
        assert_eq!(reader(|q| q.partitions = vec!["a".into()]), [Policy::Partition]);
        assert_eq!(reader(|q| q.representations = vec![2]), [Policy::Representation]);
        assert_eq!(reader(|q| q.representations = vec![2, 0]), []);
    }

    #[test]
    fn partition_patterns_match() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a?c", "abc", true),
            ("a*c", "abd", false),
            ("a", "ab", false),
        ] {
            assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), fits, "{pattern} {text}");
        }
    }
}
