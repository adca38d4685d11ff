//! The order of names in which `leaf-10` comes after `leaf-2`.

use std::cmp::Ordering;

/// Compares names; digits in them compare as numbers.
pub(super) fn natural_order(left: &str, right: &str) -> Ordering {
    let (mut left_rest, mut right_rest) = (left, right);
    while let (Some(left_part), Some(right_part)) = (part(left_rest), part(right_rest)) {
        let ordering = match (number(left_part), number(right_part)) {
            (Some(one), Some(two)) => one.len().cmp(&two.len()).then_with(|| one.cmp(two)),
            _ => left_part.cmp(right_part),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
        left_rest = &left_rest[left_part.len()..];
        right_rest = &right_rest[right_part.len()..];
    }
    left_rest.len().cmp(&right_rest.len()).then_with(|| left.cmp(right))
}

/// The digits, or the text without digits, at the start of a name.
fn part(name: &str) -> Option<&str> {
    let is_number = name.chars().next()?.is_ascii_digit();
    let end = name.find(|letter: char| letter.is_ascii_digit() != is_number);
    name.get(..end.unwrap_or(name.len()))
}

/// The digits of a number without leading zeros.
fn number(part: &str) -> Option<&str> {
    part.starts_with(|letter: char| letter.is_ascii_digit()).then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_compare_as_numbers() {
        let sorted = [
            "",
            "a",
            "a-2/leaf-0",
            "a-2/leaf-9",
            "a-2/leaf-10",
            "a-10",
            "a-10/leaf-1",
            "b",
            "b01",
            "b1",
            "b1c",
            "é",
        ];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|left, right| natural_order(left, right));
        assert_eq!(names, sorted);
    }
}
