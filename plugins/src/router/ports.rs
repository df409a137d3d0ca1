//! Ports of several vehicles.

use std::net::SocketAddr;

/// Added to a base port for each further vehicle.
pub(crate) const PORT_STEP: u16 = 2;
/// Ports of ground stations and simulators that are the same for every vehicle.
pub(crate) const FIXED_PORTS: [u16; 3] = [14550, 14555, 18570];

/// Port of the vehicle at `index` (from 0): two further for each vehicle, except [`FIXED_PORTS`].
///
/// `None` past 65535.
pub(crate) fn vehicle_port(base: u16, index: u16) -> Option<u16> {
    if FIXED_PORTS.contains(&base) {
        return Some(base);
    }
    base.checked_add(index.checked_mul(PORT_STEP)?)
}

/// [`vehicle_port`] of an address.
pub(crate) fn vehicle_address(base: SocketAddr, index: u16) -> Option<SocketAddr> {
    Some(SocketAddr::new(base.ip(), vehicle_port(base.port(), index)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_step_by_two_and_fixed_ones_stay() {
        let table = [
            (14560, 0, Some(14560)),
            (14560, 1, Some(14562)),
            (14560, 9, Some(14578)),
            (14540, 3, Some(14546)),
            (20100, 1, Some(20102)),
            (14550, 5, Some(14550)),
            (14555, 5, Some(14555)),
            (18570, 5, Some(18570)),
            (14551, 1, Some(14553)),
            (65533, 1, Some(65535)),
            (65534, 1, None),
            (1, 40_000, None),
        ];
        for (base, index, expected) in table {
            assert_eq!(vehicle_port(base, index), expected, "{base} {index}");
        }
    }
}
