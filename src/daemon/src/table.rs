//! Text tables.

use std::fmt::{self, Write as _};

use rostrans_core::text::printable;

/// Rows of cells, printed in columns as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a head.
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned).to_vec()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        // What is in them comes from files.
        self.rows.push(cells.map(|cell| printable(&cell).into_owned()).into());
    }

    /// True when there is nothing below the head.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "  {cell:width$}")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["A", "B"]);
        assert!(table.is_empty());
        table.row(["long".to_owned(), "x".to_owned()]);
        table.row(["ü".to_owned(), String::new()]);
        assert_eq!(table.to_string(), "  A     B\n  long  x\n  ü\n");
    }
}
