//! Entry points for fuzzers: each takes any text and must return.

use std::path::Path;

use crate::{
    filter::TopicFilter,
    param::{ParamDef, ParamKind, ParamSet},
};

/// `rostrans.param`: parse and resolve.
pub fn param(text: &str) {
    const DEFS: &[ParamDef] = &[
        ParamDef { key: "a", kind: ParamKind::Bool, default: "true", unit: None, doc: "" },
        ParamDef { key: "b", kind: ParamKind::Int { min: -5, max: 5 }, default: "1", unit: None, doc: "" },
        ParamDef { key: "c", kind: ParamKind::Choice(&["x", "y"]), default: "x", unit: None, doc: "" },
    ];
    let mut problems = Vec::new();
    ParamSet::parse(Path::new("f"), text, &mut problems).resolve(DEFS, &mut problems);
}

/// `rostrans.filter`: parse and ask.
pub fn filter(text: &str) {
    let filter = TopicFilter::parse(Path::new("f"), text, &mut Vec::new());
    for name in ["/mavros/imu/data", "/", "", "/a"] {
        filter.verdict(name);
    }
}
