//! The codec that `docs/extending.md` builds step by step.

pub mod my_codec;
