//! How rates are shown: a table for people, fields for machines.

use std::{
    fmt::{self, Write as _},
    time::Duration,
};

use tracing::info;

use super::{
    ClockRates,
    rates::{LinkRates, Rates, RouteRates, TransportRates},
};

impl Rates {
    /// Logs one event per row, a field for each figure.
    pub fn log_fields(&self) {
        for row in &self.links {
            info!(
                rule = %row.rule,
                link = %row.link,
                direction = %row.direction,
                state = row.state_text(),
                in_hz = row.in_hz,
                out_hz = row.out_hz,
                kbytes_s = row.kbytes_s,
                dropped = row.dropped,
                limited = row.limited,
                errors = row.errors,
                idle_s = row.idle.map(|idle| idle.as_secs_f64()),
                "link rates"
            );
        }
        for row in &self.transports {
            info!(
                transport = &*row.name,
                state = %row.state,
                in_hz = row.in_hz,
                kbytes_s = row.kbytes_s,
                unwanted_hz = row.unwanted_hz,
                malformed = row.malformed,
                skipped_bytes = row.skipped_bytes,
                "transport rates"
            );
        }
        for row in &self.routes {
            info!(
                rule = %row.rule,
                peer = row.peer,
                from_hz = row.from_hz,
                from_kbytes_s = row.from_kbytes_s,
                to_hz = row.to_hz,
                to_kbytes_s = row.to_kbytes_s,
                errors = row.errors,
                "route rates"
            );
        }
        self.clocks.iter().for_each(ClockRates::log_fields);
    }

    fn total(&self) -> [String; 11] {
        let sum = |figure: fn(&LinkRates) -> f64| tenths(self.links.iter().map(figure).sum());
        let count = |figure: fn(&LinkRates) -> u64| self.links.iter().map(figure).sum::<u64>().to_string();
        let none = String::new;
        [
            "total".to_owned(),
            none(),
            none(),
            none(),
            sum(|row| row.in_hz),
            sum(|row| row.out_hz),
            sum(|row| row.kbytes_s),
            count(|row| row.dropped),
            count(|row| row.limited),
            count(|row| row.errors),
            none(),
        ]
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = [
            "rule",
            "link",
            "direction",
            "state",
            "in/s",
            "out/s",
            "kB/s",
            "dropped",
            "limited",
            "errors",
            "last",
        ];
        if !self.links.is_empty() {
            table(f, titles, self.links.iter().map(LinkRates::cells).chain([self.total()]), 4)?;
        }
        let titles = ["transport", "state", "in/s", "kB/s", "unwanted/s", "malformed", "skipped B"];
        if !self.transports.is_empty() {
            f.write_char('\n')?;
            table(f, titles, self.transports.iter().map(TransportRates::cells), 2)?;
        }
        let titles = ["route", "peer", "from/s", "kB/s", "to/s", "kB/s", "errors"];
        if !self.routes.is_empty() {
            f.write_char('\n')?;
            table(f, titles, self.routes.iter().map(RouteRates::cells), 2)?;
        }
        if !self.clocks.is_empty() {
            f.write_char('\n')?;
            table(f, ClockRates::TITLES, self.clocks.iter().map(ClockRates::cells), 2)?;
        }
        Ok(())
    }
}

impl LinkRates {
    fn cells(&self) -> [String; 11] {
        [
            self.rule.to_string(),
            self.link.to_string(),
            self.direction.to_string(),
            self.state_text(),
            tenths(self.in_hz),
            tenths(self.out_hz),
            tenths(self.kbytes_s),
            self.dropped.to_string(),
            self.limited.to_string(),
            self.errors.to_string(),
            match self.idle {
                None => "never".to_owned(),
                Some(idle) if idle < Duration::from_secs(1) => "now".to_owned(),
                Some(idle) => format!("{} s ago", idle.as_secs()),
            },
        ]
    }

    fn state_text(&self) -> String {
        if self.disabled { "off".to_owned() } else { self.state.to_string() }
    }
}

impl TransportRates {
    fn cells(&self) -> [String; 7] {
        [
            self.name.to_string(),
            self.state.to_string(),
            tenths(self.in_hz),
            tenths(self.kbytes_s),
            tenths(self.unwanted_hz),
            self.malformed.to_string(),
            self.skipped_bytes.to_string(),
        ]
    }
}

impl RouteRates {
    fn cells(&self) -> [String; 7] {
        [
            self.rule.to_string(),
            self.peer.clone(),
            tenths(self.from_hz),
            tenths(self.from_kbytes_s),
            tenths(self.to_hz),
            tenths(self.to_kbytes_s),
            self.errors.to_string(),
        ]
    }
}

fn tenths(figure: f64) -> String {
    format!("{figure:.1}")
}

/// Writes a table: the first `texts` columns to the left, figures to the right.
fn table<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    titles: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    texts: usize,
) -> fmt::Result {
    let rows: Vec<[String; N]> = [titles.map(str::to_owned)].into_iter().chain(rows).collect();
    let mut widths = [0; N];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            if column < texts {
                write!(line, "{gap}{cell:<width$}")?;
            } else {
                write!(line, "{gap}{cell:>width$}")?;
            }
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::monitor::rates::tests::rates;

    #[test]
    fn table_names_every_link_transport_and_route_peer() {
        insta::assert_snapshot!(rates());
    }
}
