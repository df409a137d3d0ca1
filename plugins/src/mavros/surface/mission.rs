//! Missions, geofences and rally points.

use rostrans_core::param::ParamDef;

use super::Surface;

pub(super) const SURFACES: &[Surface] = &[];

pub(super) const PARAMS: &[ParamDef] = &[];
