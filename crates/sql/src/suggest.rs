//! "did you mean …?": finds the nearest name by edit distance.

/// The names that `typed` may be a typing error of, the nearest first. At most a third of its
/// characters differ, ignoring letter case.
pub(crate) fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let typed: Vec<char> = typed.to_lowercase().chars().collect();
    let most = (typed.len() / 3).max(1);
    let near = names.into_iter().filter_map(|name| {
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        if letters.len().abs_diff(typed.len()) > most {
            return None;
        }
        Some((distance(&typed, &letters), name)).filter(|(distance, _)| *distance <= most)
    });
    let mut near: Vec<(usize, &str)> = near.collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}

/// A hint with the nearest name, if there is one.
pub(crate) fn did_you_mean<'n>(
    typed: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    nearest(typed, names).first().map(|name| format!("did you mean {name}?"))
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one text
/// into the other (optimal string alignment).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, from) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, to) in right.iter().enumerate() {
            let replaced = above[column] + usize::from(from != to);
            let mut least = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            let swapped =
                row > 0 && column > 0 && *from == right[column - 1] && left[row - 1] == *to;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["service", "latency", "time", "status", "latencie"];
        for (typed, expected) in [
            ("servcie", &["service"][..]),
            ("Latncy", &["latency"]),
            ("tiem", &["time"]),
            ("latency", &["latency", "latencie"]),
            ("latencies", &["latencie", "latency"]),
            ("endpoint", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
    }

    #[test]
    fn distances_count_edits() {
        let between = |left: &str, right: &str| {
            distance(&left.chars().collect::<Vec<_>>(), &right.chars().collect::<Vec<_>>())
        };
        assert_eq!(between("", "abc"), 3);
        assert_eq!(between("abc", "acb"), 1);
        assert_eq!(between("kitten", "sitting"), 3);
    }
}
