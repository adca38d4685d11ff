use super::*;
use proptest::prelude::*;

fn bytes_of(entries: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(entries, &mut out);
    out
}

#[test]
fn strings_are_found_by_code() {
    let huge = "x".repeat(STRING_BYTES_MAX);
    let entries = ["", "a", "aé💧", "b", &huge];
    let bytes = bytes_of(&entries);
    let dictionary = StringDictionary::parse(&bytes, 5).expect("parses");
    assert_eq!(dictionary.iter().collect::<Vec<_>>(), entries);
    assert_eq!(dictionary.get(2), Some("aé💧"));
    assert_eq!(dictionary.get(5), None);
    assert_eq!(dictionary.get(u32::MAX), None);
    let empty = bytes_of(&[]);
    assert!(StringDictionary::parse(&empty, 0).expect("parses").is_empty());
}

/// Bytes of a front-coded dictionary, even if it saves nothing.
fn front_coded(entries: &[&str]) -> Vec<u8> {
    let mut out = vec![FRONT];
    front_coding::encode(entries, &mut out);
    out
}

#[test]
fn neighbours_share_what_they_begin_with() {
    let huge = "x".repeat(STRING_BYTES_MAX);
    let entries = ["", "a", "aé💧", "aê", "b", &huge[1..], &huge];
    let bytes = front_coded(&entries);
    let dictionary = StringDictionary::parse(&bytes, 7).expect("parses");
    assert!(dictionary.iter().eq(entries));
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    assert!(StringDictionary::parse(&front_coded(&[]), 0).expect("parses").is_empty());
    assert_eq!(StringDictionary::parse(&front_coded(&[""]), 1).expect("parses").get(0), Some(""));

    let hosts: Vec<String> = (0..5_000).map(|i| format!("web-{i:05}.dc{}.net", i % 8)).collect();
    let mut bytes = Vec::new();
    encode(&hosts, &mut bytes);
    assert!(bytes.len() < hosts.len() * 5, "{}", bytes.len());
    let plain = plain(&bytes, 5_000).expect("the same dictionary");
    assert!(plain.len() > bytes.len());
    assert!(StringDictionary::parse(&plain, 5_000).expect("parses").iter().eq(&hosts));
    assert!(StringDictionary::parse(&bytes, 5_000).expect("parses").iter().eq(&hosts));
    let small = bytes_of(&["a", "b"]);
    assert_eq!((small[0], &*super::plain(&small, 2).expect("as it is")), (2, &small[..]));
}

#[test]
fn fronts_lie_as_the_spec_says() {
    let entries = ["/api/carts", "/api/carts/items", "/api/users"];
    // Shared: 0, 10, 5; rests: 10, 6, 5 (in 3 bits each, less 5).
    let shared = [6, 1, 0, 0, 10, 0xA0, 0x05];
    let rests = [6, 1, 0, 10, 5, 0b0000_1101, 0];
    let expected = [&[0], &shared[..], &rests[..], b"/api/carts/itemsusers"].concat();
    assert_eq!(front_coded(&entries), expected);
    assert!(StringDictionary::parse(&expected, 3).expect("parses").iter().eq(entries));
}

#[test]
fn what_is_wrong_with_a_front_is_named() {
    use EncodingError::{Limit, Order, Text, Trailing, Truncated};
    let parse = |bytes: &[u8], count| {
        StringDictionary::parse(bytes, count).map(|_| ()).expect_err("is wrong")
    };
    let order = |index| Order { what: "dictionary entry", index };
    assert_eq!(parse(&front_coded(&["b", "a"]), 2), order(1));
    assert_eq!(parse(&front_coded(&["a", "b", "b"]), 3), order(2));
    // The first string shares a byte with no predecessor.
    assert_eq!(parse(&[0, 2, 0, 2, 2, 0, 2, b'a'], 1), order(0));
    // "aa", "ac" that do not share their common "a".
    assert_eq!(parse(&[0, 2, 0, 0, 2, 0, 4, b'a', b'a', b'a', b'c'], 2), order(1));
    // An é that is split in two.
    assert_eq!(parse(&[0, 2, 0, 0, 2, 0, 2, 0xC3, 0xC4], 2), Text { index: 0 });
    assert!(matches!(parse(&[0, 2, 0], 1), Truncated { .. }));
    assert!(matches!(parse(&[0, 2, 0, 0, 2, 0, 2, b'a'], 2), EncodingError::Page { .. }));
    assert!(matches!(parse(&[0, 3, 0, 0, 0, 2, 0, 2, b'a'], 1), Trailing { .. }));
    // 300 strings of 64 KiB each in a few bytes, and more strings than the bytes can hold.
    let shared = [0, 4, 0, 0x80, 0x80, 0x08];
    let many = [&shared[..], &[2, 0, 2], &[b'a'; 300]].concat();
    assert!(
        matches!(parse(&many, 300), Limit { what: "a string's length", .. }),
        "{:?}",
        parse(&many, 300)
    );
    assert!(matches!(parse(&[0, 2, 0, 0], 1_021), Limit { what: "dictionary entries", .. }));
}

#[test]
fn what_is_wrong_is_named() {
    use EncodingError::{Limit, Order, Text, Trailing, Truncated};
    let parse = |bytes: &[u8], count| {
        StringDictionary::parse(bytes, count).map(|_| ()).expect_err("is wrong")
    };
    let order = |index| Order { what: "dictionary entry", index };
    assert_eq!(parse(&bytes_of(&["b", "a"]), 2), order(1));
    assert_eq!(parse(&bytes_of(&["a", "b", "b"]), 3), order(2));
    let mut bytes = bytes_of(&["aa", "bb"]);
    *bytes.last_mut().expect("some") = 0xFF;
    assert_eq!(parse(&bytes, 2), Text { index: 1 });
    // The lengths split é in two.
    let bytes = [2, 0, 2, 0xC3, 0xA9];
    assert_eq!(parse(&bytes, 2), Text { index: 1 });
    assert!(matches!(parse(&bytes_of(&["aa", "bb"])[..6], 2), Truncated { .. }));
    assert!(matches!(parse(&[2, 0, 2, b'a', b'b'], 1), Trailing { left: 1, .. }));
    let huge = "x".repeat(STRING_BYTES_MAX + 1);
    assert!(matches!(parse(&bytes_of(&[&huge]), 1), Limit { .. }));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        lengths in 0u8..8,
        count in 0usize..20,
    ) {
        let bytes: Vec<u8> = [lengths, lengths % 2].into_iter().chain(bytes).collect();
        if let Ok(dictionary) = StringDictionary::parse(&bytes, count) {
            prop_assert_eq!(dictionary.iter().len(), count);
        }
    }

    #[test]
    fn any_strings_survive(entries in prop::collection::btree_set("[ab/é]{0,9}.{0,40}", 0..80)) {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        for bytes in [bytes_of(&entries), front_coded(&entries)] {
            let dictionary = StringDictionary::parse(&bytes, entries.len()).expect("parses");
            prop_assert!(dictionary.iter().eq(entries.iter().copied()));
        }
    }

    #[test]
    fn mutated_fronts_never_panic(
        entries in prop::collection::btree_set("[ab/é]{0,40}", 1..40),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let mut bytes = front_coded(&entries);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(dictionary) = StringDictionary::parse(&bytes, entries.len()) {
            let entries: Vec<&str> = dictionary.iter().collect();
            prop_assert!(entries.is_sorted_by(|left, right| left < right));
        }
    }
}
