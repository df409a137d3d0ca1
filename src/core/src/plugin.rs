//! Business modules: settings to forward rules.

use crate::{
    diag::Diagnostic,
    param::{ParamDef, Settings},
    rule::ForwardRule,
};

/// A business module. Plugins are linked in and produce data, never tasks.
pub trait Plugin: Send + Sync {
    /// Name in `plugins_config.ini` and in log lines, e.g. `mavros`.
    fn name(&self) -> &'static str;

    /// The `rostrans.param` keys it owns.
    fn params(&self) -> &'static [ParamDef];

    /// Those of [`Plugin::params`] that most users meet: what the overview in `--help` and the README name.
    fn common_params(&self) -> &'static [ParamDef] {
        self.params()
    }

    /// Whether the settings switch it on.
    fn enabled(&self, settings: &Settings) -> bool;

    /// The rules these settings ask for.
    ///
    /// **Errors**: every problem found, not only the first.
    fn rules(&self, settings: &Settings) -> Result<Vec<ForwardRule>, Vec<Diagnostic>>;
}
