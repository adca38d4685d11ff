//! The levels of log lines, in six lower-case words.

use super::fields::Fields;

/// The spellings of each level, in lower case.
const SPELLINGS: [(&str, &[&str]); 6] = [
    ("trace", &["trace", "finest", "finer", "verbose", "trc", "silly", "notset"]),
    (
        "debug",
        &["debug", "fine", "config", "dbg", "debug1", "debug2", "debug3", "debug4", "debug5"],
    ),
    (
        "info",
        &[
            "info",
            "information",
            "informational",
            "notice",
            "note",
            "log",
            "inf",
            "system",
            "success",
        ],
    ),
    ("warn", &["warn", "warning", "wrn"]),
    ("error", &["error", "err", "severe"]),
    (
        "fatal",
        &["fatal", "critical", "crit", "alert", "emerg", "emergency", "panic", "dpanic", "ftl"],
    ),
];

/// What PostgreSQL writes in the place of a level, in lines that explain the one before.
const EXPLANATIONS: [&str; 6] = ["DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION"];

/// Syslog's severities, by number.
const SEVERITIES: [&str; 8] = ["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"];

/// Syslog's facilities, by number.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];

/// The level of a word in any case; `None` if the word is no level.
pub(super) fn of_word(word: &str) -> Option<&'static str> {
    if word.len() > 13 || !word.is_ascii() {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let level = SPELLINGS.iter().find(|(_, words)| words.contains(&lower.as_str()));
    level.map(|(level, _)| *level)
}

/// The level of one character: klog's and Ruby's letters, and Redis's signs.
pub(super) fn of_letter(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "T" | "V" => "trace",
        "D" | "." | "-" => "debug",
        "I" | "*" => "info",
        "W" | "#" => "warn",
        "E" => "error",
        "F" | "C" => "fatal",
        _ => return None,
    })
}

/// The level of a number of bunyan and pino.
fn of_number(number: &str) -> Option<&'static str> {
    let number = number.parse::<u32>().ok().filter(|number| number % 10 == 0)?;
    let levels = ["trace", "debug", "info", "warn", "error", "fatal"];
    levels.get(usize::try_from(number / 10).ok()?.checked_sub(1)?).copied()
}

/// Adds the column `level`. A word that is no usual level becomes lower-case.
pub(super) fn add(fields: &mut Fields, word: &str) {
    let word = word.trim();
    if EXPLANATIONS.contains(&word) {
        fields.is_explanation = true;
        return;
    }
    match of_word(word).or_else(|| of_letter(word)).or_else(|| of_number(word)) {
        Some(level) => {
            fields.text("level", level);
            fields.level = Some(level);
        }
        None => fields.text("level", &word.to_lowercase()),
    }
}

/// Adds `level` and `facility` of the number that begins a message of syslog: `<34>`.
pub(super) fn add_priority(fields: &mut Fields, priority: &str) {
    let Ok(priority) = priority.parse::<usize>() else { return };
    if let (Some(severity), Some(facility)) =
        (SEVERITIES.get(priority % 8), FACILITIES.get(priority / 8))
    {
        fields.text("level", severity);
        fields.text("facility", facility);
    }
}

/// The level among the first words of a text. A word counts if it is in capitals, in brackets or
/// before a colon.
pub(super) fn leading(text: &str) -> Option<&'static str> {
    text.split_ascii_whitespace().take(3).find_map(|word| {
        let bare = word.trim_matches(['[', ']', '(', ')', '<', '>', ':', ',', '|']);
        let is_marked = bare.len() < word.len();
        let is_capitals = bare.bytes().all(|byte| byte.is_ascii_uppercase());
        (is_marked || is_capitals).then(|| of_word(bare)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_six_words() {
        for (word, level) in [
            ("WARNING", Some("warn")),
            ("Severe", Some("error")),
            ("LOG", Some("info")),
            ("CRITICAL", Some("fatal")),
            ("monday", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(of_word(word), level, "{word}");
        }
        assert_eq!(of_number("30"), Some("info"));
        assert_eq!([of_number("0"), of_number("70"), of_number("35")], [None; 3]);
    }

    #[test]
    fn a_level_is_among_the_first_words() {
        for (text, level) in [
            ("ERROR payment failed", Some("error")),
            ("[warn]: x", Some("warn")),
            ("info: x", Some("info")),
            ("[main] ERROR x", Some("error")),
            ("panic serving", None),
            ("no error here", None),
            ("a b ERROR 7", Some("error")),
            ("a b c d ERROR", None),
        ] {
            assert_eq!(leading(text), level, "{text}");
        }
    }

    #[test]
    fn a_priority_is_a_level_and_a_facility() {
        let mut fields = Fields::default();
        add_priority(&mut fields, "34");
        assert_eq!(fields.members(), br#""level":"fatal","facility":"auth","#);
        fields = Fields::default();
        ["999", "", "x"].iter().for_each(|priority| add_priority(&mut fields, priority));
        assert_eq!(fields, Fields::default());
    }
}
