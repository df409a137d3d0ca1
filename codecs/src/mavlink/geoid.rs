//! Height of the geoid above the ellipsoid.
//!
//! MAVLink altitudes are above mean sea level, ROS heights above the WGS-84 ellipsoid: h = alt + N, where N is the
//! undulation of the geoid. GPS_RAW_INT carries both heights, so N is their difference; a [`GeoidGrid`] knows it
//! everywhere.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::dialect::GpsRawInt;

/// The undulation at the vehicle in metres, as its receiver tells it; `None` from one that does not.
pub(super) fn undulation_by_gps(gps: &GpsRawInt) -> Option<f64> {
    let metres = f64::from(gps.alt_ellipsoid) / 1e3 - f64::from(gps.alt) / 1e3;
    (gps.alt_ellipsoid != 0 && metres.abs() <= MAX_UNDULATION_M).then_some(metres)
}

/// A grid file of undulations as GeographicLib has them (`egm96-5.pgm`, `egm2008-1.pgm`).
///
/// **Layout**: a PGM image (`P5`) of big-endian 16-bit numbers, whose comments `# Offset <o>` and `# Scale <s>` give
/// metres as `o + s * number`. Rows go from 90 degrees north to 90 south, columns from 0 degrees east on. Heights
/// between the points are interpolated bilinearly: within 0.15 m of EGM96 at 5 minutes of arc.
///
/// Only the four numbers around the vehicle are read, and kept until it leaves that cell.
#[derive(Debug)]
pub(super) struct GeoidGrid {
    columns: u32,
    rows: u32,
    offset_m: f64,
    scale_m: f64,
    /// Where the numbers start in the file.
    start: u64,
    cell: Mutex<Cell>,
}

/// What is read.
#[derive(Debug)]
struct Cell {
    file: File,
    /// Column and row of the corners in the north west, and the corners: row by row.
    corners: Option<((u32, u32), [f64; 4])>,
}

impl GeoidGrid {
    /// Opens a grid file.
    ///
    /// **Errors**: it cannot be read, or is no such file.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut head = Vec::with_capacity(MAX_HEADER);
        (&mut file).take(MAX_HEADER as u64).read_to_end(&mut head)?;
        let bad = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let head =
            Header::parse(&head).ok_or_else(|| bad("no 16-bit PGM file with '# Offset' and '# Scale'"))?;
        let size = head.start + 2 * u64::from(head.columns) * u64::from(head.rows);
        if file.metadata()?.len() < size {
            return Err(bad("shorter than its header says"));
        }
        Ok(Self {
            columns: head.columns,
            rows: head.rows,
            offset_m: head.offset_m,
            scale_m: head.scale_m,
            start: head.start,
            cell: Mutex::new(Cell { file, corners: None }),
        })
    }

    /// The undulation of a place in metres; `None` when the file cannot be read any more.
    pub(super) fn undulation(&self, latitude_deg: f64, longitude_deg: f64) -> Option<f64> {
        let x = longitude_deg.rem_euclid(360.0) / 360.0 * f64::from(self.columns);
        let y = (90.0 - latitude_deg.clamp(-90.0, 90.0)) / 180.0 * f64::from(self.rows - 1);
        if !x.is_finite() || !y.is_finite() {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "both are within the grid and not negative"
        )]
        let (column, row) = ((x as u32).min(self.columns - 1), (y as u32).min(self.rows - 2));
        let [nw, ne, sw, se] = self.corners(column, row)?;
        let (east, south) = (x - f64::from(column), y - f64::from(row));
        let (north, south_edge) = (nw + (ne - nw) * east, sw + (se - sw) * east);
        Some(north + (south_edge - north) * south)
    }

    fn corners(&self, column: u32, row: u32) -> Option<[f64; 4]> {
        let mut cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, corners)) = cell.corners.filter(|(at, _)| *at == (column, row)) {
            return Some(corners);
        }
        let next = (column + 1) % self.columns;
        let points = [(column, row), (next, row), (column, row + 1), (next, row + 1)];
        let mut corners = [0.0; 4];
        for (corner, (column, row)) in corners.iter_mut().zip(points) {
            let index = u64::from(row) * u64::from(self.columns) + u64::from(column);
            cell.file.seek(SeekFrom::Start(self.start + 2 * index)).ok()?;
            let mut number = [0; 2];
            cell.file.read_exact(&mut number).ok()?;
            *corner = self.offset_m + self.scale_m * f64::from(u16::from_be_bytes(number));
        }
        cell.corners = Some(((column, row), corners));
        Some(corners)
    }
}

