//! Business modules: settings to forward rules.
