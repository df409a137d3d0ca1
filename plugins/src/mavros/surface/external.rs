//! External position and motion, and sensors in both directions.

use rostrans_core::param::ParamDef;

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[];

pub(super) const PARAMS: &[ParamDef] = &[];
