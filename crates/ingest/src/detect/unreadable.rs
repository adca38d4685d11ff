//! Inputs whose first bytes show that they cannot be read, and the way out.

/// The formats that can be read, for messages.
const SUPPORTED: &str = "Parquet, Arrow, JSON lines, JSON, CSV and plain text can be read, \
    all also with gzip or zstd";

/// Magic bytes of compression formats, and their names.
const COMPRESSED: [(&[u8], &str); 2] =
    [(&[0x1f, 0x8b], "gzip"), (&[0x28, 0xb5, 0x2f, 0xfd], "zstd")];

/// Magic bytes of formats that are not read, their names, and how to convert them.
const OTHERS: [(&[u8], &str, &str); 8] = [
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip -p FILE | hadal import - --table T"),
    (b"BZh91AY&SY", "a bzip2 file", "unpack it first: bzcat FILE | hadal import - --table T"),
    (b"\xfd7zXZ\0", "an xz file", "unpack it first: xzcat FILE | hadal import - --table T"),
    (
        b"7z\xbc\xaf\x27\x1c",
        "a 7z archive",
        "unpack it first: 7z x -so FILE | hadal import - --table T",
    ),
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

/// Whether bytes begin with a frame that zstd skips, as those of pzstd do. Its first magic byte is
/// `5x`, and the other three are the same.
fn begins_with_skippable(head: &[u8]) -> bool {
    head.first().is_some_and(|byte| byte & 0xf0 == 0x50)
        && head.get(1..4) == Some(&[0x2a, 0x4d, 0x18])
}

/// Why an input cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is compressed, with this program.
    Compressed(&'static str),
    /// It has a format that is not read: its name, and how to convert it.
    Format(&'static str, &'static str),
    /// It is text in another encoding than UTF-8, by its name for `iconv`.
    Encoding(&'static str),
    /// It is no text: the position of the first NUL, from 1.
    Binary(usize),
    /// It is columnar (Parquet or Arrow), which only `hadal import` reads.
    Columnar(&'static str),
}

impl Unreadable {
    /// The reason why bytes, perhaps decompressed, are known to be neither UTF-8 text nor columnar.
    pub(super) fn of_magic(head: &[u8]) -> Option<Self> {
        if let Some((_, program)) = COMPRESSED.iter().find(|(mark, _)| head.starts_with(mark)) {
            return Some(Self::Compressed(program));
        }
        if begins_with_skippable(head) {
            return Some(Self::Compressed("zstd"));
        }
        if let Some((_, format, remedy)) = OTHERS.iter().find(|(mark, ..)| begins(head, mark)) {
            return Some(Self::Format(format, remedy));
        }
        encoding(head).map(Self::Encoding)
    }

    /// The reason why bytes are no text: text has no NUL.
    pub(super) fn of_nul(head: &[u8]) -> Option<Self> {
        let at = memchr::memchr(0, head)?;
        Some(Self::Binary(at + 1))
    }

    /// The reason in words, for a file at `place`, decompressed if it was compressed.
    #[must_use]
    pub fn of_file(self, place: &str) -> String {
        match self {
            Self::Compressed(_) => "is compressed twice; unpack it once first".to_owned(),
            Self::Format(format, remedy) => {
                format!("is {format}; {} ({SUPPORTED})", remedy.replace("FILE", place))
            }
            Self::Encoding(encoding) => format!(
                "is text in {}, not in UTF-8; convert it first: iconv -f {encoding} -t utf-8",
                encoding.to_ascii_uppercase()
            ),
            Self::Binary(at) => format!(
                "is no text: byte {at} is NUL; --format text takes its lines as they are \
                 ({SUPPORTED})"
            ),
            Self::Columnar(format) => format!("is {format}"),
        }
    }

    /// The reason in words, for the body of a request. `is_compressed` says whether the body was
    /// compressed, as its headers say.
    #[must_use]
    pub fn of_body(self, is_compressed: bool) -> String {
        match self {
            Self::Compressed(_) if is_compressed => {
                "the body is compressed twice; unpack it once first".to_owned()
            }
            Self::Compressed(program) => format!(
                "the body is compressed with {program}; send it with the header Content-Encoding: \
                 {program}"
            ),
            Self::Format(format, remedy) => format!("the body is {format}; {remedy}"),
            Self::Encoding(_) => format!("the body {}", self.of_file("-")),
            Self::Binary(at) => format!(
                "the body is no text: byte {at} is NUL; Hadal-Format: text takes its lines as they \
                 are"
            ),
            Self::Columnar(format) => {
                format!("the body is {format}; import it: hadal import FILE --table T")
            }
        }
    }
}

/// Whether bytes begin with a mark. A text may also begin with the three or four letters of a short
/// mark, so a short mark needs a NUL as well.
fn begins(head: &[u8], mark: &[u8]) -> bool {
    head.starts_with(mark) && (mark.len() > 4 || head.contains(&0))
}

/// Returns the encoding of a text with two or four bytes per character. It is detected by a byte
/// order mark, or by NUL in one half of most characters, as for Latin letters.
fn encoding(head: &[u8]) -> Option<&'static str> {
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
        Unreadable::of_magic(head).expect("unreadable").of_file("x")
    }

    #[test]
    fn formats_that_are_not_read_are_named() {
        let orc = said(b"ORC\n\x0b\0");
        assert!(orc.contains("an ORC file") && orc.contains("CSV"), "{orc}");
        let zip = said(b"PK\x03\x04\x14\0");
        assert!(zip.contains("unzip -p x |"), "{zip}");
        for twice in [&b"\x1f\x8b\x08"[..], b"\x28\xb5\x2f\xfd"] {
            assert!(said(twice).contains("compressed twice"));
        }
    }

    #[test]
    fn a_body_is_told_how_to_send_it() {
        let gzip = Unreadable::of_magic(b"\x1f\x8b\x08").expect("unreadable");
        assert!(gzip.of_body(false).ends_with("the header Content-Encoding: gzip"));
        assert!(gzip.of_body(true).contains("twice"));
        let zip = Unreadable::of_magic(b"PK\x03\x04\x14\0").expect("unreadable").of_body(false);
        assert!(zip.starts_with("the body is a zip archive; unpack it first"), "{zip}");
        let parquet = Unreadable::Columnar("Parquet").of_body(false);
        assert!(parquet.contains("hadal import FILE"), "{parquet}");
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
            assert_eq!(Unreadable::of_magic(text.as_bytes()), None, "{text:?}");
            assert_eq!(Unreadable::of_nul(text.as_bytes()), None, "{text:?}");
        }
        // Latin-1, and a NUL in a long line.
        assert_eq!(Unreadable::of_magic(b"\xe9t\xe9,1\n"), None);
        assert_eq!(Unreadable::of_magic(b"abcdefgh\0"), None);
        let said = Unreadable::of_nul(b"ab\0").expect("unreadable").of_file("x");
        assert!(said.contains("byte 3 is NUL; --format text"), "{said}");
    }
}
