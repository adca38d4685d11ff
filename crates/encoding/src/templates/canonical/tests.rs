use proptest::prelude::*;

use super::super::tests::encode;
use super::*;

/// The canonical form of a single text.
fn form(text: &str) -> (String, Vec<i64>) {
    forms(&CanonicalStrings::of([text].into_iter())).remove(0)
}

fn forms(lifted: &CanonicalStrings<'_>) -> Vec<(String, Vec<i64>)> {
    let templates: Vec<&str> = lifted.templates().collect();
    let form = |index| {
        let (code, numbers) = lifted.get(index).expect("a text");
        (templates[code as usize].to_owned(), numbers.to_vec())
    };
    (0..lifted.len()).map(form).collect()
}

/// Asserts that texts encoded together have the forms that they have alone; returns false if they
/// cannot be encoded, or are better rendered.
fn assert_forms(texts: &[String], digits: Digits) -> bool {
    let Some(encoded) = encode(texts, digits) else { return false };
    let Some(lifted) = encoded.view().into_lifted().expect("decodes") else { return false };
    for (index, (text, form_here)) in texts.iter().zip(forms(&lifted)).enumerate() {
        assert_eq!(form_here, form(text), "{text:?}");
        assert_eq!(lifted.text(index).as_ref(), Some(text));
    }
    assert_eq!((lifted.len(), lifted.get(texts.len())), (texts.len(), None));
    true
}

const ODD: [&str; 24] = [
    "",
    "0",
    "00",
    "007",
    "a0b00c007",
    "2024-01-05T09:08:07.000123Z",
    "999999999999999999",
    "1000000000000000000",
    "0000000000000000",
    "00000000000000000",
    "000000000000000012345",
    "123456789012345678901234567890",
    "é1💧22",
    "deadbeef",
    "00ff",
    "cafe12",
    "1e5-0001",
    "ffffffffffffffffffffffffffffffffff",
    "\t1\n",
    "\u{f}",
    "\u{f}7",
    "a\u{e}b",
    "\u{12}1",
    "\u{f}a\u{e}b",
];

#[test]
fn every_text_has_one_form_that_is_its_own() {
    let all = ODD.map(form);
    for (index, ((template, numbers), text)) in all.iter().zip(ODD).enumerate() {
        assert_eq!(put_together(template, numbers.iter().copied()).as_deref(), Some(text));
        assert!(text.starts_with(beginning(template)), "{text:?}");
        assert!(all[..index].iter().all(|other| other.0 != *template || other.1 != *numbers));
    }
    assert_eq!(form("a 007 b 7 é"), ("a \u{12} b \u{e} é".into(), vec![7, 7]));
    assert_eq!(form("7\u{e}"), ("\u{f}7\u{e}".into(), vec![]));
    assert_eq!(beginning("user \u{e} in"), "user ");
    // Not a form of any text: as an unsigned number, -1 has too many decimal digits.
    assert_eq!(put_together("\u{e}", std::iter::once(-1)), None);
}

#[test]
fn forms_do_not_depend_on_how_texts_are_stored() {
    let line = |row: u64| match row % 5 {
        0 => format!("GET /v1/users/{} took {:03} ms", row % 997, row % 600),
        1 => format!("job {:08x} done", row.wrapping_mul(0x9E37_79B9)),
        _ => format!("user {} logged in at 12:{:02}:07", row % 991, row % 60),
    };
    for digits in [Digits::Decimal, Digits::Hexadecimal] {
        assert!(assert_forms(&(0..3_000).map(line).collect::<Vec<_>>(), digits));
        assert!(assert_forms(&[], digits));
    }
    let hashes = |row: u64| format!("{:016x}", row.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    assert!(!assert_forms(&(0..3_000).map(hashes).collect::<Vec<_>>(), Digits::Hexadecimal));
}

/// Templates that no encoder writes: digits in a template, adjacent numbers, letters in place of
/// digits.
#[test]
fn other_templates_of_the_same_text_have_its_form() {
    let mut cases: Vec<(&str, Vec<i64>, &str)> = vec![
        ("1\u{e}", vec![2], "12"),
        ("\u{e}\u{e}", vec![1, 2], "12"),
        ("\u{10}", vec![7], "7"),
        ("\u{11}", vec![0x70], "70"),
        ("\u{11}", vec![0x07], "07"),
        ("\u{11}", vec![0xF07], "07"),
        ("\u{12}", vec![0x0F7], "0f7"),
        ("\u{1f}", vec![0x0999_9999_9999_9999], "0999999999999999"),
        ("\u{1f}", vec![0x0A99_9999_9999_9999], "0a99999999999999"),
        ("\u{f}\u{e}", vec![5], "\u{f}5"),
    ];
    cases.sort_unstable();
    for (template, numbers, text) in cases {
        // Enough other texts that one may be rendered.
        let all = ["x", "x", "x", "x", template];
        let mut templates = vec!["x", template];
        templates.sort_unstable();
        let code = |text: &str| u32::from(templates[1] == text);
        let codes: Vec<u32> = all.iter().map(|text| code(text)).collect();
        let (mut stored, mut text_bytes) = (Vec::new(), Vec::new());
        crate::strings::encode(&templates, &mut text_bytes);
        super::super::encode_numbers(&codes, &templates, &numbers, &mut stored);
        let templates = StringDictionary::parse(&text_bytes, 2).expect("templates");
        let view = TemplatesView::new(codes, templates, &stored).expect("codes");
        assert_eq!(view.decode().expect("decodes").get(4), Some(text));
        let lifted = view.into_lifted().expect("decodes").expect("few are put together");
        assert_eq!(forms(&lifted)[4], form(text), "{text:?}");
    }
}

proptest! {
    #[test]
    fn equal_texts_and_only_these_have_equal_forms(
        texts in prop::collection::vec(
            "[01af\u{e}\u{f}\u{11} ]{0,4}|[0-9]{1,40}|[a-f0]{4,9}|.{0,9}", 1..40,
        ),
        hexadecimal in any::<bool>(),
    ) {
        let all: Vec<_> = texts.iter().map(|text| form(text)).collect();
        for (form, text) in all.iter().zip(&texts) {
            let whole = put_together(&form.0, form.1.iter().copied());
            prop_assert_eq!(whole.as_deref(), Some(text.as_str()));
            prop_assert!(text.starts_with(beginning(&form.0)));
            for (other, that) in all.iter().zip(&texts) {
                prop_assert_eq!(form == other, text == that, "{:?} {:?}", text, that);
            }
        }
        let digits = if hexadecimal { Digits::Hexadecimal } else { Digits::Decimal };
        assert_forms(&texts, digits);
    }
}
