//! Rows that a converter marks as rejected, so that the reason goes the way of the rows.

use serde_json::Value;

/// The beginning of such a row.
const BEGINNING: &[u8] = b"{\"$reject\":";

/// Appends a row that is rejected with this reason; `text` is what was read.
pub(crate) fn write(reason: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(BEGINNING);
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(&mut *out, reason);
    out.extend_from_slice(b",\"message\":");
    let _ = serde_json::to_writer(&mut *out, text);
    out.push(b'}');
}

/// The reason and the text of a row that is marked as rejected; `None` for all other rows.
pub(crate) fn read(row: &[u8]) -> Option<(String, String)> {
    if !row.starts_with(BEGINNING) {
        return None;
    }
    let Value::Object(mut row) = serde_json::from_slice(row).ok()? else { return None };
    match (row.remove("$reject")?, row.remove("message")) {
        (Value::String(reason), Some(Value::String(text))) => Some((reason, text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_row_has_its_reason_and_text() {
        let mut row = Vec::new();
        write("no \"match\"", "a\tb", &mut row);
        assert_eq!(read(&row), Some(("no \"match\"".to_owned(), "a\tb".to_owned())));
        for other in ["{}", "{\"$reject\":1}", "{\"$reject\":\"x\"}", "{\"$reject\":", ""] {
            assert_eq!(read(other.as_bytes()), None, "{other}");
        }
    }
}
