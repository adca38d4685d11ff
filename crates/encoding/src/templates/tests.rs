use std::collections::BTreeMap;

use hadal_types::limits::{BLOCK_BYTES_MAX, STRING_BYTES_MAX};
use proptest::prelude::*;

use super::{Digits, TemplatesView, encode_numbers, lift};
use crate::{EncodingError, StringDictionary, ints, strings};

/// The three parts of strings as templates.
pub(super) struct Encoded {
    codes: Vec<u32>,
    templates: Vec<u8>,
    template_count: usize,
    numbers: Vec<u8>,
}

pub(super) fn encode<S: AsRef<str>>(values: &[S], digits: Digits) -> Option<Encoded> {
    let mut numbers = Vec::new();
    let mut lifted = Vec::new();
    for value in values {
        let mut template = Vec::new();
        if !lift(value.as_ref(), digits, &mut template, &mut numbers) {
            return None;
        }
        lifted.push(String::from_utf8(template).expect("still text"));
    }
    let mut codes: BTreeMap<&str, u32> = lifted.iter().map(|text| (text.as_str(), 0)).collect();
    codes.values_mut().zip(0..).for_each(|(slot, code)| *slot = code);
    let sorted: Vec<&str> = codes.keys().copied().collect();
    let by_string: Vec<u32> = lifted.iter().map(|text| codes[text.as_str()]).collect();
    let (mut templates, mut stored) = (Vec::new(), Vec::new());
    strings::encode(&sorted, &mut templates);
    encode_numbers(&by_string, &sorted, &numbers, &mut stored);
    let template_count = sorted.len();
    Some(Encoded { codes: by_string, templates, template_count, numbers: stored })
}

impl Encoded {
    pub(super) fn view(&self) -> TemplatesView<'_> {
        let templates = StringDictionary::parse(&self.templates, self.template_count);
        let templates = templates.expect("templates");
        TemplatesView::new(self.codes.clone(), templates, &self.numbers).expect("codes")
    }

    fn bytes(&self) -> usize {
        let mut codes = Vec::new();
        ints::encode_codes(&self.codes, &mut codes);
        codes.len() + self.templates.len() + self.numbers.len()
    }
}

/// Asserts that every way of decoding restores the strings; returns the number of templates.
fn assert_survives<S: AsRef<str>>(values: &[S], digits: Digits) -> usize {
    let expected: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    let encoded = encode(values, digits).expect("no placeholders");
    let view = encoded.view();
    assert_eq!(view.len(), values.len());
    assert!(view.decode().expect("decodes").iter().eq(expected.iter().copied()));

    let third: Vec<usize> = (0..values.len()).filter(|index| index % 3 == 1).collect();
    let some = view.decode_strings(third.iter().copied()).expect("decodes");
    assert!(some.iter().eq(third.iter().map(|&index| expected[index])));

    let is_wanted = |range: std::ops::Range<usize>| range.start.is_multiple_of(2_048);
    let in_wanted = |index: usize| is_wanted(index / 1_024 * 1_024..index);
    let some = view.decode_where(is_wanted).expect("decodes");
    let expected_at = |index| if in_wanted(index) { expected[index] } else { "" };
    assert!(some.iter().eq((0..values.len()).map(expected_at)));

    let mut visited = Vec::new();
    let visit = |first: usize, texts: &StringDictionary<'_>| {
        visited.extend((first..).zip(texts.iter().map(str::to_owned)));
    };
    view.for_each_text(is_wanted, visit).expect("decodes");
    let indexes: Vec<usize> = (0..values.len()).filter(|&index| in_wanted(index)).collect();
    assert!(visited.iter().map(|(index, _)| index).eq(&indexes));
    assert!(visited.iter().all(|(index, text)| text == expected[*index]));
    encoded.template_count
}

