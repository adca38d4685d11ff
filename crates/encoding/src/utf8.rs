//! UTF-8 validation with `simdutf8`, which is ten times as fast as the standard library for texts
//! that are not ASCII. Source: Keiser and Lemire, "Validating UTF-8 In Less Than One Instruction
//! Per Byte", 2021.
#![allow(unsafe_code)]

/// The bytes as text; otherwise the length of their valid prefix.
pub(crate) fn str_of(bytes: &[u8]) -> Result<&str, usize> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| valid_up_to(bytes))
}

/// The bytes as text; otherwise the length of their valid prefix.
pub(crate) fn string_of(bytes: Vec<u8>) -> Result<String, usize> {
    str_of(&bytes)?;
    // SAFETY: `str_of` has just validated these same bytes as UTF-8.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

/// `simdutf8` does not report the position of an error.
#[cold]
fn valid_up_to(bytes: &[u8]) -> usize {
    std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_as_the_library_says(bytes: &[u8]) {
        let expected = String::from_utf8(bytes.to_vec());
        let expected = expected.map_err(|error| error.utf8_error().valid_up_to());
        assert_eq!(str_of(bytes).map(str::to_owned), expected);
        assert_eq!(string_of(bytes.to_vec()), expected);
    }

    #[test]
    fn every_place_of_every_mistake_is_found() {
        let texts = ["plain ascii", "h\u{e9} \u{2014} \u{1f4a7}\u{1f4a7}"];
        let wrong = [&[0x80][..], &[0xC3], &[0xC0, 0x80], &[0xED, 0xA0, 0x80], &[0xF5], &[0xFF]];
        for text in texts {
            let long = text.repeat(12);
            for at in (0..=long.len()).filter(|&at| long.is_char_boundary(at)) {
                for wrong in wrong {
                    let (before, after) = long.as_bytes().split_at(at);
                    assert_as_the_library_says(&[before, wrong, after].concat());
                }
                assert_as_the_library_says(&long.as_bytes()[at..]);
                assert_as_the_library_says(&long.as_bytes()[..long.len() - at.min(1)]);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_alike(
            text in ".{0,80}",
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            let mut bytes = text.into_bytes();
            for (at, byte) in flips.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            assert_as_the_library_says(&bytes);
        }
    }
}
