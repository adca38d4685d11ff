//! Any bytes in any format, in pieces of any size: no panic, and the same result.

use proptest::prelude::*;

use super::*;

/// Texts that mean something to one of the readers.
const WORDS: [&str; 24] = [
    "a,b\n",
    "1;2\n",
    "sep=;\n",
    "\"",
    "'",
    "\\",
    "#",
    "\r",
    "\n\n",
    "{\"a\":1}\n",
    "{",
    "}",
    "[",
    "data: ",
    "\u{1e}",
    "2026-11-21 03:51:42,5 ",
    "1.234,5",
    "NA",
    "\u{feff}",
    "\u{0}",
    "\u{1}",
    "~|\t",
    "€5 %",
    "x y z\n",
];

proptest! {
    #[test]
    fn any_bytes_are_rows_or_have_a_reason(
        words in prop::collection::vec(0..WORDS.len(), 0..60),
        noise in prop::collection::vec(any::<u8>(), 0..8),
        piece in 1_usize..40,
    ) {
        let mut body: Vec<u8> = words.iter().flat_map(|&word| WORDS[word].bytes()).collect();
        body.extend(&noise);
        for format in [Format::Detect, Format::Csv, Format::Json, Format::Lines] {
            let read = |piece: usize| {
                let mut ingest = Ingest::new(settings(), format, now()).explaining();
                for bytes in body.chunks(piece) {
                    ingest.push(bytes).map_err(|error| error.to_string())?;
                }
                let (_, summary) = ingest.finish().map_err(|error| error.to_string())?;
                Ok::<_, String>((summary.accepted, summary.rejected_count, summary.detected))
            };
            let whole = read(body.len().max(1));
            prop_assert_eq!(&read(piece), &whole, "in pieces of {}", piece);
            if let Err(reason) = whole {
                prop_assert!(reason.len() > 20, "{}", reason);
            }
        }
    }
}
