//! SCRAM-SHA-256: a password is proven without sending it. Source: RFC 5802 and RFC 7677.
//!
//! There is one password, so its keys are derived once. Channel binding is not offered.

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{hmac, pbkdf2};

/// The name of the mechanism.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";
/// Iterations of the key derivation, as many as PostgreSQL uses.
const ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4_095);
const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 18;
const KEY_BYTES: usize = 32;

/// What a server stores of a password.
pub(crate) struct Verifier {
    salt: [u8; SALT_BYTES],
    stored_key: [u8; KEY_BYTES],
    server_key: hmac::Key,
}

/// An exchange after the server's first message.
pub(crate) struct Exchange {
    gs2_header: String,
    nonce: String,
    /// The first messages of both sides, as they are signed.
    first_messages: String,
    /// What the server sends.
    pub(crate) server_first: String,
}

impl Verifier {
    /// Derives the keys of a password. Takes some milliseconds.
    ///
    /// # Errors
    /// When the system's random source fails.
    pub(crate) fn new(password: &str) -> Result<Self, ring::error::Unspecified> {
        let mut salt = [0; SALT_BYTES];
        SystemRandom::new().fill(&mut salt)?;
        let mut salted = [0; KEY_BYTES];
        let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
        pbkdf2::derive(algorithm, ITERATIONS, &salt, password.as_bytes(), &mut salted);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
        let client_key = hmac::sign(&key, b"Client Key");
        let server_key = hmac::sign(&key, b"Server Key");
        let mut stored_key = [0; KEY_BYTES];
        stored_key.copy_from_slice(digest(&SHA256, client_key.as_ref()).as_ref());
        let server_key = hmac::Key::new(hmac::HMAC_SHA256, server_key.as_ref());
        Ok(Self { salt, stored_key, server_key })
    }

    /// Answers the client's first message; `None` if it is none.
    pub(crate) fn begin(&self, client_first: &str) -> Option<Exchange> {
        // A client that binds to a channel would need another mechanism.
        let rest = ["n,", "y,"].iter().find_map(|flag| client_first.strip_prefix(flag))?;
        let (_identity, bare) = rest.split_once(',')?;
        let gs2_header = client_first.strip_suffix(bare)?.to_owned();
        let client_nonce = attributes(bare).find_map(|part| part.strip_prefix("r="))?;
        let is_nonce = !client_nonce.is_empty()
            && client_nonce.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
        if !is_nonce || attributes(bare).any(|part| part.starts_with("m=")) {
            return None;
        }
        let mut random = [0; NONCE_BYTES];
        SystemRandom::new().fill(&mut random).ok()?;
        let nonce = format!("{client_nonce}{}", STANDARD.encode(random));
        let server_first = format!("r={nonce},s={},i={ITERATIONS}", STANDARD.encode(self.salt));
        let first_messages = format!("{bare},{server_first}");
        Some(Exchange { gs2_header, nonce, first_messages, server_first })
    }

    /// Verifies the client's proof and returns the server's; `None` for a wrong password.
    pub(crate) fn finish(&self, exchange: &Exchange, client_final: &str) -> Option<String> {
        let (without_proof, proof) = client_final.rsplit_once(",p=")?;
        let mut parts = attributes(without_proof);
        let binding = STANDARD.decode(parts.next()?.strip_prefix("c=")?).ok()?;
        let nonce = parts.next()?.strip_prefix("r=")?;
        if binding != exchange.gs2_header.as_bytes() || nonce != exchange.nonce {
            return None;
        }
        let signed = format!("{},{without_proof}", exchange.first_messages);
        let stored_key = hmac::Key::new(hmac::HMAC_SHA256, &self.stored_key);
        let signature = hmac::sign(&stored_key, signed.as_bytes());
        let proof = STANDARD.decode(proof).ok().filter(|proof| proof.len() == KEY_BYTES)?;
        let client_key: Vec<u8> =
            proof.iter().zip(signature.as_ref()).map(|(left, right)| left ^ right).collect();
        let hashed = digest(&SHA256, &client_key);
        let pairs = hashed.as_ref().iter().zip(&self.stored_key);
        let difference = pairs.fold(0, |all, (left, right)| all | (left ^ right));
        if std::hint::black_box(difference) != 0 {
            return None;
        }
        let server_signature = hmac::sign(&self.server_key, signed.as_bytes());
        Some(format!("v={}", STANDARD.encode(server_signature.as_ref())))
    }
}

fn attributes(message: &str) -> impl Iterator<Item = &str> {
    message.split(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client's side, for a password.
    fn prove(exchange: &Exchange, password: &str) -> String {
        let salt = attributes(&exchange.server_first).nth(1).expect("a salt");
        let salt = STANDARD.decode(&salt[2..]).expect("base64");
        let mut salted = [0; KEY_BYTES];
        let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
        pbkdf2::derive(algorithm, ITERATIONS, &salt, password.as_bytes(), &mut salted);
        let client_key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &salted), b"Client Key");
        let stored_key = digest(&SHA256, client_key.as_ref());
        let without_proof = format!("c={},r={}", STANDARD.encode("n,,"), exchange.nonce);
        let signed = format!("{},{without_proof}", exchange.first_messages);
        let key = hmac::Key::new(hmac::HMAC_SHA256, stored_key.as_ref());
        let signature = hmac::sign(&key, signed.as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        format!("{without_proof},p={}", STANDARD.encode(proof))
    }

    #[test]
    fn the_password_is_proven() {
        let verifier = Verifier::new("secret").expect("randomness");
        let exchange = verifier.begin("n,,n=user,r=abcdef").expect("an exchange");
        assert!(exchange.server_first.starts_with("r=abcdef"));
        assert!(exchange.server_first.ends_with(",i=4096"), "{}", exchange.server_first);
        assert!(verifier.finish(&exchange, &prove(&exchange, "secret")).is_some());
        assert_eq!(verifier.finish(&exchange, &prove(&exchange, "Secret")), None);
        let other = verifier.begin("n,,n=user,r=abcdef").expect("an exchange");
        let replayed = prove(&exchange, "secret");
        assert_eq!(verifier.finish(&other, &replayed), None, "a nonce is used once");
    }

    #[test]
    fn other_messages_are_refused() {
        let verifier = Verifier::new("secret").expect("randomness");
        for text in ["", "n,,", "p=tls-unique,,n=,r=a", "n,,n=,r=", "n,,m=x,r=a", "r=a"] {
            assert!(verifier.begin(text).is_none(), "{text}");
        }
        let exchange = verifier.begin("y,,n=,r=a").expect("an exchange");
        for text in ["", "c=biws,r=a,p=", "c=biws,p=AAAA", ",p=", "c=%,r=a,p=AAAA"] {
            assert_eq!(verifier.finish(&exchange, text), None, "{text}");
        }
    }
}
