//! "Did you mean": the known name that looks most like an unknown one.

/// The closest of `known` by edit distance, if it is close enough to be a misspelling.
///
/// A name with the right last part in another package counts as close, whatever the package.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let short = |text: &str| text.rsplit('/').next().unwrap_or_default().to_lowercase();
    let wanted = short(name);
    known
        .filter_map(|other| {
            let distance = edit_distance(name, other);
            let close = resembles(name, other) || short(other) == wanted;
            close.then_some((distance, other))
        })
        .min()
        .map(|(_, other)| other)
}

/// Whether every part between slashes is a misspelling of the other's: one edit in four characters, or the same letters
/// in another order. The parts that most names share do not speak for the others.
fn resembles(name: &str, other: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    let misspelt = |(a, b): (&str, &str)| {
        edit_distance(a, b) <= a.chars().count().div_ceil(4) || letters(a) == letters(b)
    };
    name.split('/').count() == other.split('/').count() && name.split('/').zip(other.split('/')).all(misspelt)
}

/// Levenshtein distance in characters, letter case aside.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, cb) in row.iter_mut().skip(1).zip(&b) {
            let above = *cell;
            left = (diagonal + usize::from(ca != *cb)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_name_finds_its_neighbour() {
        let known = ["sensor_msgs/msg/Imu", "sensor_msgs/msg/Image", "std_msgs/msg/String"];
        assert_eq!(nearest("sensor_msgs/msg/Imgae", known.into_iter()), Some("sensor_msgs/msg/Image"));
        assert_eq!(nearest("sensor_msg/msg/Imu", known.into_iter()), Some("sensor_msgs/msg/Imu"));
        assert_eq!(nearest("my_msgs/msg/String", known.into_iter()), Some("std_msgs/msg/String"));
        assert_eq!(nearest("px4_msgs/msg/VehicleOdometry", known.into_iter()), None);
        assert_eq!(nearest("odd_msgs/msg/Wide", ["std_msgs/msg/Time"].into_iter()), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("Abc", "aBC"), 0);
    }
}