#[test]
fn strings_survive() {
    use Digits::{Decimal, Hexadecimal};
    assert_eq!(assert_survives::<&str>(&[], Decimal), 0);
    let odd = [
        "",
        "0",
        "00",
        "7",
        "07",
        "a0b00c007",
        "999999999999999999",
        "1000000000000000000",
        "000000000000000000000012",
        "123456789012345678901234567890",
        "é1💧22",
        "x",
        "18446744073709551615",
        "deadbeef",
        "00ff",
        "DEAD",
        "cafe12",
        "a-b-0cafe-1e5",
        "ffffffffffffffffffffffffffffffffff",
        "_1f2e",
        "\t1\n",
        "100",
        "99",
        "10",
        "1000",
        "123456",
    ];
    for digits in [Decimal, Hexadecimal] {
        assert_survives(&odd, digits);
        for value in odd {
            assert_survives(&[value], digits);
        }
    }
    let huge = "1a".repeat(STRING_BYTES_MAX / 2);
    let digits = "9".repeat(STRING_BYTES_MAX);
    assert_survives(&[huge.as_str(), "", &digits, &huge], Decimal);
    assert_survives(&[huge.as_str(), "", &digits, &huge], Hexadecimal);
    let lines: Vec<String> = (0..5_000u64)
        .map(|i| format!("GET /user/{}?n={} HTTP/1.1", i * i % 977, i * 104_729 % 1_000_003))
        .collect();
    assert_eq!(assert_survives(&lines, Decimal), 1);
    assert!(encode(&lines, Decimal).expect("plain").bytes() < 5_000 * 5);
}

#[test]
fn uuids_take_little_more_than_their_bits() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 16
    };
    let mut uuid = || {
        let [a, b, c, d, e] =
            [next() >> 8 & 0xFFFF_FFFF, next() & 0xFFFF, next() & 0xFFF, next() & 0x3FFF, next()];
        format!("{a:08x}-{b:04x}-4{c:03x}-{:04x}-{e:012x}", d | 0x8000)
    };
    let ids: Vec<String> = (0..10_240).map(|_| uuid()).collect();
    assert_eq!(assert_survives(&ids, Digits::Hexadecimal), 1);
    let bytes = encode(&ids, Digits::Hexadecimal).expect("plain").bytes();
    assert!(bytes < 10_240 * 17, "{bytes}");
}

#[test]
fn numbers_lie_as_the_spec_says() {
    let texts = ["b 7 00ff", "a 5", "b 300 0001"];
    let encoded = encode(&texts, Digits::Decimal).expect("plain");
    let templates = encoded.view().templates().clone();
    assert!(templates.iter().eq(["a \u{e}", "b \u{e} \u{11}ff", "b \u{e} \u{13}"]));
    assert_eq!(encoded.codes, [1, 0, 2]);
    // In a: a small number at the first position. In b, twice: a small and a larger one at the
    // first position, small ones at the second. So 5 and 7 share a stream, and so do the 00 and the
    // 0001.
    let streams = [6, 1, 0, 0, 2, 0b1001_0000, 0b01];
    let (first, second) = ([6, 1, 1, 10, 2, 2, 3], [5, 1, 0, 0, 1, 0b10]);
    let larger = [3, 0, 0xD8, 0x04];
    let expected = [&[3], &streams[..], &first, &second, &larger].concat();
    assert_eq!(encoded.numbers, expected);
    assert!(encoded.view().decode().expect("decodes").iter().eq(texts));
}

#[test]
fn what_looks_like_a_placeholder_is_refused() {
    for text in ["a\u{e}b", "\u{10}", "1\u{1f}"] {
        assert!(encode(&[text], Digits::Decimal).is_none(), "{text:?}");
        assert!(encode(&[text], Digits::Hexadecimal).is_none(), "{text:?}");
    }
}

#[test]
fn kept_literals_are_found_in_templates() {
    let texts = ["user 4711 logged in", "user 12 was added", "added face12 to 0042", "a bad idea"];
    let decimal = encode(&texts, Digits::Decimal).expect("plain");
    let hex = encode(&texts, Digits::Hexadecimal).expect("plain");
    for literal in ["user", " logged", "added", "bad", "ace", "d f", "", "é", "in", " to ", "a b"]
    {
        for encoded in [&decimal, &hex] {
            let view = encoded.view();
            if !view.is_kept(literal) {
                continue;
            }
            for (index, text) in texts.iter().enumerate() {
                let template = view.templates().get(view.codes()[index]).expect("a template");
                assert_eq!(template.contains(literal), text.contains(literal), "{literal} {text}");
            }
        }
    }
    assert!(hex.view().is_kept("user") && hex.view().is_kept(" logged"));
    assert!(!hex.view().is_kept("ace") && !hex.view().is_kept("4") && !hex.view().is_kept("\u{e}"));
}

