//! Entry points for fuzzers: plain functions that must hold for any input.

use crate::{Series, detect, vision};

/// Looks for a packet on every series of ports; one that is found has its length and writes what it read.
pub fn datagram(bytes: &[u8]) {
    for series in Series::ALL {
        let Some(kind) = detect(series, bytes) else { continue };
        assert!(kind.length().is_none_or(|length| length == bytes.len()), "{series:?} {kind:?}");
        let Some(once) = kind.repeat(bytes) else { continue };
        assert_eq!(once.len(), bytes.len(), "{kind:?}");
        assert_eq!(kind.repeat(&once).as_deref(), Some(&once[..]), "{kind:?}");
    }
    if let Ok((head, body)) = vision::fragment(bytes) {
        assert!(body.len() < bytes.len() && usize::try_from(head.pkg_len) == Ok(bytes.len()));
    }
    if let Ok((head, points)) = vision::lidar(bytes) {
        assert_eq!(usize::try_from(head.points), Ok(points.count()));
    }
}
