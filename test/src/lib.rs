//! Integration harness.
