//! The words of the tables, by their codes in a row.

use hadal_random::mix;

pub(crate) const ENDPOINTS: u32 = 2_000;
pub(crate) const COUNTRIES: u32 = 200;
pub(crate) const SERVICES: u32 = 60;
pub(crate) const HOSTS: u32 = 5_000;
pub(crate) const DEVICES: u32 = 400;
pub(crate) const BUILDS: u32 = 30;
pub(crate) const TAGS: u32 = 500;
pub(crate) const FRAMES: u32 = 3_000;

pub(crate) const KINDS: [&str; 2] = ["server", "client"];
pub(crate) const APPS: [&str; 5] = ["web", "android", "ios", "kiosk", "partner"];
pub(crate) const DATACENTERS: [&str; 8] = [
    "us-east-1",
    "us-west-2",
    "eu-west-1",
    "eu-north-1",
    "ap-south-1",
    "ap-east-1",
    "sa-east-1",
    "af-south-1",
];
/// Status codes and their frequency in thousandths.
pub(crate) const STATUSES: [(u16, u16); 16] = [
    (200, 900),
    (204, 25),
    (301, 8),
    (302, 10),
    (304, 20),
    (400, 5),
    (401, 5),
    (403, 3),
    (404, 10),
    (409, 2),
    (429, 3),
    (499, 2),
    (500, 3),
    (502, 1),
    (503, 2),
    (504, 1),
];
/// The first words of a message.
pub(crate) const PHRASES: [&str; 8] = [
    "handled",
    "cache miss for",
    "retried twice",
    "slow upstream for",
    "validated",
    "deadline exceeded in",
    "queued behind",
    "connection reset by",
];

const NOUNS: [&str; 12] = [
    "cart", "order", "user", "search", "billing", "feed", "photo", "mail", "video", "chat",
    "stock", "login",
];
const ROLES: [&str; 5] = ["gateway", "store", "worker", "index", "frontend"];
const ACTIONS: [&str; 20] = [
    "checkout", "invoice", "refund", "voucher", "preview", "history", "settings", "shipping",
    "wishlist", "receipt", "address", "discount", "session", "password", "category", "tracking",
    "feedback", "delivery", "currency", "giftcard",
];
const DETAILS: [&str; 10] = [
    "list", "create", "update", "remove", "details", "export", "import", "confirm", "status",
    "options",
];
const MAKERS: [&str; 8] =
    ["Pelagia", "Nereid", "Kelp", "Abyssal", "Trieste", "Bathys", "Limpet", "Nautile"];

/// All words of a column, by code.
pub(crate) fn words(length: u32, word: fn(u32) -> String) -> Vec<String> {
    (0..length).map(word).collect()
}

fn of<const N: usize>(list: [&'static str; N], code: u32) -> &'static str {
    list[code as usize % N]
}

/// About 30 bytes. The codes traverse a bijection of 12 nouns, 20 actions and 10 details in
/// scattered order, so that a searched word occurs in frequent and in rare endpoints.
pub(crate) fn endpoint(code: u32) -> String {
    let place = code * 1_013 % 2_400;
    let (noun, action, detail) = (place % 12, place / 12 % 20, place / 240);
    format!(
        "/api/v{}/{}/{}/{}",
        1 + code % 3,
        of(NOUNS, noun),
        of(ACTIONS, action),
        of(DETAILS, detail)
    )
}

/// Two letters, or three for the rarer ones.
pub(crate) fn country(code: u32) -> String {
    let letter = |place: u32| char::from(b'A' + u8::try_from(place % 26).unwrap_or_default());
    let place = code * 151 + 17;
    let mut word = String::from_iter([letter(place / 26), letter(place)]);
    if code >= 140 {
        word.push(letter(code));
    }
    word
}

/// About 12 bytes.
pub(crate) fn service(code: u32) -> String {
    format!("{}-{}", of(NOUNS, code % 12), of(ROLES, code / 12))
}

/// The data center of a host.
pub(crate) fn datacenter_of(host: u32) -> u32 {
    u32::try_from(mix(u64::from(host)) % 8).unwrap_or_default()
}

/// About 27 bytes.
pub(crate) fn host(code: u32) -> String {
    format!("node-{code:04}.{}.prod.net", of(DATACENTERS, datacenter_of(code)))
}

pub(crate) fn device(code: u32) -> String {
    format!("{} {}", of(MAKERS, code), 1 + code / 8)
}

pub(crate) fn build(code: u32) -> String {
    format!("2026.{}.{}", 1 + code / 10, code % 10)
}

pub(crate) fn tag(code: u32) -> String {
    format!("{}:{}", of(ACTIONS, code), 1 + code / 20)
}

pub(crate) fn frame(code: u32) -> String {
    format!("{}::{}::fn{code}", of(NOUNS, code), of(ACTIONS, code / 12))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_word_of_its_own() {
        type Word = fn(u32) -> String;
        let columns: [(u32, Word); 8] = [
            (ENDPOINTS, endpoint),
            (COUNTRIES, country),
            (SERVICES, service),
            (HOSTS, host),
            (DEVICES, device),
            (BUILDS, build),
            (TAGS, tag),
            (FRAMES, frame),
        ];
        for (length, word) in columns {
            let different: BTreeSet<String> = words(length, word).into_iter().collect();
            assert_eq!(different.len(), length as usize, "{:?}", different.first());
        }
    }

    #[test]
    fn words_are_as_long_as_they_should_be() {
        let mean = |length, word| {
            let bytes: usize = words(length, word).iter().map(String::len).sum();
            bytes as f64 / f64::from(length)
        };
        assert!((mean(ENDPOINTS, endpoint) - 30.0).abs() < 2.0, "{}", mean(ENDPOINTS, endpoint));
        assert!((mean(SERVICES, service) - 12.0).abs() < 1.0, "{}", mean(SERVICES, service));
        assert!((mean(HOSTS, host) - 27.0).abs() < 1.5, "{}", mean(HOSTS, host));
    }

    #[test]
    fn statuses_come_to_a_thousand() {
        assert_eq!(STATUSES.iter().map(|(_, weight)| weight).sum::<u16>(), 1_000);
    }
}
