//! "did you mean" for misspelt names.

/// The candidate closest to `word`, if close enough to be a likely misspelling.
///
/// Letter case is ignored. A third of the longer name may differ (at least one letter); an inserted, missing,
/// replaced or swapped letter counts as one difference. A candidate that `word` is a part of, or that is a part of
/// `word`, also counts when the shared part is four letters or longer.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = word.chars().take(MAX_LEN + 1).flat_map(char::to_lowercase).collect();
    if wanted.is_empty() || wanted.len() > MAX_LEN {
        return None;
    }
    let folded = word.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let letters: Vec<char> = lower.chars().collect();
            let distance = edit_distance(&wanted, &letters);
            let allowed = (wanted.len().max(letters.len()) / 3).max(1);
            let close = distance <= allowed && distance < wanted.len().min(letters.len());
            let part = wanted.len().min(letters.len()) >= MIN_PART
                && (lower.contains(&folded) || folded.contains(&lower));
            (close || part).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The same as a help text: `did you mean 'x'?`, or `otherwise` when nothing is close.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<String>,
) -> String {
    nearest(word, candidates).map_or_else(|| otherwise.into(), |near| format!("did you mean '{near}'?"))
}

/// Longer words are not names and would make the quadratic comparison slow.
const MAX_LEN: usize = 128;

/// Shortest shared part that counts as similar.
const MIN_PART: usize = 4;

/// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let mut best = (above[j] + usize::from(x != y)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_find_their_name() {
        let keys = ["enable_mavros", "enable_monitor", "mavros_base_port", "strict"];
        for (typed, meant) in [
            ("enable_mavors", Some("enable_mavros")),
            ("ENABLE_MAVROS", Some("enable_mavros")),
            ("enablemonitor", Some("enable_monitor")),
            ("base_port", Some("mavros_base_port")),
            ("stritc", Some("strict")),
            ("zebra", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, keys), meant, "{typed}");
        }
    }

    #[test]
    fn endless_words_are_not_compared() {
        assert_eq!(nearest(&"x".repeat(1_000_000), ["x"]), None);
    }

    #[test]
    fn swapped_neighbours_are_one_difference() {
        let chars = |s: &str| s.chars().collect::<Vec<_>>();
        assert_eq!(edit_distance(&chars("ab"), &chars("ba")), 1);
        assert_eq!(edit_distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(edit_distance(&[], &chars("abc")), 3);
    }
}