/// The text before the numbers.
struct Header {
    columns: u32,
    rows: u32,
    offset_m: f64,
    scale_m: f64,
    start: u64,
}

impl Header {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (mut offset_m, mut scale_m) = (None, None);
        let mut numbers = Vec::new();
        let mut start = 0;
        for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
            start += line.len() as u64 + 1;
            let line = std::str::from_utf8(line).ok()?.trim();
            if index == 0 {
                (line == "P5").then_some(())?;
            } else if let Some(comment) = line.strip_prefix('#') {
                let mut words = comment.split_whitespace();
                match words.next() {
                    Some("Offset") => offset_m = words.next()?.parse::<f64>().ok(),
                    Some("Scale") => scale_m = words.next()?.parse::<f64>().ok(),
                    _ => {}
                }
            } else {
                for word in line.split_whitespace() {
                    numbers.push(word.parse::<u32>().ok()?);
                }
            }
            if numbers.len() >= 3 {
                break;
            }
        }
        let &[columns, rows, 65_535] = numbers.as_slice() else { return None };
        let fits = (2..=MAX_POINTS).contains(&columns) && (2..=MAX_POINTS).contains(&rows);
        let (offset_m, scale_m) = (offset_m.filter(|o| o.is_finite())?, scale_m.filter(|s| s.is_finite())?);
        fits.then_some(Self { columns, rows, offset_m, scale_m, start })
    }
}

/// EGM96 stays within -107 m and +86 m.
const MAX_UNDULATION_M: f64 = 120.0;
/// The headers are some 600 bytes long.
const MAX_HEADER: usize = 4096;
/// Columns or rows; the finest grid there is has 21,600.
const MAX_POINTS: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Four columns (0, 90, 180, 270 degrees east), three rows (90, 0, -90 degrees north).
    fn grid() -> Vec<u8> {
        let mut file = b"P5\n# Geoid file\n# Offset -100\n# Scale 0.5\n4 3\n65535\n".to_vec();
        let rows: [[u16; 4]; 3] = [[200; 4], [0, 100, 200, 300], [400; 4]];
        file.extend(rows.as_flattened().iter().flat_map(|number| number.to_be_bytes()));
        file
    }

    fn open(bytes: &[u8]) -> io::Result<GeoidGrid> {
        let name = format!("rostrans-geoid-{}-{:p}.pgm", std::process::id(), bytes.as_ptr());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes)?;
        let grid = GeoidGrid::open(&path);
        std::fs::remove_file(&path)?;
        grid
    }

    #[test]
    fn heights_between_the_points_are_interpolated() {
        let grid = open(&grid()).unwrap();
        let at = |latitude, longitude| grid.undulation(latitude, longitude).unwrap();
        assert_eq!(
            (at(0.0, 0.0), at(0.0, 90.0), at(90.0, 12.0), at(-90.0, 200.0)),
            (-100.0, -50.0, 0.0, 100.0)
        );
        assert_eq!(at(0.0, 45.0), -75.0);
        assert_eq!(at(45.0, 45.0), -37.5);
        assert_eq!(at(0.0, -45.0), -25.0, "between 270 and 360 degrees: 50 and -100");
        assert_eq!(grid.undulation(f64::NAN, 0.0), None);
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let good = grid();
        let text = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
        assert_eq!(text(&good[..good.len() - 1]), "shorter than its header says");
        for bad in [&b""[..], b"P6\n1 1\n65535\n", &good[..20], b"P5\n# Offset 0\n# Scale 1\n0 3\n65535\n"] {
            assert!(text(bad).starts_with("no 16-bit PGM"));
        }
    }
}