#[test]
fn bombs_do_not_go_off() {
    // A few bytes that claim 4,200 strings of 64 KiB.
    let template = "x".repeat(STRING_BYTES_MAX);
    let mut templates = Vec::new();
    strings::encode(&[&template], &mut templates);
    let numbers = [0, 2, 0, 0];
    let templates = StringDictionary::parse(&templates, 1).expect("one");
    let view = TemplatesView::new(vec![0; 4_200], templates, &numbers).expect("codes");
    let most = BLOCK_BYTES_MAX as u64;
    let error = view.for_each_text(|_| true, |_, _| ());
    assert!(error.is_ok(), "a thousand at a time are in bounds");
    assert!(
        matches!(view.decode(), Err(EncodingError::Limit { what: "total length", most: limit, .. }) if limit == most)
    );
    // Also many numbers per string.
    let template = "\u{e}".repeat(STRING_BYTES_MAX);
    let mut templates = Vec::new();
    strings::encode(&[&template], &mut templates);
    let templates = StringDictionary::parse(&templates, 1).expect("one");
    let view =
        TemplatesView::new(vec![0; 65_536], templates, &[1, 2, 0, 0, 2, 0, 0]).expect("codes");
    assert!(matches!(
        view.decode(),
        Err(EncodingError::Limit { what: "numbers of templates", .. })
    ));
}

#[test]
fn wrong_numbers_are_named() {
    let encoded = encode(&["a 1", "a 2", "a 77"], Digits::Decimal).expect("plain");
    let error = |numbers: &[u8]| {
        let templates = StringDictionary::parse(&encoded.templates, 1).expect("one");
        let view = TemplatesView::new(encoded.codes.clone(), templates, numbers).expect("codes");
        view.decode().expect_err("is wrong")
    };
    assert!(matches!(error(&[]), EncodingError::Truncated { .. }));
    assert!(matches!(error(&[17]), EncodingError::Limit { what: "streams of numbers", .. }));
    assert!(matches!(error(&[1, 2, 0, 2, 2, 0, 0]), EncodingError::Limit { what: "a code", .. }));
    // A decimal number of minus one.
    let limit = error(&[1, 2, 0, 0, 2, 0, 1]);
    assert!(matches!(limit, EncodingError::Limit { what: "a decimal number", .. }), "{limit}");
    let mut longer = encoded.numbers.clone();
    longer.push(0);
    assert!(matches!(error(&longer), EncodingError::Trailing { left: 1, .. }));
    let templates = StringDictionary::parse(&encoded.templates, 1).expect("one");
    assert!(TemplatesView::new(vec![1], templates, &encoded.numbers).is_err());
}

proptest! {
    #[test]
    fn any_text_survives(
        texts in prop::collection::vec("([a-f0-9]{0,20}|[0-9]{1,22}|[ -_a-z\u{e9}\u{1f4a7}]){0,6}", 0..60),
    ) {
        assert_survives(&texts, Digits::Decimal);
        assert_survives(&texts, Digits::Hexadecimal);
    }

    #[test]
    fn what_is_kept_is_found_in_the_template(
        texts in prop::collection::vec("[a-g0-2é _-]{0,24}", 1..20),
        literals in prop::collection::vec("[a-h\u{e9} _-]{0,4}", 1..20),
    ) {
        for digits in [Digits::Decimal, Digits::Hexadecimal] {
            let encoded = encode(&texts, digits).expect("plain");
            let view = encoded.view();
            for literal in literals.iter().filter(|literal| view.is_kept(literal)) {
                for (text, &code) in texts.iter().zip(view.codes()) {
                    let template = view.templates().get(code).expect("a template");
                    prop_assert_eq!(template.contains(literal), text.contains(literal));
                }
            }
        }
    }

    #[test]
    fn mutated_numbers_never_panic(
        lengths in prop::collection::vec(0u64..2_000_000, 1..50),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let texts: Vec<String> =
            lengths.iter().map(|n| format!("{} of {:x}, {:05}", n, n * 7_919, n % 99)).collect();
        let mut encoded = encode(&texts, Digits::Hexadecimal).expect("plain");
        let all = encoded.templates.len() + encoded.numbers.len();
        for (at, byte) in flips {
            let at = at.index(all);
            match at.checked_sub(encoded.templates.len()) {
                Some(at) => encoded.numbers[at] = byte,
                None => encoded.templates[at] = byte,
            }
        }
        let templates = StringDictionary::parse(&encoded.templates, encoded.template_count);
        if let Ok(templates) = templates {
            let view = TemplatesView::new(encoded.codes, templates, &encoded.numbers);
            let view = view.expect("codes are as they were");
            if let Ok(texts) = view.decode() {
                prop_assert_eq!(texts.len(), lengths.len());
            }
            let _ = view.decode_strings([0, 3, 4]);
        }
    }
}
