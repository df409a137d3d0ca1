//! The vehicle's parameters as last told.

use std::collections::BTreeMap;

use super::value::{Encoding, Kind, Value};
use crate::mavlink::dialect::ParamValue;

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Param {
    pub(super) value: Value,
    pub(super) kind: Kind,
    /// Place in the vehicle's list; 65535 when it never told.
    pub(super) index: u16,
    /// Length of the vehicle's list when it told first.
    pub(super) count: u16,
    /// Told since the list was last asked for.
    fresh: bool,
}

/// All parameters by name.
///
/// Memory: at most 16,384, of 100 octets each; an ArduPilot has about 1,400. Names beyond that are refused.
#[derive(Debug, Default)]
pub(super) struct Table(BTreeMap<String, Param>);

/// Why a PARAM_VALUE was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Name,
    Type,
    Full,
}

impl Table {
    /// Notes a value; the parameter, and whether it is new.
    pub(super) fn note(
        &mut self,
        name: &str,
        m: &ParamValue,
        encoding: Encoding,
    ) -> Result<(Param, bool), Refused> {
        let kind = Kind::of(m.param_type).ok_or(Refused::Type)?;
        let value = kind.decode(m.param_value, encoding);
        if let Some(param) = self.0.get_mut(name) {
            (param.value, param.kind, param.fresh) = (value, kind, true);
            if m.param_index != NO_INDEX {
                param.index = m.param_index;
            }
            return Ok((*param, false));
        }
        if self.0.len() >= MAX {
            return Err(Refused::Full);
        }
        let param = Param { value, kind, index: m.param_index, count: m.param_count, fresh: true };
        self.0.insert(name.to_owned(), param);
        Ok((param, true))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Param> {
        self.0.get(name)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Names and parameters in alphabetical order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Param)> {
        self.0.iter()
    }

    /// The list is asked for: what is not told again until [`Table::forget_stale`] is gone.
    pub(super) fn begin(&mut self) {
        self.0.values_mut().for_each(|param| param.fresh = false);
    }

    /// Forgets what the vehicle has not told again.
    pub(super) fn forget_stale(&mut self) -> Vec<(String, Param)> {
        let (fresh, stale) = std::mem::take(&mut self.0).into_iter().partition(|(_, param)| param.fresh);
        self.0 = fresh;
        Vec::from_iter::<BTreeMap<_, _>>(stale)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) -> Vec<(String, Param)> {
        std::mem::take(&mut self.0).into_iter().collect()
    }
}

/// The name in a `param_id` field: up to the first zero octet, or all 16.
pub(super) fn name(id: &[u8; 16]) -> Result<&str, Refused> {
    let len = id.iter().position(|octet| *octet == 0).unwrap_or(id.len());
    let name = id.get(..len).and_then(|octets| std::str::from_utf8(octets).ok());
    name.filter(|name| !name.is_empty()).ok_or(Refused::Name)
}

/// The `param_id` field of a name; `None` when no vehicle can have it.
pub(super) fn id(name: &str) -> Option<[u8; 16]> {
    let mut id = [0; 16];
    let octets = name.as_bytes();
    id.get_mut(..octets.len())?.copy_from_slice(octets);
    (!octets.is_empty() && !octets.contains(&0)).then_some(id)
}

/// True for what the vehicle counts or measures itself; setting it makes no sense.
pub(super) fn is_read_only(name: &str) -> bool {
    READ_ONLY.contains(&name)
}

/// `param_index` of a value that has no place in the list, or none that is known.
pub(super) const NO_INDEX: u16 = u16::MAX;
const MAX: usize = 16_384;
/// Of MAVROS.
const READ_ONLY: &[&str] = &[
    "_HASH_CHECK",
    "SYSID_SW_MREV",
    "SYS_NUM_RESETS",
    "ARSPD_OFFSET",
    "GND_ABS_PRESS",
    "GND_ABS_PRESS2",
    "GND_ABS_PRESS3",
    "STAT_BOOTCNT",
    "STAT_FLTTIME",
    "STAT_RESET",
    "STAT_RUNTIME",
    "GND_TEMP",
    "CMD_TOTAL",
    "CMD_INDEX",
    "LOG_LASTFILE",
    "MIS_TOTAL",
    "FENCE_TOTAL",
    "FORMAT_VERSION",
];
