//! The secret by which clients of other machines are recognized, at every door.

use std::fmt;

/// A secret of 256 bits.
#[derive(Clone)]
pub struct Token([u8; Token::BYTES]);

impl Token {
    const BYTES: usize = 32;

    /// A new token.
    ///
    /// # Errors
    /// When the system's random source fails.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; Self::BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Reads the 64 hexadecimal digits of a token; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().as_bytes();
        if digits.len() != 2 * Self::BYTES {
            return None;
        }
        let mut bytes = [0; Self::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// The token's 64 hexadecimal digits, as in its file.
    #[must_use]
    pub fn reveal(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns whether both tokens are equal, in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        let difference =
            self.0.iter().zip(&other.0).fold(0, |all, (left, right)| all | (left ^ right));
        std::hint::black_box(difference) == 0
    }
}

impl fmt::Debug for Token {
    /// Hides the token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_hidden() {
        let token = Token::random().expect("randomness");
        let text = token.reveal();
        assert_eq!(text.len(), 64);
        assert!(Token::parse(&format!("{text}\n")).expect("a token").matches(&token));
        assert!(!format!("{token:?}").contains(&text));
        assert!(!Token::random().expect("randomness").matches(&token));
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let digits = "0".repeat(64);
        assert!(Token::parse(&digits).is_some());
        let sign = format!("+{}", &digits[1..]);
        for text in ["", &digits[1..], &format!("{digits}0"), &sign, &digits.replace('0', "g")] {
            assert!(Token::parse(text).is_none(), "{text}");
        }
    }
}
