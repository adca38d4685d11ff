//! The spellings of times as fragments of regular expressions, for the patterns of layouts.

/// The fragments, by the name that stands for them in a pattern. A fragment may use later ones.
const FRAGMENTS: [(&str, &str); 13] = [
    // Any time that a line may begin with.
    (
        "<any-time>",
        "(?:<iso>|<clf>|<syslog>|<asctime>|<month-first>|<numeric>|<day-first>|<compact>|<epoch>)",
    ),
    (
        "<iso>",
        "[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}[T _][0-9]{2}:[0-9]{2}(?::[0-9]{2}<fraction>)?<zone>",
    ),
    ("<clf>", "[0-9]{1,2}/<month>/[0-9]{4}[: ]<clock><zone>"),
    ("<syslog>", "<month> [ 0-9]?[0-9] (?:[0-9]{4} )?<clock><zone>"),
    ("<asctime>", "[A-Z][a-z]{2},? <month> [ 0-9]?[0-9] <clock>(?: [A-Z]{3,5})? [0-9]{4}"),
    (
        "<month-first>",
        "<month> [0-9]{1,2}, [0-9]{4},? [0-9]{1,2}:[0-9]{2}:[0-9]{2}<fraction><zone>",
    ),
    (
        "<numeric>",
        "[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4},?[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}<fraction>)?<zone>",
    ),
    ("<day-first>", "(?:[A-Z][a-z]{2}, )?[0-9]{1,2}[ -]<month>[ -][0-9]{4} <clock><zone>"),
    ("<compact>", "[0-9]{8}[T ][0-9]{2}:?[0-9]{2}:?[0-9]{2}<fraction><zone>"),
    ("<epoch>", r"1[0-9]{9}(?:\.[0-9]{1,9}|[0-9]{3})?"),
    ("<month>", "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"),
    ("<clock>", "[0-9]{2}:[0-9]{2}:[0-9]{2}<fraction>"),
    (
        "<zone>",
        concat!(
            r"(?: ?[AaPp]\.?[Mm]\.?(?-u:\b))?",
            r"(?:[+-][0-9]{2}(?::?[0-9]{2})?| [+-][0-9]{2}:?[0-9]{2}(?-u:\b)",
            r"| ?(?:Z|UTC|GMT|[CEW]ES?T|MSK|BST|IST|[ECMPA][SD]T|AK[SD]T|HST|JST|KST|SGT|HKT|PKT",
            r"|A[ECW][SD]?T|NZ[SD]T|SAST|CAT|WAT|EAT|BRT|ART|CLT|COT|PET|WIB|ICT|PHT)(?-u:\b)",
            r"| [A-Z][a-z]+(?:/[A-Z][A-Za-z_]+){1,2})?",
        ),
    ),
];

/// The fraction of a second.
const FRACTION: &str = "(?:[.,:][0-9]{1,9})?";
/// The words for levels in patterns.
const LEVEL: &str = "(?:(?i:trace|finest|finer|fine|config|debug[1-5]?|info|information|notice|note|log\
    |warn|warning|error|err|severe|fatal|critical|crit|alert|emerg|panic|dpanic|success|system))";

/// Replaces the names of fragments in a pattern.
pub(super) fn expand(pattern: &str) -> String {
    let expanded = FRAGMENTS
        .iter()
        .fold(pattern.to_owned(), |text, (name, fragment)| text.replace(name, fragment));
    expanded.replace("<fraction>", FRACTION).replace("<level-word>", LEVEL)
}
