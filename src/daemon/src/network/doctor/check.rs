//! What facts mean.

mod environment;
mod host;
mod network;
mod others;

use super::{facts::Facts, finding::Finding};

/// Socket buffer that carries big messages, bytes; what rostrans asks for.
pub(super) const WANTED: u64 = 8 << 20;

/// Every check, in the order in which trouble is best looked for.
pub(super) fn all(facts: &Facts) -> Vec<Finding> {
    let checks = [
        environment::ros,
        environment::fast_dds,
        environment::cyclone_dds,
        host::host,
        network::ports,
        network::interfaces,
        network::unicast,
        network::buffers,
        others::peers,
        others::found,
        host::serial,
    ];
    checks.into_iter().flat_map(|check| check(facts)).collect()
}

/// The findings as lines, for tests.
#[cfg(test)]
fn lines(findings: &[Finding]) -> String {
    let line = |f: &Finding| format!("{:?} {}: {} -> {}\n", f.level, f.check, f.text, f.remedy);
    findings.iter().map(line).collect()
}
