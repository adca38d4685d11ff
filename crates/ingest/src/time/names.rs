//! The names of months, weekdays and halves of the day, in English and in any case.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The letters of a short name.
const SHORT: usize = 3;

/// The month at the beginning of a text, from 1, and the length of its name: `Nov`, `November`,
/// `Sept`, `Nov.`.
pub(super) fn month(text: &str) -> Option<(i64, usize)> {
    let (place, end) = name(text, &MONTHS)?;
    let end = end + usize::from(text[end..].starts_with('.'));
    Some((i64::try_from(place).ok()? + 1, end))
}

/// The length of the weekday at the beginning of a text.
pub(super) fn weekday_bytes(text: &str) -> Option<usize> {
    name(text, &WEEKDAYS).map(|(_, end)| end)
}

/// Whether a text begins with `PM` rather than `AM`, in any of their spellings, and the length.
pub(super) fn is_afternoon(text: &str) -> Option<(bool, usize)> {
    let bytes = text.as_bytes();
    let first = bytes.first()?.to_ascii_lowercase();
    let is_m = |at: usize| bytes.get(at).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'm'));
    let is_point = |at: usize| bytes.get(at) == Some(&b'.');
    let end = match (is_m(1), is_point(1) && is_m(2)) {
        (true, _) => 2,
        (_, true) => 3 + usize::from(is_point(3)),
        _ => return None,
    };
    let is_over = bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (matches!(first, b'a' | b'p') && is_over).then_some((first == b'p', end))
}

/// The place of the name that a text begins with, and the length of its spelling: the whole name,
/// or three or more of its letters.
fn name(text: &str, names: &[&str]) -> Option<(usize, usize)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let word = &text.as_bytes()[..end];
    let is_start = |name: &&str| {
        name.as_bytes().get(..end).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let place = names.iter().position(is_start).filter(|_| end >= SHORT)?;
    Some((place, end))
}
