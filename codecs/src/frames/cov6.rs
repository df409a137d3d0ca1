//! Covariances of poses and twists.

/// A symmetric 6x6 covariance, row-major: x, y, z, then rotations about them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cov6(pub [f64; 36]);

impl Cov6 {
    /// The matrix of which MAVLink sends the upper triangle, row by row; NaN stays.
    pub fn from_upper(upper: [f32; 21]) -> Self {
        Self(std::array::from_fn(|index| {
            let at = upper_index(index / 6, index % 6);
            upper.get(at).copied().map_or(0.0, f64::from)
        }))
    }

    /// The upper triangle, row by row, in the precision of MAVLink.
    #[expect(clippy::cast_possible_truncation, reason = "MAVLink has single precision only")]
    pub fn to_upper(self) -> [f32; 21] {
        let mut upper = [0.0; 21];
        for (index, value) in self.0.into_iter().enumerate() {
            if let (true, Some(to)) =
                (index % 6 >= index / 6, upper.get_mut(upper_index(index / 6, index % 6)))
            {
                *to = value as f32;
            }
        }
        upper
    }

    /// NED to ENU or back, for both halves: swaps the first two axes and turns the third.
    pub fn swap_level(self) -> Self {
        self.turned([1, 0, 2], [1.0, 1.0, -1.0])
    }

    /// FRD to FLU or back, for both halves: turns the last two axes.
    pub fn swap_body(self) -> Self {
        self.turned([0, 1, 2], [1.0, -1.0, -1.0])
    }

    /// Axis `i` becomes what axis `from[i]` was, times `sign[i]`.
    fn turned(self, from: [usize; 3], sign: [f64; 3]) -> Self {
        let axis = |i: usize| {
            (i / 3 * 3 + from.get(i % 3).copied().unwrap_or(0), sign.get(i % 3).copied().unwrap_or(1.0))
        };
        Self(std::array::from_fn(|index| {
            let ((row, row_sign), (column, column_sign)) = (axis(index / 6), axis(index % 6));
            self.0.get(row * 6 + column).map_or(0.0, |value| row_sign * column_sign * value)
        }))
    }
}

/// Where an element, or its mirror image, stands in the upper triangle.
fn upper_index(row: usize, column: usize) -> usize {
    let (row, column) = (row.min(column), row.max(column));
    // Rows above have 6, 5, 4, ... elements.
    row * 6 - row * (row + 1) / 2 + column
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> Cov6 {
        Cov6::from_upper(std::array::from_fn(|index| f32::from(u8::try_from(index).unwrap())))
    }

    #[test]
    fn upper_triangle_round_trips_and_is_mirrored() {
        let cov = numbered();
        assert_eq!(cov.0[..8], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 6.0]);
        assert_eq!((cov.0[35], cov.0[30], cov.0[5]), (20.0, 5.0, 5.0));
        assert_eq!(Cov6::from_upper(cov.to_upper()), cov);
        let unknown = Cov6::from_upper(std::array::from_fn(|i| if i == 0 { f32::NAN } else { 0.0 }));
        assert!(unknown.to_upper()[0].is_nan());
    }

    #[test]
    fn frames_swap_variances_and_signs_and_swap_back() {
        let cov = numbered();
        let level = cov.swap_level();
        assert_eq!([level.0[0], level.0[7], level.0[14]], [cov.0[7], cov.0[0], cov.0[14]]);
        assert_eq!((level.0[1], level.0[2], level.0[8]), (cov.0[6], -cov.0[8], -cov.0[2]));
        assert_eq!([level.0[21], level.0[28]], [cov.0[28], cov.0[21]]);
        assert_eq!(level.swap_level(), cov);
        let body = cov.swap_body();
        assert_eq!((body.0[0], body.0[1], body.0[2], body.0[8]), (cov.0[0], -cov.0[1], -cov.0[2], cov.0[8]));
        assert_eq!(body.swap_body(), cov);
    }
}
