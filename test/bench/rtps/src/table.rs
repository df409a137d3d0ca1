//! Medians over the rounds and ratios to ours.

use crate::case::Case;
use crate::payload::Kind;
use crate::run::Outcome;

/// One engine in one case.
pub(crate) struct Row {
    pub(crate) engine: String,
    /// One for each round so far.
    pub(crate) outcomes: Vec<Result<Outcome, String>>,
}

impl Row {
    pub(crate) fn new(engine: &str) -> Self {
        Self { engine: engine.to_owned(), outcomes: Vec::new() }
    }

    fn median(&self, value: impl Fn(&Outcome) -> f64) -> f64 {
        median(self.outcomes.iter().flatten().map(value).collect())
    }

    /// Median of this engine's value divided by ours in the same round.
    fn ratio(&self, ours: &Self, value: impl Fn(&Outcome) -> f64) -> f64 {
        let pairs = self.outcomes.iter().zip(&ours.outcomes);
        let both = pairs.filter_map(|(a, b)| Some((a.as_ref().ok()?, b.as_ref().ok()?)));
        median(both.map(|(a, b)| value(a) / value(b)).filter(|r| r.is_finite()).collect())
    }
}

struct Column {
    title: &'static str,
    decimals: usize,
    /// Beside the ratio to ours.
    with_ratio: bool,
    value: fn(&Outcome) -> f64,
}

const fn column(title: &'static str, decimals: usize, value: fn(&Outcome) -> f64) -> Column {
    Column { title, decimals, with_ratio: true, value }
}

const DELIVERED: Column = Column {
    title: "delivered %",
    decimals: 1,
    with_ratio: false,
    value: |o| 100.0 * o.received / o.sent.max(1.0),
};
const SENT: Column = column("sent/s", 0, |o| o.sent_per_s);
const RECEIVED: Column = column("received/s", 0, |o| o.received_per_s);
const P50: Column = column("p50 us", 0, |o| o.p50_us);
const P99: Column = column("p99 us", 0, |o| o.p99_us);
const WRITER_CPU: Column = column("writer us/msg", 1, |o| o.writer_us);
const READER_CPU: Column = column("reader us/msg", 1, |o| o.reader_us);
const BOTH_CPU: Column = column("both us/msg", 1, |o| o.writer_us + o.reader_us);
const WRITER_MIB: Column = column("writer MiB", 1, |o| o.writer_kib / 1024.0);
const READER_MIB: Column = column("reader MiB", 1, |o| o.reader_kib / 1024.0);

/// Prints the table of one case; the ratios in brackets are to our engine in the same round.
pub(crate) fn print(case: &Case, rows: &[Row]) {
    let rounds = rows.iter().map(|row| row.outcomes.len()).max().unwrap_or(0);
    println!("\n{}: {} ({rounds} rounds, medians; in brackets: theirs / ours)", case.id, case.title);
    let mut columns = vec![DELIVERED];
    match case.kind {
        Kind::Kilobyte => columns.extend([SENT, RECEIVED]),
        Kind::Imu | Kind::Image => columns.extend([P50, P99]),
    }
    columns.extend([WRITER_CPU, READER_CPU, BOTH_CPU, WRITER_MIB, READER_MIB]);
    print!("{:11}", "");
    columns.iter().for_each(|c| print!("{:>width$}", c.title, width = width(c)));
    println!();
    let ours = rows.iter().find(|row| row.engine == "ours");
    for row in rows {
        print!("{:11}", row.engine);
        for column in &columns {
            let value = row.median(column.value);
            let mut cell = if value.is_nan() { "-".into() } else { format!("{value:.*}", column.decimals) };
            if let Some(ours) = ours.filter(|ours| column.with_ratio && ours.engine != row.engine) {
                let ratio = row.ratio(ours, column.value);
                cell += &if ratio.is_nan() { " (-)".into() } else { format!(" ({ratio:.2})") };
            }
            print!("{cell:>width$}", width = width(column));
        }
        println!();
        for (number, error) in
            row.outcomes.iter().enumerate().filter_map(|(n, o)| Some((n, o.as_ref().err()?)))
        {
            println!("{:11}round {}: {error}", "", number + 1);
        }
        let wrong = row.median(|o| o.wrong);
        if wrong > 0.0 {
            println!("{:11}{wrong:.0} messages twice, out of order or refused", "");
        }
    }
}

fn width(column: &Column) -> usize {
    if column.with_ratio { 18 } else { 13 }
}

/// NaN when there is nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
