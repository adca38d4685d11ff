//! Refuses inputs whose first bytes show that they cannot be read, with advice.

use super::source::is_compressed;
use crate::error::Error;

const SUPPORTED: &str = "Parquet, Arrow, JSON lines, JSON, CSV and plain text can be read, \
    all also with gzip or zstd";

/// Magic bytes of known formats, their names, and how to convert them to a readable format.
const OTHERS: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip -p FILE | hadal import - --table T"),
    (b"BZh91AY&SY", "a bzip2 file", "unpack it first: bzcat FILE | hadal import - --table T"),
    (b"\xfd7zXZ\0", "an xz file", "unpack it first: xzcat FILE | hadal import - --table T"),
    (b"PARE", "an encrypted Parquet file", "decrypt it first"),
    (b"FEA1", "a Feather file of version 1", "write it as version 2, or as Parquet"),
    (b"ORC", "an ORC file", "convert it to Parquet first"),
    (b"Obj\x01", "an Avro file", "convert it to Parquet or JSON lines first"),
];

/// Byte order marks of encodings other than UTF-8, and the names of the encodings for `iconv`.
const MARKS: [(&[u8], &str); 4] = [
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
];

/// Refuses an input that begins with `head`, perhaps after decompression, if it is known not to be
/// UTF-8 text.
pub(super) fn refuse(head: &[u8], place: &str) -> Result<(), Error> {
    let reason = if is_compressed(head) {
        "is compressed twice; unpack it once first".to_owned()
    } else if let Some((_, what, way_out)) = OTHERS.iter().find(|(mark, ..)| begins(head, mark)) {
        format!("is {what}; {} ({SUPPORTED})", way_out.replace("FILE", place))
    } else if let Some(encoding) = wide_encoding(head) {
        let name = encoding.to_ascii_uppercase();
        format!("is text in {name}, not in UTF-8; convert it first: iconv -f {encoding} -t utf-8")
    } else {
        return Ok(());
    };
    Err(Error::Input { place: place.to_owned(), reason })
}

/// Whether bytes begin with a mark. A text may also begin with the three or four letters of a short
/// mark, so a short mark needs a NUL as well.
fn begins(head: &[u8], mark: &[u8]) -> bool {
    head.starts_with(mark) && (mark.len() > 4 || head.contains(&0))
}

/// Refuses an input whose beginning contains bytes that no text has.
pub(super) fn refuse_binary(head: &[u8], place: &str) -> Result<(), Error> {
    let Some(at) = head.iter().position(|&byte| byte == 0) else { return Ok(()) };
    let reason = format!(
        "is no text: byte {} is NUL; --format text takes its lines as they are ({SUPPORTED})",
        at + 1
    );
    Err(Error::Input { place: place.to_owned(), reason })
}

/// Returns the encoding of a text with two or four bytes per character. It is detected by a byte
/// order mark, or by NUL in one half of most characters, as for Latin letters.
fn wide_encoding(head: &[u8]) -> Option<&'static str> {
    if let Some((_, encoding)) = MARKS.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Some(encoding);
    }
    let nuls = |from| head.iter().skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    let is_most = |count: usize| 4 * count > head.len();
    match (nuls(0), nuls(1)) {
        (0, second) if is_most(second) => Some("utf-16le"),
        (first, 0) if is_most(first) => Some("utf-16be"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(head: &[u8]) -> String {
        refuse(head, "x").expect_err("refused").to_string()
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let orc = said(b"ORC\n\x0b\0");
        assert!(orc.contains("an ORC file") && orc.contains("CSV"), "{orc}");
        let zip = said(b"PK\x03\x04\x14\0");
        assert!(zip.contains("unzip -p x |"), "{zip}");
        for twice in [&b"\x1f\x8b\x08"[..], b"\x28\xb5\x2f\xfd"] {
            assert!(said(twice).contains("compressed twice"));
        }
    }

    #[test]
    fn encodings_are_named() {
        let text = "a,\u{e9}\n1,2\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let chars: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        for (bytes, encoding) in [
            ([b"\xff\xfe", little.as_slice()].concat(), "utf-16"),
            ([b"\xfe\xff", big.as_slice()].concat(), "utf-16"),
            (little, "utf-16le"),
            (big, "utf-16be"),
            ([b"\xff\xfe\0\0", chars.as_slice()].concat(), "utf-32"),
        ] {
            let said = said(&bytes);
            let name = encoding.to_ascii_uppercase();
            assert!(said.contains(&format!("is text in {name}, not")), "{said}");
            assert!(said.ends_with(&format!("iconv -f {encoding} -t utf-8")), "{said}");
        }
    }

    #[test]
    fn text_is_read() {
        for text in ["", "a", "a,b\n", "\u{feff}a", "\u{e9}t\u{e9}", "ORCA is up\n"] {
            assert!(refuse(text.as_bytes(), "x").is_ok(), "{text:?}");
            assert!(refuse_binary(text.as_bytes(), "x").is_ok(), "{text:?}");
        }
        // Latin-1, and a NUL in a long line.
        assert!(refuse(b"\xe9t\xe9,1\n", "x").is_ok() && refuse(b"abcdefgh\0", "x").is_ok());
        let said = refuse_binary(b"ab\0", "x").expect_err("refused").to_string();
        assert!(said.contains("byte 3 is NUL; --format text"), "{said}");
    }
}
