//! Parameters: definitions, what was given, and the typed result.
//!
//! Two phases. A [`ParamSet`] holds raw text from `rostrans.param` and the command line; with a table of
//! [`ParamDef`]s it resolves to [`Settings`]. The same table feeds `--help`, `--list-params` and the README.
//!
//! ```
//! use rostrans_core::{diag::Origin, param::{ParamDef, ParamKind, ParamSet}};
//!
//! const DEFS: &[ParamDef] = &[ParamDef {
//!     key: "rate", kind: ParamKind::Int { min: 1, max: 1000 }, default: "50", unit: Some("Hz"), doc: "How often.",
//! }];
//! let mut problems = Vec::new();
//! let mut params = ParamSet::parse("rostrans.param".as_ref(), "rate = 200  # fast", &mut problems);
//! params.set("rate", "100", Origin::CommandLine);
//! let settings = params.resolve(DEFS, &mut problems);
//! assert_eq!((settings.int("rate"), problems.len()), (100, 0));
//! ```

mod def;
mod set;
mod settings;

pub use def::{ParamDef, ParamKind};
pub use set::ParamSet;
pub use settings::Settings;
